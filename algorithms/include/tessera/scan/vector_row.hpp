// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Rows of sums in the vectors of hosts: the same tree, and the same bits, as element by element. A Body gives
///   using Element; const Element* elements(i) const; Element* place(i) const; bool exclusive;
/// and where its Value is a sum since a head, with whether there was one,
///   using HeadFlag; const HeadFlag* heads_from(i) const;

#include <cstring>
#include <type_traits>
#include <utility>

#include <tessera/core/machine.hpp>
#include <tessera/core/vec.hpp>
#include <tessera/scan/tree.hpp>

namespace tessera::detail {

#if TESSERA_PACK_SHUFFLES && !TESSERA_DEVICE_PASS

/// Sums side by side.
template <class Body, int N>
struct SumLanes {
  using Element = typename Body::Element;
  using V = typename vec<Element, N>::lanes_type;
  V sum;

  TESSERA_INLINE_FUNCTION static SumLanes load(const Body& /*body*/, index_t /*i*/, const Element* x) {
    return {vec<Element, N>::load(x).lanes};
  }
  TESSERA_INLINE_FUNCTION static SumLanes all(const typename Body::Value& v) { return {vec<Element, N>(v).lanes}; }
  TESSERA_INLINE_FUNCTION static SumLanes nothing() { return {V{}}; }
  TESSERA_INLINE_FUNCTION static SumLanes below_first() { return {V{}}; }
  TESSERA_INLINE_FUNCTION static SumLanes join(const SumLanes& a, const SumLanes& b) { return {a.sum + b.sum}; }
  template <int... I>
  TESSERA_INLINE_FUNCTION static SumLanes pick(const SumLanes& a, const SumLanes& b) {
    return {__builtin_shufflevector(a.sum, b.sum, I...)};
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION typename Body::Value at(int lane) const { return sum[lane]; }
};

/// Sums since a head side by side, and whether there was one: all bits of a lane, or none.
template <class Body, int N>
struct SinceLanes {
  using Element = typename Body::Element;
  using Flag = typename Body::HeadFlag;
  using V = typename vec<Element, N>::lanes_type;
  using Mask = typename vec<typename SignedOfSize<sizeof(Element)>::type, N>::lanes_type;
  V sum;
  Mask head;

  /// N elements of x, the flags of elements i and on beside them.
  TESSERA_INLINE_FUNCTION static SinceLanes load(const Flag* heads, const Element* x) {
    typedef Flag Flags __attribute__((vector_size(N * sizeof(Flag))));
    Flags flags;
    std::memcpy(&flags, heads, sizeof flags);
    return {vec<Element, N>::load(x).lanes, __builtin_convertvector(flags != Flags{}, Mask)};
  }
  TESSERA_INLINE_FUNCTION static SinceLanes all(const typename Body::Value& v) {
    using Lane = typename SignedOfSize<sizeof(Element)>::type;
    return {vec<Element, N>(v.sum).lanes, vec<Lane, N>(v.head != 0 ? Lane{-1} : Lane{0}).lanes};
  }
  /// Leaves any sum as it is: -0 is what adds nothing.
  TESSERA_INLINE_FUNCTION static SinceLanes nothing() {
    if constexpr (std::is_floating_point_v<Element>)
      return {-V{}, Mask{}};
    else
      return {V{}, Mask{}};
  }
  TESSERA_INLINE_FUNCTION static SinceLanes below_first() { return {V{}, Mask{}}; }
  TESSERA_INLINE_FUNCTION static SinceLanes join(const SinceLanes& a, const SinceLanes& b) {
    const V both = a.sum + b.sum;
    return {(V)(((Mask)b.sum & b.head) | ((Mask)both & ~b.head)), a.head | b.head};
  }
  template <int... I>
  TESSERA_INLINE_FUNCTION static SinceLanes pick(const SinceLanes& a, const SinceLanes& b) {
    return {__builtin_shufflevector(a.sum, b.sum, I...), __builtin_shufflevector(a.head, b.head, I...)};
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION typename Body::Value at(int lane) const {
    return {sum[lane], head[lane] != 0 ? 1u : 0u};
  }
};

/// A row; N lanes hold N / leaf leaves, or N totals of leaves.
template <class Space, class Body>
struct ScanVectorRow {
  using Value = typename Body::Value;
  using Element = typename Body::Element;
  static constexpr int width = ScanShape<Body, few_rows>::width, leaf = Body::leaf, row = width * leaf;
  static constexpr int N = machine<Space>::simd_bytes / static_cast<int>(sizeof(Element));
  static constexpr int vectors = row / N, total_vectors = width / N;
  static constexpr bool with_heads = BodyWithHeads<Body>;
  using Lanes = typename std::conditional_t<with_heads, std::type_identity<SinceLanes<Body, N>>,
                                            std::type_identity<SumLanes<Body, N>>>::type;
  using Each = std::make_integer_sequence<int, N>;

  /// The lanes of `upper` moved up by `by`, those of `lower` coming in.
  template <int by, int... I>
  TESSERA_INLINE_FUNCTION static Lanes moved(const Lanes& lower, const Lanes& upper, std::integer_sequence<int, I...>) {
    return Lanes::template pick<(N - by + I)...>(lower, upper);
  }
  /// The same within each leaf, nothing coming in.
  template <int by, int... I>
  TESSERA_INLINE_FUNCTION static Lanes moved_in_leaf(const Lanes& v, std::integer_sequence<int, I...>) {
    return Lanes::template pick<(I % leaf < by ? I : N + I - by)...>(Lanes::nothing(), v);
  }
  template <int by = 1>
  TESSERA_INLINE_FUNCTION static Lanes leaves(const Lanes& v) {
    if constexpr (by >= leaf)
      return v;
    else
      return leaves<2 * by>(Lanes::join(moved_in_leaf<by>(v, Each{}), v));
  }
  /// Neighbours joined, of 2 N lanes.
  template <int... I>
  TESSERA_INLINE_FUNCTION static Lanes pairs(const Lanes& a, const Lanes& b, std::integer_sequence<int, I...>) {
    return Lanes::join(Lanes::template pick<(2 * I)...>(a, b), Lanes::template pick<(2 * I + 1)...>(a, b));
  }
  /// The last lanes of all leaves, of `count` vectors.
  template <int... I>
  TESSERA_INLINE_FUNCTION static Lanes odd(const Lanes& a, const Lanes& b, std::integer_sequence<int, I...>) {
    return Lanes::template pick<(2 * I + 1)...>(a, b);
  }
  template <int count>
  TESSERA_INLINE_FUNCTION static Lanes totals_of(const Lanes* v) {
    if constexpr (count == 1)
      return v[0];
    else
      return odd(totals_of<count / 2>(v), totals_of<count / 2>(v + count / 2), Each{});
  }
  /// Leaf total of each lane: lanes [from, ...) of a vector of totals, each `leaf` times.
  template <int from, int... I>
  TESSERA_INLINE_FUNCTION static Lanes spread(const Lanes& v, std::integer_sequence<int, I...>) {
    return Lanes::template pick<(from + I / leaf)...>(v, v);
  }
  template <int by = 1>
  TESSERA_INLINE_FUNCTION static void along(Lanes (&t)[total_vectors]) {
    if constexpr (by < width) {
      for (int m = total_vectors - 1; m >= 0; --m) {
        if constexpr (by < N)
          t[m] = Lanes::join(moved<by>(m > 0 ? t[m - 1] : Lanes::nothing(), t[m], Each{}), t[m]);
        else if (m >= by / N)
          t[m] = Lanes::join(t[m - by / N], t[m]);
      }
      along<2 * by>(t);
    }
  }
  template <int k = 0>
  TESSERA_INLINE_FUNCTION static void write(bool exclusive, Element* y, const Lanes (&s)[vectors],
                                            const Lanes (&below)[total_vectors], const Lanes& before) {
    if constexpr (k < vectors) {
      const Lanes inside = exclusive ? moved_in_leaf<1>(s[k], Each{}) : s[k];
      vec<Element, N> out;
      out.lanes = Lanes::join(before, Lanes::join(spread<k * N / leaf % N>(below[k / leaf], Each{}), inside)).sum;
      out.store(y + k * N);
      write<k + 1>(exclusive, y, s, below, before);
    }
  }

  /// The elements of a row, and where there are heads, its flags.
  struct Source {
    const Element* x;
    const void* heads;
  };
  [[nodiscard]] TESSERA_INLINE_FUNCTION static Lanes load(const Body& body, const Source& from, int k) {
    if constexpr (with_heads)
      return Lanes::load(static_cast<const typename Body::HeadFlag*>(from.heads) + k * N, from.x + k * N);
    else
      return Lanes::load(body, k, from.x + k * N);
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION static Source source(const Body& body, index_t i) {
    if constexpr (with_heads)
      return {body.elements(i), body.heads_from(i)};
    else
      return {body.elements(i), nullptr};
  }
  struct NoFlag {};
  template <class B>
  struct FlagOf {
    using type = NoFlag;
  };
  template <BodyWithHeads B>
  struct FlagOf<B> {
    using type = typename B::HeadFlag;
  };
  /// A part of a row, with zeros behind.
  struct Padded {
    Element element[row] = {};
    typename FlagOf<Body>::type flags[with_heads ? row : 1] = {};
    Padded(const Source& from, int count) {
      const auto elements = static_cast<std::size_t>(count);
      std::memcpy(element, from.x, elements * sizeof(Element));
      if constexpr (with_heads) std::memcpy(flags, from.heads, elements * sizeof flags[0]);
    }
    [[nodiscard]] Source source() const { return {element, flags}; }
  };

  [[nodiscard]] TESSERA_INLINE_FUNCTION static Value total_of(const Body& body, const Source& from) {
    Lanes v[vectors];
    for (int k = 0; k < vectors; ++k) v[k] = load(body, from, k);
    for (int n = vectors; n > 1; n /= 2)
      for (int k = 0; k < n / 2; ++k) v[k] = pairs(v[2 * k], v[2 * k + 1], Each{});
    for (int n = N; n > 1; n /= 2) v[0] = pairs(v[0], v[0], Each{});
    return v[0].at(0);
  }
  TESSERA_INLINE_FUNCTION static Value scan_of(const Body& body, const Source& from, Element* y, const Value& before) {
    Lanes s[vectors];
    for (int k = 0; k < vectors; ++k) s[k] = leaves(load(body, from, k));
    Lanes t[total_vectors];
    for (int m = 0; m < total_vectors; ++m) t[m] = totals_of<leaf>(s + m * leaf);
    along(t);
    const Value all = t[total_vectors - 1].at(N - 1);
    for (int m = total_vectors - 1; m >= 0; --m) t[m] = moved<1>(m > 0 ? t[m - 1] : Lanes::below_first(), t[m], Each{});
    write(body.exclusive, y, s, t, Lanes::all(before));
    return all;
  }

  [[nodiscard]] TESSERA_INLINE_FUNCTION static Value total(const Body& body, index_t i, int count) {
    if (count == row) return total_of(body, source(body, i));
    return total_of(body, Padded(source(body, i), count).source());
  }
  /// Writes the row after `before`; gives its total.
  TESSERA_INLINE_FUNCTION static Value scan(const Body& body, index_t i, int count, const Value& before) {
    if (count == row) return scan_of(body, source(body, i), body.place(i), before);
    const Padded padded(source(body, i), count);
    Element results[row];
    const Value all = scan_of(body, padded.source(), results, before);
    std::memcpy(body.place(i), results, static_cast<std::size_t>(count) * sizeof(Element));
    return all;
  }
};

#endif

}  // namespace tessera::detail
