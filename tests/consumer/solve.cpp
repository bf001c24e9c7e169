// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// y = 2 x - y on the default execution space, written as a user would.
#include "parts.h"
#include <Kokkos_Core.hpp>
#include <cstdio>

#include <tessera/axpby.hpp>
#include <tessera/core/scope_guard.hpp>

int main(int argc, char** argv) {
  const tessera::ScopeGuard guard(argc, argv);
  const Kokkos::DefaultExecutionSpace exec;
  const int n = c_part_size();
  Kokkos::View<double*> x("x", n), y("y", n);
  Kokkos::deep_copy(exec, x, host_part_value());
  Kokkos::deep_copy(exec, y, 5.0);
  tessera::axpby(exec, 2.0, x, -1.0, y);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  for (int i = 0; i < n; ++i)
    if (host(i) != 1.0) return 1;
  std::printf("consumer: %d elements right on %s\n", n, Kokkos::DefaultExecutionSpace::name());
  return 0;
}
