// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/random.hpp>
#include <tessera/core/refs.hpp>

namespace tessera {

enum class Distribution {
  any,      ///< integers: all values of the type
  uniform,  ///< [first, second)
  normal,   ///< mean first, standard deviation second
};

/// Elements of y from the numbers of a stream; element (i, j) is number i * columns + j.
template <class T>
struct RandomFillProblem {
  MatrixRef<T> y;
  RandomStream from;
  Distribution distribution = Distribution::uniform;
  T first{}, second{};
};

}  // namespace tessera
