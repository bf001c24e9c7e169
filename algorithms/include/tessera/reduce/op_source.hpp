// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/level1/fixed_tree.hpp>
#include <tessera/reduce/problem.hpp>

namespace tessera::detail {

/// The type in which Op runs on T: fp64 for sums and products of floats, 64 bits (modulo 2^64) for those of integers,
/// at least 32 bits for the smallest and the largest, T itself for a user's operation. Complex sums run by parts.
template <class T, class Op>
struct Running {
  using type = T;
};
template <class T, class Op>
  requires(counts_wide<T, Op>)
struct Running<T, Op> {
  using type = std::conditional_t<
      std::is_integral_v<T>, std::uint64_t,
      std::conditional_t<is_complex_v<T> && std::is_same_v<Op, Product>, Kokkos::complex<double>, double>>;
};
template <class T, class Op>
  requires(std::is_same_v<Op, Minimum> || std::is_same_v<Op, Maximum>)
struct Running<T, Op> {
  using type = accumulator_t<T>;
};

template <class W, int N>
TESSERA_INLINE_FUNCTION vec<W, N> combine(const Sum&, const vec<W, N>& a, const vec<W, N>& b) {
  return a + b;
}
template <class W, int N>
TESSERA_INLINE_FUNCTION vec<W, N> combine(const Product&, const vec<W, N>& a, const vec<W, N>& b) {
  return a * b;
}
template <class W, int N>
TESSERA_INLINE_FUNCTION vec<W, N> combine(const Minimum&, const vec<W, N>& a, const vec<W, N>& b) {
  if constexpr (std::is_floating_point_v<W>)
    return select(b == b, min(b, a), b);  // a NaN in a stays, one in b comes
  else
    return min(b, a);
}
template <class W, int N>
TESSERA_INLINE_FUNCTION vec<W, N> combine(const Maximum&, const vec<W, N>& a, const vec<W, N>& b) {
  if constexpr (std::is_floating_point_v<W>)
    return select(b == b, max(b, a), b);
  else
    return max(b, a);
}

/// Whether Op combines whole registers of W.
template <class W, class Op>
consteval bool in_registers() {
  if constexpr (std::is_arithmetic_v<W>)
    return requires(const Op& op, const vec<W, 1>& v) { combine(op, v, v); };
  else
    return false;
}

/// Values side by side, of any type.
template <class W, int N>
struct Values {
  W value[N];
};

/// The operation, its running results and its end; what it runs over is the derived source's.
template <class T, class Op>
struct OpSource {
  using Result = reduce_result_t<T, Op>;
  static constexpr int per = is_complex_v<T> && std::is_same_v<Op, Sum> ? 2 : 1;
  using Wide = typename Running<T, Op>::type;
  static constexpr bool by_register = in_registers<Wide, Op>();  // or lanes are combined one by one
  using Partial = Parts<Wide, per>;
  static constexpr bool exact = std::is_integral_v<T>;

  Op op;
  bool conj;  // T is read conjugated

  template <int N>
  struct Lanes {
    std::conditional_t<by_register, vec<Wide, per * N>, Values<Wide, N>> running;

    TESSERA_INLINE_FUNCTION void clear(const OpSource& s) {
      if constexpr (by_register)
        running = vec<Wide, per * N>(s.wide_identity());
      else
        for (int l = 0; l < N; ++l) running.value[l] = s.wide_identity();
    }
    template <class E>
    TESSERA_INLINE_FUNCTION void add(const OpSource& s, const vec<E, N>& v) {
      if constexpr (by_register)
        running = combine(s.op, running, convert<Wide>(parts_of(v)));
      else
        for (int l = 0; l < N; ++l)
          running.value[l] =
              static_cast<Wide>(s.op(running.value[l], static_cast<Wide>(s.conj ? conj_value(v[l]) : v[l])));
    }
    template <class E>
    TESSERA_INLINE_FUNCTION void add(const OpSource& s, const Values<E, N>& v) {
      if constexpr (by_register) {
        vec<Wide, per * N> w;
        for (int l = 0; l < N; ++l) {
          if constexpr (per == 2) {
            w.set(2 * l, v.value[l].real());
            w.set(2 * l + 1, v.value[l].imag());
          } else {
            w.set(l, static_cast<Wide>(v.value[l]));
          }
        }
        running = combine(s.op, running, w);
      } else {
        for (int l = 0; l < N; ++l)
          running.value[l] = static_cast<Wide>(s.op(running.value[l], static_cast<Wide>(v.value[l])));
      }
    }
    TESSERA_INLINE_FUNCTION void merge(const OpSource& s, const Lanes& other) {
      if constexpr (by_register)
        running = combine(s.op, running, other.running);
      else
        for (int l = 0; l < N; ++l)
          running.value[l] = static_cast<Wide>(s.op(running.value[l], other.running.value[l]));
    }
    [[nodiscard]] TESSERA_INLINE_FUNCTION Partial get(int l) const {
      Partial p;
      for (int k = 0; k < per; ++k) {
        if constexpr (by_register)
          p.part[k] = running[per * l + k];
        else
          p.part[k] = running.value[l];
      }
      return p;
    }
  };

  TESSERA_INLINE_FUNCTION Wide wide_identity() const {
    if constexpr (per == 2)
      return identity_of<Wide>(op);
    else
      return static_cast<Wide>(identity_of<T>(op));
  }
  TESSERA_INLINE_FUNCTION Partial identity() const {
    Partial p;
    for (int k = 0; k < per; ++k) p.part[k] = wide_identity();
    return p;
  }
  TESSERA_INLINE_FUNCTION void join(Partial& a, const Partial& b) const {
    for (int k = 0; k < per; ++k) a.part[k] = static_cast<Wide>(op(a.part[k], b.part[k]));
  }
  TESSERA_INLINE_FUNCTION Result finish(const Partial& p) const {
    if constexpr (per == 2) {
      using R = typename T::value_type;
      return canonical(Result(static_cast<R>(p.part[0]), static_cast<R>(conj ? -p.part[1] : p.part[1])));
    } else if constexpr (counts_wide<T, Op>) {
      return canonical(static_cast<Result>(p.part[0]));
    } else {
      return static_cast<Result>(p.part[0]);
    }
  }
};

/// The elements of a strided vector.
template <class T, class Op>
struct VectorOpSource : OpSource<T, Op> {
  using Base = OpSource<T, Op>;
  static constexpr bool loads = is_number<T>;
  static constexpr int width = width_of<T>;
  template <class Space, Access access>
  static constexpr int lanes =
      loads
          ? lanes_of<Space, T, std::conditional_t<Base::per == 2, typename Base::Wide[2], typename Base::Wide>, access>
          : 1;

  VectorReader<T> x;

  template <class Space>
  [[nodiscard]] bool unit() const {
    return x.template unit<Space>();
  }
  template <class Space, Access access, int N>
  TESSERA_INLINE_FUNCTION auto load(index_t i) const {
    if constexpr (loads) {
      return x.template load<Space, access, N>(i);
    } else {
      Values<T, N> v;
      for (int l = 0; l < N; ++l) v.value[l] = x.x[(i + l) * x.xs];
      return v;
    }
  }
  template <int N>
  TESSERA_INLINE_FUNCTION vec<T, N> load_some(index_t i, index_t count) const {
    return x.template load_some<N>(i, count, identity_of<T>(this->op));
  }
};

/// f(i) for every index i.
template <class T, class F, class Op>
struct IndexOpSource : OpSource<T, Op> {
  static constexpr int width = width_of<T>;
  template <class Space, Access access>
  static constexpr int lanes = machine<Space>::is_host ? 8 : 1;

  F f;

  template <class Space>
  [[nodiscard]] bool unit() const {
    return true;
  }
  template <class Space, Access access, int N>
  TESSERA_INLINE_FUNCTION Values<T, N> load(index_t i) const {
    Values<T, N> v;
    for (int l = 0; l < N; ++l) v.value[l] = f(i + l);
    return v;
  }
  template <int N>
  TESSERA_INLINE_FUNCTION Values<T, N> load_some(index_t i, index_t count) const {
    Values<T, N> v;
    for (int l = 0; l < N; ++l) v.value[l] = l < count ? static_cast<T>(f(i + l)) : identity_of<T>(this->op);
    return v;
  }
};

}  // namespace tessera::detail
