// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <hip/hip_runtime_api.h>
#include <string>
#include <vector>

#include <tessera/backends/architecture.hpp>
#include <tessera/backends/gpu_devices.hpp>
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
  DeviceInfo info = backends::describe_gpu(ordinal, p, "HIP", p.gcnArchName, TESSERA_GPU_ARCH);
  info.driver = driver_version();
  info.clock_ghz = attribute(hipDeviceAttributeClockRate, ordinal) / 1e6;
  info.scratch_bytes_per_team = static_cast<std::int64_t>(p.sharedMemPerBlock);
  info.registers_per_unit = p.regsPerBlock;
  return info;
}

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

const DeviceInfo& device_info(int ordinal) { return backends::asked_once(ordinal, ask); }

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
