// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/level1.hpp>

#include <tessera/axpby.hpp>
#include <tessera/scal.hpp>

using namespace level1;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class T>
std::vector<tessera::accumulator_t<T>> factors() {
  using A = tessera::accumulator_t<T>;
  if constexpr (std::is_integral_v<T>)
    return {A(0), A(1), A(-1), A(3)};
  else if constexpr (tessera::is_complex_v<T>)
    return {A(0, 0), A(1, 0), A(0, -1), A(2.5, -0.75)};
  else
    return {A(0), A(1), A(-1), A(2.5)};
}

/// The smallest step of a narrow float, which bounds what its rounding loses near zero.
template <class T>
long double spacing() {
  if constexpr (tessera::is_stored_float_v<T>)
    return static_cast<double>(std::numeric_limits<T>::denorm_min());
  else
    return 0;
}

/// y against alpha x + beta y: two products and a sum in the accumulator (complex: four and three), then one
/// rounding to T.
template <class T>
void require_axpby(const Operand<T>* x, bool conj, Wide alpha, Wide beta, Operand<T>& y) {
  using A = tessera::accumulator_t<T>;
  y.download();
  index_t wrong = 0;
  y.for_each([&](index_t i, index_t j) {
    Wide expected = 0;
    long double size = 0;
    if (alpha != Wide(0)) {
      const Wide xv = conj ? std::conj(wide(x->before(i, j))) : wide(x->before(i, j));
      expected += alpha * xv;
      size += parts_sum(alpha) * parts_sum(xv);
    }
    if (beta != Wide(0)) {
      expected += beta * wide(y.before(i, j));
      size += parts_sum(beta) * parts_sum(wide(y.before(i, j)));
    }
    const Wide found = wide(y.after(i, j));
    const long double bound = 4 * roundoff<A>() * size + 1.01L * roundoff<T>() * parts_sum(expected) + spacing<T>();
    if (!(parts_sum(found - expected) <= bound)) ++wrong;
  });
  REQUIRE(wrong == 0);
}

template <class T>
void check_vector(const Shape& sx, const Shape& sy, bool conj) {
  std::mt19937 random(11);
  for (const auto& alpha : factors<T>())
    for (const auto& beta : factors<T>())
      for (const bool scalars_in_space : {false, true}) {
        INFO("x " << sx.text() << "; y " << sy.text() << "; alpha " << parts_sum(wide(alpha)) << " beta "
                  << parts_sum(wide(beta)) << (conj ? " conj" : ""));
        const bool no_x = wide(alpha) == Wide(0), no_y = wide(beta) == Wide(0);
        const Operand<T> x = no_x ? Operand<T>(sx, poison<T>()) : Operand<T>(sx, random);
        Operand<T> y = no_y ? Operand<T>(sy, poison<T>()) : Operand<T>(sy, random);
        const auto call = [&](const auto& a, const auto& b) {
          if (sx.columns == 1 && sx.s1 == 0) {
            if (conj)
              tessera::axpby(Space(), a, tessera::conjugated(x.vector()), b, y.vector());
            else
              tessera::axpby(Space(), a, x.vector(), b, y.vector());
          } else {
            if (conj)
              tessera::axpby(Space(), a, tessera::conjugated(x.matrix()), b, y.matrix());
            else
              tessera::axpby(Space(), a, x.matrix(), b, y.matrix());
          }
        };
        if (scalars_in_space)
          call(in_space(alpha), in_space(beta));
        else
          call(alpha, beta);
        require_axpby(&x, conj, wide(alpha), wide(beta), y);
      }
}

}  // namespace

TEMPLATE_TEST_CASE("axpby on vectors", "[axpby]", TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  for (const index_t n : {0, 1, 2, 7, 8, 9, 63, 64, 65, 1025, 10007}) check_vector<T>({n}, {n}, false);
  for (const index_t offset : {1, 3}) check_vector<T>({129, 1, 1, 0, offset}, {129, 1, 1, 0, 0}, false);
  check_vector<T>({1000, 1, 3}, {1000, 1, 1}, false);
  check_vector<T>({1000, 1, 1}, {1000, 1, 2}, false);
  check_vector<T>({77, 1, 5, 0, 2}, {77, 1, 7, 0, 1}, false);
  if constexpr (tessera::is_complex_v<T>) {
    check_vector<T>({131}, {131}, true);
    check_vector<T>({131, 1, 2}, {131, 1, 3}, true);
  }
}

TEMPLATE_TEST_CASE("axpby on matrices of any layout", "[axpby]", TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  const auto left = [](index_t m, index_t n, index_t pad = 0) { return Shape{m, n, 1, m + pad}; };
  const auto right = [](index_t m, index_t n, index_t pad = 0) { return Shape{m, n, n + pad, 1}; };
  check_vector<T>(left(0, 5), left(0, 5), false);
  check_vector<T>(left(5, 0), left(5, 0), false);
  check_vector<T>(left(1, 1), right(1, 1), false);
  check_vector<T>(left(1, 37, 3), left(1, 37, 2), false);
  check_vector<T>(left(37, 1, 3), right(37, 1, 2), false);
  check_vector<T>(left(33, 31), left(33, 31), false);  // one long range
  check_vector<T>(left(33, 31, 15), left(33, 31, 7), false);
  check_vector<T>(left(64, 65, 64), left(64, 65, 64), false);  // aligned columns
  check_vector<T>(right(5, 300, 4), right(5, 300, 4), false);
  check_vector<T>(left(5, 300, 3), left(5, 300, 11), false);
  check_vector<T>(left(33, 31, 1), right(33, 31, 2), false);
  check_vector<T>(right(33, 31, 1), left(33, 31, 2), false);
  check_vector<T>({20, 30, 2, 50, 1}, {20, 30, 90, 3, 2}, false);
  check_vector<T>({4097, 3, 1, 4100}, {4097, 3, 1, 4101}, false);
  if constexpr (tessera::is_complex_v<T>) check_vector<T>(left(33, 31, 1), right(33, 31, 2), true);
}

TEMPLATE_TEST_CASE("axpby in place, and through layouts, mdspan-like and transposed views", "[axpby]",
                   TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  using A = tessera::accumulator_t<T>;
  std::mt19937 random(5);
  Operand<T> y({1000}, random);
  tessera::axpby(Space(), A(2), y.vector(), A(-1), y.vector());
  y.download();
  index_t wrong = 0;
  y.for_each([&](index_t i, index_t) { wrong += wide(y.after(i)) == wide(y.before(i)) ? 0 : 1; });
  REQUIRE(wrong == 0);

  // A8: rows 1-7, columns 2-5 of a LayoutRight 12 x 10, onto every second row of a LayoutLeft one
  Kokkos::View<T**, Kokkos::LayoutRight, Space> a("a", 12, 10);
  Kokkos::View<T**, Kokkos::LayoutLeft, Space> b("b", 14, 4);
  auto ha = Kokkos::create_mirror_view(a);
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 10; ++j) ha(i, j) = static_cast<T>(static_cast<float>(10 * i + j));
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, static_cast<T>(99.0F));
  const auto sub_a = Kokkos::subview(a, Kokkos::pair(1, 8), Kokkos::pair(2, 6));
  const Kokkos::View<T**, Kokkos::LayoutStride, Space> sub_b(b.data(), Kokkos::LayoutStride(7, 2, 4, 14));
  tessera::axpby(Space(), A(1), sub_a, A(0), sub_b);
  const auto hb = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  for (int i = 0; i < 14; ++i)
    for (int j = 0; j < 4; ++j) {
      const float expected = i % 2 == 0 ? static_cast<float>(10 * (i / 2 + 1) + j + 2) : 99.0F;
      REQUIRE(same_bits(hb(i, j), static_cast<T>(expected)));
    }

  tessera::axpby(Space(), A(1), tessera::transposed(a), A(0),
                 Kokkos::View<T**, Kokkos::LayoutRight, Space>("c", 10, 12));
}

TEST_CASE("axpby: old NaN and infinity do not survive beta = 0 (A1)", "[axpby]") {
  for (const double old : {std::nan(""), HUGE_VAL}) {
    Kokkos::View<double**, Space> x("x", 2, 2), y("y", 2, 2);
    Kokkos::deep_copy(x, 3.0);
    Kokkos::deep_copy(y, old);
    tessera::axpby(Space(), 2.0, x, 0.0, y);
    auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
    for (int i = 0; i < 4; ++i) REQUIRE(host(i % 2, i / 2) == 6.0);
    Kokkos::deep_copy(x, old);
    Kokkos::deep_copy(y, old);
    tessera::axpby(Space(), 0.0, x, 0.0, y);
    host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
    for (int i = 0; i < 4; ++i) {
      REQUIRE(host(i % 2, i / 2) == 0.0);
      REQUIRE_FALSE(std::signbit(host(i % 2, i / 2)));
    }
  }
}

TEST_CASE("axpby refuses unequal extents and partial overlap", "[axpby]") {
  Kokkos::View<double*, Space> x("x", 10), y("y", 11);
  REQUIRE_THROWS_WITH(tessera::axpby(Space(), 1.0, x, 0.0, y), ContainsSubstring("tessera::axpby") &&
                                                                   ContainsSubstring("x is 10 and y is 11") &&
                                                                   ContainsSubstring("axpby.cpp"));
  REQUIRE_THROWS_AS(tessera::axpby(Space(), 1.0, Kokkos::subview(y, Kokkos::pair(0, 10)), 0.0,
                                   Kokkos::subview(y, Kokkos::pair(1, 11))),
                    tessera::Error);
}

TEMPLATE_TEST_CASE("scal", "[scal]", TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  std::mt19937 random(13);
  const std::vector<Shape> shapes = {{0},
                                     {1},
                                     {2},
                                     {63},
                                     {64},
                                     {65},
                                     {1025},
                                     {10007},
                                     {500, 1, 3},
                                     {129, 1, 1, 0, 1},
                                     {33, 31, 1, 33},
                                     {33, 31, 1, 40},
                                     {33, 31, 35, 1},
                                     {20, 30, 2, 50, 1}};
  for (const Shape& shape : shapes)
    for (const auto& alpha : factors<T>())
      for (const bool scalar_in_space : {false, true}) {
        INFO(shape.text() << "; alpha " << parts_sum(wide(alpha)));
        Operand<T> x = wide(alpha) == Wide(0) ? Operand<T>(shape, poison<T>()) : Operand<T>(shape, random);
        const auto call = [&](const auto& a) {
          if (shape.s1 == 0)
            tessera::scal(Space(), a, x.vector());
          else
            tessera::scal(Space(), a, x.matrix());
        };
        if (scalar_in_space)
          call(in_space(alpha));
        else
          call(alpha);
        require_axpby<T>(nullptr, false, Wide(0), wide(alpha), x);
      }
}
