// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cub_peer.hpp"
#include <cub/device/device_merge.cuh>

namespace tessera::peers {
namespace {
struct Less {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};
}  // namespace

/// CUB's merge.
template <class T>
Peers merge(const Queue& queue, index_t a_count, const T* a, index_t b_count, const T* b, T* out) {
  auto* const stream = stream_of(queue);
  return cub_peer("CUB's merge", [=](void* workspace, std::size_t& bytes) {
    return cub::DeviceMerge::MergeKeys(workspace, bytes, a, a_count, b, b_count, out, Less{}, stream);
  });
}

template Peers merge(const Queue&, index_t, const float*, index_t, const float*, float*);
template Peers merge(const Queue&, index_t, const double*, index_t, const double*, double*);

}  // namespace tessera::peers
