// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The segmented sort of devices: a merge sort of tiles of the whole array, in which no key crosses the beginning of
/// its segment. A team sorts a tile in scratch. Then runs of 1, 2, 4, ... tiles are joined in pairs; of two runs only
/// the segment that lies on both sides of their boundary has anything to merge, its window. So segments of any lengths
/// are sorted alike, a long one costs passes over itself alone, and no launch waits to know the lengths: what a pass
/// has to do is listed on the device.
/// Source: S. Baxter, moderngpu (2013), segmented sort.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <string>

#include <tessera/core/execution.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/merge/path.hpp>
#include <tessera/sort/layout.hpp>
#include <tessera/sort/problem.hpp>

namespace tessera::detail {

/// Whether a key comes before another by the bits that count, which may be known to be all.
template <class Key, bool all_bits>
struct SegmentBefore {
  using Word = typename Key::word;
  KeyOrder<Key> order;
  int first_bit;
  Word mask;

  [[nodiscard]] TESSERA_INLINE_FUNCTION bool operator()(Word a, Word b) const {
    if constexpr (all_bits) return order(a) < order(b);
    return (static_cast<Word>(order(a) >> first_bit) & mask) < (static_cast<Word>(order(b) >> first_bit) & mask);
  }
};

/// Where segments lie: those of the offsets, one before the first and one from the last on.
template <class Offset>
struct SegmentEdges {
  VectorRef<const Offset> offsets;
  index_t n;

  /// How many offsets of [low, high) and before are not above a position: the number of its segment.
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t segment_at(index_t position, index_t low, index_t high) const {
    while (low < high) {
      const index_t middle = low + (high - low) / 2;
      if (static_cast<index_t>(offsets(middle)) <= position)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t begin(index_t segment) const {
    return segment == 0 ? 0 : inside(static_cast<index_t>(offsets(segment - 1)));
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t end(index_t segment) const {
    return segment == offsets.extents[0] ? n : inside(static_cast<index_t>(offsets(segment)));
  }

 private:
  /// Offsets that are none must not lead out of the keys.
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t inside(index_t position) const {
    return position < 0 ? 0 : position < n ? position : n;
  }
};

/// A part of a window: the tile-th of the keys around boundary `boundary`, in tiles.
struct WindowPart {
  std::uint32_t boundary, tile;
};

template <class Key, class Offset, class Space, bool all_bits>
struct SegmentSort {
  using Word = typename Key::word;
  using Before = SegmentBefore<Key, all_bits>;
  // an odd number: threads that step through scratch side by side meet few banks
  static constexpr int threads = 256, items = sizeof(Word) <= 4 ? 15 : 9;
  using Tile = MergeTile<Space, Word, Before, Access::unit, threads, items>;
  using Ranges = typename Tile::Ranges;
  static constexpr int tile = Tile::tile;
  static constexpr int keys_bytes = (Tile::kept * static_cast<int>(sizeof(Word)) + 15) / 16 * 16;
  static constexpr int scratch_bytes = keys_bytes + threads * 4;
  static constexpr int most_passes = 40;
  using Policy = BoundedTeams<Space, threads, 4>;
  using Member = typename Policy::member_type;

  VectorRef<const Word> in;
  Word* keys;  ///< the sorted tiles, then the result
  Word* tmp;
  SegmentEdges<Offset> edges;
  Before before;
  index_t tiles;
  index_t* segment_of_tile;  ///< of each tile's first key, and of the end
  // the windows of boundaries 1, 2, ... (in tiles), and the parts of those that each pass merges
  index_t *window_begin, *window_end;
  unsigned* counts;
  WindowPart* parts;

  /// Boundary b is met by the pass that joins runs of so many tiles: the lowest bit of b.
  [[nodiscard]] TESSERA_INLINE_FUNCTION static int pass_of(index_t boundary) {
    int pass = 0;
    while ((boundary >> pass & 1) == 0) ++pass;
    return pass;
  }
  /// Parts of a pass: windows share no key, and each begins and ends within a tile.
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t most_parts(int pass) const { return tiles + (tiles >> (pass + 1)) + 2; }
  [[nodiscard]] int passes() const {
    int p = 0;
    while (index_t{1} << p < tiles) ++p;
    return p;
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t first_part(int pass) const { return pass * (tiles + tiles / 2 + 2); }

  struct FindSegments {
    SegmentSort sort;
    TESSERA_FUNCTION void operator()(index_t t) const {
      const index_t position = t * tile < sort.edges.n ? t * tile : sort.edges.n;
      sort.segment_of_tile[t] = sort.edges.segment_at(position, 0, sort.edges.offsets.extents[0]);
      if (t == 0)
        for (int p = 0; p < most_passes; ++p) sort.counts[p] = 0;
    }
  };

  struct SortTiles {
    SegmentSort sort;

    TESSERA_FUNCTION void operator()(const Member& team) const {
      auto* const memory = static_cast<char*>(team.team_shmem().get_shmem_aligned(std::size_t{scratch_bytes}, 16));
      auto* const keys = reinterpret_cast<Word*>(memory);
      auto* const starts = reinterpret_cast<std::uint16_t*>(memory + keys_bytes);  // of the segment of a thread's first
      auto* const ends = starts + threads;
      const auto& edges = sort.edges;
      const Before before = sort.before;
      const index_t number = team.league_rank(), base = number * tile;
      const int t = static_cast<int>(team.team_rank()), first = t * items;
      const int count = static_cast<int>(edges.n - base < tile ? edges.n - base : tile);
      Word k[items];
      TESSERA_UNROLL
      for (int u = 0; u < items; ++u) {
        const int e = t + u * threads;
        k[u] = e < count ? sort.in(base + e) : Word{};
      }
      TESSERA_UNROLL
      for (int u = 0; u < items; ++u) keys[t + u * threads] = k[u];

      // heads among the thread's keys: bit u where key u begins a segment
      unsigned heads = 0;
      const index_t last = sort.segment_of_tile[number + 1];
      index_t segment = edges.segment_at(base + first, sort.segment_of_tile[number], last);
      const auto inside = [&](index_t position) {
        return static_cast<int>(position <= base ? 0 : position - base < count ? position - base : count);
      };
      starts[t] = static_cast<std::uint16_t>(inside(edges.begin(segment)));
      int next = inside(edges.end(segment));
      ends[t] = static_cast<std::uint16_t>(next);
      while (next < first + items && next < count) {
        heads |= 1u << (next - first);
        segment = edges.segment_at(base + next, segment + 1, last);
        next = inside(edges.end(segment));
      }
      if (count > first && count < first + items) heads |= 1u << (count - first);
      team.team_barrier();

      TESSERA_UNROLL
      for (int u = 0; u < items; ++u) k[u] = keys[first + u];
      TESSERA_UNROLL
      for (int round = 0; round < items; ++round) {
        TESSERA_UNROLL
        for (int u = round % 2; u + 1 < items; u += 2) {
          const bool swap = (heads >> (u + 1) & 1u) == 0 && before(k[u + 1], k[u]);
          const Word low = swap ? k[u + 1] : k[u];
          k[u + 1] = swap ? k[u] : k[u + 1];
          k[u] = low;
        }
      }
      team.team_barrier();
      TESSERA_UNROLL
      for (int u = 0; u < items; ++u) keys[first + u] = k[u];
      team.team_barrier();

      for (int run = 1; run < threads; run *= 2) {
        const int pair = t / (2 * run) * (2 * run), middle = pair + run, boundary = middle * items;
        int low = 0, high = 0;
        if (boundary < count && starts[middle] < boundary && before(keys[boundary], keys[boundary - 1])) {
          const int pair_begin = pair * items, pair_end = pair_begin + 2 * run * items;
          const int begin = starts[middle] > pair_begin ? starts[middle] : pair_begin;
          const int end = ends[middle] < pair_end ? ends[middle] : pair_end;
          low = first > begin ? first : begin;
          high = first + items < end ? first + items : end;
          if (low < high) {
            const Word *const a = keys + begin, *const b = keys + boundary;
            const int a_count = boundary - begin, b_count = end - boundary;
            int i = merge_split([=](int at) { return a[at]; }, a_count, [=](int at) { return b[at]; }, b_count,
                                low - begin, before);
            int j = low - begin - i;
            Word next_a = a[i], next_b = b[j];
            TESSERA_UNROLL
            for (int u = 0; u < items; ++u) {
              if (first + u < low || first + u >= high) continue;
              const bool takes_b = j < b_count && (i >= a_count || before(next_b, next_a));
              k[u] = takes_b ? next_b : next_a;
              i += takes_b ? 0 : 1;
              j += takes_b ? 1 : 0;
              const Word following = takes_b ? b[j] : a[i];
              if (takes_b)
                next_b = following;
              else
                next_a = following;
            }
          }
        }
        team.team_barrier();
        TESSERA_UNROLL
        for (int u = 0; u < items; ++u)
          if (first + u >= low && first + u < high) keys[first + u] = k[u];
        team.team_barrier();
      }
      TESSERA_UNROLL
      for (int u = 0; u < items; ++u) {
        const int e = t + u * threads;
        if (e < count) sort.keys[base + e] = keys[e];
      }
    }
  };

  struct ListWindows {
    SegmentSort sort;
    TESSERA_FUNCTION void operator()(index_t b) const {
      const int pass = pass_of(b);
      const index_t boundary = b * tile, run = index_t{tile} << pass, segment = sort.segment_of_tile[b];
      const index_t from = sort.edges.begin(segment), to = sort.edges.end(segment);
      if (from >= boundary || to <= boundary) return;
      const index_t begin = from > boundary - run ? from : boundary - run;
      const index_t end = to < boundary + run ? to : boundary + run;
      sort.window_begin[b] = begin;
      sort.window_end[b] = end;
      const auto needed = static_cast<unsigned>((end - begin + tile - 1) / tile);
      WindowPart* const list =
          sort.parts + sort.first_part(pass) + Kokkos::atomic_fetch_add(&sort.counts[pass], needed);
      for (unsigned part = 0; part < needed; ++part) list[part] = {static_cast<std::uint32_t>(b), part};
    }
  };

  [[nodiscard]] TESSERA_INLINE_FUNCTION Ranges window(index_t b) const {
    VectorRef<const Word> left, right;
    const index_t begin = window_begin[b], boundary = b * tile, end = window_end[b];
    left.pointer = keys + begin;
    right.pointer = keys + boundary;
    left.extents[0] = boundary - begin;
    right.extents[0] = end - boundary;
    left.strides[0] = right.strides[0] = 1;
    return Ranges(left, right, before);
  }

  struct MergeWindows {
    SegmentSort sort;
    int pass;

    TESSERA_FUNCTION void operator()(const Member& team) const {
      auto* const memory = static_cast<char*>(team.team_shmem().get_shmem_aligned(std::size_t{scratch_bytes}, 16));
      auto* const keys = reinterpret_cast<Word*>(memory);
      const int t = static_cast<int>(team.team_rank());
      const auto parts = static_cast<index_t>(sort.counts[pass]);
      for (index_t at = team.league_rank(); at < parts; at += team.league_size()) {
        const WindowPart part = sort.parts[sort.first_part(pass) + at];
        const Ranges ranges = sort.window(part.boundary);
        const auto place =
            Tile::find(team, ranges, part.tile, nullptr, reinterpret_cast<index_t*>(memory + keys_bytes));
        Word k[items];
        Tile::template load<false>(ranges, place, t, k, keys);
        team.team_barrier();
        const int first = t * items < place.count ? t * items : place.count;
        const int split = Tile::split_here(ranges, place, keys, first);
        Tile::walk(ranges, place, keys, split, place.a_count + first - split,
                   [&](int u, bool takes_b, int /*i*/, int /*j*/, const Word& next_a, const Word& next_b) {
                     k[u] = takes_b ? next_b : next_a;
                   });
        team.team_barrier();
        TESSERA_UNROLL
        for (int u = 0; u < items; ++u)
          if (t * items + u < place.count) keys[t * items + u] = k[u];
        team.team_barrier();
        Word* const out = sort.tmp + sort.window_begin[part.boundary] + place.begin;
        TESSERA_UNROLL
        for (int u = 0; u < items; ++u) {
          const int e = t + u * threads;
          if (e < place.count) out[e] = keys[e];
        }
        team.team_barrier();
      }
    }
  };
  struct CopyBack {
    SegmentSort sort;
    int pass;
    TESSERA_FUNCTION void operator()(const Member& team) const {
      const auto parts = static_cast<index_t>(sort.counts[pass]);
      const int t = static_cast<int>(team.team_rank());
      for (index_t at = team.league_rank(); at < parts; at += team.league_size()) {
        const WindowPart part = sort.parts[sort.first_part(pass) + at];
        const index_t begin = sort.window_begin[part.boundary] + index_t{part.tile} * tile,
                      end = sort.window_end[part.boundary];
        TESSERA_UNROLL
        for (int u = 0; u < items; ++u) {
          const index_t i = begin + t + u * threads;
          if (i < end) sort.keys[i] = sort.tmp[i];
        }
      }
    }
  };

  /// Lays out what it needs in `memory`; only counts it where that has none.
  SegmentSort(const SegmentedSortProblem<Key, Offset>& p, SortMemory& memory)
      : in(p.sort.keys_in), edges{p.offsets, p.sort.n()}, tiles((p.sort.n() + tile - 1) / tile) {
    const int bits = p.sort.last_bit - p.sort.first_bit;
    before = {p.sort.order, p.sort.first_bit < Key::bits ? p.sort.first_bit : 0,
              bits == 0 ? Word{0} : static_cast<Word>(static_cast<Word>(~Word{0}) >> (Key::bits - bits))};
    const bool apart = p.sort.keys_out.strides[0] != 1 && p.sort.n() > 1;
    keys = apart ? memory.take<Word>(p.sort.n()) : p.sort.keys_out.pointer;
    segment_of_tile = memory.take<index_t>(tiles + 1);
    counts = memory.take<unsigned>(most_passes);
    const bool merges = tiles > 1;
    tmp = memory.take<Word>(merges ? p.sort.n() : 0);
    window_begin = memory.take<index_t>(merges ? tiles : 0);
    window_end = memory.take<index_t>(merges ? tiles : 0);
    parts = memory.take<WindowPart>(merges ? first_part(passes()) : 0);
  }

  void run(const Space& exec) const {
    Kokkos::parallel_for("tessera::segmented_sort::segments", Range<Space>(exec, 0, tiles + 1), FindSegments{*this});
    const auto scratch = Kokkos::PerTeam(scratch_bytes + 16);
    Kokkos::parallel_for("tessera::segmented_sort::tiles", Policy(exec, tiles, threads).set_scratch_size(0, scratch),
                         SortTiles{*this});
    if (tiles == 1) return;
    Kokkos::parallel_for("tessera::segmented_sort::windows", Range<Space>(exec, 1, tiles), ListWindows{*this});
    const index_t at_once = std::max<index_t>(1, static_cast<index_t>(exec.concurrency()) / threads);
    for (int pass = 0; pass < passes(); ++pass) {
      const index_t league = std::min(most_parts(pass), at_once);
      Kokkos::parallel_for("tessera::segmented_sort::merge", Policy(exec, league, threads).set_scratch_size(0, scratch),
                           MergeWindows{*this, pass});
      Kokkos::parallel_for("tessera::segmented_sort::back", Policy(exec, league, threads).set_scratch_size(0, scratch),
                           CopyBack{*this, pass});
    }
  }
};

}  // namespace tessera::detail
