// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <memory>

/// \file
/// Products of 16-bit floats through cuBLASLt, whose choice of kernel for a product is remembered: a call then costs
/// the host one to two microseconds less than cublasGemmEx, which asks anew each time.

namespace tessera::backends {

/// A column-major product with sums in fp32, but for its addresses: C = alpha op(A) op(B) + beta C.
struct LtProduct {
  std::int64_t m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0;
  std::int64_t batches = 1, a_batch = 0, b_batch = 0, c_batch = 0;
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  cudaDataType in = CUDA_R_16BF, out = CUDA_R_16BF;
  std::int32_t scalars_on_device = 0;
  std::int32_t alignments[3] = {};  ///< of A, B and C in bytes, at most 256

  friend bool operator==(const LtProduct&, const LtProduct&) = default;
};

/// The largest power of two up to 256 that divides an address.
[[nodiscard]] std::int32_t alignment_of(const void* pointer);

/// The choices made for the products of one stream; calls must order themselves.
class LtProducts {
 public:
  LtProducts();
  ~LtProducts();
  LtProducts(const LtProducts&) = delete;
  LtProducts& operator=(const LtProducts&) = delete;

  struct Operands {
    const void *alpha = nullptr, *a = nullptr, *b = nullptr, *beta = nullptr;
    void* c = nullptr;
  };
  struct Workspace {
    void* pointer = nullptr;
    std::size_t bytes = 0;
  };
  /// Enqueues the product, whose parts, where K is split, are added in fp32, as all else is.
  /// \returns what the library says; CUBLAS_STATUS_NOT_SUPPORTED where cublasGemmEx is to be asked
  cublasStatus_t run(cublasHandle_t handle, const LtProduct& product, const Operands& operands, Workspace workspace,
                     cudaStream_t stream);

 private:
  struct Choice;
  static constexpr std::size_t kept = 64;  ///< of the last products; a power of two
  std::unique_ptr<Choice[]> m_choices;
};

}  // namespace tessera::backends
