// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/stencil/problem.hpp>

namespace tessera::detail {

/// Which neighbours there are; a, b, c are 0, 1, 2 for the offsets -1, 0, 1 of dimensions 0, 1, 2.
struct Faces {
  TESSERA_FUNCTION static constexpr bool has(int a, int b, int c) { return (a != 1) + (b != 1) + (c != 1) <= 1; }
};
struct Cube {
  TESSERA_FUNCTION static constexpr bool has(int, int, int) { return true; }
};

/// The problem as kernels carry it.
template <class T>
struct StencilOperands {
  const T* u;
  T* v;
  index_t n0, n1, n2;    // extents
  index_t su[3], sv[3];  // strides

  explicit StencilOperands(const StencilProblem<T>& p)
      : u(p.u.pointer), v(p.v.pointer), n0(p.v.extents[0]), n1(p.v.extents[1]), n2(p.v.extents[2]) {
    for (int r = 0; r < 3; ++r) {
      su[r] = p.u.strides[r];
      sv[r] = p.v.strides[r];
    }
  }
};

}  // namespace tessera::detail
