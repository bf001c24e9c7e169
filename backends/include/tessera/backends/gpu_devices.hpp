// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the inventories of the GPU runtimes share: their property structures have the same members.

#include <map>
#include <mutex>
#include <string>

#include <tessera/core/device.hpp>

namespace tessera::backends {

/// A device by what its runtime tells; clock, scratch, registers and the architecture's numbers are left to the caller.
template <class Properties>
DeviceInfo describe_gpu(int ordinal, const Properties& p, std::string space, std::string architecture,
                        std::string architecture_built) {
  DeviceInfo info;
  info.id = ordinal;
  info.name = p.name;
  info.space = std::move(space);
  info.architecture = std::move(architecture);
  info.architecture_built = std::move(architecture_built);
  info.key = "gpu" + std::to_string(ordinal) + ":" + info.name + ":" + info.architecture;
  info.units = p.multiProcessorCount;
  info.warp_width = p.warpSize;
  info.simd_width_bytes = 16;
  info.memory_bytes = static_cast<std::int64_t>(p.totalGlobalMem);
  info.l2_bytes = p.l2CacheSize;
  info.max_threads_per_unit = p.maxThreadsPerMultiProcessor;
  info.links = "PCI bus " + std::to_string(p.pciBusID);
  return info;
}

/// Asks for each device once; what it returns stays valid until the process ends.
template <class Ask>
const DeviceInfo& asked_once(int ordinal, const Ask& ask) {
  static std::mutex mutex;
  static std::map<int, DeviceInfo> known;
  const std::scoped_lock lock(mutex);
  const auto found = known.find(ordinal);
  return found != known.end() ? found->second : known.emplace(ordinal, ask(ordinal)).first->second;
}

}  // namespace tessera::backends
