// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <tessera/core/config.hpp>
#include <tessera/core/scope_guard.hpp>

#if TESSERA_ENABLE_MPI
#include <mpi.h>
#endif

namespace tessera {

ScopeGuard::ScopeGuard(int& argc, char** argv) {
#if TESSERA_ENABLE_MPI
  int started = 0;
  MPI_Initialized(&started);
  if (!started) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    m_started_mpi = true;
  }
#endif
  if (!Kokkos::is_initialized()) {
    Kokkos::initialize(argc, argv);
    m_started_kokkos = true;
  }
}

ScopeGuard::~ScopeGuard() {
  if (m_started_kokkos && !Kokkos::is_finalized()) Kokkos::finalize();
#if TESSERA_ENABLE_MPI
  if (m_started_mpi) MPI_Finalize();
#endif
}

}  // namespace tessera
