// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Set operations for keys and orders that the library does not bring compiled: include this instead of
/// tessera/set_operations.hpp.
///
/// Everything walks the path along which the two ranges would merge (merge/path.hpp). An element of a is met before
/// those of b that equal it, so that the r-th of its run is paired if the r-th element of b from there on equals it; an
/// element of b is met behind those of a that equal it, so that the r-th of its run is paired if the r-th element of a
/// back from there equals it. What a thread must know to begin anywhere is how far into their runs the next two are.

#include <Kokkos_Core.hpp>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/merge/path.hpp>
#include <tessera/select/count.hpp>
#include <tessera/set_operations.hpp>

namespace tessera::detail {

/// Where the run of equal elements begins that the one at `at` belongs to.
template <class Elements, class Key, class Before>
[[nodiscard]] TESSERA_INLINE_FUNCTION index_t run_begin(const Elements& element, index_t at, const Key& key,
                                                        const Before& before) {
  index_t high = at, step = 1;  // [high] is of the run
  while (high > 0 && !before(element(high > step ? high - step : 0), key)) {
    high = high > step ? high - step : 0;
    step *= 2;
  }
  index_t low = high > step ? high - step : 0;  // [low] is not, or the range begins there
  while (low < high) {
    const index_t middle = low + (high - low) / 2;
    if (before(element(middle), key))
      low = middle + 1;
    else
      high = middle;
  }
  return high;
}

/// How a thread judges the elements that it meets, one after the other.
template <class Key, class Before>
struct SetWalker {
  Before before;
  SetRule rule;
  Key last_a, last_b;      // the ones before the next
  index_t rank_a, rank_b;  // their places in their runs

  /// \param a_at, b_at  give elements of the ranges
  /// \param i, j        the next ones; `a_follows`, `b_follows`: there are such
  template <class A, class B>
  TESSERA_INLINE_FUNCTION SetWalker(const Before& before_, const SetRule& rule_, const A& a_at, index_t i,
                                    bool a_follows, const B& b_at, index_t j, bool b_follows)
      : before(before_), rule(rule_), last_a{}, last_b{}, rank_a(-1), rank_b(-1) {
    start(a_at, i, a_follows, last_a, rank_a);
    start(b_at, j, b_follows, last_b, rank_b);
  }

  /// Whether a's element i stays, met with j elements of b behind.
  /// \param b_here  b's element j, where `near`
  template <class B>
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool keeps_a(const Key& key, index_t j, index_t b_count, const Key& b_here,
                                                     bool near, const B& b_at) {
    rank_a = before(last_a, key) ? 0 : rank_a + 1;
    last_a = key;
    const index_t partner = j + rank_a;
    const bool paired = partner < b_count && !before(key, near && rank_a == 0 ? b_here : b_at(partner));
    return paired ? rule.paired_a : rule.lone_a;
  }
  /// Whether the next element of b stays, met with i elements of a behind.
  template <class A>
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool keeps_b(const Key& key, index_t i, const A& a_at) {
    rank_b = before(last_b, key) ? 0 : rank_b + 1;
    last_b = key;
    const index_t partner = i - 1 - rank_b;
    const bool paired = partner >= 0 && !before(rank_b == 0 ? last_a : a_at(partner), key);
    return !paired && rule.lone_b;
  }

 private:
  template <class Elements>
  TESSERA_INLINE_FUNCTION void start(const Elements& element, index_t at, bool follows, Key& last,
                                     index_t& rank) const {
    if (at > 0) last = element(at - 1);
    if (!follows) return;
    const Key next = element(at);
    if (at == 0)
      last = next;  // of its run, at rank -1
    else if (!before(last, next))
      rank = at - 1 - run_begin(element, at - 1, next, before);
  }
};

/// What is done.
template <class Key, class Before, Access access_>
struct SetJob {
  static constexpr Access access = access_;
  using Item = Key;
  using Order = Before;
  using Walker = SetWalker<Key, Before>;
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
  static constexpr int items = sizeof(Key) <= 4 ? 11 : sizeof(Key) <= 8 ? 9 : items_of_large_keys<Key>;
  using Tile = MergeTile<Space, Key, typename Job::Order, Job::access, threads, items>;
  static constexpr int tile = Tile::tile;
  using Look = LookBack<Space, std::uint64_t, strips>;
  using Policy = BoundedTeams<Space, threads, 4>;
  using Member = typename Policy::member_type;

  struct Scratch {
    typename Look::Scratch look;
    index_t ends[2];
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
    team.team_barrier();
    const int first = whole || t * items < place.count ? t * items : place.count;
    const int split = Tile::split_here(ranges, place, keys, first), behind = place.a_count + first - split;
    // an element of a range, from scratch if it is there
    const auto a_at = [&](index_t i) {
      const index_t here = i - place.a_begin;
      return here >= 0 && here < place.a_count ? keys[here] : ranges.a_at(i);
    };
    const auto b_at = [&](index_t j) {
      const index_t here = j - place.b_begin + place.a_count;
      return here >= place.a_count && here < place.count ? keys[here] : ranges.b_at(j);
    };
    const index_t b_offset = place.b_begin - place.a_count;
    typename Job::Walker walker(ranges.before, job.rule, a_at, place.a_begin + split, split < place.a_count, b_at,
                                b_offset + behind, behind < place.count);
    std::uint32_t kept = 0;
    Tile::walk(ranges, place, keys, split, behind,
               [&](int u, bool takes_b, int i, int j, const Key& next_a, const Key& next_b) {
                 k[u] = takes_b ? next_b : next_a;
                 if (!whole && first + u >= place.count) return;
                 const bool keeps =
                     takes_b ? walker.keeps_b(next_b, place.a_begin + i, a_at)
                             : walker.keeps_a(next_a, b_offset + j, ranges.b_count, next_b, j < place.count, b_at);
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
  const auto a_at = [&](index_t i) { return ranges.a_at(i); };
  const auto b_at = [&](index_t j) { return ranges.b_at(j); };
  index_t i = ranges.split(begin), j = begin - i;
  typename Job::Walker walker(ranges.before, job.rule, a_at, i, i < ranges.a_count, b_at, j, j < ranges.b_count);
  for (index_t k = begin; k < end; ++k) {
    const bool takes_b = i >= ranges.a_count || (j < ranges.b_count && ranges.before(b_at(j), a_at(i)));
    const auto key = takes_b ? b_at(j) : a_at(i);
    const bool keeps =
        takes_b ? walker.keeps_b(key, i, a_at) : walker.keeps_a(key, j, ranges.b_count, key, false, b_at);
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
