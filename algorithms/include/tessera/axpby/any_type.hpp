// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// axpby for element types that the library does not bring compiled: include this instead of tessera/axpby.hpp.

#include <tessera/axpby.hpp>
#include <tessera/core/device.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/level1/elementwise.hpp>

namespace tessera::detail {

/// factor * x, x conjugated or not, for whole vectors. A complex product is two real ones with x and with x's parts
/// swapped; the conjugation lies in the signs of the factors.
template <class A, int N, bool Complex = is_complex_v<A>>
struct ScaledBy {
  vec<A, N> factor;
  TESSERA_INLINE_FUNCTION ScaledBy(const A& a, bool /*conj*/) : factor(a) {}
  TESSERA_INLINE_FUNCTION vec<A, N> times(const vec<A, N>& x) const { return factor * x; }
  TESSERA_INLINE_FUNCTION vec<A, N> plus(const vec<A, N>& x, const vec<A, N>& c) const { return fma(factor, x, c); }
};
template <class A, int N>
struct ScaledBy<A, N, true> {
  using R = typename A::value_type;
  using Parts = vec<R, 2 * N>;
  Parts straight, crossed;
  TESSERA_INLINE_FUNCTION ScaledBy(const A& a, bool conj) {
    for (int i = 0; i < 2 * N; i += 2) {
      straight.set(i, a.real());
      straight.set(i + 1, conj ? -a.real() : a.real());
      crossed.set(i, conj ? a.imag() : -a.imag());
      crossed.set(i + 1, a.imag());
    }
  }
  TESSERA_INLINE_FUNCTION vec<A, N> times(const vec<A, N>& x) const {
    return vec<A, N>(fma(crossed, pair_shuffle<2>(x.parts), straight * x.parts));
  }
  TESSERA_INLINE_FUNCTION vec<A, N> plus(const vec<A, N>& x, const vec<A, N>& c) const {
    return vec<A, N>(fma(crossed, pair_shuffle<2>(x.parts), fma(straight, x.parts, c.parts)));
  }
};

/// x is read where Alpha, y where Beta, so that NaN in what is not asked for cannot spread.
template <class T, class Space, Access access, bool Alpha, bool Beta>
struct AxpbyBody {
  using A = accumulator_t<T>;
  static constexpr int lanes = lanes_of<Space, T, A, access>;
  const T* x;
  T* y;
  index_t xs, ys;
  A alpha, beta;
  bool conj;  // of x
  bool far;   // x and y are more than the caches hold

  TESSERA_INLINE_FUNCTION void move(index_t in_x, index_t in_y) {
    x += in_x;
    y += in_y;
  }
  template <int U, int N>
  TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) const {
    const ScaledBy<A, N> a(alpha, conj), b(beta, false);
    if constexpr (machine<Space>::is_host && access == Access::unit)
      if (far)
        for (int u = 0; u < U; ++u) {
          if constexpr (Alpha) prefetch(x + i + u * step + asked_ahead<T>);
          if constexpr (Beta) prefetch(y + i + u * step + asked_ahead<T>);
        }
    vec<T, N> xv[U], yv[U];
    for (int u = 0; u < U; ++u) {
      if constexpr (Alpha) xv[u] = fetch<Space, access, N>(x, xs, i + u * step);
      if constexpr (Beta) yv[u] = fetch<Space, access, N>(y, ys, i + u * step);
    }
    for (int u = 0; u < U; ++u) {
      vec<A, N> sum;
      if constexpr (Alpha && Beta)
        sum = a.plus(convert<A>(xv[u]), b.times(convert<A>(yv[u])));
      else if constexpr (Alpha)
        sum = a.times(convert<A>(xv[u]));
      else if constexpr (Beta)
        sum = b.times(convert<A>(yv[u]));
      else
        sum = vec<A, N>(A{});
      put<Space, access>(convert<T>(sum), y, ys, i + u * step);
    }
  }
};

template <class T, class Space, Access access>
struct AxpbyKernel {
  using A = accumulator_t<T>;
  const T* x;
  T* y;
  index_t xs, ys;
  ScalarRef<A> alpha, beta;
  bool conj, far;

  template <bool Alpha, bool Beta, class Visitor>
  TESSERA_INLINE_FUNCTION void call(const Visitor& visitor, const A& a, const A& b) const {
    AxpbyBody<T, Space, access, Alpha, Beta> body{x, y, xs, ys, a, b, conj, far};
    visitor(body);
  }
  template <class Visitor>
  TESSERA_INLINE_FUNCTION void visit(const Visitor& visitor) const {
    const A a = alpha.get(), b = beta.get();
    if (a != A{}) {
      if (b != A{})
        call<true, true>(visitor, a, b);
      else
        call<true, false>(visitor, a, b);
    } else {
      if (b != A{})
        call<false, true>(visitor, a, b);
      else
        call<false, false>(visitor, a, b);
    }
  }
};

/// The kernels of axpby and scal, under the name of either.
template <class T, class Space>
void axpby_kernels(const Space& exec, const ElementwiseLabels& labels, const AxpbyProblem<T>& p) {
  if (p.y.size() == 0) return;
  PairOfMatrices<T> pair{p.x.pointer,    p.y.pointer,    p.y.extents[0], p.y.extents[1], p.x.strides[0],
                         p.x.strides[1], p.y.strides[0], p.y.strides[1], p.x.conj};
  pair.simplify();
  const bool far = past_caches(exec, 2.0 * sizeof(T) * static_cast<double>(p.y.size()));
  const auto run = [&]<Access access>(std::integral_constant<Access, access>) {
    run_elementwise(exec, labels, pair,
                    AxpbyKernel<T, Space, access>{pair.x, pair.y, pair.xs0, pair.ys0, p.alpha, p.beta, pair.conj, far},
                    lanes_of<Space, T, accumulator_t<T>, access>);
  };
  if (pair.template unit<Space>())
    run(std::integral_constant<Access, Access::unit>{});
  else
    run(std::integral_constant<Access, Access::strided>{});
}

template <class T, class Space>
void run_axpby(const Space& exec, const AxpbyProblem<T>& p) {
  const Region region("tessera::axpby[portable]");
  static const ElementwiseLabels labels("axpby");
  axpby_kernels(exec, labels, p);
}

}  // namespace tessera::detail
