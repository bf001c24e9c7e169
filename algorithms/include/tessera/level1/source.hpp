// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What is reduced, apart from the order in which it is. A Source gives
///   using Partial, Result;                                  // of some elements; of all
///   template <class Space, Access access> static constexpr int lanes;   // elements taken at once
///   static constexpr int width;                             // elements in 16 bytes: see fixed_tree.hpp
///   static constexpr bool exact;                            // any order gives the same bits
///   template <Access> bool unit<Space>();                   // whether Access::unit may be used
///   load<Space, access, N>(i); load_some<N>(i, count);      // N elements; the first `count`, the rest without effect
///   template <int N> struct Lanes {                         // N running results side by side
///     clear(source); add(source, loaded); merge(source, other lanes); Partial get(lane);
///   };
///   Partial identity() const; void join(Partial&, const Partial&) const; Result finish(const Partial&) const;

#include <tessera/level1/walk.hpp>

namespace tessera::detail {

/// Elements of T in 16 bytes.
template <class T>
inline constexpr int width_of = sizeof(T) >= 16 ? 1 : 16 / static_cast<int>(sizeof(T));

/// A running result of each part of an element.
template <class Wide, int per>
struct Parts {
  Wide part[per];
};

/// A strided vector, as sources read it.
template <class T>
struct VectorReader {
  const T* x;
  index_t xs;

  template <class Space>
  [[nodiscard]] bool unit() const {
    return unit_access<Space>(x, xs);
  }
  template <class Space, Access access, int N>
  TESSERA_INLINE_FUNCTION vec<T, N> load(index_t i) const {
    return fetch<Space, access, N>(x, xs, i);
  }
  template <int N>
  TESSERA_INLINE_FUNCTION vec<T, N> load_some(index_t i, index_t count, const T& beyond) const {
    vec<T, N> v(beyond);
    for (int l = 0; l < N; ++l)
      if (l < count) v.set(l, x[(i + l) * xs]);
    return v;
  }
};

/// A source as a Body of run_reduction(), in whatever order is fastest.
template <class From, class Space, Access access>
struct SourceBody {
  using Source = From;
  using Partial = typename Source::Partial;
  using Result = typename Source::Result;
  static constexpr int lanes = Source::template lanes<Space, access>;

  Source source;

  struct Walker {
    static constexpr int sums = machine<Space>::is_host ? in_flight : 1;
    const Source& source;
    typename Source::template Lanes<lanes> sum[sums];
    typename Source::template Lanes<1> rest;

    TESSERA_INLINE_FUNCTION Walker(const SourceBody& body, const Share&) : source(body.source) {
      for (int s = 0; s < sums; ++s) sum[s].clear(source);
      rest.clear(source);
    }
    template <int U>
    TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) {
      decltype(source.template load<Space, access, lanes>(i)) v[U];
      for (int u = 0; u < U; ++u) v[u] = source.template load<Space, access, lanes>(i + u * step);
      for (int u = 0; u < U; ++u) sum[u % sums].add(source, v[u]);
    }
    TESSERA_INLINE_FUNCTION void single(index_t i) {
      rest.add(source, source.template load<Space, Access::strided, 1>(i));
    }
    TESSERA_INLINE_FUNCTION Partial collapse() {
      for (int s = 1; s < sums; ++s) sum[0].merge(source, sum[s]);
      Partial total = rest.get(0);
      for (int l = 0; l < lanes; ++l) source.join(total, sum[0].get(l));
      return total;
    }
  };

  TESSERA_INLINE_FUNCTION Partial identity() const { return source.identity(); }
  TESSERA_INLINE_FUNCTION void join(Partial& a, const Partial& b) const { source.join(a, b); }
  TESSERA_INLINE_FUNCTION Result finish(const Partial& p) const { return source.finish(p); }
};

/// call(integral_constant<Access>) with the access that source allows.
template <class Space, class Source, class Call>
auto with_access(const Source& source, const Call& call) {
  if (source.template unit<Space>()) return call(std::integral_constant<Access, Access::unit>{});
  return call(std::integral_constant<Access, Access::strided>{});
}

}  // namespace tessera::detail
