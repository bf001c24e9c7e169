// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/refs.hpp>

namespace tessera {

/// Index of the first largest |re x_i| + |im x_i|.
template <class T>
struct IamaxProblem {
  VectorRef<const T> x;
  index_t* result = nullptr;  ///< where the kernel's space writes it; null: the caller waits for the value
};

}  // namespace tessera
