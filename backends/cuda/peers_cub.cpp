// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cuda_runtime_api.h>
#include <memory>
#include <string>
#include <tuple>

#include <tessera/backends/peers.hpp>
#include <tessera/core/error.hpp>

/// \file
/// CUB, its workspace set once.

namespace tessera::peers {
namespace {

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw Error("tessera::peers", std::string(what) + ": " + cudaGetErrorString(status), "the call must succeed");
}

/// call(workspace, bytes) as CUB has it: bytes are asked for where the workspace is null.
template <class Call>
Peers cub_peer(const char* what, const Call& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes), what);
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes > 0 ? bytes : 1), "cudaMalloc");
  const std::shared_ptr<void> workspace(memory, [](void* p) { cudaFree(p); });
  return {{"CUB", [=]() mutable { check(call(workspace.get(), bytes), what); }}};
}

}  // namespace

template <class T>
Peers reduce_sum(const Queue& queue, index_t n, const T* x, T* result) {
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  return cub_peer("CUB reduce", [=](void* workspace, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(workspace, bytes, x, result, n, stream);
  });
}

template <class T>
Peers reduce_max(const Queue& queue, index_t n, const T* x, T* result) {
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  return cub_peer("CUB reduce", [=](void* workspace, std::size_t& bytes) {
    return cub::DeviceReduce::Max(workspace, bytes, x, result, n, stream);
  });
}

template <class T>
Peers exclusive_scan(const Queue& queue, index_t n, const T* x, T* y) {
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  return cub_peer("CUB scan", [=](void* workspace, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(workspace, bytes, x, y, n, stream);
  });
}

template <class T>
struct InstantiateCub {
  static constexpr auto all = std::tuple(&reduce_sum<T>, &reduce_max<T>, &exclusive_scan<T>);
};
template struct InstantiateCub<float>;
template struct InstantiateCub<double>;
template Peers exclusive_scan(const Queue&, index_t, const std::int32_t*, std::int32_t*);

}  // namespace tessera::peers
