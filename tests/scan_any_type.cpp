// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types and operations that do not come compiled, and the bits of this space against a host's.
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/instances.hpp>
#include <support/level1.hpp>

#include <tessera/scan/any_type.hpp>

using namespace level1;
using Catch::Matchers::ContainsSubstring;

namespace {

/// x -> slope x + shift; composed from left to right. Not commutative.
struct Affine {
  std::int64_t slope, shift;
};
struct Compose {
  TESSERA_FUNCTION Affine operator()(const Affine& a, const Affine& b) const {
    return {a.slope * b.slope % 1000003, (b.slope * a.shift + b.shift) % 1000003};
  }
  TESSERA_FUNCTION static Affine identity() { return {1, 0}; }
};
struct Hypotenuse {
  TESSERA_FUNCTION double operator()(double a, double b) const { return Kokkos::sqrt(a * a + b * b); }
  TESSERA_FUNCTION static double identity() { return 0; }
};

template <class T>
void check_bits(index_t n) {
  INFO(n << " elements");
  using Host = Kokkos::DefaultHostExecutionSpace;
  std::mt19937 random(31);
  const Operand<T> x(Shape{n}, random);
  Operand<T> y(Shape{n}, poison<T>());
  const Kokkos::View<T*, Host> hx("hx", n), hy("hy", n);
  for (index_t i = 0; i < n; ++i) hx(i) = x.before(i);
  constexpr tessera::ScanOptions portable{.determinism = tessera::Determinism::portable};
  for (const bool exclusive : {false, true}) {
    if (exclusive) {
      tessera::exclusive_scan(Space(), x.vector(), y.vector(), T(1), portable);
      tessera::exclusive_scan(Host(), hx, hy, T(1), portable);
    } else {
      tessera::inclusive_scan(Space(), x.vector(), y.vector(), portable);
      tessera::inclusive_scan(Host(), hx, hy, portable);
    }
    y.download();
    index_t wrong = 0;
    for (index_t i = 0; i < n; ++i) wrong += same_bits(y.after(i), hy(i)) ? 0 : 1;
    REQUIRE(wrong == 0);
  }
}

}  // namespace

TEST_CASE("scan: a user's type and operation, which does not commute", "[scan]") {
  for (const index_t n : {1, 100, 5000, 70000}) {
    const Kokkos::View<Affine*, Space> x("x", n), y("y", n);
    const auto host = Kokkos::create_mirror(Kokkos::HostSpace(), x);
    for (index_t i = 0; i < n; ++i) host(i) = {i % 17 + 1, i % 23};
    Kokkos::deep_copy(x, host);
    tessera::inclusive_scan(Space(), x, y, Compose{}, {.determinism = tessera::Determinism::reproducible});
    Kokkos::fence("test");
    const auto found = Kokkos::create_mirror(Kokkos::HostSpace(), y);
    Kokkos::deep_copy(found, y);
    Affine all = Compose::identity();
    index_t wrong = 0;
    for (index_t i = 0; i < n; ++i) {
      all = Compose{}(all, host(i));
      wrong += found(i).slope != all.slope || found(i).shift != all.shift ? 1 : 0;
    }
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("scan: portable is refused where bits cannot be promised", "[scan]") {
  const Kokkos::View<double*, Space> x("x", 10), y("y", 10);
  REQUIRE_THROWS_WITH(
      tessera::inclusive_scan(Space(), x, y, Hypotenuse{}, {.determinism = tessera::Determinism::portable}),
      ContainsSubstring("Determinism::portable was asked for") && ContainsSubstring("reproducible"));
}

TEMPLATE_TEST_CASE("scan: the bits of a host", "[scan]", float, double, Kokkos::complex<float>, Kokkos::complex<double>,
                   tessera::half) {
  for (const index_t n : {1, 3, 130, 5001, 100001, 1500000}) check_bits<TestType>(n);
}
TEST_CASE("scan: the bits of a host, many rows", "[scan]") {
  check_bits<float>(9000001);
  check_bits<double>(4500001);
}

TEST_CASE("scan: the bits of one thread", "[scan]") {
  const index_t n = 1000001;
  std::mt19937 random(37);
  const Operand<float> x(Shape{n}, random);
  Operand<float> y(Shape{n}, 0.0F), z(Shape{n}, 0.0F);
  tessera::inclusive_scan(Space(), x.vector(), y.vector());
  tessera::inclusive_scan(two_instances<Space>().second, x.vector(), z.vector());
  y.download();
  z.download();
  index_t wrong = 0;
  for (index_t i = 0; i < n; ++i) wrong += same_bits(y.after(i), z.after(i)) ? 0 : 1;
  REQUIRE(wrong == 0);
}
