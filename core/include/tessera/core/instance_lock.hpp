// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mutex>

#include <tessera/core/execution.hpp>
#include <tessera/core/registry.hpp>

namespace tessera {

namespace detail {
std::recursive_mutex& instance_mutex(const StreamKey& key);
}  // namespace detail

/// Orders Tessera's own calls on one instance (CONTRACT 4): hold it round everything that uses what belongs to the
/// instance, that is a vendor handle, a registry's workspace, or a Kokkos reduction or scan (which before Kokkos
/// 5.2 share one scratch buffer an instance). It orders the host's launches; kernels are ordered by the instance.
/// On hosts Kokkos itself locks the instance for the length of each kernel, so nothing is locked here.
template <ExecutionSpace Space>
[[nodiscard]] std::unique_lock<std::recursive_mutex> lock_instance(const Space& exec) {
  std::unique_lock<std::recursive_mutex> lock;
  if constexpr (!is_host_space<Space>) {
    const StreamKey key = stream_key_of(exec);
    lock = std::unique_lock<std::recursive_mutex>(detail::instance_mutex(key));
  }
  return lock;
}

}  // namespace tessera
