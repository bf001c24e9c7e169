// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The merge for keys, values and orders that the library does not bring compiled: include this instead of
/// tessera/merge.hpp.

#include <Kokkos_Core.hpp>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/instance_lock.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/merge.hpp>
#include <tessera/merge/path.hpp>

namespace tessera::detail {

/// What is merged, and where it goes.
template <class Key, class Value, class Before, Access access_>
struct MergeJob {
  static constexpr Access access = access_;
  static constexpr bool has_values = !std::is_same_v<Value, NoValues>;
  using Item = Key;
  using Companion = Value;
  using Order = Before;
  SortedRanges<Key, Before, access> ranges;
  VectorRef<Key> out;
  VectorRef<const Value> a_values, b_values;
  VectorRef<Value> out_values;

  template <class Given>
  MergeJob(const MergeProblem<Key, Value, Given>& p, const Before& before)
      : ranges(p.a, p.b, before), out(p.out), a_values(p.a_values), b_values(p.b_values), out_values(p.out_values) {}
  /// Element i of a strided range, of which the stride is known to be 1 where access is.
  template <class R>
  [[nodiscard]] TESSERA_INLINE_FUNCTION static auto& at(const R& range, index_t i) {
    return range.pointer[access == Access::unit ? i : i * range.strides[0]];
  }
};

/// Devices: a team merges a tile of the output in scratch, every thread a few of its elements.
template <class Space, class Job>
struct MergeTiles {
  using Key = typename Job::Item;
  using Value = typename Job::Companion;
  static constexpr bool has_values = Job::has_values;
  // an odd number: threads that step through scratch side by side meet few banks; and as many as there are registers
  // for, since each thread first searches for its place in the tile
  static constexpr int threads = 256;
  static constexpr int items = sizeof(Key) <= 4   ? (has_values ? 15 : 23)
                               : sizeof(Key) <= 8 ? (has_values ? 9 : 13)
                                                  : items_of_large_keys<Key>;
  static constexpr int teams_at_once = sizeof(Key) <= 4 ? 4 : 5;
  using Tile = MergeTile<Space, Key, typename Job::Order, Job::access, threads, items>;
  static constexpr int tile = Tile::tile;
  static constexpr int values_at = (Tile::kept * static_cast<int>(sizeof(Key)) + 15) / 16 * 16;
  static constexpr int splits_at = values_at + (has_values ? (tile * 2 + 15) / 16 * 16 : 0);
  static constexpr int scratch_bytes = splits_at + 16;
  using Policy = BoundedTeams<Space, threads, teams_at_once>;
  using Member = typename Policy::member_type;

  Job job;
  const index_t* splits;

  template <bool whole>
  TESSERA_INLINE_FUNCTION void merge(const Member& team, char* memory, const typename Tile::Place& place) const {
    auto* const keys = reinterpret_cast<Key*>(memory);
    auto* const from = reinterpret_cast<std::uint16_t*>(memory + values_at);
    const int t = static_cast<int>(team.team_rank());
    Key k[items];
    Tile::template load<whole>(job.ranges, place, t, k, keys);
    team.team_barrier();
    const int first = whole || t * items < place.count ? t * items : place.count;
    std::uint16_t source[has_values ? items : 1];
    const int split = Tile::split_here(job.ranges, place, keys, first);
    Tile::walk(job.ranges, place, keys, split, place.a_count + first - split,
               [&](int u, bool takes_b, int i, int j, const Key& next_a, const Key& next_b) {
                 k[u] = takes_b ? next_b : next_a;
                 if constexpr (has_values) source[u] = static_cast<std::uint16_t>(takes_b ? j : i);
               });
    team.team_barrier();
    TESSERA_UNROLL
    for (int u = 0; u < items; ++u) {
      const int e = t * items + u;
      if (!whole && e >= place.count) continue;
      keys[e] = k[u];
      if constexpr (has_values) from[e] = source[u];
    }
    team.team_barrier();
    TESSERA_UNROLL
    for (int u = 0; u < items; ++u) {
      const int e = t + u * threads;
      if (whole || e < place.count) Job::at(job.out, place.begin + e) = keys[e];
    }
    if constexpr (has_values) {
      Value v[items];
      TESSERA_UNROLL
      for (int u = 0; u < items; ++u) {
        const int e = t + u * threads;
        v[u] = Value{};
        if (!whole && e >= place.count) continue;
        const int s = from[e];
        v[u] = s < place.a_count ? Job::at(job.a_values, place.a_begin + s)
                                 : Job::at(job.b_values, place.b_begin + s - place.a_count);
      }
      TESSERA_UNROLL
      for (int u = 0; u < items; ++u)
        if (whole || t + u * threads < place.count) Job::at(job.out_values, place.begin + t + u * threads) = v[u];
    }
  }

  TESSERA_FUNCTION void operator()(const Member& team) const {
    auto* const memory = static_cast<char*>(team.team_shmem().get_shmem_aligned(std::size_t{scratch_bytes}, 16));
    const auto place =
        Tile::find(team, job.ranges, team.league_rank(), splits, reinterpret_cast<index_t*>(memory + splits_at));
    if (place.count == tile)
      merge<true>(team, memory, place);
    else
      merge<false>(team, memory, place);
  }
};

/// Hosts: equal stretches of the output, each merged by one thread.
template <class Job>
struct MergeStretches {
  Job job;
  index_t stretch;

  TESSERA_FUNCTION void operator()(index_t s) const {
    const auto& r = job.ranges;
    const index_t n = r.count(), begin = s * stretch, end = begin + stretch < n ? begin + stretch : n;
    index_t i = r.split(begin), j = begin - i;
    for (index_t k = begin; k < end; ++k) {
      const bool takes_b = i >= r.a_count || (j < r.b_count && r.before(r.b_at(j), r.a_at(i)));
      Job::at(job.out, k) = takes_b ? r.b_at(j) : r.a_at(i);
      if constexpr (Job::has_values)
        Job::at(job.out_values, k) = takes_b ? Job::at(job.b_values, j) : Job::at(job.a_values, i);
      i += takes_b ? 0 : 1;
      j += takes_b ? 1 : 0;
    }
  }
};

template <class Space, class Job>
void run_merge_job(const Space& exec, const Job& job) {
  const index_t n = job.ranges.count();
  if constexpr (machine<Space>::is_host) {
    constexpr index_t least = 4096;  // elements that are worth a thread's start
    const index_t most = 4 * static_cast<index_t>(exec.concurrency());
    const index_t wanted = (n + least - 1) / least, stretches = wanted < most ? wanted : most;
    const index_t stretch = (n + stretches - 1) / stretches;
    Kokkos::parallel_for("tessera::merge::stretches", Range<Space>(exec, 0, (n + stretch - 1) / stretch),
                         MergeStretches<Job>{job, stretch});
  } else {
    using Tiles = MergeTiles<Space, Job>;
    const auto lock = lock_instance(exec);
    const index_t* const splits = find_splits<typename Tiles::Tile>(exec, "merge", job.ranges);
    Kokkos::parallel_for("tessera::merge::tiles",
                         typename Tiles::Policy(exec, (n + Tiles::tile - 1) / Tiles::tile, Tiles::threads)
                             .set_scratch_size(0, Kokkos::PerTeam(Tiles::scratch_bytes + 16)),
                         Tiles{job, splits});
  }
}

template <class Key, class Value, class Before, class Space>
void run_merge(const Space& exec, const MergeProblem<Key, Value, Before>& p) {
  const Region region("tessera::merge[portable]");
  const auto dense = [](const auto& range) { return range.strides[0] == 1; };
  if (dense(p.a) && dense(p.b) && dense(p.out) &&
      (!p.has_values || (dense(p.a_values) && dense(p.b_values) && dense(p.out_values))))
    with_fixed_order(p.before, [&]<class Order>(const Order& order) {
      run_merge_job(exec, MergeJob<Key, Value, Order, Access::unit>(p, order));
    });
  else
    run_merge_job(exec, MergeJob<Key, Value, Before, Access::strided>(p, p.before));
}

}  // namespace tessera::detail
