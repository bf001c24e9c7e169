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
///   static Partial identity(); static void join(Partial&, const Partial&); Result finish(const Partial&) const;

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
  static constexpr int partial_bytes = 32;  // of one

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

template <class Space, class Body>
struct ReductionTeams {
  using Partial = typename Body::Partial;
  Body body;
  index_t n;
  Partial* partials;
  unsigned* arrived;
  typename Body::Result* result;

  template <class Member>
  KOKKOS_FUNCTION void combine(const Member& team, Partial* sums) const {
    for (int width = static_cast<int>(team.team_size()) / 2; width > 0; width /= 2) {
      team.team_barrier();
      if (team.team_rank() < width) Body::join(sums[team.team_rank()], sums[team.team_rank() + width]);
    }
  }

  KOKKOS_FUNCTION void operator()(const typename Teams<Space>::member_type& team) const {
    const int size = static_cast<int>(team.team_size()), rank = static_cast<int>(team.team_rank());
    const index_t league = team.league_size();
    auto* const sums = static_cast<Partial*>(team.team_shmem().get_shmem_aligned(size * sizeof(Partial), 16));
    auto* const last = static_cast<unsigned*>(team.team_shmem().get_shmem_aligned(sizeof(unsigned), 16));
    const Share share = share_of<Space>(team.league_rank() * index_t{size} + rank, league * size, n);
    typename Body::Walker walker(body, share);
    walk<Body::lanes>(share, walker);
    sums[rank] = walker.collapse();
    combine(team, sums);
    if (rank == 0) {
      partials[team.league_rank()] = sums[0];
      Kokkos::memory_fence();
      *last = Kokkos::atomic_fetch_add(arrived, 1u) + 1 == static_cast<unsigned>(league) ? 1u : 0u;
    }
    team.team_barrier();
    if (*last == 0) return;
    Kokkos::memory_fence();
    Partial sum = Body::identity();
    for (index_t k = rank; k < league; k += size) Body::join(sum, partials[k]);
    sums[rank] = sum;
    combine(team, sums);
    if (rank == 0) {
      *result = body.finish(sums[0]);
      *arrived = 0;
    }
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
    for (index_t w = 1; w < workers; ++w) Body::join(sum, slots[w].partial);
    const Result value = body.finish(sum);
    if (result != nullptr) *result = value;
    return value;
  } else {
    using Kernel = ReductionTeams<Space, Body>;
    using Workspace = ReductionWorkspace<Space>;
    static_assert(sizeof(typename Body::Partial) <= Workspace::partial_bytes && sizeof(Result) <= 64);
    constexpr int size = machine<Space>::team_threads;
    const auto lock = lock_instance(exec);
    const Workspace& workspace = Workspace::of(exec);
    index_t league = (n + index_t{size} * Body::lanes - 1) / (index_t{size} * Body::lanes);
    const index_t full = static_cast<index_t>(exec.concurrency()) / size;
    league = league < full ? league : full;
    league = league < Workspace::teams ? league : Workspace::teams;
    auto* const target = result != nullptr ? result : static_cast<Result*>(workspace.result());
    auto policy = Teams<Space>(exec, league < 1 ? 1 : league, size)
                      .set_scratch_size(0, Kokkos::PerTeam(size * sizeof(typename Body::Partial) + 64));
    Kokkos::parallel_for(
        kernel_label, policy,
        Kernel{body, n, static_cast<typename Body::Partial*>(workspace.partials()), workspace.arrived(), target});
    if (result != nullptr) return {};
    exec.fence(label(algorithm, "result"));
    return *target;
  }
}

}  // namespace tessera::detail
