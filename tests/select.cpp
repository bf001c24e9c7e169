// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/select_by_flags.hpp>

#include <tessera/select.hpp>

using namespace compaction;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("select and partition by flags: every type, size and share", "[select]", TESSERA_ELEMENT_TYPES,
                   std::int8_t, std::uint8_t, std::int16_t, std::uint64_t) {
  std::mt19937 random(41);
  for (const index_t n : sizes())
    for (const int share : {0, 1, 50, 100}) {
      if (n > 10000 && share == 1) continue;
      check_flags<TestType, std::uint8_t>({n}, {n}, {n}, share, Count::view, random);
    }
  for (const index_t n : {1, 700, 5001}) {
    check_flags<TestType, std::int32_t>({n}, {n}, {n}, 50, Count::host, random);
    check_flags<TestType, bool>({n}, {n}, {n}, 30, Count::view, random);
    check_flags<TestType, std::uint32_t>({n, 1, 3, 0, 1}, {n, 1, 2}, {n, 1, 5, 0, 3}, 60, Count::host, random);
    check_flags<TestType, std::uint8_t>({n, 1, 1, 0, 1}, {n}, {n}, 50, Count::view, random);  // not aligned
    check_flags<TestType, std::int8_t>({n}, {n, 1, 1, 0, 3}, {n, 1, 1, 0, 5}, 50, Count::host, random);
  }
}

TEST_CASE("select: where the output is short, the rest is left out and counted", "[select]") {
  std::mt19937 random(43);
  for (const index_t n : {1, 100, 3000, 40000})
    for (const index_t room : {index_t{0}, index_t{1}, n / 3, n / 2 + 100, 2 * n}) {
      check_flags<float, std::uint8_t>({n}, {n}, {room}, 50, Count::view, random);
      check_flags<double, std::uint8_t>({n, 1, 2}, {n}, {room, 1, 3}, 50, Count::host, random);
    }
}

TEST_CASE("select and partition: many tiles and blocks", "[select]") {
  std::mt19937 random(44);
  check_flags<float, std::uint8_t>({2300001}, {2300001}, {2300001}, 50, Count::view, random);
  check_flags<float, std::uint8_t>({2300001}, {2300001}, {2300001}, 1, Count::host, random);
  check_flags<std::uint8_t, std::uint8_t>({8500001}, {8500001}, {8500001}, 50, Count::view, random);
  check_flags<Kokkos::complex<double>, std::int32_t>({600007}, {600007}, {600007}, 50, Count::host, random);
}

TEST_CASE("select: random shapes", "[select]") {
  for (unsigned seed = 20261129; seed < 20261129 + 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const RandomShapes r{random};
    const index_t n = r.extent();
    const auto share = static_cast<int>(r.pick(0, 100));
    check_flags<std::int16_t, std::uint8_t>(r.shape(n), r.shape(n), r.room(n), share, r.count(), random);
    check_flags<double, std::int32_t>(r.shape(n), r.shape(n), r.room(n), share, r.count(), random);
  }
}

TEST_CASE("select: calls of many sizes follow each other on one instance", "[select]") {
  std::mt19937 random(46);
  const index_t most = 300000;
  const Kokkos::View<int*, Space> x("x", most), y("y", most);
  const Kokkos::View<std::uint8_t*, Space> flags("flags", most);
  Kokkos::deep_copy(x, 3);
  Kokkos::deep_copy(flags, std::uint8_t{1});
  const Space exec;
  for (int call = 0; call < 200; ++call) {
    const index_t n = std::uniform_int_distribution<index_t>(0, call % 4 == 0 ? most : 9000)(random);
    const Kokkos::pair<index_t, index_t> part(0, n);
    REQUIRE(tessera::select(exec, Kokkos::subview(x, part), Kokkos::subview(flags, part), y) == n);
    if (call % 3 == 0)
      REQUIRE(tessera::partition(exec, Kokkos::subview(x, part), Kokkos::subview(flags, part),
                                 Kokkos::subview(y, part)) == n);
  }
}

TEST_CASE("select and partition: what is refused", "[select]") {
  const Kokkos::View<double*, Space> x("x", 100), y("y", 100), z("z", 99);
  const Kokkos::View<std::uint8_t*, Space> flags("flags", 100);
  const Kokkos::View<index_t*, Space> numbers("numbers", 100);
  const Space exec;
  const auto part = [&](int from) { return Kokkos::subview(x, Kokkos::pair<int, int>(from, from + 50)); };
  const auto half = Kokkos::subview(flags, Kokkos::pair<int, int>(0, 50));
  REQUIRE_THROWS_WITH(tessera::select(exec, x, flags, x),
                      ContainsSubstring("tessera::select: the output y overlaps the input x") &&
                          ContainsSubstring("Write into a separate view"));
  REQUIRE_THROWS_WITH(tessera::select(exec, part(0), half, part(20)), ContainsSubstring("y overlaps the input x"));
  REQUIRE_THROWS_WITH(tessera::select(exec, z, flags, y), ContainsSubstring("x is 99 and flags is 100"));
  REQUIRE_THROWS_WITH(tessera::partition(exec, x, flags, z),
                      ContainsSubstring("tessera::partition: x is 100 and y is 99"));
  REQUIRE_THROWS_WITH(
      tessera::select(exec, numbers, flags, Kokkos::View<index_t*, Space>("other", 100), Kokkos::subview(numbers, 7)),
      ContainsSubstring("the output count overlaps the input x"));
  REQUIRE_THROWS_WITH(tessera::select(exec, flags, flags, flags), ContainsSubstring("y overlaps the input flags"));
}

// needs 2 GiB
TEST_CASE("select of 2^31 + 5 elements", "[.large][select]") {
  const index_t n = (index_t{1} << 31) + 5, every = 1000003;
  const Space exec;
  const Kokkos::View<std::uint8_t*, Space> x(Kokkos::view_alloc("x", Kokkos::WithoutInitializing), n);
  Kokkos::parallel_for(
      "tessera::test::fill", tessera::Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i) { x(i) = static_cast<std::uint8_t>(i % every == 4 ? i / every % 255 + 1 : 0); });
  const Kokkos::View<std::uint8_t*, Space> y("y", 3000);
  const index_t count = tessera::select(exec, x, x, y);
  REQUIRE(count == (n - 5) / every + 1);
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  index_t wrong = 0;
  for (index_t k = 0; k < 3000; ++k) wrong += found(k) != (k < count ? k % 255 + 1 : 0) ? 1 : 0;
  REQUIRE(wrong == 0);
}
