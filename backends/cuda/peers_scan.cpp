// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cub/device/device_scan.cuh>
#include <cuda_runtime_api.h>
#include <memory>
#include <string>

#include <tessera/backends/peers.hpp>
#include <tessera/core/error.hpp>

/// \file
/// CUB's scans, with workspaces set once.

namespace tessera::peers {
namespace {
void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw Error("tessera::peers", std::string(what) + ": " + cudaGetErrorString(status), "the call must succeed");
}

/// Device memory for the life of a peer.
std::shared_ptr<void> workspace(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  return {memory, [](void* p) { (void)cudaFree(p); }};
}
}  // namespace

template <class T>
Peers exclusive_scan(const Queue& queue, index_t n, const T* x, T* y) {
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  std::size_t bytes = 0;
  check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, x, y, n, stream), "ExclusiveSum");
  return {{"CUB", [=, memory = workspace(bytes)] {
             std::size_t size = bytes;
             check(cub::DeviceScan::ExclusiveSum(memory.get(), size, x, y, n, stream), "ExclusiveSum");
           }}};
}
template Peers exclusive_scan(const Queue&, index_t, const float*, float*);
template Peers exclusive_scan(const Queue&, index_t, const double*, double*);
template Peers exclusive_scan(const Queue&, index_t, const std::int32_t*, std::int32_t*);

}  // namespace tessera::peers
