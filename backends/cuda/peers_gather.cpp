// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cuda_runtime_api.h>
#include <thrust/execution_policy.h>
#include <thrust/gather.h>

#include <tessera/backends/peers.hpp>

namespace tessera::peers {

template <class T>
Peers gather(const Queue& queue, index_t n, const T* x, const std::int32_t* index, T* y) {
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  return {{"Thrust", [=] { thrust::gather(thrust::cuda::par_nosync.on(stream), index, index + n, x, y); }}};
}

template <class T>
Peers scatter_add(const Queue& /*queue*/, index_t /*n*/, const T* /*x*/, const std::int32_t* /*index*/, T* /*y*/) {
  return {};
}

template Peers gather(const Queue&, index_t, const float*, const std::int32_t*, float*);
template Peers gather(const Queue&, index_t, const double*, const std::int32_t*, double*);
template Peers scatter_add(const Queue&, index_t, const float*, const std::int32_t*, float*);
template Peers scatter_add(const Queue&, index_t, const double*, const std::int32_t*, double*);

}  // namespace tessera::peers
