// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/portability.hpp>

namespace tessera::detail {

/// Which neighbours there are; a, b, c are 0, 1, 2 for the offsets -1, 0, 1 of dimensions 0, 1, 2.
struct Faces {
  TESSERA_FUNCTION static constexpr bool has(int a, int b, int c) { return (a != 1) + (b != 1) + (c != 1) <= 1; }
};
struct Cube {
  TESSERA_FUNCTION static constexpr bool has(int, int, int) { return true; }
};

}  // namespace tessera::detail
