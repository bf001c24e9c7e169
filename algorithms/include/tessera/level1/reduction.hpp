// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The one reduction of level 1. Each worker walks its share with its sums in registers; on devices the teams'
/// partial results meet in a workspace that the stream keeps, and the team that arrives last ends the work in the
/// same launch, so that nothing waits and nothing is allocated after a stream's first call. On hosts the caller
/// joins one partial result a thread. Either way the order of the sums depends only on n and the machine.
///
/// A Body<access> gives
///   using Partial, Result; static constexpr int lanes;        // elements a vector
///   struct Walker { explicit Walker(const Body&, const Share&); group<U>(i, step); single(i); Partial collapse(); };
///   Partial identity() const; void join(Partial&, const Partial&) const; Result finish(const Partial&) const;

#include <Kokkos_Core.hpp>
#include <memory>
#include <string>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/instance_lock.hpp>
#include <tessera/core/registry.hpp>
#include <tessera/level1/walk.hpp>

namespace tessera::detail {

/// What a stream keeps for its reductions.
template <class Space>
class ReductionWorkspace {
 public:
  static constexpr int teams = 4096;        // at most
  static constexpr int partial_bytes = 64;  // of one

  explicit ReductionWorkspace(const Space& exec)
      : m_memory(static_cast<char*>(Kokkos::kokkos_malloc<typename Space::memory_space>(
            "tessera::reduction::workspace", 64 + std::size_t{teams} * partial_bytes))),
        m_result(Kokkos::kokkos_malloc<Kokkos::SharedHostPinnedSpace>("tessera::reduction::result", 64)) {
    Kokkos::deep_copy(exec, Kokkos::View<unsigned, typename Space::memory_space>(arrived()), 0u);
  }
  ~ReductionWorkspace() {
    Kokkos::kokkos_free<typename Space::memory_space>(m_memory);
    Kokkos::kokkos_free<Kokkos::SharedHostPinnedSpace>(m_result);
  }
  ReductionWorkspace(const ReductionWorkspace&) = delete;
  ReductionWorkspace& operator=(const ReductionWorkspace&) = delete;
  ReductionWorkspace(ReductionWorkspace&&) = delete;
  ReductionWorkspace& operator=(ReductionWorkspace&&) = delete;

  /// Teams that have delivered; 0 between kernels.
  [[nodiscard]] unsigned* arrived() const { return reinterpret_cast<unsigned*>(m_memory); }
  [[nodiscard]] void* partials() const { return m_memory + 64; }
  /// Host memory that kernels write.
  [[nodiscard]] void* result() const { return m_result; }

  static ReductionWorkspace& of(const Space& exec) {
    static Registry<ReductionWorkspace> all("reduction workspaces");
    return all.get(stream_key_of(exec), [&] { return std::make_unique<ReductionWorkspace>(exec); });
  }

 private:
  char* m_memory;
  void* m_result;
};

/// Joins sums[r + w] into sums[r] for every r below w, for w = from, from / 2, ..., 1: all of them end in sums[0].
template <class Member, class Body>
TESSERA_INLINE_FUNCTION void join_halves(const Member& team, const Body& body, typename Body::Partial* sums, int from) {
  for (int width = from; width > 0; width /= 2) {
    team.team_barrier();
    if (team.team_rank() < width) body.join(sums[team.team_rank()], sums[team.team_rank() + width]);
  }
}

/// Where the teams of one launch hand in their partial results.
template <class Body>
struct ReductionEnd {
  using Partial = typename Body::Partial;
  Partial* partials;
  unsigned* arrived;
  typename Body::Result* result;

  /// Hands in sums[0] of a team; the team that comes last joins all and writes the result. Thread r of it takes
  /// results r, r + size, ... in this order, and the threads' sums are joined by halves.
  template <class Member>
  TESSERA_INLINE_FUNCTION void hand_in(const Member& team, const Body& body, Partial* sums, unsigned* last) const {
    const int size = static_cast<int>(team.team_size()), rank = static_cast<int>(team.team_rank());
    const index_t league = team.league_size();
    if (rank == 0) {
      partials[team.league_rank()] = sums[0];
      Kokkos::memory_fence();
      *last = Kokkos::atomic_fetch_add(arrived, 1u) + 1 == static_cast<unsigned>(league) ? 1u : 0u;
    }
    team.team_barrier();
    if (*last == 0) return;
    Kokkos::memory_fence();
    Partial sum = body.identity();
    for (index_t k = rank; k < league; k += size) body.join(sum, partials[k]);
    sums[rank] = sum;
    join_halves(team, body, sums, size / 2);
    if (rank == 0) {
      *result = body.finish(sums[0]);
      *arrived = 0;
    }
  }
};

template <class Space, class Body>
struct ReductionTeams {
  using Partial = typename Body::Partial;
  Body body;
  index_t n;
  ReductionEnd<Body> end;

  KOKKOS_FUNCTION void operator()(const typename Teams<Space>::member_type& team) const {
    const int size = static_cast<int>(team.team_size()), rank = static_cast<int>(team.team_rank());
    auto* const sums = static_cast<Partial*>(team.team_shmem().get_shmem_aligned(size * sizeof(Partial), 16));
    auto* const last = static_cast<unsigned*>(team.team_shmem().get_shmem_aligned(sizeof(unsigned), 16));
    const Share share =
        share_of<Space>(team.league_rank() * index_t{size} + rank, team.league_size() * index_t{size}, n);
    typename Body::Walker walker(body, share);
    walk<Body::lanes>(share, walker);
    sums[rank] = walker.collapse();
    join_halves(team, body, sums, size / 2);
    end.hand_in(team, body, sums, last);
  }
};

template <class Space, class Body>
struct ReductionThreads {
  struct alignas(64) Slot {
    typename Body::Partial partial;
  };
  Body body;
  index_t n, workers;
  Slot* slots;

  KOKKOS_FUNCTION void operator()(index_t worker) const {
    const Share share = share_of<Space>(worker, workers, n);
    typename Body::Walker walker(body, share);
    walk<Body::lanes>(share, walker);
    slots[worker].partial = walker.collapse();
  }
};

/// Launches `league` teams of `size` threads, each with `partials` partial results in scratch, that end in one result:
/// make(ReductionEnd) gives the kernel. Where `result` is null, waits and returns the value; else returns nothing of
/// use.
template <class Space, class Body, class Make>
typename Body::Result run_reduction_teams(const Space& exec, const std::string& kernel_label, const char* algorithm,
                                          index_t league, int size, int partials, typename Body::Result* result,
                                          const Make& make) {
  using Partial = typename Body::Partial;
  using Result = typename Body::Result;
  using Workspace = ReductionWorkspace<Space>;
  static_assert(sizeof(Partial) <= Workspace::partial_bytes && sizeof(Result) <= 64,
                "tessera: a reduction's partial result may have 64 bytes");
  const auto lock = lock_instance(exec);
  const Workspace& workspace = Workspace::of(exec);
  auto* const target = result != nullptr ? result : static_cast<Result*>(workspace.result());
  auto policy = Teams<Space>(exec, league, size).set_scratch_size(0, Kokkos::PerTeam(partials * sizeof(Partial) + 64));
  Kokkos::parallel_for(
      kernel_label, policy,
      make(ReductionEnd<Body>{static_cast<Partial*>(workspace.partials()), workspace.arrived(), target}));
  if (result != nullptr) return {};
  exec.fence(label(algorithm, "result"));
  return *target;
}

/// Reduces [0, n). Where `result` is null, waits and returns the value; else enqueues and returns nothing of use.
template <class Space, class Body>
typename Body::Result run_reduction(const Space& exec, const char* algorithm, const Body& body, index_t n,
                                    typename Body::Result* result) {
  static const std::string kernel_label = label(algorithm, "sums");  // a Body belongs to one algorithm
  using Result = typename Body::Result;
  if constexpr (machine<Space>::is_host) {
    constexpr index_t most = 256;
    using Kernel = ReductionThreads<Space, Body>;
    typename Kernel::Slot slots[most];
    // bodies may count their vectors in 32 bits
    index_t workers = worker_count(exec, n, 2048);
    if (workers < (n >> 31)) workers = n >> 31;
    if (workers > most) workers = most;
    Kokkos::parallel_for(kernel_label, Range<Space>(exec, 0, workers, Kokkos::ChunkSize(1)),
                         Kernel{body, n, workers, slots});
    typename Body::Partial sum = slots[0].partial;
    for (index_t w = 1; w < workers; ++w) body.join(sum, slots[w].partial);
    const Result value = body.finish(sum);
    if (result != nullptr) *result = value;
    return value;
  } else {
    constexpr int size = machine<Space>::team_threads;
    // what a team takes in one go, and several times as many teams as run at once: registers may allow fewer of them
    // than there are threads, and the last ones must not run alone
    constexpr index_t piece = index_t{size} * Body::lanes * in_flight;
    index_t league = (n + piece - 1) / piece;
    league = league < ReductionWorkspace<Space>::teams ? league : ReductionWorkspace<Space>::teams;
    return run_reduction_teams<Space, Body>(
        exec, kernel_label, algorithm, league < 1 ? 1 : league, size, size, result,
        [&](const ReductionEnd<Body>& end) { return ReductionTeams<Space, Body>{body, n, end}; });
  }
}

}  // namespace tessera::detail
