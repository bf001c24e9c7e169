// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cub/device/device_merge.cuh>
#include <cuda_runtime_api.h>
#include <memory>
#include <string>

#include <tessera/backends/peers.hpp>
#include <tessera/core/error.hpp>

namespace tessera::peers {
namespace {
struct Less {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};
void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw Error("tessera::peers", std::string("CUB's merge: ") + cudaGetErrorString(status), "the call must succeed");
}
}  // namespace

/// CUB's merge, its workspace allocated once.
template <class T>
Peers merge(const Queue& queue, index_t a_count, const T* a, index_t b_count, const T* b, T* out) {
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  const auto call = [=](void* workspace, std::size_t& bytes) {
    check(cub::DeviceMerge::MergeKeys(workspace, bytes, a, a_count, b, b_count, out, Less{}, stream));
  };
  std::size_t bytes = 0;
  call(nullptr, bytes);
  void* pointer = nullptr;
  check(cudaMalloc(&pointer, bytes > 0 ? bytes : 1));
  const std::shared_ptr<void> memory(pointer, [](void* p) { cudaFree(p); });
  return {{"CUB", [=] {
             std::size_t given = bytes;
             call(memory.get(), given);
           }}};
}

template Peers merge(const Queue&, index_t, const float*, index_t, const float*, float*);
template Peers merge(const Queue&, index_t, const double*, index_t, const double*, double*);

}  // namespace tessera::peers
