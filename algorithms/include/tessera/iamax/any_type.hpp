// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// iamax for element types that the library does not bring compiled: include this instead of tessera/iamax.hpp.

#include <tessera/core/trace.hpp>
#include <tessera/iamax.hpp>
#include <tessera/level1/reduction.hpp>

namespace tessera::detail {

/// Magnitudes as unsigned integers that order as they do: a float's bits without its sign, every NaN one key above
/// infinity; an integer's absolute value. All keys are 1 or more, so that 0 stands for nothing.
template <class T>
struct MagnitudeKey {
  using Real = std::conditional_t<is_stored_float_v<real_t<T>>, float, real_t<T>>;
  using type = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  static constexpr int per = is_complex_v<T> ? 2 : 1;

  template <int N>
  TESSERA_INLINE_FUNCTION static vec<type, per * N> of(const vec<T, N>& v) {
    if constexpr (std::is_integral_v<Real>) {
      using Wide = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;
      const vec<type, N> value = convert<type>(convert<Wide>(v));
      const vec<type, N> zero(type{0});
      if constexpr (std::is_unsigned_v<Real>)
        return value + vec<type, N>(type{1});
      else  // above the middle of the unsigned range lie the negative ones
        return min(value, zero - value) + vec<type, N>(type{1});
    } else {
      vec<Real, per * N> a = abs(convert<Real>(parts_of(v)));
      if constexpr (per == 2) a = a + pair_shuffle<2>(a);  // |re| + |im|, in both lanes of the pair
      constexpr type nan = sizeof(Real) == 8 ? static_cast<type>(0x7ff0000000000001u) : type{0x7f800001u};
      return min(bits_of(a), vec<type, per * N>(nan)) + vec<type, per * N>(type{1});
    }
  }
};

template <class T, class Space, Access access>
struct IamaxBody {
  using Key = typename MagnitudeKey<T>::type;
  using Result = index_t;
  struct Partial {
    std::uint64_t key;
    index_t index;
  };
  static constexpr int per = MagnitudeKey<T>::per;
  static constexpr int lanes = lanes_of<Space, T, std::conditional_t<per == 2, Key[2], Key>, access>;

  const T* x;
  index_t xs;

  struct Walker {
    static constexpr int sums = machine<Space>::is_host ? in_flight : 1;
    using V = vec<Key, per * lanes>;
    const IamaxBody& b;
    Share share;
    V best[sums];
    V turns[sums];  // when the best was met: one turn a vector of this worker, fewer than 2^32
    Key turn = 0;
    Partial rest;

    TESSERA_INLINE_FUNCTION Walker(const IamaxBody& body, const Share& s) : b(body), share(s), rest(identity()) {
      for (int k = 0; k < sums; ++k) best[k] = turns[k] = V(Key{0});
    }
    template <int U>
    TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) {
      vec<T, lanes> v[U];
      for (int u = 0; u < U; ++u) v[u] = fetch<Space, access, lanes>(b.x, b.xs, i + u * step);
      for (int u = 0; u < U; ++u) {
        const V key = MagnitudeKey<T>::of(v[u]);
        const auto better = best[u % sums] < key;
        best[u % sums] = select(better, key, best[u % sums]);
        turns[u % sums] = select(better, V(turn), turns[u % sums]);
        ++turn;
      }
    }
    TESSERA_INLINE_FUNCTION void single(index_t i) {
      const auto key = MagnitudeKey<T>::of(vec<T, 1>::load(b.x + i * b.xs));
      join(rest, {key[0], i});
    }
    TESSERA_INLINE_FUNCTION Partial collapse() {
      for (int k = 0; k < sums; ++k)
        for (int l = 0; l < per * lanes; ++l) {
          const index_t vector = share.first + static_cast<index_t>(turns[k][l]) * share.step;
          join(rest, {best[k][l], best[k][l] == 0 ? -1 : share.begin + vector * lanes + l / per});
        }
      return rest;
    }
  };

  TESSERA_INLINE_FUNCTION static Partial identity() { return {0, -1}; }
  TESSERA_INLINE_FUNCTION static void join(Partial& a, const Partial& b) {
    if (b.key > a.key || (b.key == a.key && b.index < a.index)) a = b;
  }
  TESSERA_INLINE_FUNCTION Result finish(const Partial& p) const { return p.index; }
};

template <class T, class Space>
index_t run_iamax(const Space& exec, const IamaxProblem<T>& p) {
  const Region region("tessera::iamax[portable]");
  if (unit_access<Space>(p.x.pointer, p.x.strides[0]))
    return run_reduction(exec, "iamax", IamaxBody<T, Space, Access::unit>{p.x.pointer, 1}, p.x.extents[0], p.result);
  return run_reduction(exec, "iamax", IamaxBody<T, Space, Access::strided>{p.x.pointer, p.x.strides[0]}, p.x.extents[0],
                       p.result);
}

}  // namespace tessera::detail
