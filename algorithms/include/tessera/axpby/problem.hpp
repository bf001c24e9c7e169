// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>

namespace tessera {

/// y = alpha * x + beta * y on rank 1 (extent 1 in the second dimension) or rank 2.
template <class T>
struct AxpbyProblem {
  ScalarRef<accumulator_t<T>> alpha;
  MatrixRef<const T> x;
  ScalarRef<accumulator_t<T>> beta;
  MatrixRef<T> y;
};

}  // namespace tessera
