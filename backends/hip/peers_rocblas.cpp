// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "peer.hpp"
#include <map>
#include <string>
#include <tuple>
#include <type_traits>

#include <tessera/core/types.hpp>

#if TESSERA_HAVE_ROCBLAS
#include <rocblas/rocblas.h>
#endif

/// \file
/// rocBLAS on the bench's own handles, results to device memory.

namespace tessera::peers {

#if TESSERA_HAVE_ROCBLAS
namespace {
void check(rocblas_status status, const char* what) {
  if (status != rocblas_status_success)
    throw Error("tessera::peers", std::string(what) + ": " + rocblas_status_to_string(status), "the call must succeed");
}
/// One handle a stream for the life of the program.
rocblas_handle blas(const Queue& queue, rocblas_pointer_mode mode) {
  static std::map<std::pair<void*, int>, rocblas_handle> handles;
  auto& handle = handles[{queue.stream, static_cast<int>(mode)}];
  if (handle == nullptr) {
    check(rocblas_create_handle(&handle), "rocblas_create_handle");
    check(rocblas_set_stream(handle, stream_of(queue)), "rocblas_set_stream");
    check(rocblas_set_pointer_mode(handle, mode), "rocblas_set_pointer_mode");
  }
  return handle;
}
rocblas_handle host_scalars(const Queue& queue) { return blas(queue, rocblas_pointer_mode_host); }
rocblas_handle device_results(const Queue& queue) { return blas(queue, rocblas_pointer_mode_device); }
rocblas_operation operation(bool transposed) {
  return transposed ? rocblas_operation_transpose : rocblas_operation_none;
}
template <class T>
constexpr bool single = std::is_same_v<T, float>;
}  // namespace
#endif

template <class T>
Peers axpy(const Queue& queue, index_t n, T alpha, const T* x, T* y) {
#if TESSERA_HAVE_ROCBLAS
  auto* const h = host_scalars(queue);
  return {{"rocBLAS", [=] {
             if constexpr (single<T>)
               check(rocblas_saxpy_64(h, n, &alpha, x, 1, y, 1), "axpy");
             else
               check(rocblas_daxpy_64(h, n, &alpha, x, 1, y, 1), "axpy");
           }}};
#else
  return none(queue, n, alpha, x, y);
#endif
}

template <class T>
Peers scal(const Queue& queue, index_t n, T alpha, T* x) {
#if TESSERA_HAVE_ROCBLAS
  auto* const h = host_scalars(queue);
  return {{"rocBLAS", [=] {
             if constexpr (single<T>)
               check(rocblas_sscal_64(h, n, &alpha, x, 1), "scal");
             else
               check(rocblas_dscal_64(h, n, &alpha, x, 1), "scal");
           }}};
#else
  return none(queue, n, alpha, x);
#endif
}

template <class T>
Peers dot(const Queue& queue, index_t n, const T* x, const T* y, T* result) {
#if TESSERA_HAVE_ROCBLAS
  auto* const h = device_results(queue);
  return {{"rocBLAS", [=] {
             if constexpr (single<T>)
               check(rocblas_sdot_64(h, n, x, 1, y, 1, result), "dot");
             else
               check(rocblas_ddot_64(h, n, x, 1, y, 1, result), "dot");
           }}};
#else
  return none(queue, n, x, y, result);
#endif
}

template <class T>
Peers nrm2(const Queue& queue, index_t n, const T* x, T* result) {
#if TESSERA_HAVE_ROCBLAS
  auto* const h = device_results(queue);
  return {{"rocBLAS", [=] {
             if constexpr (single<T>)
               check(rocblas_snrm2_64(h, n, x, 1, result), "nrm2");
             else
               check(rocblas_dnrm2_64(h, n, x, 1, result), "nrm2");
           }}};
#else
  return none(queue, n, x, result);
#endif
}

template <class T>
Peers asum(const Queue& queue, index_t n, const T* x, T* result) {
#if TESSERA_HAVE_ROCBLAS
  auto* const h = device_results(queue);
  return {{"rocBLAS", [=] {
             if constexpr (single<T>)
               check(rocblas_sasum_64(h, n, x, 1, result), "asum");
             else
               check(rocblas_dasum_64(h, n, x, 1, result), "asum");
           }}};
#else
  return none(queue, n, x, result);
#endif
}

template <class T>
Peers iamax(const Queue& queue, index_t n, const T* x, std::int64_t* result) {
#if TESSERA_HAVE_ROCBLAS
  auto* const h = device_results(queue);
  return {{"rocBLAS", [=] {
             if constexpr (single<T>)
               check(rocblas_isamax_64(h, n, x, 1, result), "iamax");
             else
               check(rocblas_idamax_64(h, n, x, 1, result), "iamax");
           }}};
#else
  return none(queue, n, x, result);
#endif
}

template <class T>
Peers gemv(const Queue& queue, bool transposed, index_t m, index_t n, T alpha, const T* a, index_t lda, const T* x,
           T beta, T* y) {
#if TESSERA_HAVE_ROCBLAS
  auto* const h = host_scalars(queue);
  const auto op = operation(transposed);
  return {{"rocBLAS", [=] {
             if constexpr (single<T>)
               check(rocblas_sgemv_64(h, op, m, n, &alpha, a, lda, x, 1, &beta, y, 1), "gemv");
             else
               check(rocblas_dgemv_64(h, op, m, n, &alpha, a, lda, x, 1, &beta, y, 1), "gemv");
           }}};
#else
  return none(queue, transposed, m, n, alpha, a, lda, x, beta, y);
#endif
}

template <class T>
Peers transpose(const Queue& queue, index_t m, index_t n, const T* a, index_t lda, T* b, index_t ldb) {
#if TESSERA_HAVE_ROCBLAS
  auto* const h = host_scalars(queue);
  return {{"rocBLAS geam", [=] {
             const T one = 1, zero = 0;
             if constexpr (single<T>)
               check(rocblas_sgeam_64(h, operation(true), operation(false), n, m, &one, a, lda, &zero, b, ldb, b, ldb),
                     "geam");
             else
               check(rocblas_dgeam_64(h, operation(true), operation(false), n, m, &one, a, lda, &zero, b, ldb, b, ldb),
                     "geam");
           }}};
#else
  return none(queue, m, n, a, lda, b, ldb);
#endif
}

template <class TIn, class TOut>
Peers gemm(const Queue& queue, bool ta, bool tb, index_t m, index_t n, index_t k, TOut alpha, const TIn* a, index_t lda,
           const TIn* b, index_t ldb, TOut beta, TOut* c, index_t ldc) {
#if TESSERA_HAVE_ROCBLAS
  auto* const h = host_scalars(queue);
  const auto op_a = operation(ta), op_b = operation(tb);
  return {{"rocBLAS", [=] {
             if constexpr (std::is_same_v<TIn, float>) {
               check(rocblas_sgemm_64(h, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc), "gemm");
             } else if constexpr (std::is_same_v<TIn, double>) {
               check(rocblas_dgemm_64(h, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc), "gemm");
             } else if constexpr (std::is_same_v<TIn, Kokkos::complex<double>>) {
               const auto z = [](const auto* p) { return reinterpret_cast<const rocblas_double_complex*>(p); };
               check(rocblas_zgemm_64(h, op_a, op_b, m, n, k, z(&alpha), z(a), lda, z(b), ldb, z(&beta),
                                      reinterpret_cast<rocblas_double_complex*>(c), ldc),
                     "gemm");
             } else {
               constexpr auto type = std::is_same_v<TIn, half> ? rocblas_datatype_f16_r : rocblas_datatype_bf16_r;
               const float wide_alpha = alpha, wide_beta = beta;
               check(rocblas_gemm_ex_64(h, op_a, op_b, m, n, k, &wide_alpha, a, type, lda, b, type, ldb, &wide_beta, c,
                                        type, ldc, c, type, ldc, rocblas_datatype_f32_r, rocblas_gemm_algo_standard, 0,
                                        0),
                     "gemm");
             }
           }}};
#else
  return none(queue, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#endif
}

template <class T>
struct Instantiate {
  static constexpr auto all =
      std::tuple(&axpy<T>, &scal<T>, &dot<T>, &nrm2<T>, &asum<T>, &iamax<T>, &gemv<T>, &transpose<T>, &gemm<T, T>);
};
template struct Instantiate<float>;
template struct Instantiate<double>;
template Peers gemm(const Queue&, bool, bool, index_t, index_t, index_t, Kokkos::complex<double>,
                    const Kokkos::complex<double>*, index_t, const Kokkos::complex<double>*, index_t,
                    Kokkos::complex<double>, Kokkos::complex<double>*, index_t);
template Peers gemm(const Queue&, bool, bool, index_t, index_t, index_t, half, const half*, index_t, const half*,
                    index_t, half, half*, index_t);
template Peers gemm(const Queue&, bool, bool, index_t, index_t, index_t, bfloat16, const bfloat16*, index_t,
                    const bfloat16*, index_t, bfloat16, bfloat16*, index_t);

}  // namespace tessera::peers
