// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// [functor]
#include <tessera/gemm/functor.hpp>  // clamp_rows.cuh: no Kokkos, no execution space

struct ClampRows {
  const float* scale;  // of each row, in memory that the kernel reads
  float low, high;
  TESSERA_FUNCTION float operator()(float value, tessera::index_t row, tessera::index_t /*column*/) const {
    const float x = scale[row] * value;
    return x < low ? low : x > high ? high : x;
  }
};
TESSERA_GEMM_EPILOGUE(ClampRows);
// [functor]
