// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <fstream>
#include <string>

#include <tessera/axpby.hpp>
#include <tessera/core/scope_guard.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/dot.hpp>
#include <tessera/gemm.hpp>

using Exec = Kokkos::DefaultExecutionSpace;

// [own kernel]
struct Divide {
  Kokkos::View<const double, Exec> numerator, denominator;
  Kokkos::View<double, Exec> quotient;
  TESSERA_FUNCTION void operator()(tessera::index_t) const { quotient() = numerator() / denominator(); }
};
// [own kernel]

int main(int argc, char** argv) {
  const tessera::ScopeGuard guard(argc, argv);
  const Exec exec;
  const Kokkos::View<double*, Exec> x("x", 1000), y("y", 1000);
  Kokkos::deep_copy(exec, x, 2.0);
  Kokkos::deep_copy(exec, y, 6.0);
  // [device scalars]
  // y = y - (x.y / x.x) x, and the host never waits: results and factors stay in device memory
  const Kokkos::View<double, Exec> xy("xy"), xx("xx"), factor("factor");
  tessera::dot(exec, x, y, xy);
  tessera::dot(exec, x, x, xx);
  Kokkos::parallel_for("sample::divide", tessera::Range<Exec>(exec, 0, 1), Divide{xy, xx, factor});
  tessera::axpby(exec, factor, x, -1.0, y);
  const double norm2 = tessera::dot(exec, y, y);  // a host value: this call waits
  // [device scalars]
  std::printf("y.y = %g\n", norm2);

  // [plan]
  const Kokkos::View<float**, Exec> a("a", 256, 64), b("b", 64, 128), c("c", 256, 128);
  const auto plan = tessera::plan_gemm(exec, a, b, c);
  std::printf("%s\n", plan.path().c_str());
  for (const auto& refusal : plan.reasons())
    std::printf("  not %s: %s\n", refusal.provider.c_str(), refusal.reason.c_str());
  for (int step = 0; step < 3; ++step) plan.run(exec, 1.0f, a, b, 1.0f, c);
  // [plan]
  // [epilogue]
  const Kokkos::View<float*, Exec> bias("bias", 128);  // of C's columns
  tessera::gemm(exec, 1.0f, a, b, 0.0f, c, {.epilogue = tessera::bias_gelu(bias)});
  // [epilogue]
  // [regions]
  {
    const tessera::Region region("my solver");  // seen by Kokkos Tools, and by the table of TESSERA_TIMINGS=1
    tessera::axpby(exec, 1.0, x, 1.0, y);
    exec.fence("my solver: its time is whole");
  }
  // [regions]
}
