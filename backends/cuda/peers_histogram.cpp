// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cub/device/device_histogram.cuh>
#include <cuda_runtime_api.h>
#include <memory>
#include <string>

#include <tessera/backends/peers.hpp>
#include <tessera/core/error.hpp>

namespace tessera::peers {
namespace {
void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw Error("tessera::peers", std::string("CUB's histogram: ") + cudaGetErrorString(status),
                "the call must succeed");
}
}  // namespace

/// CUB's histogram, its workspace allocated once.
template <class T, class Level>
Peers histogram(const Queue& queue, index_t n, const T* x, int bins, Level lower, Level upper, std::int32_t* counts) {
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  const auto call = [=](void* workspace, std::size_t& bytes) {
    // 32-bit counts of samples are CUB's faster way
    const auto with = [&](auto samples) {
      return cub::DeviceHistogram::HistogramEven(workspace, bytes, x, counts, bins + 1, lower, upper, samples, stream);
    };
    check(n < index_t{1} << 31 ? with(static_cast<int>(n)) : with(n));
  };
  std::size_t bytes = 0;
  call(nullptr, bytes);
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes > 0 ? bytes : 1));
  const std::shared_ptr<void> workspace(memory, [](void* p) { cudaFree(p); });
  return {{"CUB", [=] {
             std::size_t given = bytes;
             call(workspace.get(), given);
           }}};
}

template Peers histogram(const Queue&, index_t, const float*, int, float, float, std::int32_t*);
template Peers histogram(const Queue&, index_t, const double*, int, double, double, std::int32_t*);
template Peers histogram(const Queue&, index_t, const std::int32_t*, int, std::int32_t, std::int32_t, std::int32_t*);
template Peers histogram(const Queue&, index_t, const std::uint8_t*, int, std::int32_t, std::int32_t, std::int32_t*);

}  // namespace tessera::peers
