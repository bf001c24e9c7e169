// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/determinism.hpp>
#include <tessera/core/refs.hpp>
#include <tessera/level1/results.hpp>

namespace tessera {

/// sum of |re x_i| + |im x_i|.
template <class T>
struct AsumProblem {
  VectorRef<const T> x;
  norm_result_t<T>* result = nullptr;  ///< where the kernel's space writes it; null: the caller waits for the value
  Determinism determinism = Determinism::fast;
};

}  // namespace tessera
