// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The scan of hosts: the tree of tree.hpp by threads. Where there is more than one, they go over a block that fits
/// their caches twice, first for the totals of its tiles, then to write; one thread goes over everything once. A Body
/// also gives
///   Value element(i) const; void emit(i, const Value& before, const Value& through) const;   // one element
/// and where its rows are sums that vectors can do
///   static constexpr bool sums_of_vectors = true;
/// with what vector_row.hpp asks for. Where a Value is a sum since a head,
///   using HeadFlag; bool any_head(i, count) const;

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

#include <tessera/core/execution.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/scan/tree.hpp>
#include <tessera/scan/vector_row.hpp>

namespace tessera::detail {

/// Turns the totals of tiles, given in order, into what comes before each.
template <class Body>
struct ScanPrefix {
  using Carry = typename Body::Carry;
  static constexpr int width = ScanShape<Body, few_rows>::width, levels = 6;
  Carry level[levels][width];
  Carry before_group;
  int place = 0;

  TESSERA_FUNCTION explicit ScanPrefix(const Body& body) : before_group(body.first()) {}
  [[nodiscard]] TESSERA_FUNCTION Carry before(const Body& body) const {
    return place == 0 ? before_group : body.join(before_group, level[levels - 1][place - 1]);
  }
  TESSERA_FUNCTION void add(const Body& body, const Carry& total) {
    level[0][place] = total;
    for (int l = 1; l < levels; ++l) {
      const int by = 1 << (l - 1);
      level[l][place] = place >= by ? body.join(level[l - 1][place - by], level[l - 1][place]) : level[l - 1][place];
    }
    if (++place == width) {
      before_group = body.join(before_group, level[levels - 1][width - 1]);
      place = 0;
    }
  }
};

/// A row, element by element.
template <class Body>
struct ScanRow {
  using Value = typename Body::Value;
  static constexpr int width = ScanShape<Body, few_rows>::width, leaf = Body::leaf;
  Value s[leaf][width];  // element j of each leaf with those before it in the leaf
  Value t[width];        // leaves, with those before them in the row

  TESSERA_INLINE_FUNCTION ScanRow(const Body& body, index_t i, int count) {
    for (int l = 0; l < width; ++l)
      for (int j = 0; j < leaf; ++j) s[j][l] = l * leaf + j < count ? body.element(i + l * leaf + j) : body.nothing();
    for (int by = 1; by < leaf; by *= 2)
      for (int j = leaf - 1; j >= by; --j)
        for (int l = 0; l < width; ++l) s[j][l] = body.join(s[j - by][l], s[j][l]);
    for (int l = 0; l < width; ++l) t[l] = s[leaf - 1][l];
    for (int by = 1; by < width; by *= 2)
      for (int l = width - 1; l >= by; --l) t[l] = body.join(t[l - by], t[l]);
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION static Value total(const Body& body, index_t i, int count) {
    return ScanRow(body, i, count).t[width - 1];
  }
  /// Writes the row after `before`; gives its total.
  TESSERA_INLINE_FUNCTION static Value scan(const Body& body, index_t i, int count, const Value& before) {
    const ScanRow row(body, i, count);
    for (int e = 0; e < count; ++e) {
      const int l = e / leaf, j = e % leaf;
      const Value below = l == 0 ? body.nothing() : row.t[l - 1];
      body.emit(i + e, body.join(before, j == 0 ? below : body.join(below, row.s[j - 1][l])),
                body.join(before, body.join(below, row.s[j][l])));
    }
    return row.t[width - 1];
  }
};

#if TESSERA_PACK_SHUFFLES && !TESSERA_DEVICE_PASS
template <class Space, class Body>
using ScanRowOf = std::conditional_t<Body::sums_of_vectors, ScanVectorRow<Space, Body>, ScanRow<Body>>;
#else
template <class Space, class Body>
using ScanRowOf = ScanRow<Body>;
#endif

template <class Space, class Body, int Rows>
struct ScanBlocks {
  using Shape = ScanShape<Body, Rows>;
  using Carry = typename Body::Carry;
  using Value = typename Body::Value;
  using Row = ScanRowOf<Space, Body>;
  Body body;
  index_t n;
  index_t first, last, each;  // tiles, and of one worker
  Carry* of_tiles;            // totals, then what comes before
  bool writes;

  [[nodiscard]] TESSERA_INLINE_FUNCTION int present(index_t i) const {
    return static_cast<int>(n - i < Shape::row ? n - i : Shape::row);
  }
  /// The last row of a tile that has a head, before which nothing counts; 0 where there are no heads.
  [[nodiscard]] TESSERA_INLINE_FUNCTION int first_that_counts([[maybe_unused]] index_t tile) const {
    if constexpr (BodyWithHeads<Body>)
      for (int row = Shape::strips * Shape::rows - 1; row > 0; --row) {
        const index_t i = tile * Shape::tile + row * Shape::row;
        if (i < n && body.any_head(i, present(i))) return row;
      }
    return 0;
  }
  [[nodiscard]] TESSERA_FUNCTION Carry total(index_t tile) const {
    const Body b = body;
    Carry sum{};
    const int first_row = first_that_counts(tile), first_strip = first_row / Shape::rows;
    for (int s = first_strip; s < Shape::strips; ++s) {
      const index_t begin = tile * Shape::tile + s * Shape::strip;
      if (begin >= n) break;
      Carry strip{};
      const int first_here = s == first_strip ? first_row % Shape::rows : 0;
      for (int r = first_here; r < Shape::rows && begin + r * Shape::row < n; ++r) {
        const index_t i = begin + r * Shape::row;
        const Carry row = b.widen(Row::total(b, i, present(i)));
        strip = r == first_here ? row : b.join(strip, row);
      }
      sum = s == first_strip ? strip : b.join(sum, strip);
    }
    return sum;
  }

  /// Writes a tile that comes after `carry`; gives its total.
  TESSERA_FUNCTION Carry scan(index_t tile, Carry carry) const {
    const Body b = body;
    Carry sum{};
    for (int s = 0; s < Shape::strips; ++s) {
      const index_t begin = tile * Shape::tile + s * Shape::strip;
      if (begin >= n) break;
      Carry strip{}, here = carry;
      for (int r = 0; r < Shape::rows && begin + r * Shape::row < n; ++r) {
        const index_t i = begin + r * Shape::row;
        const Carry row = b.widen(Row::scan(b, i, present(i), b.narrow(here)));
        strip = r == 0 ? row : b.join(strip, row);
        here = b.join(here, row);
      }
      sum = s == 0 ? strip : b.join(sum, strip);
      carry = b.join(carry, strip);
    }
    return sum;
  }

  KOKKOS_FUNCTION void operator()(index_t worker) const {
    const index_t begin = first + worker * each, end = begin + each < last ? begin + each : last;
    for (index_t tile = begin; tile < end; ++tile) {
      Carry& mine = of_tiles[tile - first];
      if (writes)
        (void)scan(tile, mine);
      else
        mine = total(tile);
    }
  }
};

/// All by one thread.
template <class Space, class Body, int Rows>
struct ScanAlone {
  Body body;
  index_t n, tiles;
  KOKKOS_FUNCTION void operator()(index_t /*only*/) const {
    const ScanBlocks<Space, Body, Rows> blocks{body, n, 0, tiles, 1, nullptr, true};
    ScanPrefix<Body> prefix(body);
    typename Body::Carry all = body.first();
    for (index_t tile = 0; tile < tiles; ++tile) {
      const auto before = prefix.before(body);
      const auto total = blocks.scan(tile, before);
      all = body.join(before, total);
      prefix.add(body, total);
    }
    body.finish(all);
  }
};

/// Scans [0, n) with body; n > 0.
template <int Rows, class Space, class Body>
void run_blocks(const Space& exec, const std::string& kernel_label, const Body& body, index_t n) {
  using Kernel = ScanBlocks<Space, Body, Rows>;
  using Carry = typename Body::Carry;
  constexpr index_t most = 1024;  // tiles in a block
  const index_t tiles = (n + Kernel::Shape::tile - 1) / Kernel::Shape::tile;
  index_t workers = static_cast<index_t>(exec.concurrency());
  workers = workers < most ? workers : most;
  workers = workers < tiles ? workers : tiles;
  if (workers < 2) {
    Kokkos::parallel_for(kernel_label, Range<Space>(exec, 0, 1), ScanAlone<Space, Body, Rows>{body, n, tiles});
    return;
  }
  // half of a thread's own cache holds its part of a block; where there are heads, the first time over a block ends
  // early and reads little, and larger blocks save launches: 20 million fp32 with a head in a hundred took 9.2 ms on
  // two threads by blocks for the cache, 5.0 by sixteen times as much
  constexpr auto bytes = static_cast<index_t>(sizeof(typename Body::Value)) * Kernel::Shape::tile;
  constexpr index_t times = BodyWithHeads<Body> ? 16 : 1;
  index_t each = times * static_cast<index_t>(machine<Space>::l2_bytes) / 2 / bytes;
  const index_t share = (tiles + workers - 1) / workers;
  each = each < 1 ? 1 : each;
  each = each < share ? each : share;
  each = each < most / workers ? each : most / workers;
  Carry of_tiles[most];
  ScanPrefix<Body> prefix(body);
  for (index_t first = 0; first < tiles; first += workers * each) {
    const index_t last = first + workers * each < tiles ? first + workers * each : tiles;
    const auto policy = Range<Space>(exec, 0, workers, Kokkos::ChunkSize(1));
    Kokkos::parallel_for(kernel_label, policy, Kernel{body, n, first, last, each, of_tiles, false});
    for (index_t tile = first; tile < last; ++tile) {
      const Carry total = of_tiles[tile - first];
      Carry& before = of_tiles[tile - first];
      before = prefix.before(body);
      if (tile == tiles - 1) body.finish(body.join(before, total));
      prefix.add(body, total);
    }
    Kokkos::parallel_for(kernel_label, policy, Kernel{body, n, first, last, each, of_tiles, true});
  }
}

}  // namespace tessera::detail
