// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cub_peer.hpp"
#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>
#include <tuple>

/// \file
/// CUB's compactions.

namespace tessera::peers {
namespace {

/// Not every call of CUB's compactions takes more than 2^31 elements.
template <class Call>
Peers compaction_peer(index_t n, const Call& call) {
  if (n >= index_t{1} << 31) return {};
  return cub_peer("CUB's compaction",
                  [=](void* workspace, std::size_t& bytes) { return call(workspace, bytes, static_cast<int>(n)); });
}

template <class T>
struct Above {
  T limit;
  __host__ __device__ bool operator()(const T& value) const { return value > limit; }
};

}  // namespace

template <class T>
Peers select_flagged(const Queue& queue, index_t n, const T* x, const std::uint8_t* flags, T* y, std::int64_t* count) {
  auto* const stream = stream_of(queue);
  return compaction_peer(n, [=](void* workspace, std::size_t& bytes, int items) {
    return cub::DeviceSelect::Flagged(workspace, bytes, x, flags, y, count, items, stream);
  });
}
template <class T>
Peers select_above(const Queue& queue, index_t n, const T* x, T limit, T* y, std::int64_t* count) {
  auto* const stream = stream_of(queue);
  return compaction_peer(n, [=](void* workspace, std::size_t& bytes, int items) {
    return cub::DeviceSelect::If(workspace, bytes, x, y, count, items, Above<T>{limit}, stream);
  });
}
template <class T>
Peers partition_flagged(const Queue& queue, index_t n, const T* x, const std::uint8_t* flags, T* y,
                        std::int64_t* count) {
  auto* const stream = stream_of(queue);
  return compaction_peer(n, [=](void* workspace, std::size_t& bytes, int items) {
    return cub::DevicePartition::Flagged(workspace, bytes, x, flags, y, count, items, stream);
  });
}
template <class T>
Peers unique(const Queue& queue, index_t n, const T* x, T* y, std::int64_t* count) {
  auto* const stream = stream_of(queue);
  return compaction_peer(n, [=](void* workspace, std::size_t& bytes, int items) {
    return cub::DeviceSelect::Unique(workspace, bytes, x, y, count, items, stream);
  });
}
template <class T>
Peers run_length_encode(const Queue& queue, index_t n, const T* x, T* y, std::int32_t* lengths, std::int64_t* count) {
  auto* const stream = stream_of(queue);
  return compaction_peer(n, [=](void* workspace, std::size_t& bytes, int items) {
    return cub::DeviceRunLengthEncode::Encode(workspace, bytes, x, y, lengths, count, items, stream);
  });
}

template <class T>
struct Instantiate {
  static constexpr auto all =
      std::tuple(&select_flagged<T>, &select_above<T>, &partition_flagged<T>, &unique<T>, &run_length_encode<T>);
};
template struct Instantiate<float>;
template struct Instantiate<double>;

}  // namespace tessera::peers
