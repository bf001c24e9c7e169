// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include <tessera/core/execution.hpp>
#include <tessera/core/simd_width.hpp>

namespace tessera {

/// What a written-once kernel may ask about the machine that it is compiled for. Tile shapes come from here, so
/// that no algorithm names an execution space or an architecture. The backends specialise it.
template <class Space>
struct machine;

/// Hosts: one thread a team, wide registers, caches that hold packed panels.
template <class Space>
  requires(is_host_space<Space>)
struct machine<Space> {
  static constexpr bool is_host = true;
  static constexpr int warp_width = 1;                        ///< lanes in lock step
  static constexpr int simd_bytes = detail::host_simd_bytes;  ///< widest vector register
  static constexpr int vector_registers = detail::host_vector_registers;
  static constexpr int team_threads = 1;                   ///< threads in a team that fills a core
  static constexpr std::size_t scratch_bytes = 32 * 1024;  ///< level-0 scratch a team may use
  static constexpr std::size_t l2_bytes = 512 * 1024;      ///< of one core; packed panels are sized by it
  static constexpr std::size_t load_bytes = simd_bytes;    ///< widest single load
  /// The second number of Kokkos::LaunchBounds for `at_once` teams of `threads` on a multiprocessor.
  static constexpr int launch_bound(int /*threads*/, int at_once) { return at_once; }
};

/// Teams of at most `Threads`, of which `AtOnce` are to run on one multiprocessor: what registers they get.
template <ExecutionSpace Space, int Threads, int AtOnce>
using BoundedTeams = Kokkos::TeamPolicy<Space, Kokkos::IndexType<index_t>,
                                        Kokkos::LaunchBounds<Threads, machine<Space>::launch_bound(Threads, AtOnce)>>;

}  // namespace tessera
