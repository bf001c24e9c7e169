// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// dot for element types that the library does not bring compiled: include this instead of tessera/dot.hpp.

#include <tessera/core/device.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/dot.hpp>
#include <tessera/level1/fixed_tree.hpp>

namespace tessera::detail {

/// Sums of real products, lane by lane: x times y, and for complex numbers also x times y with its parts swapped.
/// From these four sums (re re, im im, re im, im re) every mix of conjugations follows at the end. Products are exact
/// or, where `rounds_once`, part of one fused multiply-add.
template <class T, bool rounds_once>
struct DotSource {
  using Wide = sum_t<T>;
  using Result = dot_result_t<T>;
  static constexpr bool is_complex = is_complex_v<T>;
  static constexpr int per = is_complex ? 2 : 1;
  static constexpr int width = width_of<T>;
  static constexpr bool exact = std::is_integral_v<T>;
  template <class Space, Access access>
  static constexpr int lanes = lanes_of<Space, T, std::conditional_t<is_complex, Wide[2], Wide>, access>;
  using Partial = Parts<Wide, per * per>;  // straight, then crossed
  template <int N>
  struct Pair {
    vec<T, N> x, y;
  };

  VectorReader<T> x, y;
  bool xc, yc;
  bool far;  // x and y are more than the caches hold

  template <class Space>
  [[nodiscard]] bool unit() const {
    return x.template unit<Space>() && y.template unit<Space>();
  }
  template <class Space, Access access, int N>
  TESSERA_INLINE_FUNCTION Pair<N> load(index_t i) const {
    if constexpr (machine<Space>::is_host && access == Access::unit)
      if (far) {
        prefetch(x.x + i + asked_ahead<T>);
        prefetch(y.x + i + asked_ahead<T>);
      }
    return {x.template load<Space, access, N>(i), y.template load<Space, access, N>(i)};
  }
  template <int N>
  TESSERA_INLINE_FUNCTION Pair<N> load_some(index_t i, index_t count) const {
    return {x.template load_some<N>(i, count, T{}), y.template load_some<N>(i, count, T{})};
  }

  template <int N>
  struct Lanes {
    using V = vec<Wide, per * N>;
    V straight;
    V crossed[1];  // of complex numbers alone

    TESSERA_INLINE_FUNCTION static V product_sum(const V& a, const V& b, const V& c) {
      if constexpr (rounds_once)
        return fused(a, b, c);
      else
        return fma(a, b, c);
    }
    TESSERA_INLINE_FUNCTION void clear(const DotSource&) {
      straight = V(Wide{});
      if constexpr (is_complex) crossed[0] = V(Wide{});
    }
    TESSERA_INLINE_FUNCTION void add(const DotSource&, const Pair<N>& v) {
      const V xw = convert<Wide>(parts_of(v.x)), yw = convert<Wide>(parts_of(v.y));
      straight = product_sum(xw, yw, straight);
      if constexpr (is_complex) crossed[0] = product_sum(xw, pair_shuffle<2>(yw), crossed[0]);
    }
    TESSERA_INLINE_FUNCTION void merge(const DotSource&, const Lanes& other) {
      straight += other.straight;
      if constexpr (is_complex) crossed[0] += other.crossed[0];
    }
    [[nodiscard]] TESSERA_INLINE_FUNCTION Partial get(int l) const {
      Partial p;
      for (int k = 0; k < per; ++k) {
        p.part[k] = straight[per * l + k];
        if constexpr (is_complex) p.part[per + k] = crossed[0][per * l + k];
      }
      return p;
    }
  };

  TESSERA_INLINE_FUNCTION Partial identity() const { return Partial{}; }
  TESSERA_INLINE_FUNCTION void join(Partial& a, const Partial& b) const {
    for (int k = 0; k < per * per; ++k) a.part[k] += b.part[k];
  }
  TESSERA_INLINE_FUNCTION Result finish(const Partial& p) const {
    if constexpr (is_complex) {
      using R = typename T::value_type;
      const Wide re = xc == yc ? p.part[0] - p.part[1] : p.part[0] + p.part[1];
      const Wide im = (yc ? -p.part[2] : p.part[2]) + (xc ? -p.part[3] : p.part[3]);
      return canonical(Result(static_cast<R>(re), static_cast<R>(im)));
    } else {
      return canonical(static_cast<Result>(p.part[0]));
    }
  }
};

template <class T, class Space>
dot_result_t<T> run_dot(const Space& exec, const DotProblem<T>& p) {
  const Region region("tessera::dot[portable]");
  const VectorReader<T> x{p.x.pointer, p.x.strides[0]}, y{p.y.pointer, p.y.strides[0]};
  const bool far = past_caches(exec, 2.0 * sizeof(T) * static_cast<double>(p.x.extents[0]));
  const auto run = [&]<bool rounds_once>(std::bool_constant<rounds_once>) {
    return run_source(exec, "dot", DotSource<T, rounds_once>{x, y, p.x.conj, p.y.conj, far}, p.x.extents[0], p.result,
                      p.determinism);
  };
  // products of fp32 and narrower are exact in fp64
  if constexpr (std::is_same_v<real_t<T>, double>)
    if (p.determinism == Determinism::portable) return run(std::bool_constant<true>{});
  return run(std::bool_constant<false>{});
}

}  // namespace tessera::detail
