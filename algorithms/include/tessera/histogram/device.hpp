// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Histograms on devices: each team counts its share of the values in tables in its scratch, a table for each warp as
/// long as they are small, and adds them up in memory at the end. As many teams run as fit at once, so that there is
/// one such end a team.

#include <tessera/backends/enabled.hpp>
#include <tessera/core/device.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/warp.hpp>
#include <tessera/histogram/bins.hpp>
#include <tessera/level1/walk.hpp>

namespace tessera::detail {

struct HistogramShape {
  static constexpr int threads = 512, teams_at_once = 2;
  static constexpr int table_bytes = 16 * 1024;      // of several tables together; a single one may be larger
  static constexpr int tables = 8;                   // of a team at most
  static constexpr int batch = 4;                    // vectors of 16 bytes in flight in a thread
  static constexpr index_t most = index_t{1} << 31;  // values of a team: its counts have 32 bits
};

/// The slot of a byte is its value; which bin that belongs to is asked once for each of the 256, at the end.
struct ByteSlots {
  int bins = 256;
  template <class T>
  [[nodiscard]] TESSERA_INLINE_FUNCTION int slot(T value) const {
    return static_cast<std::uint8_t>(value);
  }
};
template <class T, class Bins>
struct ByteSink {
  Bins by;
  HistogramSink sink;
  TESSERA_INLINE_FUNCTION void add(index_t slot, std::uint64_t amount) const {
    sink.add(by.slot(static_cast<T>(slot)), amount);
  }
};

template <class T, class Space, Access access, class Bins, class Sink>
struct HistogramTeams {
  using Policy = BoundedTeams<Space, HistogramShape::threads, HistogramShape::teams_at_once>;
  static constexpr int threads = HistogramShape::threads;
  static constexpr int lanes = lanes_of<Space, T, T, access>;
  static constexpr bool searches = std::is_same_v<Bins, GivenBins<T>>;
  const T* x;
  index_t stride, n;
  Bins bins;
  Sink sink;
  int slots, tables;
  bool staged;  // the edges are copied to scratch

  TESSERA_FUNCTION static index_t table_bytes(int slots, int tables) {
    return (index_t{4} * slots * tables + 15) / 16 * 16;
  }
  [[nodiscard]] TESSERA_FUNCTION std::size_t scratch() const {
    const std::size_t edges = staged ? (static_cast<std::size_t>(bins.bins) + 1) * sizeof(T) : 0;
    return static_cast<std::size_t>(table_bytes(slots, tables)) + edges;
  }

  struct Body {
    const HistogramTeams& k;
    const Bins& bins;
    std::uint32_t* table;
    template <int U>
    TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) const {
      vec<T, lanes> v[U];
      for (int u = 0; u < U; ++u) v[u] = fetch<Space, access, lanes>(k.x, k.stride, i + u * step);
      for (int u = 0; u < U; ++u)
        for (int l = 0; l < lanes; ++l) warp<Space>::count(table + bins.slot(v[u][l]));
    }
    TESSERA_INLINE_FUNCTION void single(index_t i) const { warp<Space>::count(table + bins.slot(k.x[i * k.stride])); }
  };

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& team) const {
    const int rank = static_cast<int>(team.team_rank());
    char* const scratch_memory = static_cast<char*>(team.team_shmem().get_shmem_aligned(scratch(), 16));
    auto* const table = reinterpret_cast<std::uint32_t*>(scratch_memory);
    for (int i = rank; i < slots * tables; i += threads) table[i] = 0;
    const index_t workers = static_cast<index_t>(team.league_size()) * threads;
    const Share share{0, n, static_cast<index_t>(team.league_rank()) * threads + rank, workers};
    std::uint32_t* const mine = table + rank / warp<Space>::width % tables * slots;
    bool done = false;
    if constexpr (searches)
      if (staged) {  // apart, so that the edges are known to be in scratch
        T* const edges = reinterpret_cast<T*>(scratch_memory + table_bytes(slots, tables));
        for (int i = rank; i <= bins.bins; i += threads) edges[i] = bins.edges[i * bins.stride];
        team.team_barrier();
        Bins near = bins;
        near.edges = edges;
        near.stride = 1;
        Body body{*this, near, mine};
        walk<lanes>(share, body);
        done = true;
      }
    if (!done) {
      team.team_barrier();
      Body body{*this, bins, mine};
      walk<lanes>(share, body);
    }
    team.team_barrier();
    // each team begins elsewhere, so that they do not all add to one place at once
    const int start = static_cast<int>(static_cast<index_t>(team.league_rank()) * 61 % slots);
    for (int k = rank; k < slots; k += threads) {
      const int i = k + start < slots ? k + start : k + start - slots;
      std::uint32_t sum = 0;
      for (int t = 0; t < tables; ++t) sum += table[t * slots + i];
      if (sum != 0) sink.add(i, sum);
    }
  }
};

/// Tables that do not fit scratch: counts are added to in memory.
template <class T, class Bins>
struct HistogramInMemory {
  const T* x;
  index_t stride;
  Bins bins;
  HistogramSink sink;
  TESSERA_FUNCTION void operator()(index_t i) const { sink.add(bins.slot(x[i * stride]), 1); }
};

template <class T, class Space, class Bins, class Sink>
void histogram_in_scratch(const Space& exec, const HistogramProblem<T>& p, const Bins& bins, const Sink& sink) {
  const T* const x = p.x.pointer;
  const index_t n = p.x.extents[0], stride = p.x.strides[0];
  constexpr auto room = static_cast<index_t>(machine<Space>::scratch_bytes) - 64;
  const auto run = [&]<Access access>(std::integral_constant<Access, access>) {
    using Kernel = HistogramTeams<T, Space, access, Bins, Sink>;
    using Shape = HistogramShape;
    Kernel kernel{x, stride, n, bins, sink, bins.bins + HistogramSlots::count, 1, Kernel::searches};
    const auto fits = [&] { return static_cast<index_t>(kernel.scratch()) <= room; };
    if (!fits()) kernel.staged = false;
    const int several = static_cast<int>(Shape::table_bytes / (index_t{4} * kernel.slots));
    kernel.tables = several < 1 ? 1 : several < Shape::tables ? several : Shape::tables;
    while (kernel.tables > 1 && !fits()) --kernel.tables;
    constexpr index_t batch = index_t{Shape::threads} * Kernel::lanes * Shape::batch;
    const index_t wanted = (n + batch - 1) / batch, least = (n + Shape::most - 1) / Shape::most;
    index_t league = static_cast<index_t>(device_of(exec).units) * Shape::teams_at_once;
    league = league < 1 ? 1 : league < wanted ? league : wanted;
    if (league < least) league = least;
    Kokkos::parallel_for("tessera::histogram::count",
                         typename Kernel::Policy(exec, static_cast<int>(league), Shape::threads)
                             .set_scratch_size(0, Kokkos::PerTeam(kernel.scratch() + 16)),
                         kernel);
  };
  if (unit_access<Space>(x, n > 1 ? stride : 1))
    run(std::integral_constant<Access, Access::unit>{});
  else
    run(std::integral_constant<Access, Access::strided>{});
}

template <class T, class Space, class Bins>
void histogram_on_device(const Space& exec, const HistogramProblem<T>& p, const Bins& bins, const HistogramSink& sink) {
  constexpr auto room = static_cast<index_t>(machine<Space>::scratch_bytes) - 64;
  if constexpr (sizeof(T) == 1)
    histogram_in_scratch(exec, p, ByteSlots{}, ByteSink<T, Bins>{bins, sink});
  else if (index_t{4} * (bins.bins + index_t{HistogramSlots::count}) <= room)
    histogram_in_scratch(exec, p, bins, sink);
  else
    Kokkos::parallel_for("tessera::histogram::count_in_memory", Range<Space>(exec, 0, p.x.extents[0]),
                         HistogramInMemory<T, Bins>{p.x.pointer, p.x.strides[0], bins, sink});
}

}  // namespace tessera::detail
