// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/determinism.hpp>
#include <tessera/core/refs.hpp>
#include <tessera/level1/results.hpp>

namespace tessera {

/// sqrt(sum of |x_i|^2).
template <class T>
struct Nrm2Problem {
  VectorRef<const T> x;
  norm_result_t<T>* result = nullptr;  ///< where the kernel's space writes it; null: the caller waits for the value
  Determinism determinism = Determinism::fast;
};

}  // namespace tessera
