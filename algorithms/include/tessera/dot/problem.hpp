// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/determinism.hpp>
#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>
#include <tessera/level1/results.hpp>

namespace tessera {

/// sum of x_i y_i; either may be read conjugated.
template <class T>
struct DotProblem {
  VectorRef<const T> x, y;
  dot_result_t<T>* result = nullptr;  ///< where the kernel's space writes it; null: the caller waits for the value
  Determinism determinism = Determinism::fast;
};

}  // namespace tessera
