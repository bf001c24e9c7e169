// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <cstring>

#include <tessera/backends/peers.hpp>
#include <tessera/core/config.hpp>
#include <tessera/core/types.hpp>

#if TESSERA_HAVE_CBLAS
#include <cblas.h>
#endif

/// \file
/// The loops that a careful user writes by hand with OpenMP, and the same calls to a CBLAS.

namespace tessera::peers {

Queue queue_of(const Kokkos::DefaultExecutionSpace& /*exec*/) { return {}; }

Replay capture(const Queue& /*queue*/, const std::function<void()>& /*enqueue*/) {
  return {{}, 0, "calls run on the host as they are made"};
}

Peers copy(const Queue& /*queue*/, void* to, const void* from, std::size_t bytes) {
  const auto n = static_cast<index_t>(bytes / sizeof(double));
  auto* const out = static_cast<double*>(to);
  const auto* const in = static_cast<const double*>(from);
  return {{"OpenMP loop", [=] {
#pragma omp parallel for simd schedule(static)
             for (index_t i = 0; i < n; ++i) out[i] = in[i];
           }}};
}

template <class T>
Peers axpy(const Queue& /*queue*/, index_t n, T alpha, const T* x, T* y) {
  Peers peers{{"OpenMP loop", [=] {
#pragma omp parallel for simd schedule(static)
                 for (index_t i = 0; i < n; ++i) y[i] += alpha * x[i];
               }}};
#if TESSERA_HAVE_CBLAS
  peers.push_back({"OpenBLAS", [=] {
                     if constexpr (std::is_same_v<T, float>)
                       cblas_saxpy(static_cast<int>(n), alpha, x, 1, y, 1);
                     else
                       cblas_daxpy(static_cast<int>(n), alpha, x, 1, y, 1);
                   }});
#endif
  return peers;
}

template <class T>
Peers scal(const Queue& /*queue*/, index_t n, T alpha, T* x) {
  return {{"OpenMP loop", [=] {
#pragma omp parallel for simd schedule(static)
             for (index_t i = 0; i < n; ++i) x[i] *= alpha;
           }}};
}

template <class T>
Peers dot(const Queue& /*queue*/, index_t n, const T* x, const T* y, T* result) {
  Peers peers{{"OpenMP loop", [=] {
                 double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
                 for (index_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
                 *result = static_cast<T>(sum);
               }}};
#if TESSERA_HAVE_CBLAS
  peers.push_back({"OpenBLAS", [=] {
                     if constexpr (std::is_same_v<T, float>)
                       *result = cblas_sdot(static_cast<int>(n), x, 1, y, 1);
                     else
                       *result = cblas_ddot(static_cast<int>(n), x, 1, y, 1);
                   }});
#endif
  return peers;
}

template <class T>
Peers nrm2(const Queue& /*queue*/, index_t n, const T* x, T* result) {
  Peers peers{{"OpenMP loop", [=] {
                 double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
                 for (index_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
                 *result = static_cast<T>(std::sqrt(sum));
               }}};
#if TESSERA_HAVE_CBLAS
  peers.push_back({"OpenBLAS", [=] {
                     if constexpr (std::is_same_v<T, float>)
                       *result = cblas_snrm2(static_cast<int>(n), x, 1);
                     else
                       *result = cblas_dnrm2(static_cast<int>(n), x, 1);
                   }});
#endif
  return peers;
}

template <class T>
Peers asum(const Queue& /*queue*/, index_t n, const T* x, T* result) {
  return {{"OpenMP loop", [=] {
             double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
             for (index_t i = 0; i < n; ++i) sum += std::abs(static_cast<double>(x[i]));
             *result = static_cast<T>(sum);
           }}};
}

template <class T>
Peers iamax(const Queue& /*queue*/, index_t n, const T* x, std::int64_t* result) {
  return {{"OpenMP loop", [=] {
             T best = -1;
             index_t at = n;
#pragma omp parallel
             {
               T mine = -1;
               index_t mine_at = n;
#pragma omp for schedule(static) nowait
               for (index_t i = 0; i < n; ++i)
                 if (std::abs(x[i]) > mine) {
                   mine = std::abs(x[i]);
                   mine_at = i;
                 }
#pragma omp critical
               if (mine > best || (mine == best && mine_at < at)) {
                 best = mine;
                 at = mine_at;
               }
             }
             *result = at;
           }}};
}

template <class T>
Peers reduce_sum(const Queue& /*queue*/, index_t n, const T* x, T* result) {
  return {{"OpenMP loop", [=] {
             double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
             for (index_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]);
             *result = static_cast<T>(sum);
           }}};
}

template <class T>
Peers reduce_max(const Queue& /*queue*/, index_t n, const T* x, T* result) {
  return {{"OpenMP loop", [=] {
             T most = x[0];
#pragma omp parallel for simd schedule(static) reduction(max : most)
             for (index_t i = 0; i < n; ++i) most = x[i] > most ? x[i] : most;
             *result = most;
           }}};
}

template <class T>
Peers gemv(const Queue& /*queue*/, bool transposed, index_t m, index_t n, T alpha, const T* a, index_t lda, const T* x,
           T beta, T* y) {
  Peers peers;
  if (transposed)
    peers.push_back({"OpenMP loop", [=] {
#pragma omp parallel for schedule(static)
                       for (index_t j = 0; j < n; ++j) {
                         T sum = 0;
#pragma omp simd reduction(+ : sum)
                         for (index_t i = 0; i < m; ++i) sum += a[i + j * lda] * x[i];
                         y[j] = alpha * sum + beta * y[j];
                       }
                     }});
  else
    peers.push_back({"OpenMP loop", [=] {
#pragma omp parallel
                       {
                         // blocks of rows that stay in a level-1 cache
                         constexpr index_t block = 512;
#pragma omp for schedule(static)
                         for (index_t i0 = 0; i0 < m; i0 += block) {
                           const index_t i1 = std::min(i0 + block, m);
                           for (index_t i = i0; i < i1; ++i) y[i] *= beta;
                           for (index_t j = 0; j < n; ++j) {
                             const T factor = alpha * x[j];
#pragma omp simd
                             for (index_t i = i0; i < i1; ++i) y[i] += factor * a[i + j * lda];
                           }
                         }
                       }
                     }});
#if TESSERA_HAVE_CBLAS
  peers.push_back({"OpenBLAS", [=] {
                     const auto op = transposed ? CblasTrans : CblasNoTrans;
                     const int rows = static_cast<int>(m), columns = static_cast<int>(n), ld = static_cast<int>(lda);
                     if constexpr (std::is_same_v<T, float>)
                       cblas_sgemv(CblasColMajor, op, rows, columns, alpha, a, ld, x, 1, beta, y, 1);
                     else
                       cblas_dgemv(CblasColMajor, op, rows, columns, alpha, a, ld, x, 1, beta, y, 1);
                   }});
#endif
  return peers;
}

template <class T>
Peers transpose(const Queue& /*queue*/, index_t m, index_t n, const T* a, index_t lda, T* b, index_t ldb) {
  return {{"OpenMP loop", [=] {
             constexpr index_t tile = 32;
#pragma omp parallel for collapse(2) schedule(static)
             for (index_t j0 = 0; j0 < n; j0 += tile)
               for (index_t i0 = 0; i0 < m; i0 += tile) {
                 const index_t j1 = std::min(j0 + tile, n), i1 = std::min(i0 + tile, m);
                 for (index_t i = i0; i < i1; ++i)
#pragma omp simd
                   for (index_t j = j0; j < j1; ++j) b[j + i * ldb] = a[i + j * lda];
               }
           }}};
}

template <class T>
Peers spmv(const Queue& /*queue*/, index_t rows, index_t /*columns*/, index_t /*nnz*/, const std::int32_t* offsets,
           const std::int32_t* indices, const T* values, const T* x, T* y) {
  return {{"OpenMP loop", [=] {
#pragma omp parallel for schedule(static)
             for (index_t i = 0; i < rows; ++i) {
               T sum = 0;
               for (std::int32_t k = offsets[i]; k < offsets[i + 1]; ++k) sum += values[k] * x[indices[k]];
               y[i] = sum;
             }
           }}};
}

template <class TIn, class TOut>
Peers gemm(const Queue& /*queue*/, [[maybe_unused]] bool ta, [[maybe_unused]] bool tb, [[maybe_unused]] index_t m,
           [[maybe_unused]] index_t n, [[maybe_unused]] index_t k, [[maybe_unused]] TOut alpha,
           [[maybe_unused]] const TIn* a, [[maybe_unused]] index_t lda, [[maybe_unused]] const TIn* b,
           [[maybe_unused]] index_t ldb, [[maybe_unused]] TOut beta, [[maybe_unused]] TOut* c,
           [[maybe_unused]] index_t ldc) {
#if TESSERA_HAVE_CBLAS
  if constexpr (std::is_floating_point_v<TIn>)
    return {{"OpenBLAS", [=] {
               const auto op_a = ta ? CblasTrans : CblasNoTrans;
               const auto op_b = tb ? CblasTrans : CblasNoTrans;
               const auto i = [](index_t v) { return static_cast<int>(v); };
               if constexpr (std::is_same_v<TIn, float>)
                 cblas_sgemm(CblasColMajor, op_a, op_b, i(m), i(n), i(k), alpha, a, i(lda), b, i(ldb), beta, c, i(ldc));
               else
                 cblas_dgemm(CblasColMajor, op_a, op_b, i(m), i(n), i(k), alpha, a, i(lda), b, i(ldb), beta, c, i(ldc));
             }}};
#endif
  return {};
}

template <class T>
Peers gemm_batched(const Queue& /*queue*/, index_t batches, index_t m, index_t n, index_t k, const T* a, const T* b,
                   T* c) {
  Peers peers;
  if constexpr (std::is_floating_point_v<T>) {
    peers.push_back({"OpenMP loop", [=] {
#pragma omp parallel for schedule(static)
                       for (index_t p = 0; p < batches; ++p)
                         for (index_t i = 0; i < m; ++i) {
                           T* const row = c + (p * m + i) * n;
                           for (index_t j = 0; j < n; ++j) row[j] = 0;
                           for (index_t l = 0; l < k; ++l) {
                             const T factor = a[(p * m + i) * k + l];
#pragma omp simd
                             for (index_t j = 0; j < n; ++j) row[j] += factor * b[(p * k + l) * n + j];
                           }
                         }
                     }});
#if TESSERA_HAVE_CBLAS
    peers.push_back({"OpenBLAS", [=] {
                       const int rows = static_cast<int>(m), columns = static_cast<int>(n), depth = static_cast<int>(k);
#pragma omp parallel for schedule(static)
                       for (index_t p = 0; p < batches; ++p) {
                         const T *const x = a + p * m * k, *const y = b + p * k * n;
                         T* const z = c + p * m * n;
                         if constexpr (std::is_same_v<T, float>)
                           cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, depth, 1, x, depth, y,
                                       columns, 0, z, columns);
                         else
                           cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, depth, 1, x, depth, y,
                                       columns, 0, z, columns);
                       }
                     }});
#endif
  }
  return peers;
}
template Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const float*, const float*, float*);
template Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const double*, const double*, double*);
template Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const half*, const half*, half*);
template Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const bfloat16*, const bfloat16*,
                            bfloat16*);

template <class T>
Peers stencil7(const Queue& /*queue*/, index_t nx, index_t ny, index_t nz, T center, T side, const T* u, T* v) {
  return {{"OpenMP loop", [=] {
             const index_t sx = ny * nz, sy = nz;
#pragma omp parallel for collapse(2) schedule(static)
             for (index_t i = 1; i < nx - 1; ++i)
               for (index_t j = 1; j < ny - 1; ++j) {
                 const T* const p = u + i * sx + j * sy;
                 T* const q = v + i * sx + j * sy;
#pragma omp simd
                 for (index_t k = 1; k < nz - 1; ++k)
                   q[k] = center * p[k] + side * (p[k - 1] + p[k + 1] + p[k - sy] + p[k + sy] + p[k - sx] + p[k + sx]);
               }
           }}};
}

template <class T>
Peers stencil27(const Queue& /*queue*/, index_t nx, index_t ny, index_t nz, T center, T face, T edge, T corner,
                const T* u, T* v) {
  return {{"OpenMP loop", [=] {
             const index_t sx = ny * nz, sy = nz;
#pragma omp parallel for collapse(2) schedule(static)
             for (index_t i = 1; i < nx - 1; ++i)
               for (index_t j = 1; j < ny - 1; ++j) {
                 const T* const p = u + i * sx + j * sy;
                 T* const q = v + i * sx + j * sy;
                 const T *const a = p - sx, *const b = p + sx;
#pragma omp simd
                 for (index_t k = 1; k < nz - 1; ++k)
                   q[k] = center * p[k] + face * (p[k - 1] + p[k + 1] + p[k - sy] + p[k + sy] + a[k] + b[k]) +
                          edge * (p[k - sy - 1] + p[k - sy + 1] + p[k + sy - 1] + p[k + sy + 1] + a[k - 1] + a[k + 1] +
                                  a[k - sy] + a[k + sy] + b[k - 1] + b[k + 1] + b[k - sy] + b[k + sy]) +
                          corner * (a[k - sy - 1] + a[k - sy + 1] + a[k + sy - 1] + a[k + sy + 1] + b[k - sy - 1] +
                                    b[k - sy + 1] + b[k + sy - 1] + b[k + sy + 1]);
               }
           }}};
}

template <class T>
struct Instantiate {
  static constexpr auto all =
      std::tuple(&axpy<T>, &scal<T>, &dot<T>, &nrm2<T>, &asum<T>, &iamax<T>, &reduce_sum<T>, &reduce_max<T>, &gemv<T>,
                 &transpose<T>, &spmv<T>, &stencil7<T>, &stencil27<T>);
};
template struct Instantiate<float>;
template struct Instantiate<double>;
template Peers transpose(const Queue&, index_t, index_t, const Kokkos::complex<double>*, index_t,
                         Kokkos::complex<double>*, index_t);
template Peers gemm(const Queue&, bool, bool, index_t, index_t, index_t, float, const float*, index_t, const float*,
                    index_t, float, float*, index_t);
template Peers gemm(const Queue&, bool, bool, index_t, index_t, index_t, double, const double*, index_t, const double*,
                    index_t, double, double*, index_t);
template Peers gemm(const Queue&, bool, bool, index_t, index_t, index_t, half, const half*, index_t, const half*,
                    index_t, half, half*, index_t);
template Peers gemm(const Queue&, bool, bool, index_t, index_t, index_t, bfloat16, const bfloat16*, index_t,
                    const bfloat16*, index_t, bfloat16, bfloat16*, index_t);

}  // namespace tessera::peers
