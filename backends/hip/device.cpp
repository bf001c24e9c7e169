// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <hip/hip_runtime_api.h>
#include <map>
#include <mutex>
#include <vector>

#include <tessera/backends/architecture.hpp>
#include <tessera/backends/hip/device.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/log.hpp>
#include <tessera/core/scope_guard.hpp>

namespace tessera::hip {
namespace {

void check(hipError_t status, const char* what) {
  if (status == hipSuccess) return;
  throw Error("tessera::hip::device_info", std::string(what) + " failed: " + hipGetErrorString(status),
              "the device must be visible to this process and its driver at least as new as the runtime",
              "Run ./dev doctor, and look at HIP_VISIBLE_DEVICES");
}

int attribute(hipDeviceAttribute_t which, int ordinal) {
  int value = 0;
  return hipDeviceGetAttribute(&value, which, ordinal) == hipSuccess ? value : 0;
}

DeviceInfo ask(int ordinal) {
  hipDeviceProp_t p{};
  check(hipGetDeviceProperties(&p, ordinal), "asking for the device's properties");
  DeviceInfo info;
  info.id = ordinal;
  info.name = p.name;
  info.space = "HIP";
  info.major = p.major;
  info.minor = p.minor;
  info.architecture = p.gcnArchName;
  info.architecture_built = TESSERA_GPU_ARCH;
  info.key = "gpu" + std::to_string(ordinal) + ":" + info.name + ":" + info.architecture;
  info.units = p.multiProcessorCount;
  info.warp_width = p.warpSize;
  info.simd_width_bytes = 16;
  info.clock_ghz = attribute(hipDeviceAttributeClockRate, ordinal) / 1e6;
  info.memory_bytes = static_cast<std::int64_t>(p.totalGlobalMem);
  info.l2_bytes = p.l2CacheSize;
  info.scratch_bytes_per_team = static_cast<std::int64_t>(p.sharedMemPerBlock);
  info.registers_per_unit = p.regsPerBlock;
  info.max_threads_per_unit = p.maxThreadsPerMultiProcessor;
  info.links = "PCI bus " + std::to_string(p.pciBusID);
  return info;
}

}  // namespace

namespace {
std::string dotted(int version) {  // HIP_VERSION: major * 10^7 + minor * 10^5 + patch
  return version > 0 ? std::to_string(version / 10000000) + "." + std::to_string(version % 10000000 / 100000) : "?";
}
}  // namespace

std::string runtime_version() {
  int version = 0;
  return hipRuntimeGetVersion(&version) == hipSuccess ? dotted(version) : "?";
}

std::string driver_version() {
  int version = 0;
  return hipDriverGetVersion(&version) == hipSuccess ? std::to_string(version) : "?";
}

int device_count() {
  int count = 0;
  return hipGetDeviceCount(&count) == hipSuccess ? count : 0;
}

const DeviceInfo& device_info(int ordinal) {
  static std::mutex mutex;
  static std::map<int, DeviceInfo> known;
  const std::scoped_lock lock(mutex);
  const auto found = known.find(ordinal);
  return found != known.end() ? found->second : known.emplace(ordinal, ask(ordinal)).first->second;
}

std::uint64_t stream_id(hipStream_t stream) {
  // HIP has no ids of streams before ROCm 7. An address may come again after its stream has died; what is kept by
  // it (a handle bound to that address) is then right for the new stream too.
  return reinterpret_cast<std::uintptr_t>(stream);
}

bool add_architecture_check() {
  static const bool added = detail::add_startup_check([] {
    int count = 0;
    const hipError_t status = hipGetDeviceCount(&count);
    std::vector<backends::ArchitectureMatch> matches;
    for (int i = 0; status == hipSuccess && i < count; ++i) {
      const DeviceInfo& info = device_info(i);
      log_line("devices", info.key + ": architecture " + info.architecture + ", built for " + info.architecture_built);
      matches.push_back(backends::match_gfx(TESSERA_GPU_ARCH, info.architecture, info.name));
    }
    backends::judge_devices(matches, "AMD",
                            status == hipSuccess ? "the driver reports no device" : hipGetErrorString(status));
  });
  return added;
}

}  // namespace tessera::hip
