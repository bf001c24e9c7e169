// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Stencils for element types that the library does not bring compiled: include this instead of tessera/stencil.hpp.

#include <tessera/backends/enabled.hpp>
#include <tessera/core/device.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/stencil.hpp>
#include <tessera/stencil/march.hpp>
#include <tessera/stencil/walk.hpp>

namespace tessera::detail {

/// The dimensions from the longest step in memory to the shortest, so that the last is the one to read along; u and v
/// of different layouts share the blame.
template <class T>
StencilProblem<T> by_falling_stride(const StencilProblem<T>& p) {
  const auto size = [&](int r) {
    const index_t a = p.u.strides[r], b = p.v.strides[r];
    return (a < 0 ? -a : a) + (b < 0 ? -b : b);
  };
  int order[3] = {0, 1, 2};
  const auto sort_pair = [&](int a, int b) {
    if (size(order[a]) < size(order[b])) {
      const int t = order[a];
      order[a] = order[b];
      order[b] = t;
    }
  };
  sort_pair(0, 1);
  sort_pair(1, 2);
  sort_pair(0, 1);
  StencilProblem<T> q = p;
  constexpr int weight[3] = {9, 3, 1};
  for (int r = 0; r < 3; ++r) {
    q.u.extents[r] = p.u.extents[order[r]];
    q.u.strides[r] = p.u.strides[order[r]];
    q.v.extents[r] = p.v.extents[order[r]];
    q.v.strides[r] = p.v.strides[order[r]];
  }
  for (int n = 0; n < 27; ++n) {
    const int at[3] = {n / 9, n / 3 % 3, n % 3};
    int from = 0;
    for (int r = 0; r < 3; ++r) from += at[r] * weight[order[r]];
    q.coefficients[n] = p.coefficients[from];
  }
  return q;
}

template <class T, class Space>
void run_stencil(const Space& exec, const StencilProblem<T>& given) {
  const StencilProblem<T> p = by_falling_stride(given);
  const bool unit = p.u.strides[2] == 1 && p.v.strides[2] == 1;
  const Region region(
      p.faces_only ? (unit ? "tessera::stencil7[portable unit stride]" : "tessera::stencil7[portable any stride]")
                   : (unit ? "tessera::stencil27[portable unit stride]" : "tessera::stencil27[portable any stride]"));
  for (int r = 0; r < 3; ++r)
    if (p.v.extents[r] < 3) return;
  if constexpr (machine<Space>::is_host) {
    const index_t points = p.v.extents[0] * p.v.extents[1] * p.v.extents[2];
    const bool far = past_caches(exec, 2.0 * sizeof(T) * static_cast<double>(points));
    if (p.faces_only) {
      if (unit)
        StencilMarch<T, Space, Faces, true>::launch(exec, p, "tessera::stencil7::unit", far);
      else
        StencilMarch<T, Space, Faces, false>::launch(exec, p, "tessera::stencil7::strided", far);
    } else {
      if (unit)
        StencilMarch<T, Space, Cube, true>::launch(exec, p, "tessera::stencil27::unit", far);
      else
        StencilMarch<T, Space, Cube, false>::launch(exec, p, "tessera::stencil27::strided", far);
    }
  } else if (p.faces_only) {
    walk_stencil<T, Space, Faces>(exec, p, "tessera::stencil7::unit", "tessera::stencil7::strided");
  } else {
    walk_stencil<T, Space, Cube>(exec, p, "tessera::stencil27::unit", "tessera::stencil27::strided");
  }
}

}  // namespace tessera::detail
