// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of types, operations and functions that the library does not bring compiled.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <numeric>
#include <support/level1.hpp>

#include <tessera/transform_reduce.hpp>

using namespace level1;
using Catch::Matchers::ContainsSubstring;
using tessera::Determinism;
using tessera::Maximum;
using tessera::Minimum;
using tessera::Sum;

namespace {

struct Gcd {
  TESSERA_FUNCTION std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    while (b != 0) {
      const std::int32_t rest = a % b;
      a = b;
      b = rest;
    }
    return a < 0 ? -a : a;
  }
  TESSERA_FUNCTION static std::int32_t identity() { return 0; }
};

/// Addition modulo a number that the operation carries.
struct AddModulo {
  std::int64_t modulus;
  TESSERA_FUNCTION std::int64_t operator()(std::int64_t a, std::int64_t b) const { return (a + b) % modulus; }
  TESSERA_FUNCTION static std::int64_t identity() { return 0; }
};

/// A type of the user's own: an interval, joined with others.
struct Interval {
  double low, high;
};
struct Hull {
  TESSERA_FUNCTION Interval operator()(const Interval& a, const Interval& b) const {
    return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
  }
  TESSERA_FUNCTION static Interval identity() { return {1e300, -1e300}; }
};

struct One {
  TESSERA_FUNCTION std::int64_t operator()(index_t) const { return 1; }
};
struct Index {
  TESSERA_FUNCTION double operator()(index_t i) const { return static_cast<double>(i); }
};
struct Twice {
  TESSERA_FUNCTION double operator()(float v) const { return 2.0 * static_cast<double>(v); }
};
struct Distance {
  TESSERA_FUNCTION double operator()(double a, double b) const { return a > b ? a - b : b - a; }
};

}  // namespace

TEST_CASE("reduce: operations of the user's own", "[reduce]") {
  for (const index_t n : {0, 1, 7, 1000, 40009, 300001}) {
    INFO(n);
    Operand<std::int32_t> x(Shape{n});
    Operand<std::int64_t> y(Shape{n});
    std::mt19937 random(17);
    std::int32_t divisor = 0;
    std::int64_t sum = 0;
    for (index_t i = 0; i < n; ++i) {
      x.before(i) = 12 * std::uniform_int_distribution<int>(1, 1000000)(random);
      y.before(i) = std::uniform_int_distribution<std::int64_t>(0, 96)(random);
      divisor = std::gcd(divisor, x.before(i));
      sum = (sum + y.before(i)) % 97;
    }
    x.upload();
    y.upload();
    for (const Determinism order : {Determinism::fast, Determinism::reproducible}) {
      REQUIRE(tessera::reduce(Space(), x.vector(), Gcd{}, {.determinism = order}) == divisor);
      REQUIRE(tessera::reduce(Space(), y.vector(), AddModulo{97}, {.determinism = order}) == sum);
    }
    const auto result = in_space<std::int32_t>(77);
    tessera::reduce(Space(), x.vector(), Gcd{}, result);
    REQUIRE(fetch(result) == divisor);
  }
  const Kokkos::View<std::int32_t*, Space> x("x", 10);
  REQUIRE_THROWS_WITH((void)tessera::reduce(Space(), x, Gcd{}, {.determinism = Determinism::portable}),
                      ContainsSubstring("tessera::reduce: Determinism::portable was asked for with an operation"));
}

TEST_CASE("reduce: a type of the user's own", "[reduce]") {
  for (const index_t n : {0, 1, 5000}) {
    Kokkos::View<Interval*, Space> x("x", static_cast<std::size_t>(n));
    const auto host = Kokkos::create_mirror_view(x);
    for (index_t i = 0; i < n; ++i) host(i) = {std::sin(static_cast<double>(i)), 1 + std::cos(static_cast<double>(i))};
    Kokkos::deep_copy(x, host);
    Interval expected = Hull::identity();
    for (index_t i = 0; i < n; ++i) expected = Hull{}(expected, host(i));
    const Interval found = tessera::reduce(Space(), x, Hull{});
    REQUIRE(found.low == expected.low);
    REQUIRE(found.high == expected.high);
  }
}

TEST_CASE("reduce: narrow integers", "[reduce]") {
  Operand<std::int8_t> x(Shape{1000}, std::int8_t{100});
  REQUIRE(tessera::reduce(Space(), x.vector()) == 100000);
  REQUIRE(tessera::reduce(Space(), x.vector(), Minimum{}) == 100);
  const Kokkos::View<std::int8_t*, Space> empty("empty", 0);
  REQUIRE(tessera::reduce(Space(), empty, Minimum{}) == 127);
  REQUIRE(tessera::reduce(Space(), empty, Maximum{}) == -128);
  x.before(700) = -128;
  x.upload();
  REQUIRE(tessera::min_location(Space(), x.vector()).index == 700);
  REQUIRE(tessera::max_location(Space(), x.vector()).index == 0);
}

TEST_CASE("transform_reduce", "[reduce]") {
  for (const index_t n : {0, 1, 7, 1000, 40009}) {
    REQUIRE(tessera::transform_reduce(Space(), n, One{}, Sum{}) == n);
    REQUIRE(tessera::transform_reduce(Space(), n, Index{}, Sum{}) ==
            static_cast<double>(n) * static_cast<double>(n - 1) / 2);
    if (n > 0) REQUIRE(tessera::transform_reduce(Space(), n, Index{}, Maximum{}) == static_cast<double>(n - 1));
    std::mt19937 random(19);
    const Operand<float> x(Shape{n, 1, 2}, random);
    double sum = 0, most = -1e300;
    for (index_t i = 0; i < n; ++i) {
      sum += 2.0 * static_cast<double>(x.before(i));
      most = std::max(most, 2.0 * static_cast<double>(x.before(i)));
    }
    const double bound = 0x1p-53 * static_cast<double>(4 * n + 8);
    REQUIRE(std::fabs(tessera::transform_reduce(Space(), x.vector(), Twice{}, Sum{}) - sum) <= bound);
    const auto result = in_space(77.0);
    tessera::transform_reduce(Space(), x.vector(), Twice{}, Sum{}, result);
    REQUIRE(std::fabs(fetch(result) - sum) <= bound);
    if (n > 0) REQUIRE(tessera::transform_reduce(Space(), x.vector(), Twice{}, Maximum{}) == most);
    const Operand<double> a(Shape{n}, random), b(Shape{n, 1, 3}, random);
    double largest = 0;
    for (index_t i = 0; i < n; ++i) largest = std::max(largest, std::fabs(a.before(i) - b.before(i)));
    if (n > 0) REQUIRE(tessera::transform_reduce(Space(), a.vector(), b.vector(), Distance{}, Maximum{}) == largest);
  }
  const Kokkos::View<double*, Space> x("x", 10), y("y", 11);
  REQUIRE_THROWS_WITH((void)tessera::transform_reduce(Space(), x, y, Distance{}, Sum{}),
                      ContainsSubstring("tessera::transform_reduce: x is 10 and y is 11"));
  REQUIRE_THROWS_WITH((void)tessera::transform_reduce(Space(), 5, One{}, Sum{}, {.determinism = Determinism::portable}),
                      ContainsSubstring("tessera::transform_reduce: Determinism::portable"));
  REQUIRE_THROWS_WITH((void)tessera::transform_reduce(Space(), -1, One{}, Sum{}), ContainsSubstring("n is -1"));
}

TEST_CASE("transform_reduce: counts are 64-bit (A12)", "[reduce]") {
  const index_t n = (index_t{1} << 32) + 5;
  REQUIRE(tessera::transform_reduce(Space(), n, One{}, Sum{}) == 4294967301);
}
