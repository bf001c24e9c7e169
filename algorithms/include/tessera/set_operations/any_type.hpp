// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Set operations for keys and orders that the library does not bring compiled: include this instead of
/// tessera/set_operations.hpp.
///
/// Everything walks the path along which the two ranges would merge (merge/path.hpp): of a run of equal elements first
/// a's are met, then b's. The r-th of a's is paired if b's element r places on from the next one is of the run; an
/// element of b is paired if more of a's than of b's were met. So one number is carried along: how many more.

#include <Kokkos_Core.hpp>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/merge/path.hpp>
#include <tessera/select/count.hpp>
#include <tessera/set_operations.hpp>

namespace tessera::detail {

/// Where the run of equal elements begins that the one at `at` belongs to.
template <class Index, class Elements, class Key, class Before>
[[nodiscard]] TESSERA_INLINE_FUNCTION Index run_begin(const Elements& element, Index at, const Key& key,
                                                      const Before& before) {
  Index high = at, step = 1;  // [high] is of the run
  while (high > 0 && !before(element(high > step ? high - step : 0), key)) {
    high = high > step ? high - step : 0;
    step *= 2;
  }
  Index low = high > step ? high - step : 0;  // [low] is not, or the range begins there
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (before(element(middle), key))
      low = middle + 1;
    else
      high = middle;
  }
  return high;
}

/// How a thread judges the elements that it meets, one after the other. Index holds counts of a run.
template <class Key, class Before, class Index>
struct SetWalker {
  Key last;      // what was met last
  Index excess;  // of its run: how many of a's were met, less those of b

  /// Whether `key` stays.
  /// \param of_run  of an r: whether b's element r places on from the next one is there and equals key
  template <class OfRun>
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool keeps(const Before& before, const SetRule& rule, const Key& key,
                                                   bool takes_b, const OfRun& of_run) {
    excess = before(last, key) ? Index{0} : excess;
    last = key;
    bool paired = excess > 0;
    if (!takes_b && rule.paired_a != rule.lone_a) paired = of_run(excess);
    excess += takes_b ? Index{-1} : Index{1};
    return takes_b ? !paired && rule.lone_b : (paired ? rule.paired_a : rule.lone_a);
  }
};

/// Where a walker begins: i elements of a and j of b are behind it, and one or two runs of them end there.
/// \param a_at, b_at  give the elements of positions
/// \param a, b        whether elements follow
template <class Index, class Key, class A, class B, class Before>
[[nodiscard]] TESSERA_INLINE_FUNCTION SetWalker<Key, Before, Index> set_walker(const A& a_at, Index i, bool a,
                                                                               const B& b_at, Index j, bool b,
                                                                               const Before& before) {
  SetWalker<Key, Before, Index> walker{Key{}, 0};
  if (!a && !b) return walker;
  const Key next = a && !(b && before(b_at(j), a_at(i))) ? a_at(i) : b_at(j);
  walker.last = next;
  const auto of_run = [&](const auto& at, Index count) {
    return count > 0 && !before(at(count - 1), next) ? count - run_begin(at, count - 1, next, before) : Index{0};
  };
  walker.excess = of_run(a_at, i) - of_run(b_at, j);
  return walker;
}

/// What is done.
template <class Key, class Before, Access access_>
struct SetJob {
  static constexpr Access access = access_;
  using Item = Key;
  using Order = Before;
  SortedRanges<Key, Before, access> ranges;
  Key* out;
  index_t stride, room;
  SetRule rule;
  index_t* count;

  template <class Given>
  SetJob(const SetProblem<Key, Given>& p, const Before& before, index_t* count_)
      : ranges(p.a, p.b, before),
        out(p.out.pointer),
        stride(p.out.strides[0]),
        room(p.out.extents[0]),
        rule(p.rule),
        count(count_) {}
  [[nodiscard]] TESSERA_INLINE_FUNCTION Key& place(index_t i) const {
    return out[access == Access::unit ? i : i * stride];
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION auto walker_at(index_t i, index_t j) const {
    return set_walker<index_t, Key>([this](index_t at) { return ranges.a_at(at); }, i, i < ranges.a_count,
                                    [this](index_t at) { return ranges.b_at(at); }, j, j < ranges.b_count,
                                    ranges.before);
  }
  // what the look-back asks of a sum
  [[nodiscard]] TESSERA_INLINE_FUNCTION static std::uint64_t first() { return 0; }
  [[nodiscard]] TESSERA_INLINE_FUNCTION static std::uint64_t join(std::uint64_t a, std::uint64_t b) { return a + b; }
  TESSERA_INLINE_FUNCTION void finish(std::uint64_t total) const {
    if (count != nullptr) *count = static_cast<index_t>(total);
  }
};

/// Devices: one launch (and one for the splits of long ranges). A team takes a tile of the merged range to scratch,
/// judges it, publishes how many elements stay, and puts them side by side where the look-back tells.
template <class Space, class Job>
struct SetTiles {
  using Key = typename Job::Item;
  static constexpr int threads = 256, width = 32, strips = threads / width;
  static constexpr int items = sizeof(Key) <= 4 ? 23 : sizeof(Key) <= 8 ? 15 : items_of_large_keys<Key>;
  using Tile = MergeTile<Space, Key, typename Job::Order, Job::access, threads, items>;
  static constexpr int tile = Tile::tile;
  using Look = LookBack<Space, std::uint64_t, strips>;
  using Policy = BoundedTeams<Space, threads, 4>;
  using Member = typename Policy::member_type;

  struct Scratch {
    typename Look::Scratch look;
    index_t ends[2];
    index_t excess;  // of the run that the tile begins in, outside it
    std::uint32_t kept[strips];
  };
  static constexpr int keys_at = static_cast<int>((sizeof(Scratch) + 15) / 16 * 16);
  static constexpr int scratch_bytes = keys_at + Tile::kept * static_cast<int>(sizeof(Key));

  Job job;
  const index_t* splits;
  Look look;

  template <bool whole>
  TESSERA_INLINE_FUNCTION void judge(const Member& team, Scratch& shared, Key* keys, index_t number,
                                     const typename Tile::Place& place) const {
    const auto& ranges = job.ranges;
    const int t = static_cast<int>(team.team_rank()), lane = t % width, strip = t / width;
    Key k[items];
    Tile::template load<whole>(ranges, place, t, k, keys);
    if (t == 0) shared.excess = job.walker_at(place.a_begin, place.b_begin).excess;
    team.team_barrier();
    const int first = whole || t * items < place.count ? t * items : place.count;
    const int split = Tile::split_here(ranges, place, keys, first), behind = place.a_count + first - split;
    // of the run that the tile begins in, those behind it count for as many as a tile can outweigh
    constexpr int many = 1 << 30;
    const index_t exact = shared.excess;
    const int outside = static_cast<int>(exact > many ? many : exact < -many ? -many : exact);
    auto walker = set_walker<int, Key>([=](int i) { return keys[i]; }, split, split < place.a_count,
                                       [=](int j) { return keys[place.a_count + j]; }, first - split,
                                       behind < place.count, ranges.before);
    if (outside != 0 && first < place.count && !ranges.before(Tile::first_of(ranges, place, keys), walker.last))
      walker.excess += outside;
    std::uint32_t kept = 0;
    Tile::walk(ranges, place, keys, split, behind,
               [&](int u, bool takes_b, int /*i*/, int j, const Key& next_a, const Key& next_b) {
                 k[u] = takes_b ? next_b : next_a;
                 if (!whole && first + u >= place.count) return;
                 const bool keeps = walker.keeps(ranges.before, job.rule, k[u], takes_b, [&](int r) {
                   if (r == 0 && j < place.count) return !ranges.before(k[u], next_b);
                   if (j + r < place.count) return !ranges.before(k[u], keys[j + r]);
                   const index_t partner =
                       place.b_begin - place.a_count + j + (r < many / 2 ? r : r + (exact - outside));
                   return partner < ranges.b_count && !ranges.before(k[u], ranges.b_at(partner));
                 });
                 if (keeps) kept |= 1u << u;
               });

    const auto mine = static_cast<std::uint32_t>(Kokkos::popcount(kept));
    std::uint32_t through = mine;
    for (int by = 1; by < width; by *= 2) {
      const std::uint32_t lower = warp<Space>::up(through, by);
      if (lane >= by) through += lower;
    }
    if (lane == width - 1) shared.kept[strip] = through;
    team.team_barrier();
    const std::uint32_t call = Look::call(shared.look);
    std::uint32_t total = 0, before = 0;
    for (int s = 0; s < strips; ++s) {
      if (s == strip) before = total;
      total += shared.kept[s];
    }
    if (t == 0) look.publish(number, call, total);
    std::uint32_t to = before + through - mine;
    TESSERA_UNROLL
    for (int u = 0; u < items; ++u)
      if ((kept >> u & 1u) != 0) keys[to++] = k[u];
    const std::uint64_t carry = look.find(job, team, shared.look, number, call, std::uint64_t{total}, strip, lane);
    if (number == look.tiles - 1 && t == 0) {
      job.finish(carry + total);
      look.end(call);
    }
    const auto begin = static_cast<index_t>(carry);
    const index_t fitting =
        static_cast<index_t>(total) < job.room - begin ? static_cast<index_t>(total) : job.room - begin;
    for (int e = t; e < fitting; e += threads) job.place(begin + e) = keys[e];
  }

  TESSERA_FUNCTION void operator()(const Member& team) const {
    char* const memory = static_cast<char*>(team.team_shmem().get_shmem_aligned(std::size_t{scratch_bytes}, 16));
    auto& shared = *reinterpret_cast<Scratch*>(memory);
    auto* const keys = reinterpret_cast<Key*>(memory + keys_at);
    const index_t number = look.take(team, shared.look);
    const auto place = Tile::find(team, job.ranges, number, splits, shared.ends);
    if (place.count == tile)
      judge<true>(team, shared, keys, number, place);
    else
      judge<false>(team, shared, keys, number, place);
  }
};

/// Hosts: a stretch of the merged range, `to` the place of what stays of it; gives the next place.
template <bool writes, class Job>
TESSERA_FUNCTION index_t judge_stretch(const Job& job, index_t begin, index_t end, index_t to) {
  const auto& ranges = job.ranges;
  index_t i = ranges.split(begin), j = begin - i;
  auto walker = job.walker_at(i, j);
  for (index_t k = begin; k < end; ++k) {
    const bool takes_b = i >= ranges.a_count || (j < ranges.b_count && ranges.before(ranges.b_at(j), ranges.a_at(i)));
    const auto key = takes_b ? ranges.b_at(j) : ranges.a_at(i);
    const bool keeps = walker.keeps(ranges.before, job.rule, key, takes_b, [&](index_t r) {
      return j + r < ranges.b_count && !ranges.before(key, ranges.b_at(j + r));
    });
    if constexpr (writes)
      if (keeps && to < job.room) job.place(to) = key;
    to += keeps ? 1 : 0;
    i += takes_b ? 0 : 1;
    j += takes_b ? 1 : 0;
  }
  return to;
}

template <class Job>
struct SetStretches {
  Job job;
  index_t first, each;  // of the block, and of one worker
  index_t* of_workers;  // how many stay, then the places
  bool writes;

  KOKKOS_FUNCTION void operator()(index_t worker) const {
    const index_t n = job.ranges.count(), from = first + worker * each, begin = from < n ? from : n;
    const index_t end = n - begin < each ? n : begin + each;
    if (writes)
      (void)judge_stretch<true>(job, begin, end, of_workers[worker]);
    else
      of_workers[worker] = judge_stretch<false>(job, begin, end, 0);
  }
};

/// All by one thread.
template <class Job>
struct SetAlone {
  Job job;
  KOKKOS_FUNCTION void operator()(index_t /*only*/) const {
    job.finish(static_cast<std::uint64_t>(judge_stretch<true>(job, 0, job.ranges.count(), 0)));
  }
};

template <class Space, class Job>
void run_set_job(const Space& exec, const Job& job) {
  static const std::string kernel_label = label("set_operations", "tiles");
  const index_t n = job.ranges.count();
  if constexpr (machine<Space>::is_host) {
    constexpr index_t most = 256, least = 4096;  // workers, and elements of one
    index_t workers = static_cast<index_t>(exec.concurrency());
    workers = workers < most ? workers : most;
    workers = workers < n / least ? workers : n / least;
    if (workers < 2) {
      Kokkos::parallel_for(kernel_label, Range<Space>(exec, 0, 1), SetAlone<Job>{job});
      return;
    }
    // what was read to count is still in the caches when it is read to be copied
    constexpr auto kept = 4 * static_cast<index_t>(machine<Space>::l2_bytes / sizeof(typename Job::Item));
    const index_t even = (n + workers - 1) / workers, each = even < kept ? even : kept;
    index_t of_workers[most];
    index_t place = 0;
    for (index_t first = 0; first < n; first += workers * each) {
      const auto policy = Range<Space>(exec, 0, workers, Kokkos::ChunkSize(1));
      Kokkos::parallel_for(kernel_label, policy, SetStretches<Job>{job, first, each, of_workers, false});
      for (index_t w = 0; w < workers; ++w) {
        const index_t here = of_workers[w];
        of_workers[w] = place;
        place += here;
      }
      Kokkos::parallel_for(kernel_label, policy, SetStretches<Job>{job, first, each, of_workers, true});
    }
    job.finish(static_cast<std::uint64_t>(place));
  } else {
    using Tiles = SetTiles<Space, Job>;
    const index_t tiles = (n + Tiles::tile - 1) / Tiles::tile;
    auto& workspace = ScanWorkspace<Space>::of(exec);
    const index_t* const splits = find_splits<typename Tiles::Tile>(exec, "set_operations", job.ranges);
    std::uint64_t* const published = workspace.published(exec, Tiles::Look::published_bytes(tiles));
    Kokkos::parallel_for(kernel_label,
                         typename Tiles::Policy(exec, tiles, Tiles::threads)
                             .set_scratch_size(0, Kokkos::PerTeam(Tiles::scratch_bytes + 16)),
                         Tiles{job, splits, {tiles, workspace.ticket(), published}});
  }
}

template <class Key, class Before, class Space>
void run_set_operation(const Space& exec, const SetProblem<Key, Before>& p) {
  const Region region("tessera::set_operations[portable]");
  const auto dense = [](const auto& range) { return range.strides[0] == 1; };
  run_counted(exec, "set_operations", label("set_operations", "empty"), p, p.a.extents[0] + p.b.extents[0] > 0,
              [&](index_t* count) {
                if (dense(p.a) && dense(p.b) && dense(p.out))
                  with_fixed_order(p.before, [&]<class Order>(const Order& order) {
                    run_set_job(exec, SetJob<Key, Order, Access::unit>(p, order, count));
                  });
                else
                  run_set_job(exec, SetJob<Key, Before, Access::strided>(p, p.before, count));
              });
}

}  // namespace tessera::detail
