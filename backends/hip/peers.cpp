// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <hip/hip_runtime_api.h>
#include <tuple>

#include <tessera/backends/peers.hpp>
#include <tessera/core/types.hpp>

/// \file
/// The device copy is the only peer here so far: rocBLAS and rocSPARSE are not linked, and an empty list says so.

namespace tessera::peers {

Queue queue_of(const Kokkos::DefaultExecutionSpace& exec) { return {true, exec.hip_stream(), exec.hip_device()}; }

Peers copy(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  auto* const stream = static_cast<hipStream_t>(queue.stream);
  return {{"device copy", [=] { (void)hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, stream); }}};
}

template <class T>
Peers axpy(const Queue&, index_t, T, const T*, T*) {
  return {};
}
template <class T>
Peers scal(const Queue&, index_t, T, T*) {
  return {};
}
template <class T>
Peers dot(const Queue&, index_t, const T*, const T*, T*) {
  return {};
}
template <class T>
Peers nrm2(const Queue&, index_t, const T*, T*) {
  return {};
}
template <class T>
Peers asum(const Queue&, index_t, const T*, T*) {
  return {};
}
template <class T>
Peers iamax(const Queue&, index_t, const T*, std::int64_t*) {
  return {};
}
template <class T>
Peers reduce_sum(const Queue&, index_t, const T*, T*) {
  return {};
}
template <class T>
Peers reduce_max(const Queue&, index_t, const T*, T*) {
  return {};
}
template <class T>
Peers gemv(const Queue&, bool, index_t, index_t, T, const T*, index_t, const T*, T, T*) {
  return {};
}
template <class T>
Peers transpose(const Queue&, index_t, index_t, const T*, index_t, T*, index_t) {
  return {};
}
template <class T>
Peers spmv(const Queue&, index_t, index_t, index_t, const std::int32_t*, const std::int32_t*, const T*, const T*, T*) {
  return {};
}
template <class TIn, class TOut>
Peers gemm(const Queue&, bool, bool, index_t, index_t, index_t, TOut, const TIn*, index_t, const TIn*, index_t, TOut,
           TOut*, index_t) {
  return {};
}
template <class T>
Peers stencil7(const Queue&, index_t, index_t, index_t, T, T, const T*, T*) {
  return {};
}
template <class T>
Peers sort(const Queue&, index_t, const T*, T*, const std::uint32_t*, std::uint32_t*) {
  return {};
}
template Peers sort(const Queue&, index_t, const std::uint32_t*, std::uint32_t*, const std::uint32_t*, std::uint32_t*);
template Peers sort(const Queue&, index_t, const std::uint64_t*, std::uint64_t*, const std::uint32_t*, std::uint32_t*);

template <class T>
Peers gather(const Queue&, index_t, const T*, const std::int32_t*, T*) {
  return {};
}
template <class T>
Peers scatter_add(const Queue&, index_t, const T*, const std::int32_t*, T*) {
  return {};
}
template <class T>
Peers gemm_bias_gelu(const Queue&, index_t, index_t, index_t, const T*, const T*, const T*, T*) {
  return {};
}
template Peers gemm_bias_gelu(const Queue&, index_t, index_t, index_t, const half*, const half*, const half*, half*);
template Peers gemm_bias_gelu(const Queue&, index_t, index_t, index_t, const bfloat16*, const bfloat16*,
                              const bfloat16*, bfloat16*);
template <class T, class Level>
Peers histogram(const Queue&, index_t, const T*, int, Level, Level, std::int32_t*) {
  return {};
}
template Peers histogram(const Queue&, index_t, const float*, int, float, float, std::int32_t*);
template Peers histogram(const Queue&, index_t, const double*, int, double, double, std::int32_t*);
template Peers histogram(const Queue&, index_t, const std::int32_t*, int, std::int32_t, std::int32_t, std::int32_t*);
template Peers histogram(const Queue&, index_t, const std::uint8_t*, int, std::int32_t, std::int32_t, std::int32_t*);
template <class T>
Peers random(const Queue&, bool, index_t, T*) {
  return {};
}
template Peers random(const Queue&, bool, index_t, float*);
template Peers random(const Queue&, bool, index_t, double*);
template <class T>
Peers merge(const Queue&, index_t, const T*, index_t, const T*, T*) {
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
Peers exclusive_scan(const Queue&, index_t, const T*, T*) {
  return {};
}

template <class T>
Peers select_flagged(const Queue&, index_t, const T*, const std::uint8_t*, T*, std::int64_t*) {
  return {};
}
template <class T>
Peers select_above(const Queue&, index_t, const T*, T, T*, std::int64_t*) {
  return {};
}
template <class T>
Peers partition_flagged(const Queue&, index_t, const T*, const std::uint8_t*, T*, std::int64_t*) {
  return {};
}
template <class T>
Peers unique(const Queue&, index_t, const T*, T*, std::int64_t*) {
  return {};
}
template <class T>
Peers run_length_encode(const Queue&, index_t, const T*, T*, std::int32_t*, std::int64_t*) {
  return {};
}

template <class T>
Peers segmented_sum(const Queue&, const T*, index_t, const std::int32_t*, T*) {
  return {};
}
template <class T>
Peers segmented_scan(const Queue&, index_t, const T*, const std::uint8_t*, T*) {
  return {};
}
template <class T>
Peers segmented_sort(const Queue&, index_t, const T*, index_t, const std::int32_t*, T*) {
  return {};
}
template Peers segmented_sort(const Queue&, index_t, const std::uint32_t*, index_t, const std::int32_t*,
                              std::uint32_t*);

template <class T>
struct Instantiate {
  static constexpr auto all =
      std::tuple(&axpy<T>, &scal<T>, &dot<T>, &nrm2<T>, &asum<T>, &iamax<T>, &reduce_sum<T>, &reduce_max<T>, &gemv<T>,
                 &transpose<T>, &spmv<T>, &stencil7<T>, &gemm<T, T>, &sort<T>, &exclusive_scan<T>, &select_flagged<T>,
                 &select_above<T>, &partition_flagged<T>, &unique<T>, &run_length_encode<T>, &merge<T>, &gather<T>,
                 &scatter_add<T>, &segmented_sum<T>, &segmented_scan<T>, &segmented_sort<T>);
};
template struct Instantiate<float>;
template struct Instantiate<double>;
template Peers exclusive_scan(const Queue&, index_t, const std::int32_t*, std::int32_t*);
template Peers set_union(const Queue&, index_t, const std::int32_t*, index_t, const std::int32_t*, std::int32_t*);
template Peers set_union(const Queue&, index_t, const double*, index_t, const double*, double*);
template Peers set_intersection(const Queue&, index_t, const std::int32_t*, index_t, const std::int32_t*,
                                std::int32_t*);
template Peers set_intersection(const Queue&, index_t, const double*, index_t, const double*, double*);
template Peers gemm(const Queue&, bool, bool, index_t, index_t, index_t, half, const half*, index_t, const half*,
                    index_t, half, half*, index_t);
template Peers gemm(const Queue&, bool, bool, index_t, index_t, index_t, bfloat16, const bfloat16*, index_t,
                    const bfloat16*, index_t, bfloat16, bfloat16*, index_t);

}  // namespace tessera::peers
