// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/gemm/functor.hpp>

/// \file
/// The functors of tests/gemm_functor.cpp, which are compiled into kernels where there are some.

namespace gemm_functors {

/// weight of the row times the value, and the offset of the column; counts the calls for each place.
template <class T>
struct Weigh {
  const T* weights;
  const T* offsets;
  int* calls;  // row after row
  tessera::index_t columns;

  TESSERA_FUNCTION T operator()(const T& value, tessera::index_t row, tessera::index_t column) const {
    ++calls[row * columns + column];
    return weights[row] * value + offsets[column];
  }
};

/// Scales each row and clamps: what is timed.
struct ClampRows {
  const float* scale;
  float low, high;

  TESSERA_FUNCTION float operator()(float value, tessera::index_t row, tessera::index_t /*column*/) const {
    const float x = scale[row] * value;
    return x < low ? low : x > high ? high : x;
  }
};

}  // namespace gemm_functors

TESSERA_GEMM_EPILOGUE(gemm_functors::Weigh<float>);
TESSERA_GEMM_EPILOGUE(gemm_functors::ClampRows);
