// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace tessera {

/// Starts MPI (where built with it and not started yet) and Kokkos, and ends both in the right order, after the
/// handles that Tessera holds. One object at the top of main; nested or later ones do nothing. Left by an exception
/// that not every rank has, it ends the whole run rather than wait for the others.
class ScopeGuard {
 public:
  /// Reads and removes Kokkos's own options (--kokkos-...) from the command line.
  ScopeGuard(int& argc, char** argv);
  ~ScopeGuard();
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;
  ScopeGuard(ScopeGuard&&) = delete;
  ScopeGuard& operator=(ScopeGuard&&) = delete;

 private:
  bool m_started_mpi = false;
  bool m_started_kokkos = false;
  int m_exceptions = 0;
};

}  // namespace tessera
