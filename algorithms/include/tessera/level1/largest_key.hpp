// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/level1/reduction.hpp>

namespace tessera::detail {

/// The first element of the largest key. Key::of(vec<T, N>) gives unsigned integers, `per` equal ones an element;
/// Finish makes the result of the index (-1 where there is no element).
template <class T, class KeyOf, class Space, Access access, class Finish>
struct LargestKeyBody {
  using Key = typename KeyOf::type;
  using Result = typename Finish::Result;
  struct Partial {
    std::uint64_t key;
    index_t index;
  };
  static constexpr int per = KeyOf::per;
  static constexpr int lanes = lanes_of<Space, T, std::conditional_t<per == 2, Key[2], Key>, access>;

  const T* x;
  index_t xs;

  struct Walker {
    static constexpr int sums = machine<Space>::is_host ? in_flight : 1;
    using V = vec<Key, per * lanes>;
    const LargestKeyBody& b;
    Share share;
    V best[sums];
    V turns[sums];  // when the best was met: one turn a vector of this worker, fewer than 2^32
    Key turn = 0;
    bool all = false;  // whether every one of the sums has met a vector
    Partial rest;

    TESSERA_INLINE_FUNCTION Walker(const LargestKeyBody& body, const Share& s)
        : b(body), share(s), rest(body.identity()) {
      for (int k = 0; k < sums; ++k) {
        best[k] = V(Key{0});  // of the lowest key the first vector's elements are the first
        turns[k] = V(static_cast<Key>(k));
      }
    }
    template <int U>
    TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) {
      vec<T, lanes> v[U];
      for (int u = 0; u < U; ++u) v[u] = fetch<Space, access, lanes>(b.x, b.xs, i + u * step);
      for (int u = 0; u < U; ++u) {
        const V key = KeyOf::of(v[u]);
        const auto better = best[u % sums] < key;
        best[u % sums] = select(better, key, best[u % sums]);
        turns[u % sums] = select(better, V(turn), turns[u % sums]);
        ++turn;
      }
      all = all || U >= sums;
    }
    TESSERA_INLINE_FUNCTION void single(index_t i) {
      const auto key = KeyOf::of(vec<T, 1>::load(b.x + i * b.xs));
      b.join(rest, {key[0], i});
    }
    TESSERA_INLINE_FUNCTION Partial collapse() {
      for (int k = 0; k < sums; ++k) {
        if (!(k == 0 ? turn > 0 : all)) continue;
        for (int l = 0; l < per * lanes; ++l) {
          const index_t vector = share.first + static_cast<index_t>(turns[k][l]) * share.step;
          b.join(rest, {best[k][l], share.begin + vector * lanes + l / per});
        }
      }
      return rest;
    }
  };

  TESSERA_INLINE_FUNCTION Partial identity() const { return {0, -1}; }
  TESSERA_INLINE_FUNCTION void join(Partial& a, const Partial& b) const {
    if (b.index >= 0 && (a.index < 0 || b.key > a.key || (b.key == a.key && b.index < a.index))) a = b;
  }
  TESSERA_INLINE_FUNCTION Result finish(const Partial& p) const { return Finish::of(x, xs, p.index); }
};

}  // namespace tessera::detail
