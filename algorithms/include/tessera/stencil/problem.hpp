// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>

namespace tessera {

/// v = sum over the neighbours of coefficient * u, over the interior 1..n-2 of every dimension.
template <class T>
struct StencilProblem {
  StridedRef<const T, 3> u;
  StridedRef<T, 3> v;
  /// [9 (di + 1) + 3 (dj + 1) + (dk + 1)] multiplies u(i + di, j + dj, k + dk).
  accumulator_t<T> coefficients[27] = {};
  bool faces_only = false;  ///< 7 points: only the centre and the six face neighbours are read into sums
};

}  // namespace tessera
