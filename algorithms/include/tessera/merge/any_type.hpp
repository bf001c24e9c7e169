// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The merge for keys, values and orders that the library does not bring compiled: include this instead of
/// tessera/merge.hpp.

#include <Kokkos_Core.hpp>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/core/warp.hpp>
#include <tessera/merge.hpp>

namespace tessera::detail {

/// How many of the first `diagonal` elements of the merged range are a's, and the elements of a and b there.
/// \param a, b  callable with positions
template <class A, class B, class Before>
[[nodiscard]] TESSERA_INLINE_FUNCTION index_t merge_split(const A& a, index_t a_count, const B& b, index_t b_count,
                                                          index_t diagonal, const Before& before) {
  index_t low = diagonal > b_count ? diagonal - b_count : 0, high = diagonal < a_count ? diagonal : a_count;
  while (low < high) {
    const index_t middle = low + (high - low) / 2;
    if (before(b(diagonal - 1 - middle), a(middle)))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Devices: a team merges a tile of the output. Its first two warps find where the tile begins and ends in a and b,
/// each lane asking at another place; the tile's elements come to scratch; every thread merges a few of them.
template <class Key, class Value, class Before, class Space>
struct MergeTiles {
  using Problem = MergeProblem<Key, Value, Before>;
  using Warp = warp<Space>;
  static constexpr bool has_values = Problem::has_values;
  static constexpr int threads = 256;
  static constexpr int items = sizeof(Key) <= 4 ? 11 : 7;  // odd: threads that step through scratch meet few banks
  static constexpr int tile = threads * items;
  static constexpr std::size_t scratch_bytes =
      tile * sizeof(Key) + (has_values ? tile * sizeof(std::uint16_t) : 0) + 2 * sizeof(index_t) + 64;
  using Policy = BoundedTeams<Space, threads, 4>;
  using Member = typename Policy::member_type;

  Problem p;

  /// The same as merge_split, by all lanes of a warp.
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t split_by_warp(index_t diagonal, int lane) const {
    const index_t a_count = p.a.extents[0], b_count = p.b.extents[0];
    index_t low = diagonal > b_count ? diagonal - b_count : 0, high = diagonal < a_count ? diagonal : a_count;
    while (low < high) {
      const index_t step = (high - low + Warp::width - 1) / Warp::width;
      const index_t at = low + (lane + 1) * step - 1;
      const bool passed = at < high && !p.before(p.b(diagonal - 1 - at), p.a(at));
      int count = 0;  // lanes that pass are the first ones
      for (auto votes = Warp::ballot(passed); votes != 0; votes &= votes - 1) ++count;
      const index_t next = low + count * step, above = next + step - 1;
      low = next < high ? next : high;
      high = above < high ? above : high;
    }
    return low;
  }

  TESSERA_FUNCTION void operator()(const Member& team) const {
    auto* const memory = static_cast<char*>(team.team_shmem().get_shmem_aligned(scratch_bytes - 64, 16));
    auto* const splits = reinterpret_cast<index_t*>(memory);
    auto* const keys = reinterpret_cast<Key*>(memory + 2 * sizeof(index_t));
    auto* const from = reinterpret_cast<std::uint16_t*>(memory + 2 * sizeof(index_t) + tile * sizeof(Key));
    const int t = static_cast<int>(team.team_rank());
    const index_t n = p.out.extents[0], begin = team.league_rank() * index_t{tile};
    const int count = static_cast<int>(n - begin < tile ? n - begin : tile);
    if (const int w = t / Warp::width; w < 2) {
      const index_t split = split_by_warp(begin + w * count, t % Warp::width);
      if (t % Warp::width == 0) splits[w] = split;
    }
    team.team_barrier();
    const index_t a_begin = splits[0], b_begin = begin - a_begin;
    const int a_count = static_cast<int>(splits[1] - a_begin), b_count = count - a_count;
    // all of a thread's loads are asked for before one is used
    Key k[items];
    TESSERA_UNROLL
    for (int u = 0; u < items; ++u) {
      const int e = t + u * threads;
      k[u] = Key{};
      if (e < a_count)
        k[u] = p.a(a_begin + e);
      else if (e < count)
        k[u] = p.b(b_begin + e - a_count);
    }
    TESSERA_UNROLL
    for (int u = 0; u < items; ++u)
      if (t + u * threads < count) keys[t + u * threads] = k[u];
    team.team_barrier();

    const int first = t * items < count ? t * items : count;
    const auto a = [=](index_t i) { return keys[i]; };
    const auto b = [=](index_t i) { return keys[a_count + i]; };
    int i = static_cast<int>(merge_split(a, a_count, b, b_count, first, p.before)), j = first - i;
    // a place past the last element of a range is read, of scratch, and not used
    const auto inside = [=](int at) { return at < tile ? at : tile - 1; };
    Key next_a = keys[inside(i)], next_b = keys[inside(a_count + j)];
    std::uint16_t source[has_values ? items : 1];
    TESSERA_UNROLL
    for (int u = 0; u < items; ++u) {
      const bool takes_b = i >= a_count || (j < b_count && p.before(next_b, next_a));
      if constexpr (has_values) source[u] = static_cast<std::uint16_t>(takes_b ? a_count + j : i);
      if (takes_b) {
        k[u] = next_b;
        next_b = keys[inside(a_count + ++j)];
      } else {
        k[u] = next_a;
        next_a = keys[inside(++i)];
      }
    }
    team.team_barrier();
    TESSERA_UNROLL
    for (int u = 0; u < items; ++u) {
      const int e = t * items + u;
      if (e >= count) continue;
      keys[e] = k[u];
      if constexpr (has_values) from[e] = source[u];
    }
    team.team_barrier();
    TESSERA_UNROLL
    for (int u = 0; u < items; ++u) {
      const int e = t + u * threads;
      if (e < count) p.out(begin + e) = keys[e];
    }
    if constexpr (has_values) {
      Value v[items];
      TESSERA_UNROLL
      for (int u = 0; u < items; ++u) {
        const int e = t + u * threads;
        v[u] = Value{};
        if (e >= count) continue;
        const int s = from[e];
        v[u] = s < a_count ? p.a_values(a_begin + s) : p.b_values(b_begin + s - a_count);
      }
      TESSERA_UNROLL
      for (int u = 0; u < items; ++u)
        if (t + u * threads < count) p.out_values(begin + t + u * threads) = v[u];
    }
  }
};

/// Hosts: equal stretches of the output, each merged by one thread.
template <class Key, class Value, class Before>
struct MergeStretches {
  MergeProblem<Key, Value, Before> p;
  index_t stretch;

  TESSERA_FUNCTION void operator()(index_t s) const {
    const index_t n = p.out.extents[0], begin = s * stretch, end = begin + stretch < n ? begin + stretch : n;
    const index_t a_count = p.a.extents[0], b_count = p.b.extents[0];
    index_t i = merge_split([&](index_t at) { return p.a(at); }, a_count, [&](index_t at) { return p.b(at); }, b_count,
                            begin, p.before);
    index_t j = begin - i;
    for (index_t k = begin; k < end; ++k) {
      const bool takes_b = i >= a_count || (j < b_count && p.before(p.b(j), p.a(i)));
      p.out(k) = takes_b ? p.b(j) : p.a(i);
      if constexpr (MergeProblem<Key, Value, Before>::has_values)
        p.out_values(k) = takes_b ? p.b_values(j) : p.a_values(i);
      i += takes_b ? 0 : 1;
      j += takes_b ? 1 : 0;
    }
  }
};

template <class Key, class Value, class Before, class Space>
void run_merge(const Space& exec, const MergeProblem<Key, Value, Before>& p) {
  const Region region("tessera::merge[portable]");
  const index_t n = p.out.extents[0];
  if constexpr (machine<Space>::is_host) {
    constexpr index_t least = 4096;  // elements that are worth a thread's start
    const index_t most = 4 * static_cast<index_t>(exec.concurrency());
    const index_t wanted = (n + least - 1) / least, stretches = wanted < most ? wanted : most;
    const index_t stretch = (n + stretches - 1) / stretches;
    Kokkos::parallel_for("tessera::merge::stretches", Range<Space>(exec, 0, (n + stretch - 1) / stretch),
                         MergeStretches<Key, Value, Before>{p, stretch});
  } else {
    using Tiles = MergeTiles<Key, Value, Before, Space>;
    // launches of at most 2^30 tiles hold any range that memory holds
    Kokkos::parallel_for(
        "tessera::merge::tiles",
        typename Tiles::Policy(exec, static_cast<int>((n + Tiles::tile - 1) / Tiles::tile), Tiles::threads)
            .set_scratch_size(0, Kokkos::PerTeam(Tiles::scratch_bytes)),
        Tiles{p});
  }
}

}  // namespace tessera::detail
