// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <exception>
#include <tessera/core/communicator.hpp>
#include <tessera/core/scope_guard.hpp>

namespace tessera {

ScopeGuard::ScopeGuard(int& argc, char** argv) {
  m_exceptions = std::uncaught_exceptions();
  m_started_mpi = detail::start_mpi(argc, argv);
  if (!Kokkos::is_initialized()) {
    Kokkos::initialize(argc, argv);
    m_started_kokkos = true;
  }
}

ScopeGuard::~ScopeGuard() {
  // MPI_Finalize waits for every rank: a rank that leaves by an exception would wait for those that still compute.
  if (m_started_mpi && std::uncaught_exceptions() > m_exceptions) {
    const Communicator world = Communicator::world();
    if (world.size() > 1 && !world.all_arrive_within(std::chrono::seconds(2)))
      world.abort("left by an exception while other ranks go on");
  }
  if (m_started_kokkos && !Kokkos::is_finalized()) Kokkos::finalize();
  if (m_started_mpi) detail::stop_mpi();
}

}  // namespace tessera
