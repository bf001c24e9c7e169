// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/backends/peers.hpp>

namespace tessera::peers {

/// What is multiplied: 16-bit floats, or fp32 rounded to tf32.
enum class LtElements { bf16, fp16, tf32 };

/// C = A B, of the operands' type and summed in fp32, column-major, by the kernel that cuBLASLt's heuristics put first
/// for 256 MiB of workspace. With `gelu_bias`, an element for each row, C = gelu(A B + bias).
Peer lt_gemm(const Queue& queue, LtElements elements, bool ta, bool tb, index_t m, index_t n, index_t k, const void* a,
             index_t lda, const void* b, index_t ldb, void* c, index_t ldc, const void* gelu_bias = nullptr);

}  // namespace tessera::peers
