// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <iostream>
#include <utility>
#include <vector>

#include <tessera/core/config.hpp>
#include <tessera/core/device.hpp>
#include <tessera/core/log.hpp>
#include <tessera/core/scope_guard.hpp>
#include <tessera/core/trace.hpp>

#if TESSERA_ENABLE_MPI
#include <mpi.h>
#endif

namespace tessera {
namespace {

std::vector<std::function<void()>>& startup_checks() {
  static std::vector<std::function<void()>> checks;
  return checks;
}

bool first_rank() {
#if TESSERA_ENABLE_MPI
  int started = 0, ended = 0, rank = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (started && !ended) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
#else
  return true;
#endif
}

}  // namespace

namespace detail {
bool add_startup_check(std::function<void()> check) {
  startup_checks().push_back(std::move(check));
  return true;
}
}  // namespace detail

ScopeGuard::ScopeGuard(int& argc, char** argv, const detail::Abi& user, std::source_location where) {
  detail::check_compiled_abi(user, {version(), kokkos_version_built()}, where);
  const bool start_kokkos = !Kokkos::is_initialized() && !Kokkos::is_finalized();
  if (start_kokkos)
    for (const auto& check : startup_checks()) check();
#if TESSERA_ENABLE_MPI
  int started = 0;
  MPI_Initialized(&started);
  if (!started) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    m_started_mpi = true;
  }
#endif
  try {
    if (start_kokkos) {
      Kokkos::initialize(argc, argv);
      m_started_kokkos = true;
    }
    detail::check_running_kokkos(kokkos_version_built(), kokkos_version_found(), where);
    if (m_started_kokkos && log_enabled("devices") && first_rank()) {
      const DeviceInfo host = detail::host_device_info(Kokkos::DefaultHostExecutionSpace::name());
      log_line("devices", build_description());
      log_line("devices", host.name + ", " + std::to_string(host.units) + " cores, architecture " + host.architecture +
                              ", built for " + host.architecture_built);
    }
  } catch (...) {  // no destructor runs for what was not constructed
    finish();
    throw;
  }
}

void ScopeGuard::finish() noexcept {
  if (m_started_kokkos && !Kokkos::is_finalized()) {
    if (detail::timings_asked_for() && first_rank()) print_timings(std::cerr);
    Kokkos::finalize();
  }
#if TESSERA_ENABLE_MPI
  int ended = 0;
  MPI_Finalized(&ended);
  if (m_started_mpi && !ended) MPI_Finalize();
#endif
}

ScopeGuard::~ScopeGuard() { finish(); }

}  // namespace tessera
