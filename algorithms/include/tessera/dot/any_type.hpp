// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// dot for element types that the library does not bring compiled: include this instead of tessera/dot.hpp.

#include <tessera/core/device.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/dot.hpp>
#include <tessera/level1/reduction.hpp>

namespace tessera::detail {

/// Sums of real products, lane by lane: x times y, and for complex numbers also x times y with its parts swapped.
/// From these four sums (re re, im im, re im, im re) every mix of conjugations follows at the end.
template <class T, class Space, Access access>
struct DotBody {
  using Wide = sum_t<T>;
  using Result = dot_result_t<T>;
  static constexpr bool is_complex = is_complex_v<T>;
  static constexpr int lanes = lanes_of<Space, T, std::conditional_t<is_complex, Wide[2], Wide>, access>;
  struct Partial {
    Wide straight[is_complex ? 2 : 1];
    Wide crossed[is_complex ? 2 : 1];
  };

  const T* x;
  const T* y;
  index_t xs, ys;
  bool xc, yc;
  bool far;  // x and y are more than the caches hold

  struct Walker {
    static constexpr int parts = is_complex ? 2 * lanes : lanes;
    static constexpr int sums = machine<Space>::is_host ? in_flight : 1;
    using V = vec<Wide, parts>;
    const DotBody& b;
    V straight[sums];
    V crossed[is_complex ? sums : 1];
    Partial rest;

    TESSERA_INLINE_FUNCTION Walker(const DotBody& body, const Share&) : b(body), rest(identity()) {
      for (int s = 0; s < sums; ++s) straight[s] = V(Wide{});
      for (int s = 0; s < (is_complex ? sums : 1); ++s) crossed[s] = V(Wide{});
    }
    template <int U>
    TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) {
      if constexpr (machine<Space>::is_host && access == Access::unit)
        if (b.far)
          for (int u = 0; u < U; ++u) {
            constexpr index_t ahead = 2048 / sizeof(T);
            prefetch(b.x + i + u * step + ahead);
            prefetch(b.y + i + u * step + ahead);
          }
      vec<T, lanes> xv[U], yv[U];
      for (int u = 0; u < U; ++u) {
        xv[u] = fetch<Space, access, lanes>(b.x, b.xs, i + u * step);
        yv[u] = fetch<Space, access, lanes>(b.y, b.ys, i + u * step);
      }
      for (int u = 0; u < U; ++u) {
        const V xw = convert<Wide>(parts_of(xv[u])), yw = convert<Wide>(parts_of(yv[u]));
        straight[u % sums] = fma(xw, yw, straight[u % sums]);
        if constexpr (is_complex) crossed[u % sums] = fma(xw, pair_shuffle<2>(yw), crossed[u % sums]);
      }
    }
    TESSERA_INLINE_FUNCTION void single(index_t i) {
      const T xv = b.x[i * b.xs], yv = b.y[i * b.ys];
      if constexpr (is_complex) {
        const Wide xr = xv.real(), xi = xv.imag(), yr = yv.real(), yi = yv.imag();
        rest.straight[0] += xr * yr;
        rest.straight[1] += xi * yi;
        rest.crossed[0] += xr * yi;
        rest.crossed[1] += xi * yr;
      } else {
        rest.straight[0] += static_cast<Wide>(xv) * static_cast<Wide>(yv);
      }
    }
    TESSERA_INLINE_FUNCTION Partial collapse() {
      for (int s = 1; s < sums; ++s) {
        straight[0] += straight[s];
        if constexpr (is_complex) crossed[0] += crossed[s];
      }
      for (int l = 0; l < parts; ++l) {
        rest.straight[is_complex ? l % 2 : 0] += straight[0][l];
        if constexpr (is_complex) rest.crossed[l % 2] += crossed[0][l];
      }
      return rest;
    }
  };

  TESSERA_INLINE_FUNCTION static Partial identity() { return Partial{}; }
  TESSERA_INLINE_FUNCTION static void join(Partial& a, const Partial& b) {
    for (int p = 0; p < (is_complex ? 2 : 1); ++p) {
      a.straight[p] += b.straight[p];
      a.crossed[p] += b.crossed[p];
    }
  }
  TESSERA_INLINE_FUNCTION Result finish(const Partial& p) const {
    if constexpr (is_complex) {
      using R = typename T::value_type;
      const Wide re = xc == yc ? p.straight[0] - p.straight[1] : p.straight[0] + p.straight[1];
      const Wide im = (yc ? -p.crossed[0] : p.crossed[0]) + (xc ? -p.crossed[1] : p.crossed[1]);
      return Result(static_cast<R>(re), static_cast<R>(im));
    } else {
      return static_cast<Result>(p.straight[0]);
    }
  }
};

template <class T, class Space>
dot_result_t<T> run_dot(const Space& exec, const DotProblem<T>& p) {
  const Region region("tessera::dot[portable]");
  const auto reduce = [&]<Access access>(std::integral_constant<Access, access>) {
    const bool far = past_caches(exec, 2.0 * sizeof(T) * static_cast<double>(p.x.extents[0]));
    const DotBody<T, Space, access> body{p.x.pointer, p.y.pointer, p.x.strides[0], p.y.strides[0], p.x.conj,
                                         p.y.conj,    far};
    return run_reduction(exec, "dot", body, p.x.extents[0], p.result);
  };
  if (unit_access<Space>(p.x.pointer, p.x.strides[0]) && unit_access<Space>(p.y.pointer, p.y.strides[0]))
    return reduce(std::integral_constant<Access, Access::unit>{});
  return reduce(std::integral_constant<Access, Access::strided>{});
}

}  // namespace tessera::detail
