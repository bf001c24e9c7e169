// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>

namespace tessera {

/// y = alpha * A * x + beta * y; a transposed A comes with its strides swapped.
template <class T>
struct GemvProblem {
  ScalarRef<accumulator_t<T>> alpha;
  MatrixRef<const T> a;
  VectorRef<const T> x;
  ScalarRef<accumulator_t<T>> beta;
  VectorRef<T> y;
};

}  // namespace tessera
