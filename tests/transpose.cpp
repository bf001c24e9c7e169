// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/level1.hpp>

#include <tessera/transpose.hpp>

using namespace level1;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Any bits at all, NaN payloads included: nothing may be computed with them.
template <class T>
void fill_bits(Operand<T>& a) {
  std::mt19937_64 random(37);
  a.for_each([&](index_t i, index_t j) {
    std::uint64_t words[2] = {random(), random()};
    std::memcpy(&a.before(i, j), words, sizeof(T));
    if constexpr (tessera::is_complex_v<T>) a.before(i, j) = random_value<T>(*std::make_unique<std::mt19937>(random()));
  });
  a.upload();
}

template <class T>
T expected_value(const T& v, bool conj) {
  return conj ? tessera::conj_value(v) : v;
}

template <class T>
void check(const Shape& sa, const Shape& sb, bool conj = false) {
  INFO("A " << sa.text() << "; B " << sb.text() << (conj ? "; conj" : ""));
  Operand<T> a(sa);
  fill_bits(a);
  Operand<T> b(sb, poison<T>());
  if (conj)
    tessera::transpose(Space(), tessera::conjugated(a.matrix()), b.matrix());
  else
    tessera::transpose(Space(), a.matrix(), b.matrix());
  b.download();
  index_t wrong = 0;
  b.for_each(
      [&](index_t i, index_t j) { wrong += same_bits(b.after(i, j), expected_value(a.before(j, i), conj)) ? 0 : 1; });
  REQUIRE(wrong == 0);
}

Shape left(index_t m, index_t n, index_t pad = 0, index_t offset = 0) { return {m, n, 1, m + pad, offset}; }
Shape right(index_t m, index_t n, index_t pad = 0, index_t offset = 0) { return {m, n, n + pad, 1, offset}; }

}  // namespace

TEMPLATE_TEST_CASE("transpose at the edges of its tiles (A5)", "[transpose]", TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  for (const index_t m : {0, 1, 2, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 129, 257})
    for (const index_t n : {0, 1, 3, 8, 16, 17, 32, 64, 65, 130}) {
      check<T>(left(m, n), left(n, m));
      check<T>(right(m, n), right(n, m));
    }
  check<T>(left(5, 2), left(2, 5));
  check<T>(left(33, 31), left(31, 33));
  check<T>(left(462, 1024), left(1024, 462));
  check<T>(left(1, 3000), left(3000, 1));
  check<T>(left(3000, 1), left(1, 3000));
  check<T>(left(3, 5000), left(5000, 3));
}

TEMPLATE_TEST_CASE("transpose of narrow matrices", "[transpose]", TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  for (const index_t n : {2, 3, 5, 7, 9, 13, 15, 31})
    for (const index_t m : {1023, 1024, 4097}) {
      check<T>(left(m, n), left(n, m), true);
      check<T>(left(n, m), left(m, n));
      check<T>(left(m, n, 5), left(n, m, 2));
      check<T>(left(n, m, 3), left(m, n, 1), true);
    }
}

TEST_CASE("transpose of matrices that no cache holds", "[transpose]") {
  check<float>(left(2400, 2400), left(2400, 2400));
  check<float>(left(2403, 2395), left(2395, 2403, 5));
  // lines of the result that are no aligned blocks
  check<float>(left(2403, 2395), left(2395, 2403));
  check<float>(left(2400, 2400), left(2400, 2400, 0, 3));
  check<float>(left(31, 200'001), left(200'001, 31));
  check<float>(left(200'001, 67), left(67, 200'001));
  check<Kokkos::complex<float>>(left(2049, 1027), left(1027, 2049));
  check<double>(left(2049, 1023, 1), left(1023, 2049, 0, 1));
  check<float>(left(7, 600'000), left(600'000, 7));
  check<float>(left(1'500'000, 3), left(3, 1'500'000));
  using C = Kokkos::complex<double>;
  check<C>(left(1032, 1032), left(1032, 1032), true);
  check<C>(left(1031, 1035), left(1035, 1031, 2), true);
}

TEMPLATE_TEST_CASE("transpose of any strides and alignment", "[transpose]", TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  check<T>(left(100, 70, 28), left(70, 100, 58));  // aligned columns with gaps
  check<T>(left(100, 70, 3), left(70, 100, 5));
  check<T>(left(128, 128, 0, 1), left(128, 128));
  check<T>(left(128, 128), left(128, 128, 0, 3));
  check<T>(left(100, 70), right(70, 100));  // a copy
  check<T>(right(100, 70, 9), left(70, 100, 2));
  check<T>({50, 40, 3, 200}, left(40, 50));
  check<T>(left(50, 40), {40, 50, 2, 90, 1});
  check<T>({50, 40, 3, 200, 2}, {40, 50, 300, 5, 1});
  if constexpr (tessera::is_complex_v<T>) {
    check<T>(left(128, 70), left(70, 128), true);
    check<T>(left(33, 31, 1), left(31, 33, 2), true);
    check<T>(left(33, 31), right(31, 33), true);
  }
}

TEMPLATE_TEST_CASE("a square matrix is transposed in place", "[transpose]", TESSERA_ELEMENT_TYPES) {
  using T = TestType;
  for (const index_t n : {0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 100, 257})
    for (const Shape& shape : {left(n, n), right(n, n, 3), Shape{n, n, 2, 2 * n + 1, 1}})
      for (const bool conj : {false, true}) {
        if (conj && !tessera::is_complex_v<T>) continue;
        INFO(shape.text() << (conj ? " conj" : ""));
        Operand<T> a(shape);
        fill_bits(a);
        if (conj)
          tessera::transpose(Space(), tessera::conjugated(a.matrix()), a.matrix());
        else
          tessera::transpose(Space(), a.matrix(), a.matrix());
        a.download();
        index_t wrong = 0;
        a.for_each([&](index_t i, index_t j) {
          wrong += same_bits(a.after(i, j), expected_value(a.before(j, i), conj)) ? 0 : 1;
        });
        REQUIRE(wrong == 0);
      }
}

TEST_CASE("transposing a transposed view is a copy", "[transpose]") {
  Kokkos::View<double**, Kokkos::LayoutLeft, Space> a("a", 33, 31), b("b", 33, 31);
  auto host = Kokkos::create_mirror_view(a);
  for (int i = 0; i < 33; ++i)
    for (int j = 0; j < 31; ++j) host(i, j) = 100 * i + j;
  Kokkos::deep_copy(a, host);
  tessera::transpose(Space(), tessera::transposed(a), b);
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b);
  for (int i = 0; i < 33; ++i)
    for (int j = 0; j < 31; ++j) REQUIRE(found(i, j) == host(i, j));
}

TEST_CASE("transpose refuses wrong extents and partial overlap", "[transpose]") {
  Kokkos::View<double**, Kokkos::LayoutLeft, Space> a("a", 10, 12), b("b", 10, 12);
  REQUIRE_THROWS_WITH(tessera::transpose(Space(), a, b),
                      ContainsSubstring("tessera::transpose") && ContainsSubstring("A^T is 12 x 10 and B is 10 x 12"));
  const auto square = [&](int at) { return Kokkos::subview(a, Kokkos::pair(at, at + 8), Kokkos::pair(0, 8)); };
  REQUIRE_THROWS_WITH(tessera::transpose(Space(), square(0), square(1)), ContainsSubstring("overlaps"));
  const Kokkos::View<double**, Kokkos::LayoutLeft, Space> same(a.data(), 12, 10);
  REQUIRE_THROWS_AS(tessera::transpose(Space(), a, same), tessera::Error);  // the same memory, but not square
  // two disjoint blocks of one matrix are two matrices
  tessera::transpose(Space(), Kokkos::subview(a, Kokkos::pair(0, 5), Kokkos::pair(0, 5)),
                     Kokkos::subview(a, Kokkos::pair(5, 10), Kokkos::pair(5, 10)));
}
