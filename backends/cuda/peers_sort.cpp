// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime_api.h>
#include <memory>
#include <string>

#include <tessera/backends/peers.hpp>
#include <tessera/core/error.hpp>

namespace tessera::peers {
namespace {
void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw Error("tessera::peers", std::string("CUB's sort: ") + cudaGetErrorString(status), "the call must succeed");
}
struct Memory {
  void* pointer = nullptr;
  explicit Memory(std::size_t bytes) { check(cudaMalloc(&pointer, bytes)); }
  ~Memory() { cudaFree(pointer); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
};
}  // namespace

/// CUB's radix sort, its workspace allocated once.
template <class T>
Peers sort(const Queue& queue, index_t n, const T* keys_in, T* keys_out, const std::uint32_t* values_in,
           std::uint32_t* values_out) {
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  const auto call = [=](void* workspace, std::size_t& bytes) {
    constexpr int bits = 8 * static_cast<int>(sizeof(T));
    // 32-bit counts are CUB's faster way
    const auto with = [&](auto count) {
      return values_in == nullptr
                 ? cub::DeviceRadixSort::SortKeys(workspace, bytes, keys_in, keys_out, count, 0, bits, stream)
                 : cub::DeviceRadixSort::SortPairs(workspace, bytes, keys_in, keys_out, values_in, values_out, count, 0,
                                                   bits, stream);
    };
    check(n < index_t{1} << 31 ? with(static_cast<int>(n)) : with(n));
  };
  std::size_t bytes = 0;
  call(nullptr, bytes);
  const auto memory = std::make_shared<Memory>(bytes);
  return {{"CUB", [=] {
             std::size_t given = bytes;
             call(memory->pointer, given);
           }}};
}

template Peers sort(const Queue&, index_t, const std::uint32_t*, std::uint32_t*, const std::uint32_t*, std::uint32_t*);
template Peers sort(const Queue&, index_t, const std::uint64_t*, std::uint64_t*, const std::uint32_t*, std::uint32_t*);
template Peers sort(const Queue&, index_t, const float*, float*, const std::uint32_t*, std::uint32_t*);
template Peers sort(const Queue&, index_t, const double*, double*, const std::uint32_t*, std::uint32_t*);

}  // namespace tessera::peers
