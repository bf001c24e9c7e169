// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/refs.hpp>

namespace tessera {

/// b = a^T; a may be read conjugated. a may be b where it is square.
template <class T>
struct TransposeProblem {
  MatrixRef<const T> a;
  MatrixRef<T> b;
};

}  // namespace tessera
