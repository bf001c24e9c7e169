// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The scan of hosts: the tree of tree.hpp by threads. Where there is more than one, they go over a block that fits
/// their caches twice, first for the totals of its tiles, then to write; one thread goes over everything once. A Body
/// also gives
///   Value element(i) const; void emit(i, const Value& before, const Value& through) const;   // one element
/// and where its rows are sums that vectors can do
///   static constexpr bool sums_of_vectors = true; bool exclusive;
///   const Value* elements(i) const; Value* place(i) const;

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>
#include <utility>

#include <tessera/core/execution.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/core/vec.hpp>
#include <tessera/scan/tree.hpp>

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
/// A row of sums in the vectors of hosts: the same tree. N lanes hold N / leaf leaves, or N totals of leaves.
template <class Space, class Body>
struct ScanVectorRow {
  using Value = typename Body::Value;
  static constexpr int width = ScanShape<Body, few_rows>::width, leaf = Body::leaf;
  static constexpr int N = machine<Space>::simd_bytes / static_cast<int>(sizeof(Value));
  static constexpr int vectors = width * leaf / N, total_vectors = width / N;
  using V = typename vec<Value, N>::lanes_type;
  using Lanes = std::make_index_sequence<N>;

  /// Lane i of the lanes of `upper` moved up by `by`, those of `lower` coming in.
  template <int by, std::size_t... I>
  TESSERA_INLINE_FUNCTION static V moved(const V& lower, const V& upper, std::index_sequence<I...>) {
    return __builtin_shufflevector(lower, upper, (N - by + static_cast<int>(I))...);
  }
  /// The same within each leaf, zeros coming in.
  template <int by, std::size_t... I>
  TESSERA_INLINE_FUNCTION static V moved_in_leaf(const V& v, std::index_sequence<I...>) {
    return __builtin_shufflevector(
        V{}, v, (static_cast<int>(I) % leaf < by ? static_cast<int>(I) : N + static_cast<int>(I) - by)...);
  }
  template <int by = 1>
  TESSERA_INLINE_FUNCTION static V leaves(V v) {
    if constexpr (by >= leaf)
      return v;
    else
      return leaves<2 * by>(moved_in_leaf<by>(v, Lanes{}) + v);
  }
  /// Sums of neighbours, of 2 N lanes.
  template <std::size_t... I>
  TESSERA_INLINE_FUNCTION static V pairs(const V& a, const V& b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, static_cast<int>(2 * I)...) +
           __builtin_shufflevector(a, b, static_cast<int>(2 * I + 1)...);
  }
  /// The last lanes of all leaves, of `leaf` vectors.
  template <std::size_t... I>
  TESSERA_INLINE_FUNCTION static V odd(const V& a, const V& b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, static_cast<int>(2 * I + 1)...);
  }
  template <int count>
  TESSERA_INLINE_FUNCTION static V totals_of(const V* v) {
    if constexpr (count == 1)
      return v[0];
    else
      return odd(totals_of<count / 2>(v), totals_of<count / 2>(v + count / 2), Lanes{});
  }
  /// Leaf total of each lane: lanes [k N / leaf, ...) of a vector of totals, each `leaf` times.
  template <int from, std::size_t... I>
  TESSERA_INLINE_FUNCTION static V spread(const V& v, std::index_sequence<I...>) {
    return __builtin_shufflevector(v, v, (from + static_cast<int>(I) / leaf)...);
  }
  template <int by = 1>
  TESSERA_INLINE_FUNCTION static void along(V (&t)[total_vectors]) {
    if constexpr (by < width) {
      for (int m = total_vectors - 1; m >= 0; --m) {
        if constexpr (by < N)
          t[m] = moved<by>(m > 0 ? t[m - 1] : V{}, t[m], Lanes{}) + t[m];
        else if (m >= by / N)
          t[m] = t[m - by / N] + t[m];
      }
      along<2 * by>(t);
    }
  }
  template <int k = 0>
  TESSERA_INLINE_FUNCTION static void write(bool exclusive, Value* y, const V (&s)[vectors],
                                            const V (&below)[total_vectors], const V& before) {
    if constexpr (k < vectors) {
      vec<Value, N> out;
      const V inside = exclusive ? moved_in_leaf<1>(s[k], Lanes{}) : s[k];
      out.lanes = before + (spread<k * N / leaf % N>(below[k / leaf], Lanes{}) + inside);
      out.store(y + k * N);
      write<k + 1>(exclusive, y, s, below, before);
    }
  }
  /// A part of a row, with zeros behind.
  struct Padded {
    Value element[width * leaf] = {};
    Padded(const Value* x, int count) { __builtin_memcpy(element, x, static_cast<std::size_t>(count) * sizeof(Value)); }
  };

  [[nodiscard]] TESSERA_INLINE_FUNCTION static Value total(const Value* x) {
    V v[vectors];
    for (int k = 0; k < vectors; ++k) v[k] = vec<Value, N>::load(x + k * N).lanes;
    for (int n = vectors; n > 1; n /= 2)
      for (int k = 0; k < n / 2; ++k) v[k] = pairs(v[2 * k], v[2 * k + 1], Lanes{});
    Value sums[N];
    for (int l = 0; l < N; ++l) sums[l] = v[0][l];
    for (int n = N; n > 1; n /= 2)
      for (int l = 0; l < n / 2; ++l) sums[l] = sums[2 * l] + sums[2 * l + 1];
    return sums[0];
  }
  TESSERA_INLINE_FUNCTION static Value scan(bool exclusive, const Value* x, Value* y, const Value& before) {
    V s[vectors];
    for (int k = 0; k < vectors; ++k) s[k] = leaves(vec<Value, N>::load(x + k * N).lanes);
    V t[total_vectors];
    for (int m = 0; m < total_vectors; ++m) t[m] = totals_of<leaf>(s + m * leaf);
    along(t);
    const Value all = t[total_vectors - 1][N - 1];
    for (int m = total_vectors - 1; m >= 0; --m) t[m] = moved<1>(m > 0 ? t[m - 1] : V{}, t[m], Lanes{});
    write(exclusive, y, s, t, vec<Value, N>(before).lanes);
    return all;
  }

  [[nodiscard]] TESSERA_INLINE_FUNCTION static Value total(const Body& body, index_t i, int count) {
    if (count == width * leaf) return total(body.elements(i));
    return total(Padded(body.elements(i), count).element);
  }
  TESSERA_INLINE_FUNCTION static Value scan(const Body& body, index_t i, int count, const Value& before) {
    if (count == width * leaf) return scan(body.exclusive, body.elements(i), body.place(i), before);
    Padded row(body.elements(i), count);
    const Value all = scan(body.exclusive, row.element, row.element, before);
    __builtin_memcpy(body.place(i), row.element, static_cast<std::size_t>(count) * sizeof(Value));
    return all;
  }
};
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
  [[nodiscard]] TESSERA_FUNCTION Carry total(index_t tile) const {
    const Body b = body;
    Carry sum{};
    for (int s = 0; s < Shape::strips; ++s) {
      const index_t begin = tile * Shape::tile + s * Shape::strip;
      if (begin >= n) break;
      Carry strip{};
      for (int r = 0; r < Shape::rows && begin + r * Shape::row < n; ++r) {
        const index_t i = begin + r * Shape::row;
        const Carry row = b.widen(Row::total(b, i, present(i)));
        strip = r == 0 ? row : b.join(strip, row);
      }
      sum = s == 0 ? strip : b.join(sum, strip);
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
  // half of a thread's own cache holds its part of a block
  constexpr auto bytes = static_cast<index_t>(sizeof(typename Body::Value)) * Kernel::Shape::tile;
  index_t each = static_cast<index_t>(machine<Space>::l2_bytes) / 2 / bytes;
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
