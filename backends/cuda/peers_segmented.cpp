// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cub_peer.hpp"
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_segmented_sort.cuh>

/// \file
/// CUB's calls for segments. It has no scan by flags: its scan by keys takes them, where two neighbours count as equal
/// unless the second one is a head.

namespace tessera::peers {
namespace {
struct SameSegment {
  __host__ __device__ bool operator()(std::uint8_t /*before*/, std::uint8_t head) const { return head == 0; }
};
}  // namespace

template <class T>
Peers segmented_sum(const Queue& queue, const T* x, index_t segments, const std::int32_t* offsets, T* out) {
  auto* const stream = stream_of(queue);
  return cub_peer("CUB's segmented reduce", [=](void* workspace, std::size_t& bytes) {
    return cub::DeviceSegmentedReduce::Sum(workspace, bytes, x, out, segments, offsets, offsets + 1, stream);
  });
}
template <class T>
Peers segmented_scan(const Queue& queue, index_t n, const T* x, const std::uint8_t* heads, T* y) {
  auto* const stream = stream_of(queue);
  return cub_peer_of_count("CUB's scan by key", n, [=](void* workspace, std::size_t& bytes, auto count) {
    return cub::DeviceScan::InclusiveSumByKey(workspace, bytes, heads, x, y, count, SameSegment{}, stream);
  });
}
template <class T>
Peers segmented_sort(const Queue& queue, index_t n, const T* keys_in, index_t segments, const std::int32_t* offsets,
                     T* keys_out) {
  auto* const stream = stream_of(queue);
  return cub_peer("CUB's segmented sort", [=](void* workspace, std::size_t& bytes) {
    return cub::DeviceSegmentedSort::SortKeys(workspace, bytes, keys_in, keys_out, n, segments, offsets, offsets + 1,
                                              stream);
  });
}

template Peers segmented_sum(const Queue&, const float*, index_t, const std::int32_t*, float*);
template Peers segmented_sum(const Queue&, const double*, index_t, const std::int32_t*, double*);
template Peers segmented_scan(const Queue&, index_t, const float*, const std::uint8_t*, float*);
template Peers segmented_scan(const Queue&, index_t, const double*, const std::uint8_t*, double*);
template Peers segmented_sort(const Queue&, index_t, const std::uint32_t*, index_t, const std::int32_t*,
                              std::uint32_t*);
template Peers segmented_sort(const Queue&, index_t, const double*, index_t, const std::int32_t*, double*);

}  // namespace tessera::peers
