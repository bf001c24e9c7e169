// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// asum for element types that the library does not bring compiled: include this instead of tessera/asum.hpp.

#include <tessera/asum.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/level1/sum_of_parts.hpp>

namespace tessera::detail {

struct Magnitude {
  template <class W, int N>
  TESSERA_INLINE_FUNCTION static vec<W, N> add(const vec<W, N>& v, const vec<W, N>& sum) {
    return sum + abs(v);
  }
  template <class W>
  TESSERA_INLINE_FUNCTION static W finish(W sum) {
    return sum;
  }
};

template <class T, class Space>
norm_result_t<T> run_asum(const Space& exec, const AsumProblem<T>& p) {
  const Region region("tessera::asum[portable]");
  return run_source(exec, "asum", PartsSource<T, Magnitude>{{p.x.pointer, p.x.strides[0]}}, p.x.extents[0], p.result,
                    p.determinism);
}

}  // namespace tessera::detail
