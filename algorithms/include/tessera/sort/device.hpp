// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The sort on devices: one pass over memory a digit. A first kernel counts all digits of all keys. Then, digit by
/// digit, a team takes the next tile of the keys, ranks them by warps that vote on the digit's bits, learns where its
/// digits start from the tiles before it (decoupled look-back: a tile's counts are published at once, its running sums
/// as soon as they are known), and writes the keys, gathered in scratch, as runs. What fits one tile is sorted by one
/// team in one launch.
/// Source: A. Adinets and D. Merrill, Onesweep: a faster least significant digit radix sort for GPUs (2022).

#include <Kokkos_Core.hpp>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/core/warp.hpp>
#include <tessera/sort/layout.hpp>

namespace tessera::detail {

/// Threads and keys a thread of a tile, and how many teams share a multiprocessor's registers.
struct SortTuning {
  int threads, items, teams;
};
/// As measured fastest on an H200 at 2^28 keys; scratch cuts the items further. Tiles of 8-byte words fill it with few
/// threads; payloads of 4 bytes want registers rather than threads.
template <class Key, class Payload>
constexpr SortTuning tuned_sort() {
  if (sizeof(typename Key::word) == 8 || sizeof(Payload) == 8) return {256, 18, 3};
  if (has_payload<Payload>) return {384, 20, 2};
  return {512, 18, 2};
}

template <class Space, class Key, class Payload, SortTuning Tuning>
struct SortTileShape {
  using Warp = warp<Space>;
  static constexpr int digits = 256;
  static constexpr int threads = Tuning.threads;
  static constexpr int warps = threads / Warp::width;
  static constexpr int word = static_cast<int>(sizeof(typename Key::word));
  static constexpr int widest = has_payload<Payload> && sizeof(Payload) > word ? static_cast<int>(sizeof(Payload))
                                                                               : word;
  static constexpr int count_bytes = warps * digits * 4;
  static constexpr int fixed_bytes = digits * 8 + 256;
  static constexpr int fitting =
      (static_cast<int>(machine<Space>::scratch_bytes) - 16 - fixed_bytes) / (threads * widest);
  static constexpr int items = fitting < Tuning.items ? fitting : Tuning.items;
  static constexpr int tile = threads * items;
  static constexpr int tile_bytes = tile * widest > count_bytes ? tile* widest : count_bytes;
  static constexpr int scratch = fixed_bytes + tile_bytes;
  // keys of a launch: look-back counts in 30 bits
  static constexpr index_t portion = (index_t{1} << 29) / tile * tile;
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::IndexType<index_t>, Kokkos::LaunchBounds<threads, Tuning.teams>>;
  static_assert(tile < 1 << 16 && threads >= digits && threads % Warp::width == 0 &&
                digits / Warp::width <= Warp::width);
};

/// How a team ranks the keys of a tile by one digit. Item u of a thread stands at place(u) of the tile, so that a
/// warp's items come in order.
template <class Space, class Key, class Payload, SortTuning Tuning>
struct SortTile {
  using Shape = SortTileShape<Space, Key, Payload, Tuning>;
  using Warp = warp<Space>;
  using Word = typename Key::word;
  static constexpr int items = Shape::items, digits = Shape::digits, width = Warp::width;
  using Ranks = PackedNumbers<items, 16>;

  int rank, lane, group;  // thread of the team, lane of the warp, warp of the team
  char* tile;             // keys, then payloads, before both the counts of each warp
  index_t* starts;        // a digit's place in the output, less its place in the tile
  std::uint32_t* sums;    // of the warps that scan digits
  std::uint32_t* number;  // of the tile

  template <class Member>
  TESSERA_INLINE_FUNCTION explicit SortTile(const Member& team) {
    rank = static_cast<int>(team.team_rank());
    lane = rank % width;
    group = rank / width;
    char* const scratch = static_cast<char*>(team.team_shmem().get_shmem_aligned(std::size_t{Shape::scratch}, 16));
    starts = reinterpret_cast<index_t*>(scratch);
    sums = reinterpret_cast<std::uint32_t*>(scratch + digits * 8);
    number = sums + 32;
    tile = scratch + Shape::fixed_bytes;
  }

  TESSERA_INLINE_FUNCTION int place(int u) const { return (group * items + u) * width + lane; }
  TESSERA_INLINE_FUNCTION std::uint32_t* counts() const { return reinterpret_cast<std::uint32_t*>(tile); }
  TESSERA_INLINE_FUNCTION Word* keys() const { return reinterpret_cast<Word*>(tile); }
  TESSERA_INLINE_FUNCTION Payload* values() const { return reinterpret_cast<Payload*>(tile); }

  /// Places behind the end count as keys of the last digit: they stand last, and stay there.
  template <bool Full>
  TESSERA_INLINE_FUNCTION unsigned digit_at(const SortDigit<Key>& digit, Word key, int u, int n) const {
    return Full || place(u) < n ? digit(key) : digit.mask;
  }

  /// Ranks of the keys in the tile. `announce(total)` is called by the thread of each digit, as early as possible;
  /// `total` and `before` are what the tile has of this digit and of all smaller ones, padding included.
  /// The tile's memory is free again when it returns.
  template <bool Full, class Member, class Announce>
  TESSERA_INLINE_FUNCTION void ranks(const Member& team, const SortDigit<Key>& digit, const Word (&key)[items], int n,
                                     Ranks& found, std::uint32_t& total, std::uint32_t& before,
                                     const Announce& announce) const {
    std::uint32_t* const mine = counts() + group * digits;
    for (int d = lane; d < digits; d += width) mine[d] = 0;
    Warp::sync();
    const auto below = static_cast<typename Warp::mask>((typename Warp::mask{1} << lane) - 1);
    for (int u = 0; u < items; ++u) {
      const unsigned d = digit_at<Full>(digit, key[u], u, n);
      const typename Warp::mask same = Warp::template match<8>(d);
      const std::uint32_t earlier = mine[d];
      found.add(u,
                earlier + static_cast<std::uint32_t>(Kokkos::popcount(static_cast<typename Warp::mask>(same & below))));
      Warp::sync();
      if (same >> lane == 1)
        mine[d] = earlier + static_cast<std::uint32_t>(Kokkos::popcount(same));  // the last of them
      Warp::sync();
    }
    team.team_barrier();
    total = 0;
    before = 0;
    if (rank < digits) {
      for (int g = 0; g < Shape::warps; ++g) {
        const std::uint32_t here = counts()[g * digits + rank];
        counts()[g * digits + rank] = total;
        total += here;
      }
      announce(total);
      std::uint32_t sum = total;
      for (int step = 1; step < width; step *= 2) {
        const std::uint32_t left = Warp::shuffle(sum, lane - step < 0 ? lane : lane - step);
        if (lane >= step) sum += left;
      }
      before = sum - total;
      if (lane == width - 1) sums[group] = sum;
    }
    team.team_barrier();
    if (rank < digits) {
      for (int g = 0; g < group; ++g) before += sums[g];
      for (int g = 0; g < Shape::warps; ++g) counts()[g * digits + rank] += before;
    }
    team.team_barrier();
    for (int u = 0; u < items; ++u) found.add(u, mine[digit_at<Full>(digit, key[u], u, n)]);
    team.team_barrier();
  }
};

/// Counts all digits of all keys; the team that arrives last turns the counts into starts.
template <class Space, class Key>
struct SortHistogram {
  using Word = typename Key::word;
  static constexpr int threads = machine<Space>::team_threads;
  static constexpr int items = 16;
  static constexpr int most_passes = Key::bits / 8;
  static constexpr int scratch = most_passes * 256 * 4 + 16;
  const Word* keys;
  index_t n, tiles;
  KeyOrder<Key> order;
  int first_bit, last_bit, passes;
  std::uint64_t* counts;  // [passes][256]
  std::uint64_t* starts;  // [passes][2][256]
  unsigned* arrived;

  KOKKOS_FUNCTION void operator()(const typename Teams<Space>::member_type& team) const {
    auto* const table = static_cast<std::uint32_t*>(team.team_shmem().get_shmem_aligned(std::size_t{scratch}, 16));
    std::uint32_t* const last = table + most_passes * 256;
    const int rank = static_cast<int>(team.team_rank());
    for (int i = rank; i < passes * 256; i += threads) table[i] = 0;
    team.team_barrier();
    for (index_t tile = team.league_rank(); tile < tiles; tile += team.league_size()) {
      const index_t base = tile * (threads * items) + rank;
      Word key[items];
      if (base - rank + threads * items <= n) {
        for (int u = 0; u < items; ++u) key[u] = keys[base + u * threads];
        for (int u = 0; u < items; ++u) add(table, key[u]);
      } else {
        for (int u = 0; u < items; ++u)
          if (base + u * threads < n) add(table, keys[base + u * threads]);
      }
    }
    team.team_barrier();
    for (int i = rank; i < passes * 256; i += threads)
      if (table[i] != 0) Kokkos::atomic_add(&counts[i], static_cast<std::uint64_t>(table[i]));
    Kokkos::memory_fence();
    team.team_barrier();
    if (rank == 0)
      *last = Kokkos::atomic_fetch_add(arrived, 1u) + 1 == static_cast<unsigned>(team.league_size()) ? 1u : 0u;
    team.team_barrier();
    if (*last == 0) return;
    Kokkos::memory_fence();
    // a warp a pass, a stretch of digits a lane
    using Warp = warp<Space>;
    constexpr int each = 256 / Warp::width;
    const int lane = rank % Warp::width;
    for (int p = rank / Warp::width; p < passes; p += threads / Warp::width) {
      std::uint64_t count[each], sum = 0;
      for (int e = 0; e < each; ++e) {
        count[e] = *static_cast<const volatile std::uint64_t*>(&counts[p * 256 + lane * each + e]);
        sum += count[e];
      }
      std::uint64_t all = sum;
      for (int step = 1; step < Warp::width; step *= 2) {
        const int from = lane - step < 0 ? lane : lane - step;
        const std::uint32_t low = Warp::shuffle(static_cast<std::uint32_t>(all), from);
        const std::uint32_t high = Warp::shuffle(static_cast<std::uint32_t>(all >> 32), from);
        if (lane >= step) all += static_cast<std::uint64_t>(high) << 32 | low;
      }
      std::uint64_t start = all - sum;
      for (int e = 0; e < each; ++e) {
        starts[p * 512 + lane * each + e] = start;
        start += count[e];
      }
    }
  }

  TESSERA_INLINE_FUNCTION void add(std::uint32_t* table, Word key) const {
    const Word ordered = order(key);
    for (int p = 0; p < most_passes; ++p) {
      if (p >= passes) break;
      const SortDigit<Key> digit = digit_of(order, first_bit, last_bit, p);
      warp<Space>::count(&table[p * 256 + (static_cast<unsigned>(ordered >> digit.shift) & digit.mask)]);
    }
  }
};

/// One pass over one portion of the keys.
template <class Space, class Key, class Payload, SortTuning Tuning>
struct SortPass {
  using Tile = SortTile<Space, Key, Payload, Tuning>;
  using Shape = typename Tile::Shape;
  using Word = typename Key::word;
  static constexpr int items = Tile::items;
  static constexpr std::uint32_t counted = 1u << 30, summed = 1u << 31, value = counted - 1;

  const Word* keys_in;
  Word* keys_out;  // null in the last pass where keys are not wanted
  const Payload* values_in;
  Payload* values_out;
  index_t first, n;  // of the portion
  SortDigit<Key> digit;
  const std::uint64_t* starts;
  std::uint64_t* next_starts;  // for the next portion; null for the last
  std::uint32_t* rows;         // a tile's counts, a row of 256 each
  std::uint32_t* next_rows;    // the next launch's, to be cleared here
  index_t tiles, next_tiles;
  std::uint32_t* ticket;

  TESSERA_INLINE_FUNCTION static void put(std::uint32_t* at, std::uint32_t word) {
    *static_cast<volatile std::uint32_t*>(at) = word;
  }
  TESSERA_INLINE_FUNCTION static std::uint32_t look(const std::uint32_t* at) {
    return *static_cast<const volatile std::uint32_t*>(at);
  }

  KOKKOS_FUNCTION void operator()(const typename Shape::Policy::member_type& team) const {
    const Tile t(team);
    // teams take tiles in the order in which they start, so that the tiles before are done or at work
    if (t.rank == 0) *t.number = Kokkos::atomic_fetch_add(ticket, 1u);
    team.team_barrier();
    const index_t tile = *t.number;
    const index_t rest = n - tile * Shape::tile;
    if (rest >= Shape::tile)
      sort<true>(team, t, tile, Shape::tile);
    else
      sort<false>(team, t, tile, static_cast<int>(rest));
  }

  template <bool Full, class Member>
  TESSERA_INLINE_FUNCTION void sort(const Member& team, const Tile& t, index_t tile, int count) const {
    const index_t base = first + tile * Shape::tile;
    Word key[items];
    for (int u = 0; u < items; ++u)
      if (Full || t.place(u) < count) key[u] = keys_in[base + t.place(u)];
    typename Tile::Ranks rank;
    std::uint32_t total, before;
    std::uint32_t* const row = rows + tile * Shape::digits + t.rank;
    t.template ranks<Full>(team, digit, key, count, rank, total, before, [&](std::uint32_t here) {
      if (!Full && static_cast<unsigned>(t.rank) == digit.mask) here -= static_cast<unsigned>(Shape::tile - count);
      put(row, here | (tile == 0 ? summed : counted));
    });
    for (int u = 0; u < items; ++u) t.keys()[rank[u]] = key[u];
    if (t.rank < Shape::digits) {
      if (!Full && static_cast<unsigned>(t.rank) == digit.mask) total -= static_cast<unsigned>(Shape::tile - count);
      std::uint32_t earlier = 0;
      if (tile > 0) {
        // several rows at a time, since each costs the latency of memory
        constexpr int window = 4;
        index_t back = tile - 1;
        for (bool more = true; more;) {
          std::uint32_t word[window];
          for (int q = 0; q < window; ++q)
            word[q] = look(rows + (back - q > 0 ? back - q : 0) * Shape::digits + t.rank);
          for (int q = 0; q < window; ++q) {
            if (!more || word[q] == 0) break;  // not there yet: from here again
            earlier += word[q] & value;
            more = (word[q] & summed) == 0;
            --back;
          }
        }
        put(row, (earlier + total) | summed);
      }
      const auto start = static_cast<index_t>(starts[t.rank]) + earlier;
      t.starts[t.rank] = start - before;
      if (next_starts != nullptr && tile == tiles - 1) next_starts[t.rank] = static_cast<std::uint64_t>(start + total);
      for (index_t r = tile; r < next_tiles; r += tiles) next_rows[r * Shape::digits + t.rank] = 0;
    }
    team.team_barrier();
    PackedNumbers<items, 8> digits;
    for (int u = 0; u < items; ++u) {
      const int i = t.rank + u * Shape::threads;
      if (Full || i < count) {
        const Word k = t.keys()[i];
        const unsigned d = digit(k);
        if constexpr (has_payload<Payload>) digits.add(u, d);
        if (keys_out != nullptr) keys_out[t.starts[d] + i] = k;
      }
    }
    if constexpr (has_payload<Payload>) {
      Payload v[items];
      if (values_in != nullptr) {
        for (int u = 0; u < items; ++u)
          if (Full || t.place(u) < count) v[u] = values_in[base + t.place(u)];
      } else {
        for (int u = 0; u < items; ++u) v[u] = static_cast<Payload>(base + t.place(u));
      }
      team.team_barrier();
      for (int u = 0; u < items; ++u) t.values()[rank[u]] = v[u];
      team.team_barrier();
      for (int u = 0; u < items; ++u) {
        const int i = t.rank + u * Shape::threads;
        if (Full || i < count) values_out[t.starts[digits[u]] + i] = t.values()[i];
      }
    }
  }
};

/// All passes over keys that fit one tile.
template <class Space, class Key, class Payload, SortTuning Tuning>
struct SortOneTile {
  using Tile = SortTile<Space, Key, Payload, Tuning>;
  using Shape = typename Tile::Shape;
  using Word = typename Key::word;
  static constexpr int items = Tile::items;
  SortArrays<Key, Payload> a;

  KOKKOS_FUNCTION void operator()(const typename Shape::Policy::member_type& team) const {
    const Tile t(team);
    const auto count = static_cast<int>(a.n);
    Word key[items];
    Payload v[items];
    for (int u = 0; u < items; ++u) {
      key[u] = Word{};
      if (t.place(u) < count) {
        key[u] = a.keys_in[t.place(u)];
        if constexpr (has_payload<Payload>)
          v[u] = a.values_in != nullptr ? a.values_in[t.place(u)] : static_cast<Payload>(t.place(u));
      }
    }
    for (int p = 0; p * 8 < a.last_bit - a.first_bit; ++p) {
      typename Tile::Ranks rank;
      std::uint32_t total, before;
      t.template ranks<false>(team, digit_of(a, p), key, count, rank, total, before, [](std::uint32_t) {});
      move(team, t, key, t.keys(), rank);
      if constexpr (has_payload<Payload>) move(team, t, v, t.values(), rank);
    }
    for (int u = 0; u < items; ++u)
      if (t.place(u) < count) {
        if (a.keys_wanted) a.keys_out[t.place(u)] = key[u];
        if constexpr (has_payload<Payload>) a.values_out[t.place(u)] = v[u];
      }
  }

  /// Each item to its rank, through scratch that is free before and after.
  template <class Member, class T>
  TESSERA_INLINE_FUNCTION void move(const Member& team, const Tile& t, T (&item)[items], T* scratch,
                                    const typename Tile::Ranks& rank) const {
    for (int u = 0; u < items; ++u) scratch[rank[u]] = item[u];
    team.team_barrier();
    for (int u = 0; u < items; ++u) item[u] = scratch[t.place(u)];
    team.team_barrier();
  }
};

/// What the passes share besides the arrays; the first `cleared` words start as zeros.
template <class Space, class Key, class Payload, SortTuning Tuning>
struct SortTables {
  using Shape = SortTileShape<Space, Key, Payload, Tuning>;
  std::uint64_t* counts;
  unsigned* arrived;
  std::uint32_t* tickets;
  std::uint32_t* rows[2];
  std::uint64_t* starts;
  index_t cleared;  // 32-bit words from counts on
  index_t portions, most_tiles;

  SortTables(SortMemory& memory, index_t n, int passes) {
    portions = (n + Shape::portion - 1) / Shape::portion;
    most_tiles = ((n < Shape::portion ? n : Shape::portion) + Shape::tile - 1) / Shape::tile;
    const std::size_t begin = memory.used();
    counts = memory.take<std::uint64_t>(index_t{passes} * 256);
    arrived = memory.take<unsigned>(1);
    tickets = memory.take<std::uint32_t>(passes * portions);
    rows[0] = memory.take<std::uint32_t>(most_tiles * 256);
    cleared = static_cast<index_t>((memory.used() - begin) / 4);
    rows[1] = memory.take<std::uint32_t>(most_tiles * 256);
    starts = memory.take<std::uint64_t>(index_t{passes} * 512);
  }
};

/// Fills the starts of all digits in all passes.
template <class Space, class Key, class Payload, SortTuning Tuning>
void count_digits(const Space& exec, const SortArrays<Key, Payload>& a,
                  const SortTables<Space, Key, Payload, Tuning>& s) {
  const int passes = a.passes();
  auto* const words = reinterpret_cast<std::uint32_t*>(s.counts);
  Kokkos::parallel_for(
      "tessera::sort::clear", Range<Space>(exec, 0, s.cleared), KOKKOS_LAMBDA(index_t i) { words[i] = 0; });
  using Histogram = SortHistogram<Space, Key>;
  const index_t tiles = (a.n + Histogram::threads * Histogram::items - 1) / (Histogram::threads * Histogram::items);
  const index_t full = static_cast<index_t>(exec.concurrency()) / Histogram::threads;
  Kokkos::parallel_for(
      "tessera::sort::histogram",
      Teams<Space>(exec, tiles < full ? tiles : full, Histogram::threads)
          .set_scratch_size(0, Kokkos::PerTeam(Histogram::scratch + 16)),
      Histogram{a.keys_in, a.n, tiles, a.order, a.first_bit, a.last_bit, passes, s.counts, s.starts, s.arrived});
}

template <class Space, class Key, class Payload, SortTuning Tuning>
void sort_on_device(const Space& exec, const SortArrays<Key, Payload>& a,
                    const SortTables<Space, Key, Payload, Tuning>& s) {
  using Shape = SortTileShape<Space, Key, Payload, Tuning>;
  const auto policy = [&](index_t teams) {
    return
        typename Shape::Policy(exec, teams, Shape::threads).set_scratch_size(0, Kokkos::PerTeam(Shape::scratch + 16));
  };
  const int passes = a.passes();
  const auto one_tile = [&]<SortTuning Small>() {
    using SmallShape = SortTileShape<Space, Key, Payload, Small>;
    if (a.n > SmallShape::tile) return false;
    Kokkos::parallel_for("tessera::sort::one_tile",
                         typename SmallShape::Policy(exec, 1, SmallShape::threads)
                             .set_scratch_size(0, Kokkos::PerTeam(SmallShape::scratch + 16)),
                         SortOneTile<Space, Key, Payload, Small>{a});
    return true;
  };
  constexpr SortTuning few{Tuning.threads, 4, 1}, many{Tuning.threads, Tuning.items, 1};
  if (one_tile.template operator()<few>() || one_tile.template operator()<many>()) return;
  if (passes > 0) count_digits(exec, a, s);
  const typename Key::word* keys = a.keys_in;
  const Payload* values = a.values_in;
  const bool in_place =
      a.keys_in == a.keys_out || (has_payload<Payload> && a.values_in != nullptr && a.values_in == a.values_out);
  // an odd number of passes ends in out where it starts from a copy
  if (passes == 0 || (in_place && passes % 2 != 0)) {
    const SortCopy<Key, Payload> copy{keys, passes > 0 ? a.keys_tmp : (a.keys_wanted ? a.keys_out : nullptr), values,
                                      passes > 0 ? a.values_tmp : a.values_out};
    Kokkos::parallel_for("tessera::sort::copy", Range<Space>(exec, 0, a.n), copy);
    keys = a.keys_tmp;
    values = a.values_tmp;
  }
  int launch = 0;
  for (int p = 0; p < passes; ++p) {
    const bool to_out = (passes - 1 - p) % 2 == 0;
    auto* const keys_to = to_out ? a.keys_out : a.keys_tmp;
    auto* const values_to = to_out ? a.values_out : a.values_tmp;
    for (index_t portion = 0; portion < s.portions; ++portion, ++launch) {
      const index_t first = portion * Shape::portion;
      const index_t n = a.n - first < Shape::portion ? a.n - first : Shape::portion;
      const index_t teams = (n + Shape::tile - 1) / Shape::tile;
      std::uint64_t* const starts = s.starts + p * 512;
      const bool last = portion == s.portions - 1;
      Kokkos::parallel_for(
          "tessera::sort::pass", policy(teams),
          SortPass<Space, Key, Payload, Tuning>{keys, p == passes - 1 && !a.keys_wanted ? nullptr : keys_to, values,
                                                values_to, first, n, digit_of(a, p), starts + portion % 2 * 256,
                                                last ? nullptr : starts + (portion + 1) % 2 * 256, s.rows[launch % 2],
                                                s.rows[(launch + 1) % 2], teams, s.most_tiles, s.tickets + launch});
    }
    keys = keys_to;
    values = values_to;
  }
}

}  // namespace tessera::detail
