// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cub_peer.hpp"
#include <cub/device/device_radix_sort.cuh>

namespace tessera::peers {

/// CUB's radix sort.
template <class T>
Peers sort(const Queue& queue, index_t n, const T* keys_in, T* keys_out, const std::uint32_t* values_in,
           std::uint32_t* values_out) {
  auto* const stream = stream_of(queue);
  return cub_peer_of_count("CUB's sort", n, [=](void* workspace, std::size_t& bytes, auto count) {
    constexpr int bits = 8 * static_cast<int>(sizeof(T));
    return values_in == nullptr
               ? cub::DeviceRadixSort::SortKeys(workspace, bytes, keys_in, keys_out, count, 0, bits, stream)
               : cub::DeviceRadixSort::SortPairs(workspace, bytes, keys_in, keys_out, values_in, values_out, count, 0,
                                                 bits, stream);
  });
}

template Peers sort(const Queue&, index_t, const std::uint32_t*, std::uint32_t*, const std::uint32_t*, std::uint32_t*);
template Peers sort(const Queue&, index_t, const std::uint64_t*, std::uint64_t*, const std::uint32_t*, std::uint32_t*);
template Peers sort(const Queue&, index_t, const float*, float*, const std::uint32_t*, std::uint32_t*);
template Peers sort(const Queue&, index_t, const double*, double*, const std::uint32_t*, std::uint32_t*);

}  // namespace tessera::peers
