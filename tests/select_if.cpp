// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predicates, and elements and flags of sizes that do not come compiled: kernels that are compiled here.
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/select_by_flags.hpp>

#include <tessera/select_if.hpp>

using namespace compaction;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class T>
struct Above {
  double limit;
  TESSERA_FUNCTION bool operator()(const T& value) const { return static_cast<double>(value) > limit; }
};

template <class T>
void check_predicate(const Shape& sx, const Shape& sy, double limit, Count count, std::mt19937& random) {
  INFO("x " << sx.text() << "; y " << sy.text() << "; above " << limit);
  const Operand<T> x(sx, random);
  Where chosen, others;
  for (index_t i = 0; i < sx.rows; ++i) (wide(x.before(i)).real() > limit ? chosen : others).push_back(i);
  Operand<T> y(sy, random);
  const auto number = static_cast<index_t>(chosen.size());
  REQUIRE(counted(count, [&](const auto&... view) {
            return tessera::select_if(Space(), x.vector(), Above<T>{limit}, y.vector(), view...);
          }) == number);
  require_elements(y, x, chosen);
  if (sy.rows != sx.rows) return;
  chosen.insert(chosen.end(), others.begin(), others.end());
  REQUIRE(counted(count, [&](const auto&... view) {
            return tessera::partition_if(Space(), x.vector(), Above<T>{limit}, y.vector(), view...);
          }) == number);
  require_elements(y, x, chosen);
}

struct Bytes12 {
  float x[3];
};

}  // namespace

template <>
Bytes12 test_values::random_value<Bytes12>(std::mt19937& random) {
  return {{random_value<float>(random), random_value<float>(random), random_value<float>(random)}};
}

TEMPLATE_TEST_CASE("select and partition by a predicate", "[select]", float, double, tessera::half, std::int8_t,
                   std::int32_t) {
  std::mt19937 random(42);
  for (const index_t n : {0, 1, 31, 513, 2049, 8193, 30000})
    for (const double limit : {-100.0, 0.3, 100.0}) check_predicate<TestType>({n}, {n}, limit, Count::view, random);
  check_predicate<TestType>({5003, 1, 3, 0, 1}, {5003, 1, 2, 0, 1}, 0.1, Count::host, random);
  check_predicate<TestType>({5003, 1, 1, 0, 1}, {5003}, 0.1, Count::host, random);
}

TEST_CASE("select_if: where the output is short, many tiles and blocks", "[select]") {
  std::mt19937 random(43);
  for (const index_t n : {1, 100, 3000, 40000})
    for (const index_t room : {index_t{0}, index_t{1}, n / 3, n / 2 + 100, 2 * n})
      check_predicate<float>({n}, {room}, 0.0, Count::view, random);
  check_predicate<double>({1100003}, {1100003}, 0.2, Count::view, random);
}

TEST_CASE("select_if: random shapes", "[select]") {
  for (unsigned seed = 20261129; seed < 20261129 + 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const RandomShapes r{random};
    const index_t n = r.extent();
    check_predicate<float>(r.shape(n), r.room(n), 0.02 * static_cast<double>(r.pick(0, 100)) - 1, r.count(), random);
  }
}

TEST_CASE("select: a struct of 12 bytes, flags of 2 and 8", "[select]") {
  std::mt19937 random(45);
  for (const index_t n : {0, 1, 1000, 20000}) {
    check_flags<Bytes12, std::int16_t>({n}, {n}, {n}, 40, Count::view, random);
    check_flags<Bytes12, std::uint8_t>({n, 1, 2, 0, 1}, {n}, {n, 1, 3}, 40, Count::host, random);
    check_flags<float, std::int64_t>({n}, {n}, {n}, 40, Count::host, random);
  }
}

TEST_CASE("select_if and partition_if: what is refused", "[select]") {
  const Kokkos::View<double*, Space> x("x", 100), z("z", 99);
  const Space exec;
  const auto part = [&](int from) { return Kokkos::subview(x, Kokkos::pair<int, int>(from, from + 50)); };
  REQUIRE_THROWS_WITH(tessera::partition_if(exec, x, Above<double>{0}, z), ContainsSubstring("tessera::partition_if"));
  REQUIRE_THROWS_WITH(tessera::select_if(exec, part(3), Above<double>{0}, part(0)),
                      ContainsSubstring("tessera::select_if: the output y overlaps"));
}
