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
      large += (a * 0x1p-600) * (a * 0x1p-600);
    else if (a < smallest_plain)
      small += (a * 0x1p600) * (a * 0x1p600);
    else
      middle += a * a;  // NaN too
  }
  TESSERA_INLINE_FUNCTION void join(const Squares& other) {
    middle += other.middle;
    large += other.large;
    small += other.small;
  }
  TESSERA_INLINE_FUNCTION double root() const {
    // beside a large term the small ones vanish; beside a middle one they may still count
    if (large != 0) return Kokkos::sqrt(large + (middle * 0x1p-600) * 0x1p-600) * 0x1p600;
    if (middle != 0) return Kokkos::sqrt(middle + (small * 0x1p-600) * 0x1p-600);
    return Kokkos::sqrt(small) * 0x1p-600;
  }
};

/// fp64: a worker adds plain squares, and where their sum lies well inside the range, which is nearly always, nothing
/// can have overflowed in it and what underflowed does not count. Else the worker goes over its share again, and sorts
/// by magnitude.
template <class T, class Space, Access access>
struct Nrm2Body {
  using Plain = PartsBody<T, Space, access, Square>;
  using Result = norm_result_t<T>;
  using Partial = Squares;
  static constexpr int lanes = Plain::lanes;

  Plain plain;

  struct Sorting {
    const Plain& b;
    Squares sums;
    template <int U>
    TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) {
      for (int u = 0; u < U; ++u)
        for (int l = 0; l < lanes; ++l) single(i + u * step + l);
    }
    TESSERA_INLINE_FUNCTION void single(index_t i) {
      const vec<T, 1> v = vec<T, 1>::load(b.x + i * b.xs);
      for (int l = 0; l < Plain::per; ++l) sums.add(parts_of(v)[l]);
    }
  };

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
      const double sum = walker.collapse();
      if (sum >= 0x1p-900 && sum <= 0x1p960) return Squares{sum, 0, 0};
      Sorting again{walker.b, Squares{}};
      walk<lanes>(share, again);
      return again.sums;
    }
  };

  TESSERA_INLINE_FUNCTION static Partial identity() { return Partial{}; }
  TESSERA_INLINE_FUNCTION static void join(Partial& a, const Partial& b) { a.join(b); }
  TESSERA_INLINE_FUNCTION Result finish(const Partial& sum) const { return sum.root(); }
};

template <class T, class Space>
norm_result_t<T> run_nrm2(const Space& exec, const Nrm2Problem<T>& p) {
  const Region region("tessera::nrm2[portable]");
  const auto reduce = [&]<Access access>(std::integral_constant<Access, access>) {
    const PartsBody<T, Space, access, Square> plain{p.x.pointer, p.x.strides[0]};
    if constexpr (std::is_same_v<real_t<T>, double>)
      return run_reduction(exec, "nrm2", Nrm2Body<T, Space, access>{plain}, p.x.extents[0], p.result);
    else
      return run_reduction(exec, "nrm2", plain, p.x.extents[0], p.result);
  };
  if (unit_access<Space>(p.x.pointer, p.x.strides[0])) return reduce(std::integral_constant<Access, Access::unit>{});
  return reduce(std::integral_constant<Access, Access::strided>{});
}

}  // namespace tessera::detail
