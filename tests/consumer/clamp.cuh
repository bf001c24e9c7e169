/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#include <tessera/gemm/functor.hpp>

/// Seen by the program and by the file that the kernels are compiled in.
struct Clamp {
  float low, high;
  TESSERA_FUNCTION float operator()(float value, tessera::index_t row, tessera::index_t column) const {
#if defined(KOKKOS_DEPENDENCE) && defined(CLAMP_KERNELS)
#error "the file with the kernels got flags of Kokkos"
#endif
    const float x = value + static_cast<float>(row - column);
    return x < low ? low : x > high ? high : x;
  }
};

TESSERA_GEMM_EPILOGUE(Clamp);
