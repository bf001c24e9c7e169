// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Compaction on devices: one launch, each element read once. A team holds a tile in registers, counts what is chosen
/// of it (all rows of a warp in one scan of small numbers packed into words), publishes the count, gathers the chosen
/// elements in scratch while earlier tiles publish theirs, looks back for its place (scan/lookback.hpp), and stores
/// them side by side. Source: D. Merrill and M. Garland, Single-pass Parallel Prefix Scan with Decoupled Look-back
/// (2016).

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

#include <tessera/core/execution.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/core/warp.hpp>
#include <tessera/level1/reduction.hpp>
#include <tessera/scan/lookback.hpp>
#include <tessera/select/job.hpp>

namespace tessera::detail {

template <class Space, class Job, int Rows>
struct SelectTiles {
  using T = typename Job::Item;
  using Carry = typename Job::Carry;
  using Choosing = typename Job::Choosing;
  using BesideItem = typename Job::BesideItem;
  static constexpr int width = 32, strips = 8, threads = strips * width, rows = Rows, leaf = Job::leaf;
  static constexpr int row = width * leaf, strip_size = rows * row, size = strips * strip_size;  // elements
  using Look = LookBack<Space, Carry, strips>;
  using Counts = PackedNumbers < rows, row<256 ? 8 : 16>;

  struct Scratch {
    typename Look::Scratch look;
    std::uint32_t chosen[strips];
    std::int32_t last[strips];  // where the last chosen element of a strip stands in the tile; -1: nowhere
  };
  static constexpr int items_at = static_cast<int>((sizeof(Scratch) + 15) / 16 * 16);
  static constexpr int scratch_bytes = items_at + size * Job::widest;

  Job job;
  Look look;

  /// Where a thread stands: strip and lane, and its first element in the tile.
  struct Place {
    int rank, lane, strip, own;
    index_t tile, first;  // of the tile
    TESSERA_INLINE_FUNCTION Place(int rank_, index_t tile_)
        : rank(rank_),
          lane(rank_ % width),
          strip(rank_ / width),
          own(strip * strip_size + lane * leaf),
          tile(tile_),
          first(tile_ * size) {}
  };

  /// Elements of a thread's leaf in row r that are there.
  template <bool whole>
  TESSERA_INLINE_FUNCTION int present(const Place& at, int r) const {
    if constexpr (whole) return leaf;
    const index_t left = job.n - at.first - at.own - r * row;
    return static_cast<int>(left < 0 ? 0 : left < leaf ? left : leaf);
  }

  /// Calls f(r, j, to) for each element of the thread that stays, `to` its place among those of the tile. Elements that
  /// are not chosen come behind the `total` that are.
  template <bool whole, class F>
  TESSERA_INLINE_FUNCTION void each_kept(const Place& at, const std::uint32_t (&chosen)[rows],
                                         const int (&places)[rows], int total, const F& f) const {
    TESSERA_UNROLL
    for (int r = 0; r < rows; ++r) {
      int to = places[r];
      TESSERA_UNROLL
      for (int j = 0; j < leaf; ++j) {
        const bool is_chosen = (chosen[r] >> j & 1u) != 0;
        if constexpr (Job::keeps_rest) {
          if (whole || j < present<whole>(at, r)) f(r, j, is_chosen ? to : total + (at.own + r * row + j) - to);
        } else {
          if (is_chosen) f(r, j, to);
        }
        to += is_chosen ? 1 : 0;
      }
    }
  }

  /// items[i], for i below `count`, to out[(at + i) * stride], as far as there is room.
  template <class W>
  TESSERA_INLINE_FUNCTION void store(int rank, const W* items, index_t count, W* out, index_t stride, index_t at,
                                     index_t room) const {
    const index_t fitting = count < room - at ? count : room - at;
    W* const to = out + Job::at(at, stride);
    for (int i = rank; i < fitting; i += threads) to[Job::at(i, stride)] = items[i];
  }

  template <bool whole, class Member>
  TESSERA_INLINE_FUNCTION void compact(const Member& team, Scratch& shared, char* items, const Place& at) const {
    const index_t strip_first = at.first + at.strip * strip_size, begin = at.first + at.own;
    [[maybe_unused]] T before_row{};  // the element before the row: of lane 0
    if constexpr (Choosing::compares)
      if (at.lane == 0 && strip_first > 0 && (whole || strip_first < job.n))
        before_row = job.x[Job::at(strip_first - 1, job.xs)];
    typename Choosing::Marks marks[rows];
    typename Job::Leaf leaves[rows];
    TESSERA_UNROLL
    for (int r = 0; r < rows; ++r) {
      marks[r] = job.choosing.template marks<whole>(begin + r * row, present<whole>(at, r));
      leaves[r] = job.template fetch<whole>(begin + r * row, present<whole>(at, r));
    }

    std::uint32_t chosen[rows];
    Counts counts;
    TESSERA_UNROLL
    for (int r = 0; r < rows; ++r) {
      T previous{};
      if constexpr (Choosing::compares) {
        const T end = leaves[r][leaf - 1];
        previous = warp_up<Space>(end, 1);
        if (at.lane == 0) previous = before_row;
        before_row = warp_shuffle<Space>(end, width - 1);
      }
      chosen[r] = job.template bits<whole>(leaves[r], marks[r], previous, begin + r * row, present<whole>(at, r));
      counts.add(r, static_cast<std::uint32_t>(Kokkos::popcount(chosen[r])));
    }
    Counts through = counts, row_totals;
    constexpr int words = static_cast<int>(std::extent_v<decltype(through.words)>);
    for (int w = 0; w < words; ++w) {
      for (int by = 1; by < width; by *= 2) {
        const std::uint32_t lower = warp<Space>::up(through.words[w], by);
        if (at.lane >= by) through.words[w] += lower;
      }
      row_totals.words[w] = warp<Space>::shuffle(through.words[w], width - 1);
    }
    int places[rows];  // in the strip, then in the tile
    std::uint32_t of_strip = 0;
    TESSERA_UNROLL
    for (int r = 0; r < rows; ++r) {
      places[r] = static_cast<int>(of_strip + through[r] - counts[r]);
      of_strip += row_totals[r];
    }
    if (at.lane == 0) shared.chosen[at.strip] = of_strip;
    if constexpr (Job::lengths) {
      std::int32_t last = -1;
      for (int r = 0; r < rows; ++r)
        if (chosen[r] != 0) last = at.own + r * row + static_cast<int>(Kokkos::bit_width(chosen[r])) - 1;
      for (int by = 1; by < width; by *= 2) {
        const auto other =
            static_cast<std::int32_t>(warp<Space>::shuffle(static_cast<std::uint32_t>(last), at.lane ^ by));
        last = other > last ? other : last;
      }
      if (at.lane == 0) shared.last[at.strip] = last;
    }
    team.team_barrier();

    const std::uint32_t call = Look::call(shared.look);
    int total = 0, before = 0;
    std::int64_t last = -1;
    for (int s = 0; s < strips; ++s) {
      if (s == at.strip) before = total;
      total += static_cast<int>(shared.chosen[s]);
      if constexpr (Job::lengths)
        if (shared.last[s] >= 0) last = at.first + shared.last[s];
    }
    const Carry of_tile = Job::carry(static_cast<std::uint64_t>(total), last);
    if (at.rank == 0) look.publish(at.tile, call, of_tile);
    for (int r = 0; r < rows; ++r) places[r] += before;
    T* const elements = reinterpret_cast<T*>(items);
    each_kept<whole>(at, chosen, places, total, [&](int r, int j, int to) { elements[to] = leaves[r][j]; });

    const Carry carry = look.find(job, team, shared.look, at.tile, call, of_tile, at.strip, at.lane);
    if (at.tile == look.tiles - 1 && at.rank == 0) {
      job.finish(Job::join(carry, of_tile));
      look.end(call);
    }
    const index_t to = Job::number(carry);
    store(at.rank, elements, total, job.y, job.ys, to, job.room);
    if constexpr (Job::keeps_rest) {
      const index_t here = whole || job.n - at.first > size ? index_t{size} : job.n - at.first;
      store(at.rank, elements + total, here - total, job.y, job.ys, *job.all + at.first - to, job.room);
    }
    if constexpr (Job::Beside::values) {
      auto* const values = reinterpret_cast<BesideItem*>(items);
      const auto& beside = job.beside;
      Pack<BesideItem, leaf> own[rows];
      for (int r = 0; r < rows; ++r)
        own[r] = leaf_or_zeros<Space, Job::access, whole, leaf>(beside.in, beside.is, begin + r * row,
                                                                present<whole>(at, r));
      team.team_barrier();
      each_kept<whole>(at, chosen, places, total, [&](int r, int j, int place) { values[place] = own[r][j]; });
      team.team_barrier();
      store(at.rank, values, total, beside.out, beside.os, to, beside.room);
    }
    if constexpr (Job::lengths) {
      auto* const positions = reinterpret_cast<std::uint32_t*>(items);
      team.team_barrier();
      each_kept<whole>(at, chosen, places, total, [&](int r, int j, int place) {
        positions[place] = static_cast<std::uint32_t>(at.own + r * row + j);
      });
      team.team_barrier();
      for (int i = at.rank; i < total; i += threads)
        job.beside.put_length(to + i, i > 0 ? at.first + positions[i - 1] : carry.last, at.first + positions[i]);
    }
  }

  KOKKOS_FUNCTION void operator()(const typename Teams<Space>::member_type& team) const {
    char* const scratch = static_cast<char*>(team.team_shmem().get_shmem_aligned(std::size_t{scratch_bytes}, 16));
    auto& shared = *reinterpret_cast<Scratch*>(scratch);
    const Place at(static_cast<int>(team.team_rank()), look.take(team, shared.look));
    if (at.first + size <= job.n)
      compact<true>(team, shared, scratch + items_at, at);
    else
      compact<false>(team, shared, scratch + items_at, at);
  }
};

template <int Rows, class Space, class Job>
void run_select_rows(const Space& exec, const std::string& kernel_label, const Job& job) {
  using Kernel = SelectTiles<Space, Job, Rows>;
  using Policy = BoundedTeams<Space, Kernel::threads, (Rows > 4 ? 3 : 4)>;
  static_assert(Kernel::scratch_bytes + 16 <= static_cast<int>(machine<Space>::scratch_bytes));
  const index_t tiles = (job.n + Kernel::size - 1) / Kernel::size;
  auto& workspace = ScanWorkspace<Space>::of(exec);
  std::uint64_t* const published = workspace.published(exec, Kernel::Look::published_bytes(tiles));
  const auto policy =
      Policy(exec, tiles, Kernel::threads).set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes + 16));
  Kokkos::parallel_for(kernel_label, policy, Kernel{job, {tiles, workspace.ticket(), published}});
}

/// How many elements are chosen, as level1/reduction.hpp wants it.
template <class Job>
struct ChosenCount {
  using Partial = std::uint64_t;
  using Result = index_t;
  using Choosing = typename Job::Choosing;
  static constexpr int lanes = Job::leaf;
  Job job;

  struct Walker {
    const Job& job;
    std::uint64_t sum = 0;
    TESSERA_INLINE_FUNCTION Walker(const ChosenCount& body, const Share& /*share*/) : job(body.job) {}
    template <int U>
    TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) {
      typename Choosing::Marks marks[U];
      typename Job::Leaf leaves[U];
      for (int u = 0; u < U; ++u) {
        marks[u] = job.choosing.template marks<true>(i + u * step, lanes);
        leaves[u] = job.template fetch<true>(i + u * step, lanes);
      }
      int found = 0;
      for (int u = 0; u < U; ++u)
        found += Kokkos::popcount(job.template bits<true>(leaves[u], marks[u], leaves[u][0], i + u * step, lanes));
      sum += static_cast<std::uint64_t>(found);
    }
    TESSERA_INLINE_FUNCTION void single(index_t i) { sum += job.chosen(i) ? 1u : 0u; }
    [[nodiscard]] TESSERA_INLINE_FUNCTION Partial collapse() const { return sum; }
  };
  [[nodiscard]] TESSERA_INLINE_FUNCTION Partial identity() const { return 0; }
  TESSERA_INLINE_FUNCTION void join(Partial& a, const Partial& b) const { a += b; }
  [[nodiscard]] TESSERA_INLINE_FUNCTION Result finish(const Partial& sum) const { return static_cast<Result>(sum); }
};

/// Runs a job of n > 0 elements. The caller holds the lock of the instance.
template <class Space, class Job>
void run_select_tiles(const Space& exec, const char* algorithm, const std::string& kernel_label, Job job) {
  using One = SelectTiles<Space, Job, 1>;
  constexpr int fitting =
      (static_cast<int>(machine<Space>::scratch_bytes) - 16 - One::items_at) / (One::size * Job::widest);
  static_assert(fitting >= 1);
  // few rows leave small problems more teams, many rows look back less often; a thread has registers to place 64
  // elements
  constexpr int placed = 64 / Job::leaf, wanted = placed < 8 ? placed : 8;
  constexpr int many = fitting < wanted ? fitting : wanted, few = many < 2 ? many : 2;
  if constexpr (Job::keeps_rest) {
    auto* const all = static_cast<index_t*>(ScanWorkspace<Space>::of(exec).note());
    run_reduction(exec, algorithm, ChosenCount<Job>{job}, job.n, all);
    job.all = all;
  }
  if constexpr (Job::access == Access::unit && many > few)
    if (job.n >= 256 * index_t{SelectTiles<Space, Job, many>::size})
      return run_select_rows<many>(exec, kernel_label, job);
  run_select_rows<few>(exec, kernel_label, job);
}

}  // namespace tessera::detail
