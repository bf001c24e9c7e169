// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>

namespace tessera {

/// x = alpha * x on rank 1 (extent 1 in the second dimension) or rank 2.
template <class T>
struct ScalProblem {
  ScalarRef<accumulator_t<T>> alpha;
  MatrixRef<T> x;
};

}  // namespace tessera
