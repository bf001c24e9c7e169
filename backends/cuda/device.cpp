// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cuda_runtime_api.h>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <tessera/backends/architecture.hpp>
#include <tessera/backends/cuda/device.hpp>
#include <tessera/backends/gpu_devices.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/log.hpp>
#include <tessera/core/scope_guard.hpp>

namespace tessera::cuda {
namespace {

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw Error("tessera::cuda::device_info", std::string(what) + " failed: " + cudaGetErrorString(status),
              "the device must be visible to this process and its driver at least as new as the runtime",
              "Run ./dev doctor, and look at CUDA_VISIBLE_DEVICES");
}

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess ? value : 0;
}

DeviceInfo ask(int ordinal) {
  cudaDeviceProp p{};
  check(cudaGetDeviceProperties(&p, ordinal), "asking for the device's properties");
  DeviceInfo info = backends::describe_gpu(ordinal, p, "Cuda", std::to_string(p.major) + "." + std::to_string(p.minor),
                                           TESSERA_GPU_ARCH);
  // here alone: HIP says 9.0 of gfx90a, which is not Hopper's 9.0
  info.major = p.major;
  info.minor = p.minor;
  info.driver = driver_version();
  info.clock_ghz = attribute(cudaDevAttrClockRate, ordinal) / 1e6;
  info.scratch_bytes_per_team = static_cast<std::int64_t>(p.sharedMemPerBlockOptin);
  info.registers_per_unit = p.regsPerMultiprocessor;
  return info;
}

/// What nvcc was told, as 90 for sm_90: this file is compiled with the flags that the kernels have.
std::vector<int> built_for() {
#ifdef __CUDA_ARCH_LIST__
  std::vector<int> list;
  for (const int architecture : {__CUDA_ARCH_LIST__}) list.push_back(architecture / 10);
  return list;
#else
  return backends::capabilities_named(TESSERA_GPU_ARCH);
#endif
}

std::string dotted(int version) {  // 13000
  return version > 0 ? std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) : "?";
}
}  // namespace

std::string runtime_version() {
  int version = 0;
  return cudaRuntimeGetVersion(&version) == cudaSuccess ? dotted(version) : "?";
}

std::string driver_version() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? dotted(version) : "?";
}

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

const DeviceInfo& device_info(int ordinal) { return backends::asked_once(ordinal, ask); }

bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) (void)cudaGetLastError();
  return status != cudaStreamCaptureStatusNone;
}

std::uint64_t stream_id(cudaStream_t stream) {
  // A stream that captures must not be asked: it is known by its address from an earlier call or, where this is the
  // first, gets an id that the runtime does not give
  struct Known {
    std::mutex mutex;
    std::map<cudaStream_t, std::uint64_t> ids;
    std::uint64_t next = std::uint64_t{1} << 63;
  };
  static Known known;
  if (is_capturing(stream)) {
    const std::scoped_lock lock(known.mutex);
    const auto [at, is_new] = known.ids.try_emplace(stream, known.next);
    if (is_new) ++known.next;
    return at->second;
  }
  unsigned long long id = 0;
  check(cudaStreamGetId(stream, &id), "asking for the stream's id");
  thread_local std::pair<cudaStream_t, std::uint64_t> last;
  if (last.first != stream || last.second != id) {
    const std::scoped_lock lock(known.mutex);
    known.ids[stream] = id;
    last = {stream, id};
  }
  return id;
}

bool add_architecture_check() {
  static const bool added = detail::add_startup_check([] {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    std::vector<backends::ArchitectureMatch> matches;
    std::string built;
    for (const int b : built_for())
      built += (built.empty() ? "" : ", ") + std::to_string(b / 10) + "." + std::to_string(b % 10);
    for (int i = 0; status == cudaSuccess && i < count; ++i) {
      log_line("devices", "gpu" + std::to_string(i) + ": architecture " +
                              std::to_string(attribute(cudaDevAttrComputeCapabilityMajor, i)) + "." +
                              std::to_string(attribute(cudaDevAttrComputeCapabilityMinor, i)) + ", built for " + built);
      matches.push_back(backends::match_compute_capability(built_for(), attribute(cudaDevAttrComputeCapabilityMajor, i),
                                                           attribute(cudaDevAttrComputeCapabilityMinor, i),
                                                           "gpu" + std::to_string(i)));
    }
    backends::judge_devices(matches, "NVIDIA",
                            status == cudaSuccess ? "the driver reports no device" : cudaGetErrorString(status));
  });
  return added;
}

}  // namespace tessera::cuda
