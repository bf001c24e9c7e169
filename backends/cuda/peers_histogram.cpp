// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cub_peer.hpp"
#include <cub/device/device_histogram.cuh>

namespace tessera::peers {

/// CUB's histogram.
template <class T, class Level>
Peers histogram(const Queue& queue, index_t n, const T* x, int bins, Level lower, Level upper, std::int32_t* counts) {
  auto* const stream = stream_of(queue);
  return cub_peer_of_count("CUB's histogram", n, [=](void* workspace, std::size_t& bytes, auto samples) {
    return cub::DeviceHistogram::HistogramEven(workspace, bytes, x, counts, bins + 1, lower, upper, samples, stream);
  });
}

template Peers histogram(const Queue&, index_t, const float*, int, float, float, std::int32_t*);
template Peers histogram(const Queue&, index_t, const double*, int, double, double, std::int32_t*);
template Peers histogram(const Queue&, index_t, const std::int32_t*, int, std::int32_t, std::int32_t, std::int32_t*);
template Peers histogram(const Queue&, index_t, const std::uint8_t*, int, std::int32_t, std::int32_t, std::int32_t*);

}  // namespace tessera::peers
