// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The path along which two sorted ranges merge, for all that walk it: where a stretch of the merged range begins in
/// either one, and on devices the tile of it that a team takes to scratch.
/// Source: O. Green, R. McColl, D. Bader, GPU Merge Path - A GPU Merging Algorithm (2012).

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include <tessera/core/execution.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/core/warp.hpp>
#include <tessera/level1/walk.hpp>
#include <tessera/merge/problem.hpp>
#include <tessera/scan/lookback.hpp>

namespace tessera::detail {

/// Runs f with the order as kernels want it: of KeyBefore, the direction is made a type.
template <class Before, class F>
void with_fixed_order(const Before& before, const F& f) {
  if constexpr (std::is_same_v<Before, KeyBefore>) {
    if (before.descending)
      f(FixedKeyBefore<true>{});
    else
      f(FixedKeyBefore<false>{});
  } else {
    f(before);
  }
}

/// How many of the first `diagonal` elements of the merged range are a's; of equal ones a's come first.
/// \param a, b  callable with positions
template <class Index, class A, class B, class Before>
[[nodiscard]] TESSERA_INLINE_FUNCTION Index merge_split(const A& a, Index a_count, const B& b, Index b_count,
                                                        Index diagonal, const Before& before) {
  Index low = diagonal > b_count ? diagonal - b_count : 0, high = diagonal < a_count ? diagonal : a_count;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (before(b(diagonal - 1 - middle), a(middle)))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Two sorted ranges as kernels read them.
template <class Key, class Before, Access access>
struct SortedRanges {
  const Key *a, *b;
  index_t a_count, b_count, a_stride, b_stride;
  Before before;

  TESSERA_INLINE_FUNCTION SortedRanges(const VectorRef<const Key>& a_, const VectorRef<const Key>& b_,
                                       const Before& before_)
      : a(a_.pointer),
        b(b_.pointer),
        a_count(a_.extents[0]),
        b_count(b_.extents[0]),
        a_stride(a_.strides[0]),
        b_stride(b_.strides[0]),
        before(before_) {}
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t count() const { return a_count + b_count; }
  [[nodiscard]] TESSERA_INLINE_FUNCTION const Key& a_at(index_t i) const {
    return a[access == Access::unit ? i : i * a_stride];
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION const Key& b_at(index_t j) const {
    return b[access == Access::unit ? j : j * b_stride];
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t split(index_t diagonal) const {
    return merge_split([this](index_t i) { return a_at(i); }, a_count, [this](index_t j) { return b_at(j); }, b_count,
                       diagonal, before);
  }
};

/// Where tiles begin in a: a thread for each, since a search waits for memory at every step and thousands may wait
/// together.
template <class Ranges>
struct MergeSplits {
  Ranges ranges;
  index_t tile;
  index_t* splits;
  TESSERA_FUNCTION void operator()(index_t t) const {
    const index_t diagonal = t * tile;
    splits[t] = ranges.split(diagonal < ranges.count() ? diagonal : ranges.count());
  }
};

/// Elements that a thread takes of a tile whose keys are larger than 8 bytes: 32 KiB of them a team at most.
template <class Key>
inline constexpr int items_of_large_keys = sizeof(Key) <= 24   ? 5
                                           : sizeof(Key) <= 42 ? 3
                                                               : 1;

/// A tile of the merged range in a team's scratch: a's elements, then b's.
template <class Space, class Key, class Before, Access access, int Threads, int Items>
struct MergeTile {
  using Ranges = SortedRanges<Key, Before, access>;
  using Warp = warp<Space>;
  static constexpr int threads = Threads, items = Items, tile = Threads * Items;
  static_assert(sizeof(Key) <= 128 && alignof(Key) <= 16, "tessera::merge: keys may have 128 bytes, aligned to 16");
  static constexpr int kept = tile + Items;  // keys in scratch: threads at the end read, and do not use, a few more

  /// Where the tile lies: in the merged range, in a and in b, and of how many elements.
  struct Place {
    index_t begin, a_begin, b_begin;
    int count, a_count;
  };

  /// The same as SortedRanges::split, by all lanes of a warp.
  [[nodiscard]] TESSERA_INLINE_FUNCTION static index_t split_by_warp(const Ranges& ranges, index_t diagonal, int lane) {
    index_t low = diagonal > ranges.b_count ? diagonal - ranges.b_count : 0;
    index_t high = diagonal < ranges.a_count ? diagonal : ranges.a_count;
    while (low < high) {
      const index_t step = (high - low + Warp::width - 1) / Warp::width;
      const index_t at = low + (lane + 1) * step - 1;
      const bool passed = at < high && !ranges.before(ranges.b_at(diagonal - 1 - at), ranges.a_at(at));
      int count = 0;  // lanes that pass are the first ones
      for (auto votes = Warp::ballot(passed); votes != 0; votes &= votes - 1) ++count;
      const index_t next = low + count * step, above = next + step - 1;
      low = next < high ? next : high;
      high = above < high ? above : high;
    }
    return low;
  }

  /// \param splits  of every tile, or null: then a warp each finds where this one begins and ends
  /// \param room    of two in scratch
  template <class Member>
  [[nodiscard]] TESSERA_INLINE_FUNCTION static Place find(const Member& team, const Ranges& ranges, index_t number,
                                                          const index_t* splits, index_t* room) {
    const index_t n = ranges.count();
    Place place;
    place.begin = number * tile;
    place.count = static_cast<int>(n - place.begin < tile ? n - place.begin : tile);
    index_t a_end = 0;
    if (splits != nullptr) {
      place.a_begin = splits[number];
      a_end = splits[number + 1];
    } else {
      const int t = static_cast<int>(team.team_rank());
      if (const int w = t / Warp::width; w < 2) {
        const index_t split = split_by_warp(ranges, place.begin + w * place.count, t % Warp::width);
        if (t % Warp::width == 0) room[w] = split;
      }
      team.team_barrier();
      place.a_begin = room[0];
      a_end = room[1];
    }
    place.b_begin = place.begin - place.a_begin;
    place.a_count = static_cast<int>(a_end - place.a_begin);
    return place;
  }

  /// Brings the keys; a barrier follows. `own` are registers. All of a thread's loads are asked for before one is used.
  template <bool whole>
  TESSERA_INLINE_FUNCTION static void load(const Ranges& ranges, const Place& place, int t, Key (&own)[items],
                                           Key* keys) {
    const index_t a_stride = access == Access::unit ? 1 : ranges.a_stride;
    const index_t b_stride = access == Access::unit ? 1 : ranges.b_stride;
    const Key* const a = ranges.a + place.a_begin * a_stride;
    const Key* const b = ranges.b + (place.b_begin - place.a_count) * b_stride;
    TESSERA_UNROLL
    for (int u = 0; u < items; ++u) {
      const int e = t + u * threads;
      own[u] = Key{};
      if (whole || e < place.count) {
        // one load from a chosen place: a branch between two measured 0.9 of this
        const bool of_a = e < place.a_count;
        own[u] = access == Access::unit ? (of_a ? a : b)[e] : of_a ? a[e * a_stride] : b[e * b_stride];
      }
    }
    TESSERA_UNROLL
    for (int u = 0; u < items; ++u)
      if (whole || t + u * threads < place.count) keys[t + u * threads] = own[u];
  }

  /// Where a thread's elements begin in the tile's part of a.
  [[nodiscard]] TESSERA_INLINE_FUNCTION static int split_here(const Ranges& ranges, const Place& place, const Key* keys,
                                                              int first) {
    const Key* const b = keys + place.a_count;
    return merge_split([=](int i) { return keys[i]; }, place.a_count, [=](int j) { return b[j]; },
                       place.count - place.a_count, first, ranges.before);
  }

  /// The first element of the tile.
  [[nodiscard]] TESSERA_INLINE_FUNCTION static const Key& first_of(const Ranges& ranges, const Place& place,
                                                                   const Key* keys) {
    const bool of_b =
        place.a_count == 0 || (place.a_count < place.count && ranges.before(keys[place.a_count], keys[0]));
    return keys[of_b ? place.a_count : 0];
  }

  /// Walks `items` elements on from places i and j in scratch: f(u, takes_b, i, j, next_a, next_b) for each, which is
  /// a's at i or b's at j. Elements behind the end of the tile are a's, as they may be.
  template <class F>
  TESSERA_INLINE_FUNCTION static void walk(const Ranges& ranges, const Place& place, const Key* keys, int i, int j,
                                           const F& f) {
    Key next_a = keys[i], next_b = keys[j];
    TESSERA_UNROLL
    for (int u = 0; u < items; ++u) {
      const bool takes_b = j < place.count && (i >= place.a_count || ranges.before(next_b, next_a));
      f(u, takes_b, i, j, next_a, next_b);
      i += takes_b ? 0 : 1;
      j += takes_b ? 1 : 0;
      const Key next = keys[takes_b ? j : i];
      if (takes_b)
        next_b = next;
      else
        next_a = next;
    }
  }
};

/// Merged ranges of more tiles have their splits found by a kernel of its own; in shorter ones, whose teams all run at
/// once, it would only be one more launch.
inline constexpr index_t tiles_that_search = 1024;

/// The splits of all tiles and of the end, in the workspace of the instance; null where tiles search for themselves.
/// The caller holds the lock of the instance.
template <class Tile, class Space>
const index_t* find_splits(const Space& exec, const char* algorithm, const typename Tile::Ranges& ranges) {
  const index_t tiles = (ranges.count() + Tile::tile - 1) / Tile::tile;
  if (tiles <= tiles_that_search) return nullptr;
  auto* const splits =
      static_cast<index_t*>(ScanWorkspace<Space>::of(exec).room(static_cast<std::size_t>(tiles + 1) * sizeof(index_t)));
  Kokkos::parallel_for(label(algorithm, "splits"), Range<Space>(exec, 0, tiles + 1),
                       MergeSplits<typename Tile::Ranges>{ranges, Tile::tile, splits});
  return splits;
}

}  // namespace tessera::detail
