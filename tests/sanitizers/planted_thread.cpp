// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every iteration adds to one element without an atomic: a race, which the thread sanitizer must report.
#include <Kokkos_Core.hpp>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard guard(argc, argv);
  const Kokkos::DefaultHostExecutionSpace exec;
  Kokkos::View<long*, Kokkos::HostSpace> sum("sum", 1);
  using Policy = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<long>>;
  Kokkos::parallel_for("planted", Policy(exec, 0, 100000), KOKKOS_LAMBDA(long i) { sum(0) += i; });
  exec.fence("planted");
  return 0;
}
