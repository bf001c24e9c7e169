// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cub_peer.hpp"
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <tuple>

namespace tessera::peers {
template <class T>
Peers reduce_sum(const Queue& queue, index_t n, const T* x, T* result) {
  auto* const stream = stream_of(queue);
  return cub_peer("CUB reduce", [=](void* workspace, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(workspace, bytes, x, result, n, stream);
  });
}

template <class T>
Peers reduce_max(const Queue& queue, index_t n, const T* x, T* result) {
  auto* const stream = stream_of(queue);
  return cub_peer("CUB reduce", [=](void* workspace, std::size_t& bytes) {
    return cub::DeviceReduce::Max(workspace, bytes, x, result, n, stream);
  });
}

template <class T>
Peers exclusive_scan(const Queue& queue, index_t n, const T* x, T* y) {
  auto* const stream = stream_of(queue);
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
