// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/level1/fixed_tree.hpp>
#include <tessera/level1/results.hpp>

namespace tessera::detail {

/// Sum of term(part) over all real parts of x, in sum_t<T>. Term gives Wide of Wide, by lanes, and finish() of the sum.
template <class T, class Term>
struct PartsSource {
  using Wide = sum_t<T>;
  using Result = norm_result_t<T>;
  static constexpr int per = is_complex_v<T> ? 2 : 1;
  using Partial = Parts<Wide, per>;
  static constexpr int width = width_of<T>;
  static constexpr bool exact = std::is_integral_v<T>;
  template <class Space, Access access>
  static constexpr int lanes = lanes_of<Space, T, std::conditional_t<per == 2, Wide[2], Wide>, access>;

  VectorReader<T> x;

  template <class Space>
  [[nodiscard]] bool unit() const {
    return x.template unit<Space>();
  }
  template <class Space, Access access, int N>
  TESSERA_INLINE_FUNCTION vec<T, N> load(index_t i) const {
    return x.template load<Space, access, N>(i);
  }
  template <int N>
  TESSERA_INLINE_FUNCTION vec<T, N> load_some(index_t i, index_t count) const {
    return x.template load_some<N>(i, count, T{});
  }

  template <int N>
  struct Lanes {
    vec<Wide, per * N> sum;
    TESSERA_INLINE_FUNCTION void clear(const PartsSource&) { sum = vec<Wide, per * N>(Wide{}); }
    TESSERA_INLINE_FUNCTION void add(const PartsSource&, const vec<T, N>& v) {
      sum = Term::add(convert<Wide>(parts_of(v)), sum);
    }
    TESSERA_INLINE_FUNCTION void merge(const PartsSource&, const Lanes& other) { sum += other.sum; }
    [[nodiscard]] TESSERA_INLINE_FUNCTION Partial get(int l) const {
      Partial p;
      for (int k = 0; k < per; ++k) p.part[k] = sum[per * l + k];
      return p;
    }
  };

  TESSERA_INLINE_FUNCTION Partial identity() const { return Partial{}; }
  TESSERA_INLINE_FUNCTION void join(Partial& a, const Partial& b) const {
    for (int k = 0; k < per; ++k) a.part[k] += b.part[k];
  }
  TESSERA_INLINE_FUNCTION static Wide sum(const Partial& p) {
    if constexpr (per == 2)
      return p.part[0] + p.part[1];
    else
      return p.part[0];
  }
  TESSERA_INLINE_FUNCTION Result finish(const Partial& p) const {
    return canonical(static_cast<Result>(Term::finish(sum(p))));
  }
};

}  // namespace tessera::detail
