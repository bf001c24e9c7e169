// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>

#include <tessera/axpby.hpp>

using Space = TESSERA_TEST_SPACE;

TEST_CASE("axpby on contiguous doubles", "[axpby]") {
  const Space exec;
  Kokkos::View<double*, Space> x("x", 1001), y("y", 1001);
  Kokkos::deep_copy(exec, x, 3.0);
  Kokkos::deep_copy(exec, y, 5.0);
  tessera::axpby(exec, 2.0, x, -1.0, y);
  auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  for (int i = 0; i < 1001; ++i) REQUIRE(host(i) == 1.0);
}
