// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/level1.hpp>

#include <tessera/reduce.hpp>

using namespace level1;
using Catch::Matchers::ContainsSubstring;
using tessera::Determinism;
using tessera::Maximum;
using tessera::Minimum;
using tessera::Product;
using tessera::Sum;

#define TESSERA_REAL_TYPES float, double, tessera::half, tessera::bfloat16, std::int32_t, std::int64_t

namespace {

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{0},
                                         {1},
                                         {2},
                                         {7},
                                         {64},
                                         {65},
                                         {1025},
                                         {40009},
                                         {300001},
                                         {129, 1, 1, 0, 1},
                                         {40009, 1, 1, 0, 3},
                                         {1000, 1, 3},
                                         {257, 1, 2, 0, 1},
                                         {30, 1, -2, 0, 60}};
  return all;
}
constexpr Determinism orders[] = {Determinism::fast, Determinism::reproducible, Determinism::portable};

template <class R, class X, class Op>
R both_ways(const X& x, const Op& op, Determinism determinism) {
  const R value = tessera::reduce(Space(), x, op, {.determinism = determinism});
  R preset{};
  preset = static_cast<R>(77);
  const auto view = in_space(preset);
  tessera::reduce(Space(), x, op, view, {.determinism = determinism});
  const R in_memory = fetch(view);
  REQUIRE(same_bits(value, in_memory));
  return value;
}

/// The error of n additions of random signs behaves like sqrt(n); one rounding at the end.
template <class T>
long double sum_bound(index_t n, long double size, long double result) {
  constexpr long double u = std::is_integral_v<T> ? 0 : 0x1p-53L;
  return (4 * std::sqrt(static_cast<long double>(n)) + 8) * u * size +
         1.01L * roundoff<tessera::reduce_result_t<T, Sum>>() * result;
}

}  // namespace

TEMPLATE_TEST_CASE("reduce: sums", "[reduce]", TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  using R = tessera::reduce_result_t<T, Sum>;
  std::mt19937 random(3);
  for (const Shape& shape : shapes()) {
    INFO(shape.text());
    const Operand<T> x(shape, random);
    Wide expected = 0;
    long double size = 0;
    for (index_t i = 0; i < shape.rows; ++i) {
      expected += wide(x.before(i));
      size += parts_sum(wide(x.before(i)));
    }
    for (const Determinism order : orders) {
      const R found = both_ways<R>(x.vector(), Sum{}, order);
      REQUIRE(parts_sum(wide(found) - expected) <= sum_bound<T>(shape.rows, size, parts_sum(expected)));
    }
    REQUIRE(same_bits(tessera::reduce(Space(), x.vector()), tessera::reduce(Space(), x.vector(), Sum{})));
    if constexpr (tessera::is_complex_v<T>) {
      const R conjugated = tessera::reduce(Space(), tessera::conjugated(x.vector()));
      REQUIRE(same_bits(conjugated, tessera::conj_value(tessera::reduce(Space(), x.vector()))));
    }
  }
}

TEMPLATE_TEST_CASE("reduce: products", "[reduce]", TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  using R = tessera::reduce_result_t<T, Product>;
  std::mt19937 random(5);
  for (const Shape& shape : shapes()) {
    INFO(shape.text());
    Operand<T> x(shape, random);
    // near 1 in magnitude, so that no product leaves the range
    x.for_each([&](index_t i, index_t j) {
      T& v = x.before(i, j);
      if constexpr (std::is_integral_v<T>)
        v = static_cast<T>(v | 1);
      else if constexpr (tessera::is_complex_v<T>)
        v = std::polar(1.0, 3.0 * v.real()).real() >= 0 ? T(static_cast<typename T::value_type>(std::cos(v.real())),
                                                            static_cast<typename T::value_type>(std::sin(v.real())))
                                                        : T(0, 1);
      else
        v = static_cast<T>(v < T(0) ? -1.0 - static_cast<double>(v) / 256
                                    : 1.0 + static_cast<double>(v) / 256 - 1.0 / 256);
    });
    x.upload();
    if constexpr (std::is_integral_v<T>) {
      std::uint64_t expected = 1;
      for (index_t i = 0; i < shape.rows; ++i) expected *= static_cast<std::uint64_t>(std::int64_t{x.before(i)});
      for (const Determinism order : orders)
        REQUIRE(both_ways<R>(x.vector(), Product{}, order) == static_cast<std::int64_t>(expected));
    } else {
      Wide expected = 1;
      for (index_t i = 0; i < shape.rows; ++i) expected *= wide(x.before(i));
      // each multiplication rounds once (complex: each part by up to 4 roundings), and so does the end
      const long double relative = 4 * static_cast<long double>(shape.rows + 1) * 0x1p-53L + 2 * roundoff<R>();
      for (const Determinism order : orders) {
        if (tessera::is_complex_v<T> && order == Determinism::portable) continue;
        const R found = both_ways<R>(x.vector(), Product{}, order);
        REQUIRE(std::abs(wide(found) - expected) <=
                relative * std::abs(expected) + static_cast<long double>(std::numeric_limits<float>::min()));
      }
    }
  }
}

TEMPLATE_TEST_CASE("reduce: smallest, largest and where", "[reduce]", TESSERA_REAL_TYPES) {
  using T = TestType;
  std::mt19937 random(7);
  const auto is_nan = [](T v) { return std::isnan(static_cast<double>(v)); };
  const auto check = [&](const Operand<T>& x) {
    const index_t n = x.shape().rows;
    T low = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    T high = std::numeric_limits<T>::has_infinity ? T(-std::numeric_limits<T>::infinity())
                                                  : std::numeric_limits<T>::lowest();
    index_t low_at = -1, high_at = -1;
    for (index_t i = 0; i < n; ++i) {
      const T v = x.before(i);
      if (low_at < 0 || (!is_nan(low) && (is_nan(v) || v < low))) low = v, low_at = i;
      if (high_at < 0 || (!is_nan(high) && (is_nan(v) || v > high))) high = v, high_at = i;
    }
    const auto same = [&](T a, T b) { return a == b || (is_nan(a) && is_nan(b)); };
    for (const Determinism order : orders) {
      REQUIRE(same(both_ways<T>(x.vector(), Minimum{}, order), low));
      REQUIRE(same(both_ways<T>(x.vector(), Maximum{}, order), high));
    }
    const auto lowest = tessera::min_location(Space(), x.vector());
    const auto highest = tessera::max_location(Space(), x.vector());
    REQUIRE(lowest.index == low_at);
    REQUIRE(same(lowest.value, low));
    REQUIRE(highest.index == high_at);
    REQUIRE(same(highest.value, high));
    const auto place = in_space(tessera::Location<T>{T(1), 77});
    tessera::min_location(Space(), x.vector(), place);
    REQUIRE(fetch(place).index == low_at);
    tessera::max_location(Space(), x.vector(), place);
    REQUIRE(fetch(place).index == high_at);
  };
  for (const Shape& shape : shapes()) {
    INFO(shape.text());
    check(Operand<T>(shape, random));
  }
  // every place, and one behind it that must not win
  for (const index_t n : {1, 5, 300}) {
    for (index_t at = 0; at < n; ++at) {
      Operand<T> x(Shape{n}, random);
      x.before(at) = T(100);
      if (at + 5 < n) x.before(at + 5) = T(100);
      x.upload();
      check(x);
      x.before(at) = T(-100);
      if (at + 5 < n) x.before(at + 5) = T(-100);
      x.upload();
      check(x);
    }
  }
  // nothing but the lowest, and nothing but the highest
  for (const T v : {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()}) check(Operand<T>(Shape{5000}, v));
  if constexpr (!std::is_integral_v<T>) {
    const T infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    for (const T v : {infinity, static_cast<T>(-infinity)}) check(Operand<T>(Shape{5000}, v));
    for (const index_t n : {3, 5000})
      for (const index_t at : {index_t{0}, n / 2, n - 1}) {
        Operand<T> x(Shape{n}, random);
        x.before(at) = infinity;
        x.before((at + 1) % n) = static_cast<T>(-infinity);
        x.upload();
        check(x);
        x.before(at) = nan;
        x.upload();
        check(x);
        x.before((at + 1) % n) = static_cast<T>(-nan);
        x.upload();
        check(x);
      }
    // zeros of both signs are equal: the first one is found
    Operand<T> zeros(Shape{100}, T(0));
    for (index_t i = 50; i < 100; ++i) zeros.before(i) = static_cast<T>(-0.0F);
    zeros.upload();
    REQUIRE(tessera::min_location(Space(), zeros.vector()).index == 0);
    for (index_t i = 0; i < 100; ++i) zeros.before(i) = static_cast<T>(i < 50 ? -0.0F : 0.0F);
    zeros.upload();
    REQUIRE(tessera::max_location(Space(), zeros.vector()).index == 0);
  }
}

TEST_CASE("reduce: long sums do not stall (A9)", "[reduce]") {
  Kokkos::View<float*, Space> x("x", 4000001);
  Kokkos::deep_copy(x, 1.0F);
  Kokkos::deep_copy(Kokkos::subview(x, 0), 30000.0F);
  for (const Determinism order : orders)
    REQUIRE(tessera::reduce(Space(), x, Sum{}, {.determinism = order}) == 4030000.0F);
}

TEMPLATE_TEST_CASE("reduce: nothing gives the identity (A11)", "[reduce]", TESSERA_REAL_TYPES) {
  using T = TestType;
  using R = tessera::reduce_result_t<T, Sum>;
  const Kokkos::View<T*, Space> empty("empty", 0);
  const Kokkos::View<T**, Space> no_rows("no_rows", 0, 5), no_columns("no_columns", 5, 0);
  const T top =
      std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  for (const Determinism order : orders) {
    REQUIRE(both_ways<R>(empty, Sum{}, order) == R(0));
    REQUIRE(both_ways<R>(empty, Product{}, order) == R(1));
    REQUIRE(both_ways<T>(empty, Minimum{}, order) == top);
    REQUIRE(both_ways<T>(empty, Maximum{}, order) <= std::numeric_limits<T>::lowest());
    REQUIRE(both_ways<R>(no_rows, Sum{}, order) == R(0));
    REQUIRE(both_ways<R>(no_columns, Sum{}, order) == R(0));
  }
  REQUIRE(tessera::min_location(Space(), empty).index == -1);
  REQUIRE(tessera::min_location(Space(), empty).value == top);
  REQUIRE(tessera::max_location(Space(), empty).index == -1);
}

TEMPLATE_TEST_CASE("reduce: matrices", "[reduce]", float, double, Kokkos::complex<double>, std::int32_t) {
  using T = TestType;
  using R = tessera::reduce_result_t<T, Sum>;
  std::mt19937 random(11);
  for (const Shape& shape : std::vector<Shape>{{7, 5, 1, 7},
                                               {7, 5, 5, 1},
                                               {7, 5, 1, 9, 1},
                                               {7, 5, 11, 2},
                                               {1, 5, 3, 2},
                                               {5, 1, 2, 3},
                                               {1000, 300, 1, 1000},
                                               {1000, 300, 301, 1},
                                               {130, 70, 1, 131}}) {
    INFO(shape.text());
    const Operand<T> a(shape, random);
    Wide expected = 0;
    long double size = 0;
    std::vector<T> down;
    a.for_each([&](index_t i, index_t j) {
      expected += wide(a.before(i, j));
      size += parts_sum(wide(a.before(i, j)));
      down.push_back(a.before(i, j));
    });
    for (const Determinism order : orders) {
      const R found = both_ways<R>(a.matrix(), Sum{}, order);
      REQUIRE(parts_sum(wide(found) - expected) <= sum_bound<T>(shape.size(), size, parts_sum(expected)));
    }
    // portable: down the columns, whatever the strides
    REQUIRE(same_bits(tessera::reduce(Space(), a.matrix(), {.determinism = Determinism::portable}),
                      tessera::reduce(Space(), operand(down).vector(), {.determinism = Determinism::portable})));
  }
}

TEMPLATE_TEST_CASE("segmented_reduce", "[reduce]", float, double, Kokkos::complex<float>, tessera::half, std::int32_t) {
  using T = TestType;
  using R = tessera::reduce_result_t<T, Sum>;
  std::mt19937 random(13);
  const auto check = [&]<class Offset>(const std::vector<Offset>& offsets, index_t n) {
    const auto segments = static_cast<index_t>(offsets.size()) - 1;
    INFO(segments << " segments of " << n);
    const Operand<T> x(Shape{n, 1, 2}, random);
    Operand<R> out(Shape{segments, 1, 3}, R(77));
    tessera::segmented_reduce(Space(), x.vector(), operand(offsets).vector(), Sum{}, out.vector());
    out.download();
    for (index_t s = 0; s < segments; ++s) {
      Wide expected = 0;
      long double size = 0;
      const auto begin = static_cast<index_t>(offsets[static_cast<std::size_t>(s)]);
      const auto end = static_cast<index_t>(offsets[static_cast<std::size_t>(s) + 1]);
      for (index_t i = begin; i < end; ++i) {
        expected += wide(x.before(i));
        size += parts_sum(wide(x.before(i)));
      }
      REQUIRE(parts_sum(wide(out.after(s)) - expected) <= sum_bound<T>(end - begin, size, parts_sum(expected)));
    }
    if constexpr (!tessera::is_complex_v<T>) {
      Operand<T> most(Shape{segments}, T(77));
      tessera::segmented_reduce(Space(), x.vector(), operand(offsets).vector(), Maximum{}, most.vector());
      most.download();
      for (index_t s = 0; s < segments; ++s) {
        T expected = tessera::identity_of<T>(Maximum{});
        for (auto i = offsets[static_cast<std::size_t>(s)]; i < offsets[static_cast<std::size_t>(s) + 1]; ++i)
          expected = std::max(expected, x.before(i), [](T a, T b) { return a < b; });
        REQUIRE(most.after(s) == expected);
      }
    }
  };
  check(std::vector<std::int32_t>{0}, 0);
  check(std::vector<std::int32_t>{0, 0}, 0);
  check(std::vector<std::int32_t>{0, 1}, 1);
  check(std::vector<std::int64_t>{3, 10, 10, 10, 1000}, 1003);
  check(std::vector<std::int64_t>{2, 150'000, 150'000, 150'001, 400'003}, 400'003);  // several teams a segment
  for (const index_t length : {1, 3, 20, 100, 5000}) {                               // of every way to share the work
    std::vector<std::int64_t> offsets{0};
    for (int s = 0; s < 50; ++s)
      offsets.push_back(offsets.back() + std::uniform_int_distribution<index_t>(0, 2 * length)(random));
    check(offsets, offsets.back());
    check(std::vector<std::int32_t>(offsets.begin(), offsets.end()), offsets.back());
  }
}

TEST_CASE("segmented_reduce refuses what does not fit", "[reduce]") {
  const Kokkos::View<float*, Space> x("x", 10), out("out", 3);
  const Kokkos::View<int*, Space> offsets("offsets", 3);
  REQUIRE_THROWS_WITH(tessera::segmented_reduce(Space(), x, offsets, Sum{}, out),
                      ContainsSubstring("tessera::segmented_reduce: offsets has 3 elements and out 3; offsets must"));
  REQUIRE_THROWS_WITH(
      tessera::segmented_reduce(Space(), x, offsets, Sum{}, Kokkos::subview(x, Kokkos::pair<int, int>(4, 6))),
      ContainsSubstring("tessera::segmented_reduce") && ContainsSubstring("out"));
}

TEST_CASE("reduce refuses portable complex products", "[reduce]") {
  const Kokkos::View<Kokkos::complex<double>*, Space> x("x", 10);
  REQUIRE_THROWS_WITH((void)tessera::reduce(Space(), x, Product{}, {.determinism = Determinism::portable}),
                      ContainsSubstring("tessera::reduce: Determinism::portable was asked for") &&
                          ContainsSubstring("Determinism::reproducible"));
}
