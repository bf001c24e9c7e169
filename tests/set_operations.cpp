// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <iterator>
#include <support/compaction.hpp>
#include <support/sorted_ranges.hpp>

#include <tessera/set_operations.hpp>

using namespace sorted_ranges;
using Catch::Matchers::ContainsSubstring;
using compaction::Count;
using compaction::counted;
using compaction::require_begins;
using tessera::KeyBefore;

namespace {

template <class T>
void require_set(Operand<T>& out, index_t count, const std::vector<T>& expected) {
  REQUIRE(count == static_cast<index_t>(expected.size()));
  require_begins(out, count, [&](index_t k) { return expected[static_cast<std::size_t>(k)]; });
}

/// The four operations on these ranges against the standard library, bit for bit.
/// \param rooms  extent of out; -1: as many as a and b
template <class T>
void check_ranges(const std::vector<T>& a, const std::vector<T>& b, bool descending, index_t stride, index_t offset,
                  Count count, index_t room = -1) {
  const auto na = static_cast<index_t>(a.size()), nb = static_cast<index_t>(b.size());
  INFO(na << " and " << nb << " keys" << (descending ? ", descending" : "") << ", stride " << stride << ", offset "
          << offset << ", room for " << room);
  const auto less = [&](const T& x, const T& y) { return descending ? rank_of(y, x) < 0 : rank_of(x, y) < 0; };
  const auto xa = filled(Shape{na, 1, stride, 0, offset}, a), xb = filled(Shape{nb}, b);
  const Space exec;
  const KeyBefore order{descending};
  const auto with = [&](const char* what, const auto& ours, const auto& theirs) {
    INFO(what);
    std::vector<T> expected;
    theirs(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected), less);
    Operand<T> out(Shape{room < 0 ? na + nb : room, 1, stride, 0, offset}, T{});
    require_set(
        out, counted(count, [&](const auto&... view) { return ours(xa.vector(), xb.vector(), out.vector(), view...); }),
        expected);
  };
  with(
      "set_union", [&](const auto&... args) { return tessera::set_union(exec, args..., order); },
      [](auto... args) { std::set_union(args...); });
  with(
      "set_intersection", [&](const auto&... args) { return tessera::set_intersection(exec, args..., order); },
      [](auto... args) { std::set_intersection(args...); });
  with(
      "set_difference", [&](const auto&... args) { return tessera::set_difference(exec, args..., order); },
      [](auto... args) { std::set_difference(args...); });
  with(
      "set_symmetric_difference",
      [&](const auto&... args) { return tessera::set_symmetric_difference(exec, args..., order); },
      [](auto... args) { std::set_symmetric_difference(args...); });
}

template <class T>
void check(index_t na, index_t nb, int different, bool descending, index_t stride, index_t offset, Count count,
           std::mt19937_64& random) {
  INFO(different << " different keys");
  const auto a = sorted_keys<T>(na, different, descending, random);
  const auto b = sorted_keys<T>(nb, different, descending, random);
  check_ranges(a, b, descending, stride, offset, count);
}

}  // namespace

TEMPLATE_TEST_CASE("set operations: edges, runs, strides", "[set_operations]", float, double, std::int32_t,
                   std::int64_t, std::uint32_t, std::uint64_t) {
  std::mt19937_64 random(71);
  // tiles of devices are 5888 and 3840 elements, stretches of hosts 4096 and more
  const index_t sizes[][2] = {{0, 0},       {0, 1},       {1, 0},       {1, 1},      {2, 5},        {3839, 1},
                              {1, 3839},    {1920, 1920}, {5887, 2},    {9000, 0},   {0, 9000},     {2944, 2944},
                              {5888, 5888}, {100, 15000}, {4096, 4095}, {20000, 13}, {30011, 40009}};
  int turn = 0;
  for (const auto& [na, nb] : sizes)
    for (const int different : {1, 3, 1000, 100000}) {
      const int t = turn++;
      check<TestType>(na, nb, different, t % 2 == 1, t % 3 == 0 ? 2 : 1, t % 4, t % 5 == 0 ? Count::host : Count::view,
                      random);
    }
}

TEST_CASE("set operations: long runs that tiles part", "[set_operations]") {
  // runs of the two ranges are of different lengths, so that pairs end in the middle of tiles
  std::vector<std::int32_t> a, b;
  for (int run = 0; run < 12; ++run) {
    a.insert(a.end(), static_cast<std::size_t>(1 + run * 1777 % 9001), run);
    b.insert(b.end(), static_cast<std::size_t>(1 + run * 4099 % 8009), run + run / 5);
  }
  std::sort(b.begin(), b.end());
  for (const Count count : {Count::host, Count::view}) {
    check_ranges(a, b, false, 1, 0, count);
    check_ranges(b, a, false, 3, 1, count);
    check_ranges(a, a, false, 1, 0, count);
  }
}

TEST_CASE("set operations: ranges apart, and one within the other", "[set_operations]") {
  std::vector<double> low, high, some;
  for (int i = 0; i < 30000; ++i) low.push_back(i);
  for (int i = 0; i < 30000; ++i) high.push_back(30000 + i);
  for (int i = 0; i < 30000; i += 7) some.push_back(i);
  check_ranges(low, high, false, 1, 0, Count::view);
  check_ranges(high, low, false, 1, 0, Count::view);
  check_ranges(low, some, false, 1, 0, Count::view);
  check_ranges(some, low, false, 1, 0, Count::host);
}

TEST_CASE("set operations: what does not fit is left out", "[set_operations]") {
  std::mt19937_64 random(72);
  const auto a = sorted_keys<float>(9000, 500, false, random);
  const auto b = sorted_keys<float>(8000, 700, false, random);
  for (const index_t room : {0, 1, 100, 5000, 30000}) check_ranges(a, b, false, 1, 0, Count::view, room);
  check_ranges(a, b, false, 2, 1, Count::host, 777);
}

TEST_CASE("set operations: ranges whose tiles a kernel finds", "[set_operations]") {
  std::mt19937_64 random(73);
  check<float>(1'700'003, 1'500'001, 900'000, false, 1, 0, Count::view, random);
  check<std::int64_t>(1'300'003, 1'500'001, 2000, true, 1, 0, Count::host, random);
}

TEST_CASE("set operations: random sizes", "[set_operations]") {
  const unsigned seed = 20261130;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int call = 0; call < 30; ++call)
    check<float>(static_cast<index_t>(random() % 20000), static_cast<index_t>(random() % 20000),
                 1 + static_cast<int>(random() % 3000), call % 2 == 0, 1 + static_cast<index_t>(random() % 3),
                 static_cast<index_t>(random() % 3), call % 3 == 0 ? Count::host : Count::view, random);
}

TEST_CASE("what set operations refuse", "[set_operations]") {
  const Space exec;
  const Kokkos::View<double*, Space> all("all", 20), other("other", 5);
  const auto part = Kokkos::subview(all, std::pair(0, 5)), rest = Kokkos::subview(all, std::pair(10, 20));
  const auto message = [&](const auto& call) -> std::string {
    try {
      call();
    } catch (const tessera::Error& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  CHECK_THAT(message([&] { (void)tessera::set_union(exec, part, other, all); }),
             ContainsSubstring("tessera::set_union") && ContainsSubstring("overlap"));
  CHECK_THAT(message([&] { (void)tessera::set_difference(exec, other, part, all); }),
             ContainsSubstring("tessera::set_difference") && ContainsSubstring("b"));
  CHECK_THAT(message([&] { (void)tessera::set_intersection(exec, part, other, rest); }),
             ContainsSubstring("nothing was thrown"));
  const Kokkos::View<index_t*, Space> counts("counts", 4);
  const auto count = Kokkos::subview(counts, 1);
  const Kokkos::View<index_t*, Space> keys("keys", 4);
  CHECK_THAT(message([&] { tessera::set_symmetric_difference(exec, counts, keys, keys, count); }),
             ContainsSubstring("tessera::set_symmetric_difference") && ContainsSubstring("overlap"));
  const Kokkos::View<index_t*, Space> out("out", 8);
  CHECK_THAT(message([&] { tessera::set_symmetric_difference(exec, counts, keys, out, count); }),
             ContainsSubstring("count") && ContainsSubstring("overlap"));
}
