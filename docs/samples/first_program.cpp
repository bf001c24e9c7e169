// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// [sample]
#include <cstdio>

#include <tessera/core/scope_guard.hpp>
#include <tessera/gemm.hpp>

int main(int argc, char** argv) {
  const tessera::ScopeGuard guard(argc, argv);  // Kokkos (and MPI) start here and end with it
  const Kokkos::DefaultExecutionSpace exec;     // a GPU's stream, or the host's threads
  const Kokkos::View<double**> a("a", 400, 300), b("b", 500, 300), c("c", 400, 500);
  Kokkos::deep_copy(exec, a, 2.0);
  Kokkos::deep_copy(exec, b, 0.5);
  tessera::gemm(exec, 1.0, a, tessera::transposed(b), 0.0, c);  // C = A B^T, asynchronous
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  std::printf("c(0, 0) = %g, and it should be 300\n", host(0, 0));
}
// [sample]
