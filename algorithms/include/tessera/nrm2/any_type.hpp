// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// nrm2 for element types that the library does not bring compiled: include this instead of tessera/nrm2.hpp.

#include <tessera/core/trace.hpp>
#include <tessera/level1/sum_of_parts.hpp>
#include <tessera/nrm2.hpp>

namespace tessera::detail {

/// fp32 and narrower: their squares, and 2^100 of them, stay inside fp64's range.
struct Square {
  template <class W, int N>
  TESSERA_INLINE_FUNCTION static vec<W, N> add(const vec<W, N>& v, const vec<W, N>& sum) {
    return fma(v, v, sum);
  }
  TESSERA_INLINE_FUNCTION static double finish(double sum) { return Kokkos::sqrt(sum); }
};

/// Squares of doubles by magnitude. `middle` holds plain squares, whose relative error from underflow is nil;
/// `large` squares of values above 2^480, scaled by 2^-600; `small` squares of values below 2^-450, scaled by 2^600.
/// No sum of 2^60 terms overflows in any of the three, and a term that matters is never below 2^-1000.
struct Squares {
  double middle = 0, large = 0, small = 0;

  static constexpr double largest_plain = 0x1p480;
  static constexpr double smallest_plain = 0x1p-450;

  TESSERA_INLINE_FUNCTION void add(double x) {
    const double a = x < 0 ? -x : x;
    if (a > largest_plain)
      large = fused(a * 0x1p-600, a * 0x1p-600, large);
    else if (a < smallest_plain)
      small = fused(a * 0x1p600, a * 0x1p600, small);
    else
      middle = fused(a, a, middle);  // NaN too
  }
  TESSERA_INLINE_FUNCTION void join(const Squares& other) {
    middle += other.middle;
    large += other.large;
    small += other.small;
  }
  TESSERA_INLINE_FUNCTION double root() const {
    // beside a large term the small ones vanish; beside a middle one they may still count
    if (large != 0) return Kokkos::sqrt(fused(middle * 0x1p-600, 0x1p-600, large)) * 0x1p600;
    if (middle != 0) return Kokkos::sqrt(fused(small * 0x1p-600, 0x1p-600, middle));
    return Kokkos::sqrt(small) * 0x1p-600;
  }
};

/// Where a sum of plain squares lies in here, which is nearly always, nothing can have overflowed in it and what
/// underflowed does not count.
inline constexpr double least_inside = 0x1p-900, most_inside = 0x1p960;
TESSERA_INLINE_FUNCTION bool well_inside(double sum) { return sum >= least_inside && sum <= most_inside; }

/// Goes over elements again, sorting by magnitude.
template <class T>
struct SortingSquares {
  VectorReader<T> x;
  int lanes;
  Squares sums;
  template <int U>
  TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) {
    for (int u = 0; u < U; ++u)
      for (int l = 0; l < lanes; ++l) single(i + u * step + l);
  }
  TESSERA_INLINE_FUNCTION void single(index_t i) {
    const vec<T, 1> v = vec<T, 1>::load(x.x + i * x.xs);
    for (int l = 0; l < (is_complex_v<T> ? 2 : 1); ++l) sums.add(parts_of(v)[l]);
  }
};

/// fp64, in any order: a worker adds plain squares, and goes over its share again where that does not do.
template <class T, class Space, Access access>
struct Nrm2Body {
  using Plain = SourceBody<PartsSource<T, Square>, Space, access>;
  using Result = norm_result_t<T>;
  using Partial = Squares;
  static constexpr int lanes = Plain::lanes;

  Plain plain;

  struct Walker {
    typename Plain::Walker walker;
    Share share;

    TESSERA_INLINE_FUNCTION Walker(const Nrm2Body& body, const Share& s) : walker(body.plain, s), share(s) {}
    template <int U>
    TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) {
      walker.template group<U>(i, step);
    }
    TESSERA_INLINE_FUNCTION void single(index_t i) { walker.single(i); }
    TESSERA_INLINE_FUNCTION Partial collapse() {
      const double sum = Plain::Source::sum(walker.collapse());
      if (well_inside(sum)) return Squares{sum, 0, 0};
      SortingSquares<T> again{walker.source.x, lanes, Squares{}};
      walk<lanes>(share, again);
      return again.sums;
    }
  };

  TESSERA_INLINE_FUNCTION Partial identity() const { return Partial{}; }
  TESSERA_INLINE_FUNCTION void join(Partial& a, const Partial& b) const { a.join(b); }
  TESSERA_INLINE_FUNCTION Result finish(const Partial& sum) const { return sum.root(); }
};

/// fp64, along the fixed tree: each lane adds plain squares, and is gone over again where that does not do.
struct ExactlyRoundedSquare {
  template <class W, int N>
  TESSERA_INLINE_FUNCTION static vec<W, N> add(const vec<W, N>& v, const vec<W, N>& sum) {
    return fused(v, v, sum);
  }
  TESSERA_INLINE_FUNCTION static double finish(double sum) { return sum; }
};
template <class T>
struct Nrm2Source : PartsSource<T, ExactlyRoundedSquare> {
  using Plain = PartsSource<T, ExactlyRoundedSquare>;
  static constexpr int per = Plain::per;
  using Partial = Parts<Squares, per>;

  template <int N>
  struct Lanes : Plain::template Lanes<N> {
    [[nodiscard]] TESSERA_INLINE_FUNCTION Partial get(int l) const {
      Partial p;
      for (int k = 0; k < per; ++k) p.part[k] = Squares{this->sum[per * l + k], 0, 0};
      return p;
    }
  };
  /// A NaN may or may not count as inside: it ends as one either way.
  template <int N, int K>
  TESSERA_INLINE_FUNCTION bool settled(const Lanes<N> (&lanes)[K]) const {
    auto least = lanes[0].sum, most = lanes[0].sum;
    for (int k = 1; k < K; ++k) {
      least = min(lanes[k].sum, least);
      most = max(lanes[k].sum, most);
    }
    return reduce_min(least) >= least_inside && reduce_max(most) <= most_inside;
  }
  template <int N>
  TESSERA_INLINE_FUNCTION Partial settle(const Lanes<N>& lanes, int l, index_t first, index_t step,
                                         index_t count) const {
    Partial p = lanes.get(l);
    bool inside = true;
    for (int k = 0; k < per; ++k) inside = inside && well_inside(p.part[k].middle);
    if (inside || count == 0) return p;
    p = Partial{};
    for (index_t j = 0; j < count; ++j) {
      const vec<T, 1> v = vec<T, 1>::load(this->x.x + (first + j * step) * this->x.xs);
      for (int k = 0; k < per; ++k) p.part[k].add(parts_of(v)[k]);
    }
    return p;
  }
  TESSERA_INLINE_FUNCTION Partial identity() const { return Partial{}; }
  TESSERA_INLINE_FUNCTION void join(Partial& a, const Partial& b) const {
    for (int k = 0; k < per; ++k) a.part[k].join(b.part[k]);
  }
  TESSERA_INLINE_FUNCTION norm_result_t<T> finish(const Partial& p) const {
    Squares sum = p.part[0];
    if constexpr (per == 2) sum.join(p.part[1]);
    return canonical(sum.root());
  }
};

template <class T, class Space>
norm_result_t<T> run_nrm2(const Space& exec, const Nrm2Problem<T>& p) {
  const Region region("tessera::nrm2[portable]");
  const index_t n = p.x.extents[0];
  const PartsSource<T, Square> plain{{p.x.pointer, p.x.strides[0]}};
  if constexpr (std::is_same_v<real_t<T>, double>) {
    if (p.determinism == Determinism::portable)
      return run_fixed_tree(exec, "nrm2", Nrm2Source<T>{{plain.x}}, n, p.result);
    return with_access<Space>(plain, [&]<Access access>(std::integral_constant<Access, access>) {
      return run_reduction(exec, "nrm2", Nrm2Body<T, Space, access>{{plain}}, n, p.result);
    });
  } else {
    return run_source(exec, "nrm2", plain, n, p.result, p.determinism);
  }
}

}  // namespace tessera::detail
