// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/determinism.hpp>
#include <tessera/core/refs.hpp>

namespace tessera {

struct ScatterAddOptions {
  Determinism determinism = Determinism::fast;
};

/// y[index_i] = x_i.
template <class Word, class Index>
struct ScatterProblem {
  VectorRef<const Word> x;
  VectorRef<const Index> index;  ///< of x's extent
  VectorRef<Word> y;
};

/// y[index_i] += x_i.
template <class T, class Index>
struct ScatterAddProblem {
  VectorRef<const T> x;
  VectorRef<const Index> index;  ///< of x's extent
  VectorRef<T> y;
  Determinism determinism = Determinism::fast;
};

}  // namespace tessera
