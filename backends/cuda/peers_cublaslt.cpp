// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "peers_cublaslt.hpp"

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <map>
#include <memory>
#include <string>

#include <tessera/core/error.hpp>

namespace tessera::peers {
namespace {

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error("tessera::peers", std::string(what) + ": " + cublasLtGetStatusString(status), "the call must succeed");
}

constexpr std::size_t workspace_bytes = std::size_t{256} << 20;

/// A stream's workspace for the life of the program.
void* workspace_of(void* stream) {
  static std::map<void*, void*> workspaces;
  void*& workspace = workspaces[stream];
  if (workspace == nullptr && cudaMalloc(&workspace, workspace_bytes) != cudaSuccess)
    throw Error("tessera::peers", "256 MiB of workspace for cuBLASLt are not to be had",
                "the device needs room for it");
  return workspace;
}

/// What cuBLASLt asks of a product: made once, freed with the peer.
struct Product {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
  cublasLtMatmulHeuristicResult_t chosen{};

  Product(LtElements elements, bool ta, bool tb, index_t m, index_t n, index_t k, index_t lda, index_t ldb, index_t ldc,
          const void* gelu_bias) {
    const bool is_tf32 = elements == LtElements::tf32;
    const auto type = is_tf32 ? CUDA_R_32F : elements == LtElements::bf16 ? CUDA_R_16BF : CUDA_R_16F;
    const auto layout = [&](cublasLtMatrixLayout_t* to, bool transposed, index_t rows, index_t columns, index_t ld) {
      check(cublasLtMatrixLayoutCreate(to, type, static_cast<std::uint64_t>(transposed ? columns : rows),
                                       static_cast<std::uint64_t>(transposed ? rows : columns), ld),
            "cublasLtMatrixLayoutCreate");
    };
    check(cublasLtCreate(&handle), "cublasLtCreate");
    check(cublasLtMatmulDescCreate(&operation, is_tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    const cublasOperation_t op_a = ta ? CUBLAS_OP_T : CUBLAS_OP_N, op_b = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof(op_a)), "transa");
    check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof(op_b)), "transb");
    if (gelu_bias != nullptr) {
      const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_BIAS;
      check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)),
            "epilogue");
      check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &gelu_bias, sizeof(gelu_bias)),
            "bias");
    }
    layout(&a, ta, m, k, lda);
    layout(&b, tb, k, n, ldb);
    layout(&c, false, m, n, ldc);
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                               sizeof(workspace_bytes)),
          "workspace");
    int found = 0;
    const auto status = cublasLtMatmulAlgoGetHeuristic(handle, operation, a, b, c, c, preference, 1, &chosen, &found);
    (void)cublasLtMatmulPreferenceDestroy(preference);
    check(found > 0 ? status : CUBLAS_STATUS_NOT_SUPPORTED, "cublasLtMatmulAlgoGetHeuristic");
  }
  ~Product() {
    for (auto* const layout : {a, b, c}) (void)cublasLtMatrixLayoutDestroy(layout);
    (void)cublasLtMatmulDescDestroy(operation);
    (void)cublasLtDestroy(handle);
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;
  Product(Product&&) = delete;
  Product& operator=(Product&&) = delete;
};

}  // namespace

Peer lt_gemm(const Queue& queue, LtElements elements, bool ta, bool tb, index_t m, index_t n, index_t k, const void* a,
             index_t lda, const void* b, index_t ldb, void* c, index_t ldc, const void* gelu_bias) {
  const auto product = std::make_shared<const Product>(elements, ta, tb, m, n, k, lda, ldb, ldc, gelu_bias);
  void* const workspace = workspace_of(queue.stream);
  auto* const stream = static_cast<cudaStream_t>(queue.stream);
  return {"cuBLASLt", [=] {
            const float alpha = 1, beta = 0;
            check(cublasLtMatmul(product->handle, product->operation, &alpha, a, product->a, b, product->b, &beta, c,
                                 product->c, c, product->c, &product->chosen.algo, workspace, workspace_bytes, stream),
                  "cublasLtMatmul");
          }};
}

}  // namespace tessera::peers
