// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/level1.hpp>

#include <tessera/asum.hpp>
#include <tessera/core/views.hpp>
#include <tessera/dot.hpp>
#include <tessera/iamax.hpp>
#include <tessera/nrm2.hpp>

using namespace level1;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{0},
                                         {1},
                                         {2},
                                         {7},
                                         {16},
                                         {63},
                                         {64},
                                         {65},
                                         {127},
                                         {1025},
                                         {40009},
                                         {129, 1, 1, 0, 1},
                                         {40009, 1, 1, 0, 3},
                                         {1000, 1, 3},
                                         {257, 1, 2, 0, 1}};
  return all;
}

/// Sums of n random terms of which `size` is the sum of magnitudes: the error of n additions behaves like sqrt(n),
/// and the result is rounded once.
template <class T>
long double sum_bound(index_t n, long double size, long double result) {
  using R = tessera::dot_result_t<T>;
  constexpr long double u = std::is_integral_v<T> ? 0 : 0x1p-53L;
  return (4 * std::sqrt(static_cast<long double>(n)) + 8) * u * size + 1.01L * roundoff<R>() * result;
}

/// The host's value and the value in the space's memory are the same bits.
template <class R, class ToHost, class ToSpace>
R both_ways(const ToHost& to_host, const ToSpace& to_space) {
  const R value = to_host();
  R preset{};
  preset = static_cast<R>(77);
  const auto view = in_space(preset);
  to_space(view);
  const R in_memory = fetch(view);
  REQUIRE(same_bits(value, in_memory));
  return value;
}

}  // namespace

TEMPLATE_TEST_CASE("dot", "[dot]", TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  using R = tessera::dot_result_t<T>;
  std::mt19937 random(17);
  for (const Shape& sx : shapes())
    for (const Shape& sy : shapes()) {
      if (sx.rows != sy.rows) continue;
      const Operand<T> x(sx, random), y(sy, random);
      for (int conj = 0; conj < (tessera::is_complex_v<T> ? 4 : 1); ++conj) {
        INFO("x " << sx.text() << "; y " << sy.text() << "; conjugated " << conj);
        Wide expected = 0;
        long double size = 0;
        for (index_t i = 0; i < sx.rows; ++i) {
          const Wide xv = (conj & 1) != 0 ? std::conj(wide(x.before(i))) : wide(x.before(i));
          const Wide yv = (conj & 2) != 0 ? std::conj(wide(y.before(i))) : wide(y.before(i));
          expected += xv * yv;
          size += parts_sum(xv) * parts_sum(yv);
        }
        const auto with = [&](auto&&... result) {
          if (conj == 0) return tessera::dot(Space(), x.vector(), y.vector(), result...);
          if (conj == 1) return tessera::dot(Space(), tessera::conjugated(x.vector()), y.vector(), result...);
          if (conj == 2) return tessera::dot(Space(), x.vector(), tessera::conjugated(y.vector()), result...);
          return tessera::dot(Space(), tessera::conjugated(x.vector()), tessera::conjugated(y.vector()), result...);
        };
        const R found = both_ways<R>([&] { return with(); }, [&](const auto& view) { with(view); });
        REQUIRE(parts_sum(wide(found) - expected) <= sum_bound<T>(sx.rows, size, parts_sum(expected)));
      }
    }
}

TEST_CASE("dot conjugates only what is asked (A3)", "[dot]") {
  using C = Kokkos::complex<double>;
  const auto x = operand<C>({C(1, 1), C(2, -1)});
  const auto y = operand<C>({C(0, 1), C(3, 0)});
  REQUIRE(tessera::dot(Space(), tessera::conjugated(x.vector()), y.vector()) == C(7, 4));
  REQUIRE(tessera::dot(Space(), x.vector(), y.vector()) == C(5, -2));
}

TEST_CASE("dot sums 2^25 fp32 ones (A9)", "[dot]") {
  Kokkos::View<float*, Space> ones("ones", std::size_t{1} << 25);
  Kokkos::deep_copy(ones, 1.0F);
  REQUIRE(tessera::dot(Space(), ones, ones) == 33554432.0F);
  REQUIRE(tessera::asum(Space(), ones) == 33554432.0F);
}

TEST_CASE("integers sum in 64 bits", "[dot]") {
  Kokkos::View<std::int32_t*, Space> x("x", 1000);
  Kokkos::deep_copy(x, 50000000);
  REQUIRE(tessera::dot(Space(), x, x) == std::int64_t{1000} * 50000000 * 50000000);
  Kokkos::deep_copy(x, 2000000000);
  REQUIRE(tessera::asum(Space(), x) == std::int64_t{2000000000000});
  Kokkos::deep_copy(x, std::numeric_limits<std::int32_t>::min());
  REQUIRE(tessera::asum(Space(), x) == std::int64_t{2147483648000});
}

TEST_CASE("counts are 64-bit: a virtual vector of 2^32 + 5 ones", "[dot]") {
  // stride 0: every index is the same element
  const index_t n = (index_t{1} << 32) + 5;
  Kokkos::View<double, Space> one("one");
  Kokkos::deep_copy(one, 1.0);
  const Kokkos::View<const double*, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> ones(
      one.data(), Kokkos::LayoutStride(n, 0));
  REQUIRE(tessera::asum(Space(), ones) == 4294967301.0);
}

TEST_CASE("dot refuses unequal lengths", "[dot]") {
  Kokkos::View<double*, Space> x("x", 10), y("y", 11);
  REQUIRE_THROWS_WITH((void)tessera::dot(Space(), x, y),
                      ContainsSubstring("tessera::dot: x is 10 and y is 11") && ContainsSubstring("level1"));
}

TEMPLATE_TEST_CASE("nrm2", "[nrm2]", TESSERA_FLOATING_TYPES) {
  using T = TestType;
  using R = tessera::norm_result_t<T>;
  std::mt19937 random(19);
  for (const Shape& shape : shapes()) {
    INFO(shape.text());
    const Operand<T> x(shape, random);
    long double squares = 0;
    for (index_t i = 0; i < shape.rows; ++i) squares += std::norm(wide(x.before(i)));
    const long double expected = std::sqrt(squares);
    const R found = both_ways<R>([&] { return tessera::nrm2(Space(), x.vector()); },
                                 [&](const auto& view) { tessera::nrm2(Space(), x.vector(), view); });
    // half of the relative error of the sum, and one rounding of the root
    REQUIRE(std::fabs(found - expected) <= sum_bound<T>(shape.rows, expected, expected));
  }
}

TEST_CASE("nrm2 neither over- nor underflows (A9)", "[nrm2]") {
  const auto norm = [](const auto& values) { return tessera::nrm2(Space(), operand(values).vector()); };
  REQUIRE(norm(std::vector<float>{3e20F, 4e20F}) == 5e20F);
  REQUIRE(norm(std::vector<float>{3e-30F, 4e-30F}) == 5e-30F);
  REQUIRE(std::fabs(norm(std::vector<double>{3e200, 4e200}) - 5e200) <= 5e200 * 4e-16);
  REQUIRE(std::fabs(norm(std::vector<double>{3e-200, 4e-200}) - 5e-200) <= 5e-200 * 4e-16);
  REQUIRE(norm(std::vector<double>{3 * 0x1p-1074, 4 * 0x1p-1074}) == 5 * 0x1p-1074);
  REQUIRE(norm(std::vector<double>(4, 0x1.8p1022)) == 0x1.8p1023);
  REQUIRE(std::isinf(norm(std::vector<double>(16, 0x1.8p1023))));
  using C = Kokkos::complex<double>;
  REQUIRE(std::fabs(norm(std::vector<C>{C(3e200, 4e200)}) - 5e200) <= 5e200 * 4e-16);
  // long vectors go by whole registers: the same in the middle of ordinary values, at both ends of the range
  for (const double scale :
       {0x1p-1000, 0x1p-600, 0x1p-451, 0x1p-449, 0x1p-300, 1.0, 0x1p300, 0x1p479, 0x1p481, 0x1p900})
    for (const double other : {0.0, 1.0, 0x1p-460, 0x1p470})
      for (const index_t n : {1, 5, 64, 1000, 5000}) {
        std::vector<double> values(static_cast<std::size_t>(n), scale);
        std::size_t k = 0;
        for (double& v : values)
          if (++k % 3 == 0) v = other;
        long double squares = 0;
        for (const double v : values) squares += static_cast<long double>(v) * v;
        const long double expected = std::sqrt(squares);  // long double's range holds every square here
        INFO("scale " << scale << " other " << other << " n " << n);
        REQUIRE(std::fabs(norm(values) - expected) <=
                (2 + std::sqrt(static_cast<long double>(n))) * 0x1p-52L * expected);
      }
  Kokkos::View<float*, Space> long_tail("x", 4000001);
  Kokkos::deep_copy(long_tail, 1.0F);
  Kokkos::deep_copy(Kokkos::subview(long_tail, 0), 30000.0F);
  REQUIRE(std::fabs(tessera::nrm2(Space(), long_tail) - 30066.5928) <= 30066.5928 * 1e-6);
}

TEMPLATE_TEST_CASE("NaN and infinity in sums", "[nrm2][asum]", TESSERA_FLOATING_TYPES) {
  using T = TestType;
  using Real = tessera::real_t<T>;
  const T nan = poison<T>();
  const T infinity = static_cast<T>(std::numeric_limits<Real>::infinity());
  for (const index_t n : {3, 1000})
    for (const index_t at : {index_t{0}, n / 2, n - 1}) {
      std::mt19937 random(23);
      Operand<T> x(Shape{n}, random);
      x.before(at) = infinity;
      x.upload();
      REQUIRE(std::isinf(static_cast<double>(tessera::nrm2(Space(), x.vector()))));
      REQUIRE(std::isinf(static_cast<double>(tessera::asum(Space(), x.vector()))));
      x.before((at + 1) % n) = nan;
      x.upload();
      REQUIRE(std::isnan(static_cast<double>(tessera::nrm2(Space(), x.vector()))));
      REQUIRE(std::isnan(static_cast<double>(tessera::asum(Space(), x.vector()))));
      x.before(at) = T(1);
      x.upload();
      REQUIRE(std::isnan(static_cast<double>(tessera::nrm2(Space(), x.vector()))));
    }
}

TEMPLATE_TEST_CASE("asum", "[asum]", TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  using R = tessera::norm_result_t<T>;
  std::mt19937 random(29);
  for (const Shape& shape : shapes()) {
    INFO(shape.text());
    const Operand<T> x(shape, random);
    long double expected = 0;
    for (index_t i = 0; i < shape.rows; ++i) expected += parts_sum(wide(x.before(i)));
    const R found = both_ways<R>([&] { return tessera::asum(Space(), x.vector()); },
                                 [&](const auto& view) { tessera::asum(Space(), x.vector(), view); });
    REQUIRE(std::fabs(static_cast<long double>(found) - expected) <= sum_bound<T>(shape.rows, expected, expected));
  }
}

TEMPLATE_TEST_CASE("iamax", "[iamax]", TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  using Real = tessera::real_t<T>;
  std::mt19937 random(31);
  const auto found = [](const Operand<T>& x) {
    return both_ways<index_t>([&] { return tessera::iamax(Space(), x.vector()); },
                              [&](const auto& view) { tessera::iamax(Space(), x.vector(), view); });
  };
  for (const Shape& shape : shapes()) {
    INFO(shape.text());
    const Operand<T> x(shape, random);
    index_t expected = -1;
    long double largest = -1;
    for (index_t i = 0; i < shape.rows; ++i) {
      long double magnitude = parts_sum(wide(x.before(i)));
      if constexpr (tessera::is_complex_v<T>)  // in the type's own precision
        magnitude = std::fabs(x.before(i).real()) + std::fabs(x.before(i).imag());
      if (magnitude > largest) {
        largest = magnitude;
        expected = i;
      }
    }
    REQUIRE(found(x) == expected);
  }
  // the largest at every place, negative, and a second one behind it that must not win
  for (index_t at = 0; at < 300; ++at) {
    Operand<T> x(Shape{300}, random);
    x.before(at) = T(-100);
    if (at + 5 < 300) x.before(at + 5) = T(100);
    x.upload();
    REQUIRE(found(x) == at);
  }
  Operand<T> zeros(Shape{5000}, T(0));
  REQUIRE(found(zeros) == 0);
  if constexpr (std::is_integral_v<T>) {
    zeros.before(17) = std::numeric_limits<T>::max();
    zeros.before(4000) = std::numeric_limits<T>::min();
    zeros.upload();
    REQUIRE(found(zeros) == 4000);
  } else {
    // the first NaN wins, also behind an infinity and before a NaN of another payload
    zeros.before(100) = static_cast<T>(std::numeric_limits<Real>::infinity());
    zeros.upload();
    REQUIRE(found(zeros) == 100);
    zeros.before(3001) = poison<T>();
    zeros.before(3002) = static_cast<T>(-std::numeric_limits<Real>::quiet_NaN());
    zeros.upload();
    REQUIRE(found(zeros) == 3001);
    zeros.before(3000) = static_cast<T>(-std::numeric_limits<Real>::quiet_NaN());
    zeros.upload();
    REQUIRE(found(zeros) == 3000);
  }
}

TEST_CASE("empty reductions write their identity (A11)", "[dot][nrm2][asum][iamax]") {
  const Kokkos::View<double*, Space> empty("empty", 0);
  REQUIRE(tessera::dot(Space(), empty, empty) == 0);
  REQUIRE(tessera::nrm2(Space(), empty) == 0);
  REQUIRE(tessera::asum(Space(), empty) == 0);
  REQUIRE(tessera::iamax(Space(), empty) == -1);
  const auto result = in_space(77.0);
  const auto index = in_space<index_t>(77);
  tessera::dot(Space(), empty, empty, result);
  REQUIRE(fetch(result) == 0);
  Kokkos::deep_copy(result, 77.0);
  tessera::nrm2(Space(), empty, result);
  REQUIRE(fetch(result) == 0);
  Kokkos::deep_copy(result, 77.0);
  tessera::asum(Space(), empty, result);
  REQUIRE(fetch(result) == 0);
  tessera::iamax(Space(), empty, index);
  REQUIRE(fetch(index) == -1);
}

TEST_CASE("reductions take rows and columns of matrices as they lie (A8)", "[dot]") {
  Kokkos::View<double**, Kokkos::LayoutLeft, Space> a("a", 12, 10);
  Kokkos::View<double**, Kokkos::LayoutRight, Space> b("b", 12, 10);
  auto ha = Kokkos::create_mirror_view(a);
  auto hb = Kokkos::create_mirror_view(b);
  double expected = 0;
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 10; ++j) {
      ha(i, j) = i + 100 * j;
      hb(i, j) = 3 * i - j;
    }
  for (int j = 2; j < 9; ++j) expected += ha(4, j) * hb(7, j);
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  REQUIRE(tessera::dot(Space(), Kokkos::subview(a, 4, Kokkos::pair(2, 9)), Kokkos::subview(b, 7, Kokkos::pair(2, 9))) ==
          expected);
}
