// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>
#include <utility>

#include <tessera/core/vec.hpp>
#include <tessera/gemm/config.hpp>

namespace tessera::detail {

/// f(0), f(1), ... f(N - 1) with each number a type (decltype(i)::value): arrays that are indexed so stay in registers.
TESSERA_CALLS_ANYTHING
template <class F, int... I>
TESSERA_INLINE_FUNCTION void unrolled(const F& f, std::integer_sequence<int, I...>) {
  (f(std::integral_constant<int, I>{}), ...);
}
TESSERA_CALLS_ANYTHING
template <int N, class F>
TESSERA_INLINE_FUNCTION void unrolled(const F& f) {
  unrolled(f, std::make_integer_sequence<int, N>{});
}

/// The sums of one micro-tile, in registers.
template <class Config>
struct GemmAccumulators {
  using Real = typename Config::Real;
  using Vec = vec<Real, Config::lanes>;
  static constexpr int planes = Config::planes, mr = Config::mr, nv = Config::nv;

  Vec sum[planes][mr][nv];

  TESSERA_INLINE_FUNCTION void clear() {
    unrolled<planes * mr * nv>([&](auto at) {
      constexpr int p = decltype(at)::value / (mr * nv), i = decltype(at)::value / nv % mr,
                    v = decltype(at)::value % nv;
      sum[p][i][v] = Vec(Real{});
    });
  }

  /// sum += A B over `depth` columns of packed A and rows of packed B; a and b point to what this thread owns of the
  /// first.
  TESSERA_INLINE_FUNCTION void multiply(const Real* a, const Real* b, int depth) {
    for (int k = 0; k < depth; k += Config::unroll) {
      unrolled<Config::unroll>([&](auto at) {
        constexpr int ahead = decltype(at)::value;
        step(a + ahead * planes * Config::width_a, b + ahead * planes * Config::width_b);
      });
      a += Config::unroll * planes * Config::width_a;
      b += Config::unroll * planes * Config::width_b;
    }
  }

 private:
  TESSERA_INLINE_FUNCTION void step(const Real* a, const Real* b) {
    Vec bv[planes][nv];
    unrolled<planes * nv>([&](auto at) {
      constexpr int p = decltype(at)::value / nv, v = decltype(at)::value % nv;
      bv[p][v] = Vec::load_aligned(b + p * Config::width_b + v * Config::vector_stride);
    });
    if constexpr (Config::resident) {
      using Group = vec<Real, Config::group>;
      constexpr int groups = mr / Config::group;
      Group av[planes][groups];
      unrolled<planes * groups>([&](auto at) {
        constexpr int p = decltype(at)::value / groups, g = decltype(at)::value % groups;
        av[p][g] = Group::load_aligned(a + p * Config::width_a + g * Config::group_stride);
      });
      unrolled<mr>([&](auto at) {
        constexpr int i = decltype(at)::value, g = i / Config::group, r = i % Config::group;
        if constexpr (planes == 1)
          add<i>(av[0][g][r], Real{}, bv);
        else
          add<i>(av[0][g][r], av[1][g][r], bv);
      });
    } else {
      unrolled<mr>([&](auto at) {
        constexpr int i = decltype(at)::value;
        add<i>(a[i], planes == 1 ? Real{} : a[(planes - 1) * Config::width_a + i], bv);
      });
    }
  }

  template <int I>
  TESSERA_INLINE_FUNCTION void add(Real re, Real im, const Vec (&bv)[planes][nv]) {
    const Vec a_re(re);
    unrolled<nv>([&](auto at) {
      constexpr int v = decltype(at)::value;
      sum[0][I][v] = fma(a_re, bv[0][v], sum[0][I][v]);
      if constexpr (planes == 2) sum[1][I][v] = fma(a_re, bv[1][v], sum[1][I][v]);
    });
    if constexpr (planes == 2) {
      const Vec a_im(im);
      const Vec minus(-im);
      unrolled<nv>([&](auto at) {
        constexpr int v = decltype(at)::value;
        sum[0][I][v] = fma(minus, bv[1][v], sum[0][I][v]);
        sum[1][I][v] = fma(a_im, bv[0][v], sum[1][I][v]);
      });
    }
  }
};

}  // namespace tessera::detail
