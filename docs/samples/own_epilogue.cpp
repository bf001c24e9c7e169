// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "clamp_rows.cuh"
#include <cstdio>

#include <tessera/core/scope_guard.hpp>
#include <tessera/gemm.hpp>

using Exec = Kokkos::DefaultExecutionSpace;

int main(int argc, char** argv) {
  const tessera::ScopeGuard guard(argc, argv);
  const Exec exec;
  using Matrix = Kokkos::View<tessera::bfloat16**, Kokkos::LayoutRight, Exec>;
  const Matrix a("a", 128, 64), b("b", 64, 128), c("c", 128, 128);
  const Kokkos::View<float*, Exec> scale("scale", 128);
  Kokkos::deep_copy(exec, a, tessera::bfloat16(1.0f));
  Kokkos::deep_copy(exec, b, tessera::bfloat16(0.5f));
  Kokkos::deep_copy(exec, scale, 0.25f);
  // [call]
  const ClampRows f{scale.data(), -6.0f, 6.0f};
  tessera::gemm(exec, 1.0f, a, b, 0.0f, c, f);  // C = clamp(scale_i (A B)_ij)

  const auto plan = tessera::plan_gemm(exec, a, b, c, f);  // a plan knows f's type, and each run brings a functor
  std::printf("%s\n", plan.path().c_str());  // "... with the functor]" or "... and a pass for the functor]"
  plan.run(exec, 1.0f, a, b, 0.0f, c, ClampRows{scale.data(), 0.0f, 6.0f});
  // [call]
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  std::printf("c(5, 7) = %g\n", static_cast<double>(static_cast<float>(host(5, 7))));
}
