// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "peer.hpp"
#include <tuple>

#include <tessera/core/types.hpp>

/// \file
/// The device copy, and empty lists of what the libraries linked here do not have.

namespace tessera::peers {

Queue queue_of(const Kokkos::DefaultExecutionSpace& exec) { return {true, exec.hip_stream(), exec.hip_device()}; }

Peers copy(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  auto* const stream = stream_of(queue);
  return {{"device copy", [=] { check(hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream), "copy"); }}};
}

template <class T>
Peers stencil7(const Queue&, index_t, index_t, index_t, T, T, const T*, T*) {
  return {};
}
template <class T>
Peers gather(const Queue&, index_t, const T*, const std::int32_t*, T*) {
  return {};
}
template <class T>
Peers scatter_add(const Queue&, index_t, const T*, const std::int32_t*, T*) {
  return {};
}
template <class T>
Peers random(const Queue&, bool, index_t, T*) {
  return {};
}
Peers gemm_tf32(const Queue&, bool, bool, index_t, index_t, index_t, const float*, index_t, const float*, index_t,
                float*, index_t) {
  return {};
}
template <class T>
Peers gemm_bias_gelu(const Queue&, index_t, index_t, index_t, const T*, const T*, const T*, T*) {
  return {};
}
template <class T>
Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const T*, const T*, T*) {
  return {};
}
template <class T>
Peers set_union(const Queue&, index_t, const T*, index_t, const T*, T*) {
  return {};
}
template <class T>
Peers set_intersection(const Queue&, index_t, const T*, index_t, const T*, T*) {
  return {};
}

template <class T>
struct Instantiate {
  static constexpr auto all = std::tuple(&stencil7<T>, &gather<T>, &scatter_add<T>, &random<T>);
};
template struct Instantiate<float>;
template struct Instantiate<double>;
template Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const float*, const float*, float*);
template Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const double*, const double*, double*);
template Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const half*, const half*, half*);
template Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const bfloat16*, const bfloat16*,
                            bfloat16*);
template Peers gemm_bias_gelu(const Queue&, index_t, index_t, index_t, const half*, const half*, const half*, half*);
template Peers gemm_bias_gelu(const Queue&, index_t, index_t, index_t, const bfloat16*, const bfloat16*,
                              const bfloat16*, bfloat16*);
template Peers set_union(const Queue&, index_t, const std::int32_t*, index_t, const std::int32_t*, std::int32_t*);
template Peers set_union(const Queue&, index_t, const double*, index_t, const double*, double*);
template Peers set_intersection(const Queue&, index_t, const std::int32_t*, index_t, const std::int32_t*,
                                std::int32_t*);
template Peers set_intersection(const Queue&, index_t, const double*, index_t, const double*, double*);

}  // namespace tessera::peers
