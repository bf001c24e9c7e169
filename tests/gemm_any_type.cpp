// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pair of types that the library does not bring compiled, through the header.
#include <support/gemm_checks.hpp>

#include <tessera/gemm/any_type.hpp>

TEST_CASE("gemm of fp8 into float, from the header", "[gemm]") {
  const Space exec;
  using In = tessera::fp8_e4m3;
  constexpr int m = 70, n = 45, k = 33;
  Kokkos::View<In**, Kokkos::LayoutRight, Space> a("a", m, k), b("b", k, n);
  Kokkos::View<float**, Kokkos::LayoutRight, Space> c("c", m, n);
  auto ha = Kokkos::create_mirror_view(a);
  auto hb = Kokkos::create_mirror_view(b);
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l) ha(i, l) = In(static_cast<float>((i + 2 * l) % 5 - 2) / 2);
  for (int l = 0; l < k; ++l)
    for (int j = 0; j < n; ++j) hb(l, j) = In(static_cast<float>((3 * l + j) % 7 - 3));
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  tessera::gemm(exec, 1.0F, a, b, 0.0F, c);
  auto hc = Kokkos::create_mirror_view(c);
  Kokkos::deep_copy(hc, c);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float expected = 0;
      for (int l = 0; l < k; ++l) expected += static_cast<float>(ha(i, l)) * static_cast<float>(hb(l, j));
      REQUIRE(hc(i, j) == expected);
    }
}
