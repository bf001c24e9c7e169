// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Reductions of which every bit is the same on every backend, for any number of threads and any strides: each sum
/// follows a tree that depends on n and the element type alone.
///
/// The tree. W elements fill 16 bytes (1 where an element is larger); a row is 32 W elements, and rows are cut into
/// strands: m whole rows each, where m is the least that gives at most 32768 strands and at least 1024 elements a
/// strand. Element j of each row belongs to lane j of its strand.
///   1. A lane starts from the identity and takes its elements in ascending order.
///   2. A strand's lanes are joined by halves: lane j and lane j + w for all j below w, w = 16 W, ..., 2, 1.
///   3. Eight neighbouring strands (missing ones give the identity) are joined by halves, w = 4, 2, 1, to a group.
///   4. Of at most 4096 groups, groups r, r + 256, ... are joined onto the identity in this order, for each r below
///      256, and the 256 results by halves, w = 128, ..., 2, 1.
/// Join(a, b) is a + b in fp64 for sums; the parts of complex numbers are summed apart, and met at the end. Products
/// enter by one fused multiply-add, or are exact in fp64. NaN results are the canonical one. No other rounding takes
/// place, so that no compiler flag below fast-math changes a bit.

#include <limits>
#include <string>
#include <utility>

#include <tessera/core/determinism.hpp>
#include <tessera/level1/reduction.hpp>
#include <tessera/level1/source.hpp>

namespace tessera::detail {

template <class T>
inline constexpr T canonical_nan = std::numeric_limits<T>::quiet_NaN();
/// The canonical NaN for every NaN.
template <class T>
TESSERA_INLINE_FUNCTION T canonical(const T& v) {
  if constexpr (is_complex_v<T>)
    return T(canonical(v.real()), canonical(v.imag()));
  else if constexpr (std::is_floating_point_v<T>) {
    return v == v ? v : canonical_nan<T>;
  } else
    return v;
}

template <class Source>
struct FixedTree {
  static constexpr int threads = 32;  // that share a strand's lanes on devices
  static constexpr int strands = 8;   // of a group
  static constexpr int most_groups = 4096;
  static constexpr int lanes = threads * Source::width;
  static constexpr index_t row = lanes;

  index_t n, rows, groups;

  explicit FixedTree(index_t size) : n(size) {
    constexpr index_t most = index_t{strands} * most_groups, least = row < 1024 ? 1024 / row : 1;
    const index_t all = (n + row - 1) / row;
    rows = (all + most - 1) / most;
    rows = rows < least ? least : rows;
    groups = (all + rows * strands - 1) / (rows * strands);
    groups = groups < 1 ? 1 : groups;
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t begin(index_t strand) const { return strand * rows * row; }
};

/// K times N lanes of one strand, from that of element `begin` on.
template <class Space, Access access, int N, int K, class Source>
struct StrandLanes {
  typename Source::template Lanes<N> lanes[K];
  const Source& source;
  const FixedTree<Source>& tree;
  index_t begin;

  TESSERA_INLINE_FUNCTION StrandLanes(const Source& s, const FixedTree<Source>& t, index_t first)
      : source(s), tree(t), begin(first) {
    for (int k = 0; k < K; ++k) lanes[k].clear(source);
    index_t whole = t.n - begin >= K * N ? (t.n - begin - K * N) / t.row + 1 : 0;  // rows that have all these lanes
    whole = whole < t.rows ? whole : t.rows;
    index_t r = 0;
    if constexpr (!machine<Space>::is_host)
      for (; r + in_flight <= whole; r += in_flight) take<in_flight>(r);
    for (; r < whole; ++r) take<1>(r);
    if (r == t.rows) return;
    for (int k = 0; k < K; ++k) {
      const index_t i = begin + r * t.row + k * N;
      if (i < t.n) lanes[k].add(source, source.template load_some<N>(i, t.n - i));
    }
  }
  /// Whether lanes may be joined as they are.
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool settled() const {
    if constexpr (requires { source.settled(lanes); })
      return source.settled(lanes);
    else
      return true;
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION typename Source::Partial get(int k, int l) const {
    if constexpr (requires { source.settle(lanes[k], l, index_t{}, index_t{}, index_t{}); }) {
      const index_t first = begin + k * N + l;
      const index_t left = first < tree.n ? (tree.n - first - 1) / tree.row + 1 : 0;
      return source.settle(lanes[k], l, first, index_t{tree.row}, left < tree.rows ? left : tree.rows);
    } else {
      return lanes[k].get(l);
    }
  }

 private:
  template <int U>
  TESSERA_INLINE_FUNCTION void take(index_t r) {
    if constexpr (K > 1) {
      static_assert(U == 1);
      // written out for each k: in a loop, hosts' compilers would keep the lanes in memory
      const auto all = [&]<int... k>(std::integer_sequence<int, k...>) {
        (lanes[k].add(source, source.template load<Space, access, N>(begin + r * tree.row + k * N)), ...);
      };
      all(std::make_integer_sequence<int, K>{});
    } else {
      decltype(source.template load<Space, access, N>(r)) v[U];
      for (int u = 0; u < U; ++u) v[u] = source.template load<Space, access, N>(begin + (r + u) * tree.row);
      for (int u = 0; u < U; ++u) lanes[0].add(source, v[u]);
    }
  }
};

/// Devices: a team of 256 threads a group.
template <class Space, class Source, Access access>
struct FixedTreeTeams {
  using Tree = FixedTree<Source>;
  using Partial = typename Source::Partial;
  static constexpr int size = Tree::threads * Tree::strands;
  Source source;
  Tree tree;
  ReductionEnd<Source> end;

  KOKKOS_FUNCTION void operator()(const typename Teams<Space>::member_type& team) const {
    constexpr int width = Source::width;
    const int rank = static_cast<int>(team.team_rank());
    auto* const sums = static_cast<Partial*>(team.team_shmem().get_shmem_aligned(size * width * sizeof(Partial), 16));
    auto* const last = static_cast<unsigned*>(team.team_shmem().get_shmem_aligned(sizeof(unsigned), 16));
    {
      const index_t strand = team.league_rank() * index_t{Tree::strands} + rank / Tree::threads;
      const StrandLanes<Space, access, width, 1, Source> strand_lanes(
          source, tree, tree.begin(strand) + index_t{rank % Tree::threads} * width);
      for (int l = 0; l < width; ++l) sums[rank * width + l] = strand_lanes.get(0, l);
    }
    int shift = 0;
    while ((2 << shift) < Tree::lanes) ++shift;
    for (; shift >= 0; --shift) {
      team.team_barrier();
      for (int q = rank; q < Tree::strands << shift; q += size) {
        const int at = (q >> shift) * Tree::lanes + (q & ((1 << shift) - 1));
        source.join(sums[at], sums[at + (1 << shift)]);
      }
    }
    for (int w = Tree::strands / 2; w > 0; w /= 2) {
      team.team_barrier();
      if (rank < w) source.join(sums[rank * Tree::lanes], sums[(rank + w) * Tree::lanes]);
    }
    end.hand_in(team, source, sums, last);
  }
};

/// Hosts: each worker has some neighbouring groups.
template <class Space, class Source, Access access>
struct FixedTreeThreads {
  using Tree = FixedTree<Source>;
  using Partial = typename Source::Partial;
  Source source;
  Tree tree;
  index_t workers;
  Partial* partials;

  template <int Count>
  void join_halves(Partial (&p)[Count]) const {
    for (int w = Count / 2; w > 0; w /= 2)
      for (int j = 0; j < w; ++j) source.join(p[j], p[j + w]);
  }
  void operator()(index_t worker) const {
    constexpr int simd = Source::template lanes<Space, Access::unit>;
    constexpr int N = simd < Tree::lanes ? simd : Tree::lanes, K = Tree::lanes / N;
    const index_t last = (worker + 1) * tree.groups / workers;
    for (index_t group = worker * tree.groups / workers; group < last; ++group) {
      Partial strands[Tree::strands];
      for (int s = 0; s < Tree::strands; ++s) {
        const index_t begin = tree.begin(group * Tree::strands + s);
        strands[s] = source.identity();
        if (begin >= tree.n) continue;
        StrandLanes<Space, access, N, K, Source> strand_lanes(source, tree, begin);
        if (strand_lanes.settled()) {  // the same joins, whole registers at a time
          for (int w = K / 2; w > 0; w /= 2)
            for (int k = 0; k < w; ++k) strand_lanes.lanes[k].merge(source, strand_lanes.lanes[k + w]);
          Partial lanes[N];
          for (int l = 0; l < N; ++l) lanes[l] = strand_lanes.lanes[0].get(l);
          join_halves(lanes);
          strands[s] = lanes[0];
        } else {
          Partial lanes[Tree::lanes];
          for (int k = 0; k < K; ++k)
            for (int l = 0; l < N; ++l) lanes[k * N + l] = strand_lanes.get(k, l);
          join_halves(lanes);
          strands[s] = lanes[0];
        }
      }
      join_halves(strands);
      partials[group] = strands[0];
    }
  }
};

/// Reduces elements 0 to n - 1 of source along the tree; results go where run_reduction() has them go.
template <class Space, class Source>
typename Source::Result run_fixed_tree(const Space& exec, const char* algorithm, const Source& source, index_t n,
                                       typename Source::Result* result) {
  static const std::string kernel_label = label(algorithm, "fixed_tree");  // a Source belongs to one algorithm
  using Tree = FixedTree<Source>;
  const Tree tree(n);
  return with_access<Space>(source, [&]<Access access>(std::integral_constant<Access, access>) {
    if constexpr (machine<Space>::is_host) {
      typename Source::Partial partials[Tree::most_groups];
      const auto threads = static_cast<index_t>(exec.concurrency());
      const index_t workers = threads < tree.groups ? threads : tree.groups;
      Kokkos::parallel_for(kernel_label, Range<Space>(exec, 0, workers, Kokkos::ChunkSize(1)),
                           FixedTreeThreads<Space, Source, access>{source, tree, workers, partials});
      constexpr int slots = Tree::threads * Tree::strands;
      typename Source::Partial sums[slots];
      for (int r = 0; r < slots && r < tree.groups; ++r) {  // what is left out are identities
        sums[r] = source.identity();
        for (index_t g = r; g < tree.groups; g += slots) source.join(sums[r], partials[g]);
      }
      for (int w = slots / 2; w > 0; w /= 2)
        for (int r = 0; r < w && r + w < tree.groups; ++r) source.join(sums[r], sums[r + w]);
      const auto value = source.finish(sums[0]);
      if (result != nullptr) *result = value;
      return value;
    } else {
      using Kernel = FixedTreeTeams<Space, Source, access>;
      return run_reduction_teams<Space, Source>(
          exec, kernel_label, algorithm, tree.groups, Kernel::size, Kernel::size * Source::width, result,
          [&](const ReductionEnd<Source>& end) { return Kernel{source, tree, end}; });
    }
  });
}

/// Reduces in whatever order is fastest.
template <class Space, class Source>
typename Source::Result run_in_any_order(const Space& exec, const char* algorithm, const Source& source, index_t n,
                                         typename Source::Result* result) {
  return with_access<Space>(source, [&]<Access access>(std::integral_constant<Access, access>) {
    return run_reduction(exec, algorithm, SourceBody<Source, Space, access>{source}, n, result);
  });
}

/// Reduces in the order that is asked for; integers modulo 2^64 give the same bits in any.
template <class Space, class Source>
typename Source::Result run_source(const Space& exec, const char* algorithm, const Source& source, index_t n,
                                   typename Source::Result* result, Determinism determinism) {
  if constexpr (!Source::exact)
    if (determinism == Determinism::portable) return run_fixed_tree(exec, algorithm, source, n, result);
  return run_in_any_order(exec, algorithm, source, n, result);
}

}  // namespace tessera::detail
