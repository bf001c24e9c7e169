// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cuda_bf16.h>

namespace tessera::cuda::sm80::ladder {

/// Where the sums go: C's m x n elements.
struct Output {
  __nv_bfloat16* c;
  std::int64_t ld;
  int m, n;

  /// Elements (i, j) and (i, j + 1), j even, where they exist.
  __device__ void pair(int i, int j, float x, float y) const {
    if (i >= m || j >= n) return;
    __nv_bfloat16* const to = c + i * ld + j;
    if (j + 1 < n && reinterpret_cast<std::uintptr_t>(to) % 4 == 0) {
      *reinterpret_cast<__nv_bfloat162*>(to) = __floats2bfloat162_rn(x, y);
    } else {
      to[0] = __float2bfloat16_rn(x);
      if (j + 1 < n) to[1] = __float2bfloat16_rn(y);
    }
  }
};

}  // namespace tessera::cuda::sm80::ladder
