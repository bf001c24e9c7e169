// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// A compaction as its kernels see it: how elements are read and chosen, one by one and as a thread's leaves, and what
/// of the work is told from tile to tile.

#include <type_traits>

#include <tessera/scan/leaf.hpp>
#include <tessera/select/problem.hpp>

namespace tessera::detail {

/// A leaf of which the first `count` elements are there; zeros behind them, so that no register waits for a value that
/// is never read.
template <class Space, Access access, bool whole, int N, class T>
[[nodiscard]] TESSERA_INLINE_FUNCTION Pack<T, N> leaf_or_zeros(const T* p, index_t stride, index_t i, int count) {
  if constexpr (whole) {
    return fetch_leaf<Space, access, true, N>(p, stride, i, count);
  } else {
    Pack<T, N> v{};
    for (int j = 0; j < N; ++j)
      if (j < count) v.set(j, p[(i + j) * stride]);
    return v;
  }
}

/// Bytes that a choice reads of an element besides the element.
template <class Choice>
inline constexpr int mark_bytes = 0;
template <class Flag>
inline constexpr int mark_bytes<ByFlag<Flag>> = static_cast<int>(sizeof(Flag));

/// How a choice is made in leaves of N elements. `marks` is what is read besides the elements; chosen() judges element
/// j of a leaf, `previous` being the one before it where the choice compares; chosen_at() judges element i of x.
template <class Space, Access access, int N, class T, class Choice>
struct Chooser;

template <class Space, Access access, int N, class T, class Flag>
struct Chooser<Space, access, N, T, ByFlag<Flag>> {
  static constexpr bool compares = false;
  static constexpr int looked_bytes = static_cast<int>(sizeof(Flag));  // of an element, to choose it or not
  using Marks = Pack<Flag, N>;
  const Flag* flags;
  index_t fs;

  explicit Chooser(const ByFlag<Flag>& choice) : flags(choice.flags.pointer), fs(choice.flags.strides[0]) {}
  static bool unit(const ByFlag<Flag>& choice) {
    return unit_access<Space>(choice.flags.pointer, choice.flags.strides[0]);
  }
  template <bool whole>
  [[nodiscard]] TESSERA_INLINE_FUNCTION Marks marks(index_t i, int count) const {
    return leaf_or_zeros<Space, access, whole, N>(flags, fs, i, count);
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool chosen(const Marks& marks, int j, const T&, const T&) const {
    return marks[j] != Flag(0);
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool chosen_at(const T*, index_t, index_t i) const {
    return flags[access == Access::unit ? i : i * fs] != Flag(0);
  }
};

struct NoMarks {};

template <class Space, Access access, int N, class T, class Predicate>
struct Chooser<Space, access, N, T, ByPredicate<Predicate>> {
  static constexpr bool compares = false;
  static constexpr int looked_bytes = static_cast<int>(sizeof(T));
  using Marks = NoMarks;
  Predicate predicate;

  explicit Chooser(const ByPredicate<Predicate>& choice) : predicate(choice.predicate) {}
  static bool unit(const ByPredicate<Predicate>&) { return true; }
  template <bool whole>
  [[nodiscard]] TESSERA_INLINE_FUNCTION Marks marks(index_t, int) const {
    return {};
  }
  TESSERA_CALLS_ANYTHING
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool chosen(const Marks&, int, const T& element, const T&) const {
    return static_cast<bool>(predicate(element));
  }
  TESSERA_CALLS_ANYTHING
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool chosen_at(const T* x, index_t xs, index_t i) const {
    return static_cast<bool>(predicate(x[access == Access::unit ? i : i * xs]));
  }
};

/// Element 0 is the caller's to judge.
template <class Space, Access access, int N, class T, class Equality>
struct Chooser<Space, access, N, T, FirstOfRuns<Equality>> {
  static constexpr bool compares = true;
  static constexpr int looked_bytes = static_cast<int>(sizeof(T));
  using Marks = NoMarks;
  Equality equal;

  explicit Chooser(const FirstOfRuns<Equality>& choice) : equal(choice.equal) {}
  static bool unit(const FirstOfRuns<Equality>&) { return true; }
  template <bool whole>
  [[nodiscard]] TESSERA_INLINE_FUNCTION Marks marks(index_t, int) const {
    return {};
  }
  TESSERA_CALLS_ANYTHING
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool chosen(const Marks&, int, const T& element, const T& previous) const {
    return !static_cast<bool>(equal(previous, element));
  }
  TESSERA_CALLS_ANYTHING
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool chosen_at(const T* x, index_t xs, index_t i) const {
    return access == Access::unit ? !static_cast<bool>(equal(x[i - 1], x[i]))
                                  : !static_cast<bool>(equal(x[(i - 1) * xs], x[i * xs]));
  }
};

/// What goes along, as strided places. `Item` passes through scratch beside the elements.
template <class T, class Along>
struct Companion {
  using Item = T;
  static constexpr bool values = false, lengths = false;
  explicit Companion(const Along&) {}
  template <class Space>
  static bool unit(const Along&) {
    return true;
  }
};
template <class T, class W>
struct Companion<T, WithValues<W>> {
  using Item = W;
  static constexpr bool values = true, lengths = false;
  const W* in;
  W* out;
  index_t is, os, room;
  explicit Companion(const WithValues<W>& a)
      : in(a.in.pointer), out(a.out.pointer), is(a.in.strides[0]), os(a.out.strides[0]), room(a.out.extents[0]) {}
  template <class Space>
  static bool unit(const WithValues<W>& a) {
    return unit_access<Space>(a.in.pointer, a.in.strides[0]) && a.out.strides[0] == 1;
  }
};
template <class T, class Length>
struct Companion<T, WithLengths<Length>> {
  using Item = std::uint32_t;  // where chosen elements stand in their tile
  static constexpr bool values = false, lengths = true;
  Length* out;
  index_t os, room;
  explicit Companion(const WithLengths<Length>& a) : out(a.out.pointer), os(a.out.strides[0]), room(a.out.extents[0]) {}
  template <class Space>
  static bool unit(const WithLengths<Length>& a) {
    return a.out.strides[0] == 1;
  }
  /// Of the run before the one that begins at `begin` and is number g.
  TESSERA_INLINE_FUNCTION void put_length(index_t g, index_t previous, index_t begin) const {
    if (g > 0 && g <= room) out[(g - 1) * os] = static_cast<Length>(begin - previous);
  }
};

/// What comes before a tile where lengths are wanted: how many runs have begun, and where the last of them did.
struct RunsBefore {
  std::uint64_t count;
  std::int64_t last;
};

/// The whole of it. `keeps_rest`: the elements that are not chosen follow those that are.
template <class Space, class T, class Choice, class Along, Access A, bool KeepsRest>
struct SelectJob {
  using Item = T;
  using Beside = Companion<T, Along>;
  using BesideItem = typename Beside::Item;
  static constexpr Access access = A;
  static constexpr bool keeps_rest = KeepsRest;
  static constexpr bool lengths = Beside::lengths;
  static constexpr int widest = static_cast<int>(sizeof(T) > sizeof(BesideItem) ? sizeof(T) : sizeof(BesideItem));
  /// Elements that a thread takes at once: 16 bytes of the widest that it loads.
  static constexpr int leaf_bytes = widest > mark_bytes<Choice> ? widest : mark_bytes<Choice>;
  static constexpr int leaf = leaf_bytes < 16 ? 16 / leaf_bytes : 1;
  using Leaf = Pack<T, leaf>;
  using Choosing = Chooser<Space, A, leaf, T, Choice>;
  using Carry = std::conditional_t<lengths, RunsBefore, std::uint64_t>;
  static_assert(sizeof(T) <= 128 && alignof(T) <= 16 && sizeof(BesideItem) <= 128 && alignof(BesideItem) <= 16,
                "tessera::select: elements may have 128 bytes, aligned to 16");

  const T* x;
  T* y;
  index_t n, xs, ys, room;
  Choosing choosing;
  Beside beside;
  index_t* count;      // null: not wanted
  const index_t* all;  // keeps_rest: how many are chosen, known before anything is moved

  explicit SelectJob(const SelectProblem<T, Choice, Along>& p, index_t* count_)
      : x(p.x.pointer),
        y(p.y.pointer),
        n(p.x.extents[0]),
        xs(p.x.strides[0]),
        ys(p.y.strides[0]),
        room(p.y.extents[0]),
        choosing(p.choice),
        beside(p.along),
        count(count_),
        all(nullptr) {}
  static bool unit(const SelectProblem<T, Choice, Along>& p) {
    return unit_access<Space>(p.x.pointer, p.x.strides[0]) && p.y.strides[0] == 1 && Choosing::unit(p.choice) &&
           Beside::template unit<Space>(p.along);
  }

  [[nodiscard]] TESSERA_INLINE_FUNCTION static index_t at(index_t i, index_t stride) {
    return access == Access::unit ? i : i * stride;
  }
  template <bool whole>
  [[nodiscard]] TESSERA_INLINE_FUNCTION Leaf fetch(index_t i, int present) const {
    return leaf_or_zeros<Space, access, whole, leaf>(x, xs, i, present);
  }
  /// Bit j: whether element i + j is chosen.
  template <bool whole>
  [[nodiscard]] TESSERA_INLINE_FUNCTION std::uint32_t bits(const Leaf& v, const typename Choosing::Marks& marks,
                                                           const T& previous, index_t i, int present) const {
    std::uint32_t found = 0;
    for (int j = 0; j < leaf; ++j)
      if ((whole || j < present) && ((Choosing::compares && j == 0 && i == 0) ||
                                     choosing.chosen(marks, j, v[j], j == 0 ? previous : v[j > 0 ? j - 1 : 0])))
        found |= 1u << j;
    return found;
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool chosen(index_t i) const {
    return (Choosing::compares && i == 0) || choosing.chosen_at(x, xs, i);
  }

  [[nodiscard]] TESSERA_INLINE_FUNCTION static Carry carry(std::uint64_t chosen, std::int64_t last) {
    if constexpr (lengths)
      return {chosen, last};
    else
      return chosen;
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION static Carry first() { return carry(0, -1); }
  [[nodiscard]] TESSERA_INLINE_FUNCTION static std::uint64_t join(std::uint64_t a, std::uint64_t b) { return a + b; }
  [[nodiscard]] TESSERA_INLINE_FUNCTION static RunsBefore join(const RunsBefore& a, const RunsBefore& b) {
    return {a.count + b.count, b.count > 0 ? b.last : a.last};
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION static index_t number(std::uint64_t carry) {
    return static_cast<index_t>(carry);
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION static index_t number(const RunsBefore& carry) {
    return static_cast<index_t>(carry.count);
  }
  TESSERA_INLINE_FUNCTION void finish(const Carry& total) const {
    if (count != nullptr) *count = number(total);
    if constexpr (lengths) beside.put_length(number(total), total.last, n);
  }
};

}  // namespace tessera::detail
