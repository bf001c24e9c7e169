// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "peers_cublaslt.hpp"
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include <tessera/backends/peers.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/types.hpp>

/// \file
/// cuBLAS and cuSPARSE on the bench's own handles, results to device memory, workspaces set once.

namespace tessera::peers {
namespace {

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw Error("tessera::peers", std::string(what) + ": " + cudaGetErrorString(status), "the call must succeed");
}
void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error("tessera::peers", std::string(what) + ": " + cublasGetStatusString(status), "the call must succeed");
}
void check(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw Error("tessera::peers", std::string(what) + ": " + cusparseGetErrorString(status), "the call must succeed");
}

/// One handle a stream for the life of the program, with 256 MiB of workspace as BASELINES measures with. The bench
/// ends by leaving main; the driver frees them.
cublasHandle_t blas(const Queue& queue, cublasPointerMode_t mode) {
  static std::map<std::pair<void*, int>, cublasHandle_t> handles;
  auto& handle = handles[{queue.stream, static_cast<int>(mode)}];
  if (handle == nullptr) {
    check(cublasCreate(&handle), "cublasCreate");
    check(cublasSetStream(handle, static_cast<cudaStream_t>(queue.stream)), "cublasSetStream");
    check(cublasSetPointerMode(handle, mode), "cublasSetPointerMode");
    constexpr std::size_t bytes = std::size_t{256} << 20;
    void* workspace = nullptr;
    check(cudaMalloc(&workspace, bytes), "cudaMalloc");
    check(cublasSetWorkspace(handle, workspace, bytes), "cublasSetWorkspace");
  }
  return handle;
}
cublasHandle_t host_scalars(const Queue& queue) { return blas(queue, CUBLAS_POINTER_MODE_HOST); }
cublasHandle_t device_results(const Queue& queue) { return blas(queue, CUBLAS_POINTER_MODE_DEVICE); }

template <class T>
constexpr bool single = std::is_same_v<T, float>;
template <class T>
constexpr LtElements lt_elements = std::is_same_v<T, bfloat16> ? LtElements::bf16 : LtElements::fp16;

}  // namespace

Queue queue_of(const Kokkos::DefaultExecutionSpace& exec) { return {true, exec.cuda_stream(), exec.cuda_device()}; }

Peers copy(const Queue& queue, void* to, const void* from, std::size_t bytes) {
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  return {{"device copy", [=] { check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "copy"); }}};
}

template <class T>
Peers axpy(const Queue& queue, index_t n, T alpha, const T* x, T* y) {
  auto* const h = host_scalars(queue);
  return {{"cuBLAS", [=] {
             if constexpr (single<T>)
               check(cublasSaxpy_64(h, n, &alpha, x, 1, y, 1), "axpy");
             else
               check(cublasDaxpy_64(h, n, &alpha, x, 1, y, 1), "axpy");
           }}};
}

template <class T>
Peers scal(const Queue& queue, index_t n, T alpha, T* x) {
  auto* const h = host_scalars(queue);
  return {{"cuBLAS", [=] {
             if constexpr (single<T>)
               check(cublasSscal_64(h, n, &alpha, x, 1), "scal");
             else
               check(cublasDscal_64(h, n, &alpha, x, 1), "scal");
           }}};
}

template <class T>
Peers dot(const Queue& queue, index_t n, const T* x, const T* y, T* result) {
  auto* const h = device_results(queue);
  return {{"cuBLAS", [=] {
             if constexpr (single<T>)
               check(cublasSdot_64(h, n, x, 1, y, 1, result), "dot");
             else
               check(cublasDdot_64(h, n, x, 1, y, 1, result), "dot");
           }}};
}

template <class T>
Peers nrm2(const Queue& queue, index_t n, const T* x, T* result) {
  auto* const h = device_results(queue);
  return {{"cuBLAS", [=] {
             if constexpr (single<T>)
               check(cublasSnrm2_64(h, n, x, 1, result), "nrm2");
             else
               check(cublasDnrm2_64(h, n, x, 1, result), "nrm2");
           }}};
}

template <class T>
Peers asum(const Queue& queue, index_t n, const T* x, T* result) {
  auto* const h = device_results(queue);
  return {{"cuBLAS", [=] {
             if constexpr (single<T>)
               check(cublasSasum_64(h, n, x, 1, result), "asum");
             else
               check(cublasDasum_64(h, n, x, 1, result), "asum");
           }}};
}

template <class T>
Peers iamax(const Queue& queue, index_t n, const T* x, std::int64_t* result) {
  auto* const h = device_results(queue);
  return {{"cuBLAS", [=] {
             if constexpr (single<T>)
               check(cublasIsamax_64(h, n, x, 1, result), "iamax");
             else
               check(cublasIdamax_64(h, n, x, 1, result), "iamax");
           }}};
}

template <class T>
Peers gemv(const Queue& queue, bool transposed, index_t m, index_t n, T alpha, const T* a, index_t lda, const T* x,
           T beta, T* y) {
  auto* const h = host_scalars(queue);
  const auto op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  return {{"cuBLAS", [=] {
             if constexpr (single<T>)
               check(cublasSgemv_64(h, op, m, n, &alpha, a, lda, x, 1, &beta, y, 1), "gemv");
             else
               check(cublasDgemv_64(h, op, m, n, &alpha, a, lda, x, 1, &beta, y, 1), "gemv");
           }}};
}

template <class T>
Peers transpose(const Queue& queue, index_t m, index_t n, const T* a, index_t lda, T* b, index_t ldb) {
  auto* const h = host_scalars(queue);
  return {{"cuBLAS geam", [=] {
             const T one = 1, zero = 0;
             if constexpr (single<T>)
               check(cublasSgeam_64(h, CUBLAS_OP_T, CUBLAS_OP_N, n, m, &one, a, lda, &zero, b, ldb, b, ldb), "geam");
             else
               check(cublasDgeam_64(h, CUBLAS_OP_T, CUBLAS_OP_N, n, m, &one, a, lda, &zero, b, ldb, b, ldb), "geam");
           }}};
}

template <class T>
Peers spmv(const Queue& queue, index_t rows, index_t columns, index_t nnz, const std::int32_t* offsets,
           const std::int32_t* indices, const T* values, const T* x, T* y) {
  struct State {
    cusparseHandle_t handle = nullptr;
    cusparseSpMatDescr_t matrix = nullptr;
    cusparseDnVecDescr_t x = nullptr, y = nullptr;
    void* buffer = nullptr;
    ~State() {
      cusparseDestroyDnVec(x);
      cusparseDestroyDnVec(y);
      cusparseDestroySpMat(matrix);
      cusparseDestroy(handle);
      cudaFree(buffer);
    }
  };
  const auto s = std::make_shared<State>();
  const auto type = single<T> ? CUDA_R_32F : CUDA_R_64F;
  check(cusparseCreate(&s->handle), "cusparseCreate");
  check(cusparseSetStream(s->handle, static_cast<cudaStream_t>(queue.stream)), "cusparseSetStream");
  check(cusparseCreateCsr(&s->matrix, rows, columns, nnz, const_cast<std::int32_t*>(offsets),
                          const_cast<std::int32_t*>(indices), const_cast<T*>(values), CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
        "cusparseCreateCsr");
  check(cusparseCreateDnVec(&s->x, columns, const_cast<T*>(x), type), "cusparseCreateDnVec");
  check(cusparseCreateDnVec(&s->y, rows, y, type), "cusparseCreateDnVec");
  const T one = 1, zero = 0;
  std::size_t bytes = 0;
  check(cusparseSpMV_bufferSize(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s->matrix, s->x, &zero, s->y, type,
                                CUSPARSE_SPMV_CSR_ALG1, &bytes),
        "cusparseSpMV_bufferSize");
  check(cudaMalloc(&s->buffer, bytes > 0 ? bytes : 1), "cudaMalloc");
  check(cusparseSpMV_preprocess(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s->matrix, s->x, &zero, s->y, type,
                                CUSPARSE_SPMV_CSR_ALG1, s->buffer),
        "cusparseSpMV_preprocess");
  return {{"cuSPARSE", [=] {
             check(cusparseSpMV(s->handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, s->matrix, s->x, &zero, s->y, type,
                                CUSPARSE_SPMV_CSR_ALG1, s->buffer),
                   "cusparseSpMV");
           }}};
}

template <class TIn, class TOut>
Peers gemm(const Queue& queue, bool ta, bool tb, index_t m, index_t n, index_t k, TOut alpha, const TIn* a, index_t lda,
           const TIn* b, index_t ldb, TOut beta, TOut* c, index_t ldc) {
  auto* const h = host_scalars(queue);
  const auto op_a = ta ? CUBLAS_OP_T : CUBLAS_OP_N;
  const auto op_b = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
  Peers peers = {{"cuBLAS", [=] {
                    if constexpr (std::is_same_v<TIn, float>) {
                      check(cublasSgemm_64(h, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc), "gemm");
                    } else if constexpr (std::is_same_v<TIn, double>) {
                      check(cublasDgemm_64(h, op_a, op_b, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc), "gemm");
                    } else if constexpr (std::is_same_v<TIn, Kokkos::complex<double>>) {
                      const auto z = [](const auto* p) { return reinterpret_cast<const cuDoubleComplex*>(p); };
                      check(cublasZgemm_64(h, op_a, op_b, m, n, k, z(&alpha), z(a), lda, z(b), ldb, z(&beta),
                                           reinterpret_cast<cuDoubleComplex*>(c), ldc),
                            "gemm");
                    } else {
                      constexpr auto type = std::is_same_v<TIn, half> ? CUDA_R_16F : CUDA_R_16BF;
                      const float wide_alpha = alpha, wide_beta = beta;
                      check(cublasGemmEx_64(h, op_a, op_b, m, n, k, &wide_alpha, a, type, lda, b, type, ldb, &wide_beta,
                                            c, type, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                            "gemm");
                    }
                  }}};
  if constexpr (sizeof(TIn) == 2)
    if (static_cast<float>(alpha) == 1 && static_cast<float>(beta) == 0)
      peers.push_back(lt_gemm(queue, lt_elements<TIn>, ta, tb, m, n, k, a, lda, b, ldb, c, ldc));
  return peers;
}

Peers gemm_tf32(const Queue& queue, bool ta, bool tb, index_t m, index_t n, index_t k, const float* a, index_t lda,
                const float* b, index_t ldb, float* c, index_t ldc) {
  return {lt_gemm(queue, LtElements::tf32, ta, tb, m, n, k, a, lda, b, ldb, c, ldc)};
}

template <class T>
Peers gemm_batched(const Queue& queue, index_t batches, index_t m, index_t n, index_t k, const T* a, const T* b, T* c) {
  auto* const h = host_scalars(queue);
  constexpr auto type = std::is_same_v<T, float>    ? CUDA_R_32F
                        : std::is_same_v<T, double> ? CUDA_R_64F
                        : std::is_same_v<T, half>   ? CUDA_R_16F
                                                    : CUDA_R_16BF;
  using Scalar = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr auto compute = std::is_same_v<T, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
  // C^T = B^T A^T
  return {{"cuBLAS", [=] {
             const Scalar alpha = 1, beta = 0;
             check(cublasGemmStridedBatchedEx_64(h, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, b, type, n, k * n, a,
                                                 type, k, m * k, &beta, c, type, n, m * n, batches, compute,
                                                 CUBLAS_GEMM_DEFAULT),
                   "gemm of batches");
           }}};
}
template Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const float*, const float*, float*);
template Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const double*, const double*, double*);
template Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const half*, const half*, half*);
template Peers gemm_batched(const Queue&, index_t, index_t, index_t, index_t, const bfloat16*, const bfloat16*,
                            bfloat16*);

template <class T>
Peers gemm_bias_gelu(const Queue& queue, index_t m, index_t n, index_t k, const T* a, const T* b, const T* bias, T* c) {
  return {lt_gemm(queue, lt_elements<T>, false, false, m, n, k, a, m, b, k, c, m, bias)};
}
template Peers gemm_bias_gelu(const Queue&, index_t, index_t, index_t, const half*, const half*, const half*, half*);
template Peers gemm_bias_gelu(const Queue&, index_t, index_t, index_t, const bfloat16*, const bfloat16*,
                              const bfloat16*, bfloat16*);

template <class T>
Peers stencil7(const Queue&, index_t, index_t, index_t, T, T, const T*, T*) {
  return {};  // no vendor library has one: the ceiling is the device copy
}

template <class T>
struct Instantiate {
  static constexpr auto all = std::tuple(&axpy<T>, &scal<T>, &dot<T>, &nrm2<T>, &asum<T>, &iamax<T>, &gemv<T>,
                                         &transpose<T>, &spmv<T>, &stencil7<T>, &gemm<T, T>);
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
