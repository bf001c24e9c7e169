// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/compaction.hpp>

#include <tessera/unique.hpp>

using namespace compaction;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class T>
void check_unique(const Shape& sx, const Shape& sy, int every, Count count, std::mt19937& random) {
  INFO("x " << sx.text() << "; y " << sy.text() << "; a run in " << every);
  const auto x = some_runs<T>(sx, every, random);
  const Where heads = heads_of(x);
  const auto number = static_cast<index_t>(heads.size());
  Operand<T> y(sy, random);
  REQUIRE(counted(count, [&](const auto&... view) {
            return tessera::unique(Space(), x.vector(), y.vector(), view...);
          }) == number);
  require_elements(y, x, heads);
}

template <class T, class W>
void check_pairs(const Shape& sx, const Shape& sv, const Shape& sy, int every, Count count, std::mt19937& random) {
  INFO("keys " << sx.text() << "; values " << sv.text() << "; out " << sy.text() << "; a run in " << every);
  const auto keys = some_runs<T>(sx, every, random);
  const Operand<W> values(sv, random);
  const Where heads = heads_of(keys);
  const auto number = static_cast<index_t>(heads.size());
  Operand<T> keys_out(sy, random);
  Operand<W> values_out(sy, random);
  REQUIRE(counted(count, [&](const auto&... view) {
            return tessera::unique_by_key(Space(), keys.vector(), values.vector(), keys_out.vector(),
                                          values_out.vector(), view...);
          }) == number);
  require_elements(keys_out, keys, heads);
  require_elements(values_out, values, heads);
}

template <class T, class Length>
void check_lengths(const Shape& sx, const Shape& sy, const Shape& sl, int every, Count count, std::mt19937& random) {
  INFO("x " << sx.text() << "; values " << sy.text() << "; lengths " << sl.text() << "; a run in " << every);
  const auto x = some_runs<T>(sx, every, random);
  Where heads = heads_of(x);
  const auto number = static_cast<index_t>(heads.size());
  Operand<T> values(sy, random);
  Operand<Length> lengths(sl, random);
  REQUIRE(counted(count, [&](const auto&... view) {
            return tessera::run_length_encode(Space(), x.vector(), values.vector(), lengths.vector(), view...);
          }) == number);
  require_elements(values, x, heads);
  heads.push_back(sx.rows);
  require_begins(lengths, number, [&](index_t k) {
    return heads[static_cast<std::size_t>(k) + 1] - heads[static_cast<std::size_t>(k)];
  });
}

}  // namespace

TEMPLATE_TEST_CASE("unique: every type, size and length of runs", "[unique]", TESSERA_ELEMENT_TYPES, std::int8_t,
                   std::uint8_t, std::int16_t, std::uint32_t, std::uint64_t) {
  std::mt19937 random(51);
  for (const index_t n : sizes())
    for (const int every : {1, 3, 1000000}) check_unique<TestType>({n}, {n}, every, Count::view, random);
  check_unique<TestType>({5003, 1, 3, 0, 1}, {5003, 1, 2, 0, 1}, 4, Count::host, random);
  check_unique<TestType>({5003, 1, 1, 0, 1}, {5003}, 4, Count::host, random);
  check_unique<TestType>({5003}, {77}, 4, Count::view, random);
}

TEMPLATE_TEST_CASE("unique_by_key", "[unique]", float, double, std::int32_t, std::uint32_t, std::int64_t) {
  std::mt19937 random(52);
  for (const index_t n : {0, 1, 31, 512, 1025, 2049, 8193, 30000})
    for (const int every : {1, 5, 1000000}) {
      check_pairs<TestType, float>({n}, {n}, {n}, every, Count::view, random);
      check_pairs<TestType, std::int64_t>({n}, {n}, {n}, every, Count::host, random);
    }
  check_pairs<TestType, double>({5003, 1, 2, 0, 1}, {5003, 1, 3}, {5003, 1, 2}, 3, Count::view, random);
  check_pairs<TestType, float>({5003}, {5003, 1, 1, 0, 1}, {100}, 3, Count::host, random);
}

TEMPLATE_TEST_CASE("run_length_encode", "[unique]", float, double, std::int8_t, std::uint16_t, std::int32_t,
                   std::uint64_t) {
  std::mt19937 random(53);
  for (const index_t n : sizes())
    for (const int every : {1, 4, 3000, 1000000}) {
      check_lengths<TestType, std::int32_t>({n}, {n}, {n}, every, Count::view, random);
      if (n < 10000) check_lengths<TestType, std::int64_t>({n}, {n}, {n}, every, Count::host, random);
    }
  check_lengths<TestType, std::uint32_t>({5003, 1, 2, 0, 1}, {5003, 1, 3}, {5003, 1, 2, 0, 3}, 3, Count::view, random);
  check_lengths<TestType, std::uint64_t>({5003}, {100}, {200}, 3, Count::host, random);
  check_lengths<TestType, std::int32_t>({5003}, {200}, {0}, 3, Count::host, random);
}

TEST_CASE("unique and run_length_encode: many tiles and blocks", "[unique]") {
  std::mt19937 random(54);
  for (const int every : {2, 100000}) {
    check_unique<float>({2300001}, {2300001}, every, Count::view, random);
    check_lengths<float, std::int32_t>({2300001}, {2300001}, {2300001}, every, Count::view, random);
    check_lengths<double, std::int64_t>({1200001}, {1200001}, {1200001}, every, Count::host, random);
    check_pairs<std::int32_t, float>({2300001}, {2300001}, {2300001}, every, Count::host, random);
  }
  check_unique<std::int8_t>({8500001}, {8500001}, 20, Count::host, random);
}

TEST_CASE("unique: random shapes", "[unique]") {
  for (unsigned seed = 20261129; seed < 20261129 + 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const RandomShapes r{random};
    const index_t n = r.extent();
    const auto every = static_cast<int>(r.pick(1, 40));
    check_unique<tessera::half>(r.shape(n), r.room(n), every, r.count(), random);
    check_pairs<float, double>(r.shape(n), r.shape(n), r.room(n), every, r.count(), random);
    check_lengths<std::int16_t, std::int64_t>(r.shape(n), r.room(n), r.room(n), every, r.count(), random);
  }
}

TEST_CASE("unique: of NaN and zeros, what the contract says", "[unique]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto x = operand<float>({nan, nan, -0.0F, 0.0F, 0.0F, 1, 1, nan});
  Operand<float> y(Shape{8}, 7.0F);
  REQUIRE(tessera::unique(Space(), x.vector(), y.vector()) == 5);
  y.download();
  REQUIRE(std::isnan(y.after(0)));
  REQUIRE(std::isnan(y.after(1)));
  REQUIRE(std::signbit(y.after(2)));
  REQUIRE(y.after(3) == 1);
  REQUIRE(std::isnan(y.after(4)));
  REQUIRE(y.after(5) == 7);
}

TEST_CASE("unique and run_length_encode: what is refused", "[unique]") {
  const Kokkos::View<float*, Space> x("x", 100), y("y", 100), v("v", 99);
  const Kokkos::View<std::int32_t*, Space> lengths("lengths", 100);
  const Kokkos::View<index_t*, Space> numbers("numbers", 100), more("more", 100);
  const Space exec;
  REQUIRE_THROWS_WITH(tessera::unique(exec, x, x), ContainsSubstring("tessera::unique: the output y overlaps"));
  REQUIRE_THROWS_WITH(tessera::unique(exec, numbers, more, Kokkos::subview(more, 3)),
                      ContainsSubstring("the output count overlaps the input y"));
  REQUIRE_THROWS_WITH(tessera::unique_by_key(exec, x, v, y, y),
                      ContainsSubstring("keys_in is 100 and values_in is 99"));
  REQUIRE_THROWS_WITH(tessera::unique_by_key(exec, x, x, y, y),
                      ContainsSubstring("values_out overlaps the input keys_out"));
  REQUIRE_THROWS_WITH(tessera::run_length_encode(exec, numbers, more, numbers),
                      ContainsSubstring("tessera::run_length_encode: the output lengths overlaps the input x"));
  const Kokkos::View<const float*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> vast(x.data(), std::size_t{1} << 31);
  REQUIRE_THROWS_WITH(
      tessera::run_length_encode(exec, vast, y, lengths),
      ContainsSubstring("2147483648 elements with lengths of 32 bits") && ContainsSubstring("Pass lengths of 64 bits"));
}
