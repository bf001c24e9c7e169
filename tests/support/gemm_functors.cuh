// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/gemm/functor.hpp>

/// \file
/// The functor of tests/gemm_functor.cpp, which is compiled into kernels where there are some.

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

}  // namespace gemm_functors

TESSERA_GEMM_EPILOGUE(gemm_functors::Weigh<float>);
