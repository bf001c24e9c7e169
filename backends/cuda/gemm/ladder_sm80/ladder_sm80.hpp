// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

/// \file
/// The plain interface of the teaching ladder's step for chips from compute capability 8.0 on. No vendor header.

namespace tessera::cuda::sm80::ladder {

/// C = A B for bf16, summed in fp32. Rows are contiguous and begin a leading dimension of elements apart. A and B:
/// bases and leading dimensions are multiples of 16 bytes.
struct Product {
  const void *a, *b;
  void* c;
  std::int64_t m, n, k, lda, ldb, ldc;
};

/// Enqueues the product on the stream (a cudaStream_t). Returns null, or what went wrong.
const char* mma_sync(const Product& product, void* stream);

}  // namespace tessera::cuda::sm80::ladder
