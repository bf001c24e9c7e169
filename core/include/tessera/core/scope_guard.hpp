// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <source_location>

#include <tessera/core/version.hpp>

namespace tessera {

/// Starts MPI (where built with it and not started yet) and Kokkos, and ends both in the right order, after the
/// handles that Tessera holds. One object at the top of main; nested or later ones do nothing.
/// Before anything runs it checks that headers, Tessera and Kokkos belong together, and that the devices which this
/// process sees can run the kernels that were compiled. With TESSERA_TIMINGS=1 it writes the table of regions to
/// standard error at the end (of rank 0).
class ScopeGuard {
 public:
  /// Reads and removes Kokkos's own options (--kokkos-...) from the command line.
  /// \throws Error where versions differ or no device can run this build's kernels; it says what to do
  ScopeGuard(int& argc, char** argv,
             const detail::Abi& user = {detail::split_version(TESSERA_VERSION), detail::split_version(KOKKOS_VERSION)},
             std::source_location where = std::source_location::current());
  ~ScopeGuard();
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
  ScopeGuard(ScopeGuard&&) = delete;
  ScopeGuard& operator=(ScopeGuard&&) = delete;

 private:
  void finish() noexcept;

  [[maybe_unused]] bool m_started_mpi = false;  // without MPI nothing reads it
  bool m_started_kokkos = false;
};

namespace detail {
/// Adds a check that every ScopeGuard makes before it starts Kokkos; it throws Error where the program cannot run.
/// Backends register theirs (device found, architecture built) while the program is loaded. Returns true.
bool add_startup_check(std::function<void()> check);
}  // namespace detail

}  // namespace tessera
