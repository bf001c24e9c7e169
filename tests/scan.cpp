// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/level1.hpp>

#include <tessera/core/views.hpp>
#include <tessera/scan.hpp>

using namespace level1;
using Catch::Matchers::ContainsSubstring;
using tessera::Determinism;

namespace {

/// Sizes round the edges of leaves, rows, strips, tiles and groups, and strides.
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{0},
                                         {1},
                                         {2},
                                         {5},
                                         {31},
                                         {64},
                                         {127},
                                         {129},
                                         {1000},
                                         {4095},
                                         {4097},
                                         {8193},
                                         {40009},
                                         {300001},
                                         {1000, 1, 1, 0, 1},
                                         {40009, 1, 1, 0, 3},
                                         {20011, 1, 3},
                                         {257, 1, 2, 0, 1}};
  return all;
}

/// The bound of scan.hpp on the error of a sum of n terms whose magnitudes add up to `size`.
template <class T>
long double bound(index_t n, long double size, long double result) {
  using A = tessera::real_t<tessera::accumulator_t<T>>;
  const long double steps = 16 + (std::is_same_v<A, double> ? 40 + static_cast<long double>(n) / 65536 : 0);
  return 1.01L * steps * roundoff<A>() * size + 1.01L * roundoff<T>() * result;
}

/// Wrapped to T where T is an integer.
template <class T>
bool right(const T& found, const Wide& expected, long double allowed) {
  if constexpr (std::is_integral_v<T>)
    return found == static_cast<T>(static_cast<std::uint64_t>(static_cast<std::int64_t>(expected.real())));
  else
    return parts_sum(wide(found) - expected) <= allowed;
}

enum class Total { none, view, host };

/// Every way of calling: sums of x into y, both of `shape`.
template <class TIn, class TOut>
void check_sums(const Shape& sx, const Shape& sy, bool exclusive, Total wanted) {
  INFO("x " << sx.text() << "; y " << sy.text() << "; exclusive " << exclusive << "; total "
            << static_cast<int>(wanted));
  std::mt19937 random(11);
  const Operand<TIn> x(sx, random);
  Operand<TOut> y(sy, poison<TOut>());
  const TOut init = static_cast<TOut>(3);
  const auto device_init = in_space(init);
  const auto total = in_space(static_cast<TOut>(77));
  TOut host_total = static_cast<TOut>(77);
  const Space exec;
  if (wanted == Total::none)
    exclusive ? tessera::exclusive_scan(exec, x.vector(), y.vector(), init)
              : tessera::inclusive_scan(exec, x.vector(), y.vector());
  else if (wanted == Total::view)
    exclusive ? tessera::exclusive_scan(exec, x.vector(), y.vector(), device_init, total)
              : tessera::inclusive_scan(exec, x.vector(), y.vector(), total);
  else
    host_total = exclusive ? tessera::exclusive_scan_total(exec, x.vector(), y.vector(), init)
                           : tessera::inclusive_scan_total(exec, x.vector(), y.vector());
  y.download();
  Wide sum = exclusive ? wide(init) : Wide(0);
  long double size = parts_sum(sum);
  index_t wrong = 0;
  for (index_t i = 0; i < sx.rows; ++i) {
    const Wide before = sum;
    sum += wide(x.before(i));
    size += parts_sum(wide(x.before(i)));
    const Wide expected = exclusive ? before : sum;
    if (!right(y.after(i), expected, bound<TOut>(i + 1, size, parts_sum(expected))) && wrong++ == 0) {
      INFO("first at " << i);
      CHECK(wide(y.after(i)).real() == expected.real());
    }
  }
  REQUIRE(wrong == 0);
  if (wanted == Total::view) host_total = fetch(total);
  if (wanted != Total::none) REQUIRE(right(host_total, sum, bound<TOut>(sx.rows, size, parts_sum(sum))));
}

}  // namespace

TEMPLATE_TEST_CASE("scan: sums of every type, size and stride", "[scan]", TESSERA_ELEMENT_TYPES, std::int8_t,
                   std::int16_t) {
  for (const Shape& shape : shapes()) {
    check_sums<TestType, TestType>(shape, shape, false, Total::none);
    check_sums<TestType, TestType>(shape, Shape{shape.rows}, true, Total::view);
    check_sums<TestType, TestType>(Shape{shape.rows}, shape, shape.rows % 2 == 0, Total::host);
  }
}

TEST_CASE("scan: sums into wider elements", "[scan]") {
  for (const Shape& shape : shapes()) {
    check_sums<std::int8_t, std::int64_t>(shape, shape, false, Total::view);
    check_sums<std::int8_t, std::int32_t>(shape, Shape{shape.rows}, true, Total::host);
    check_sums<std::int16_t, std::int32_t>(shape, shape, true, Total::none);
    check_sums<std::int16_t, std::int64_t>(Shape{shape.rows}, shape, false, Total::none);
    check_sums<std::int32_t, std::int64_t>(shape, shape, true, Total::view);
  }
}

TEST_CASE("scan: large enough for the tree of many rows", "[scan]") {
  check_sums<float, float>({9000001}, {9000001}, false, Total::view);
  check_sums<double, double>({5000003}, {5000003}, true, Total::view);
  check_sums<std::int32_t, std::int32_t>({9000001}, {9000001}, true, Total::none);
  check_sums<float, float>({8500001, 1, 2}, {8500001, 1, 1, 0, 1}, true, Total::view);
}

TEST_CASE("scan: of no elements (A11)", "[scan]") {
  const Kokkos::View<double*, Space> empty("empty", 0);
  const Kokkos::View<double, Space> total("total");
  Kokkos::deep_copy(total, 77.0);
  tessera::inclusive_scan(Space(), empty, empty, total);
  REQUIRE(fetch(total) == 0);
  Kokkos::deep_copy(total, 77.0);
  tessera::exclusive_scan(Space(), empty, empty, 5.0, total);
  REQUIRE(fetch(total) == 5);
  REQUIRE(tessera::inclusive_scan_total(Space(), empty, empty) == 0);
  REQUIRE(tessera::inclusive_scan_total(Space(), empty, empty, tessera::Minimum{}) ==
          std::numeric_limits<double>::infinity());
}

TEMPLATE_TEST_CASE("scan: in place (A13)", "[scan]", float, double, std::int32_t, std::int64_t) {
  using T = TestType;
  for (const index_t n : {1, 2, 1000, 1000000}) {
    const Kokkos::View<T*, Space> x("x", n);
    const auto look = [&](index_t first) {
      const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
      index_t wrong = 0;
      for (index_t i = 0; i < n; ++i) wrong += host(i) != static_cast<T>(i + first) ? 1 : 0;
      return wrong;
    };
    Kokkos::deep_copy(x, T(1));
    tessera::inclusive_scan(Space(), x, x);
    Kokkos::fence("test");
    REQUIRE(look(1) == 0);
    Kokkos::deep_copy(x, T(1));
    tessera::exclusive_scan(Space(), x, x, T(0));
    Kokkos::fence("test");
    REQUIRE(look(0) == 0);
  }
}

TEST_CASE("scan: what is refused", "[scan]") {
  const Kokkos::View<double*, Space> x("x", 100), y("y", 99);
  const auto part = [&](int from) { return Kokkos::subview(x, Kokkos::pair<int, int>(from, from + 50)); };
  REQUIRE_THROWS_WITH(tessera::inclusive_scan(Space(), part(0), part(1)),
                      ContainsSubstring("tessera::inclusive_scan: the output y overlaps the input x"));
  REQUIRE_THROWS_WITH(tessera::exclusive_scan(Space(), part(7), part(1), 0.0),
                      ContainsSubstring("tessera::exclusive_scan: the output y overlaps"));
  REQUIRE_THROWS_WITH(tessera::inclusive_scan(Space(), x, y), ContainsSubstring("x is 100 and y is 99"));
  const auto inside = Kokkos::subview(x, 3);
  REQUIRE_THROWS_WITH(tessera::inclusive_scan(Space(), x, x, inside), ContainsSubstring("total overlaps"));
}

TEST_CASE("scan: conjugated input", "[scan]") {
  using C = Kokkos::complex<double>;
  std::mt19937 random(5);
  const Operand<C> x(Shape{301}, random);
  Operand<C> y(Shape{301}, C(0));
  tessera::inclusive_scan(Space(), tessera::conjugated(x.vector()), y.vector());
  y.download();
  Wide sum = 0;
  for (index_t i = 0; i < 301; ++i) {
    sum += std::conj(wide(x.before(i)));
    REQUIRE(parts_sum(wide(y.after(i)) - sum) <= 1e-13L);
  }
}

TEMPLATE_TEST_CASE("scan: running minima and maxima", "[scan]", float, double, std::int32_t, std::int64_t) {
  using T = TestType;
  for (const Shape& shape : shapes()) {
    std::mt19937 random(3);
    const Operand<T> x(shape, random);
    Operand<T> low(shape, poison<T>()), high(shape, poison<T>());
    tessera::inclusive_scan(Space(), x.vector(), low.vector(), tessera::Minimum{},
                            {.determinism = Determinism::portable});
    tessera::exclusive_scan(Space(), x.vector(), high.vector(), T(-5), tessera::Maximum{});
    low.download();
    high.download();
    T least = std::numeric_limits<T>::max(), most = T(-5);
    index_t wrong = 0;
    for (index_t i = 0; i < shape.rows; ++i) {
      wrong += high.after(i) != most ? 1 : 0;
      least = std::min(least, x.before(i));
      most = std::max(most, x.before(i));
      wrong += low.after(i) != least ? 1 : 0;
    }
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("scan: the same bits in every run (A14)", "[scan]") {
  const index_t n = 250000;
  const Kokkos::View<double*, Space> x("x", n), y("y", n);
  Kokkos::deep_copy(x, 0.1);
  for (const auto determinism : {Determinism::fast, Determinism::reproducible, Determinism::portable}) {
    tessera::inclusive_scan(Space(), x, y, {.determinism = determinism});
    Kokkos::fence("test");
    const auto first = Kokkos::create_mirror(Kokkos::HostSpace(), y);
    Kokkos::deep_copy(first, y);
    for (index_t i = 0; i < n; ++i) {
      const long double exact = static_cast<long double>(0.1) * static_cast<long double>(i + 1);
      REQUIRE(std::fabs(static_cast<long double>(first(i)) - exact) <= bound<double>(n, exact, exact));
    }
    for (int run = 0; run < 50; ++run) {
      Kokkos::deep_copy(y, 7.0);
      tessera::inclusive_scan(Space(), x, y, {.determinism = determinism});
      Kokkos::fence("test");
      const auto again = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
      REQUIRE(std::memcmp(again.data(), first.data(), sizeof(double) * static_cast<std::size_t>(n)) == 0);
    }
  }
}

TEMPLATE_TEST_CASE("scan: by segments", "[scan]", float, double, std::int32_t, std::int64_t) {
  using T = TestType;
  for (const int every : {1, 7, 1000, 1000000})
    for (const Shape& shape : shapes()) {
      INFO(shape.text() << "; a head in " << every);
      std::mt19937 random(23);
      const Operand<T> x(shape, random);
      Operand<std::uint8_t> heads(shape, std::uint8_t{0});
      for (index_t i = 0; i < shape.rows; ++i)
        heads.before(i) = std::uniform_int_distribution<int>(0, every - 1)(random) == 0 ? 255 : 0;
      heads.upload();
      Operand<T> y(shape, poison<T>());
      tessera::segmented_inclusive_scan(Space(), x.vector(), heads.vector(), y.vector());
      y.download();
      long double sum = 0, size = 0;
      index_t wrong = 0;
      for (index_t i = 0; i < shape.rows; ++i) {
        const long double here = wide(x.before(i)).real();
        if (heads.before(i) != 0) sum = size = 0;
        sum += here;
        size += std::fabs(here);
        wrong += right(y.after(i), Wide(sum), bound<T>(i + 1, size, std::fabs(sum))) ? 0 : 1;
      }
      REQUIRE(wrong == 0);
    }
}

TEMPLATE_TEST_CASE("scan: by segments, the same bits side by side and apart", "[scan]", float, double, std::int32_t,
                   std::int64_t) {
  using T = TestType;
  const auto check = [&]<class Flag>(Flag set, index_t n, int every) {
    INFO(n << " elements, a head in " << every << ", flags of " << sizeof(Flag) << " bytes");
    std::mt19937 random(31);
    Operand<T> x({n}, random), x_apart({n, 1, 2});
    Operand<Flag> heads({n}), heads_apart({n, 1, 3});
    for (index_t i = 0; i < n; ++i) {
      if (random() % 4 == 0) x.before(i) = static_cast<T>(-T{0});  // which sums of zeros must not lose
      if (random() % 64 < 24) x.before(i) = static_cast<T>(i / 32 % 2 == 0 ? -T{0} : T{0});
      x_apart.before(i) = x.before(i);
      heads.before(i) = heads_apart.before(i) =
          std::uniform_int_distribution<int>(0, every - 1)(random) == 0 ? set : Flag{0};
    }
    x.upload();
    x_apart.upload();
    heads.upload();
    heads_apart.upload();
    Operand<T> y({n}, poison<T>()), y_apart({n, 1, 2}, poison<T>());
    tessera::segmented_inclusive_scan(Space(), x.vector(), heads.vector(), y.vector());
    tessera::segmented_inclusive_scan(Space(), x_apart.vector(), heads_apart.vector(), y_apart.vector());
    y.download();
    y_apart.download();
    index_t wrong = 0;
    for (index_t i = 0; i < n; ++i) wrong += same_bits(y.after(i), y_apart.after(i)) ? 0 : 1;
    REQUIRE(wrong == 0);
  };
  for (const index_t n : {1, 31, 127, 128, 129, 5000, 300001})
    for (const int every : {1, 2, 5, 40, 3000}) {
      check(std::uint8_t{200}, n, every);
      check(std::int32_t{256}, n, every);
    }
}

TEST_CASE("scan: calls of many sizes follow each other on one instance", "[scan]") {
  std::mt19937 random(29);
  const index_t most = 700000;
  const Kokkos::View<std::int32_t*, Space> x("x", most), y("y", most);
  Kokkos::deep_copy(x, 1);
  for (int call = 0; call < 200; ++call) {
    const index_t n = std::uniform_int_distribution<index_t>(1, call % 4 == 0 ? most : 9000)(random);
    const Kokkos::pair<index_t, index_t> part(0, n);
    REQUIRE(tessera::inclusive_scan_total(Space(), Kokkos::subview(x, part), Kokkos::subview(y, part)) == n);
  }
}

TEST_CASE("scan: int8 of 2^31 + 3 into int64 (A12)", "[.large]") {
  const index_t n = (index_t{1} << 31) + 3;
  const Kokkos::View<std::int8_t*, Space> x(Kokkos::view_alloc("x", Kokkos::WithoutInitializing), n);
  const Kokkos::View<std::int64_t*, Space> y(Kokkos::view_alloc("y", Kokkos::WithoutInitializing), n);
  Kokkos::deep_copy(x, std::int8_t{1});
  REQUIRE(tessera::inclusive_scan_total(Space(), x, y) == n);
  std::int64_t last = 0;
  Kokkos::deep_copy(last, Kokkos::subview(y, n - 1));
  REQUIRE(last == n);
}
