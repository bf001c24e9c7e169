// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <support/level1.hpp>

#include <tessera/core/machine.hpp>
#include <tessera/histogram.hpp>

using namespace level1;
using Catch::Matchers::ContainsSubstring;

namespace {

#define TESSERA_HISTOGRAM_TYPES                                                                                     \
  std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, \
      tessera::half, tessera::bfloat16, float, double

template <class T>
using Level = tessera::histogram_level_t<T>;
using Integer = __int128;

/// What the tests compute with: exact for integers of 64 bits; floats as they are compared.
template <class T>
using Exact = std::conditional_t<std::is_integral_v<T>, Integer, Level<T>>;

/// The documented edges, one by one.
template <class T>
std::vector<Exact<T>> even_edges(Level<T> lower, Level<T> upper, int bins) {
  std::vector<Exact<T>> edges;
  for (int i = 0; i <= bins; ++i) {
    if constexpr (std::is_integral_v<T>) {
      const Integer range = static_cast<Integer>(upper) - static_cast<Integer>(lower);
      edges.push_back(static_cast<Integer>(lower) + (range * i + bins - 1) / bins);
    } else {
      const double width = (static_cast<double>(upper) - static_cast<double>(lower)) / bins;
      const auto edge = static_cast<Level<T>>(std::fma(static_cast<double>(i), width, static_cast<double>(lower)));
      edges.push_back(i == bins ? upper : std::min(edge, upper));
    }
  }
  return edges;
}

struct Expected {
  std::vector<std::int64_t> counts;
  std::int64_t outside[3] = {};
};

/// Each value compared with the edges, from the top down.
template <class T>
Expected reference(const std::vector<T>& x, const std::vector<Exact<T>>& edges, bool closed) {
  const std::size_t bins = edges.size() - 1;
  Expected r;
  r.counts.resize(bins);
  for (const T& value : x) {
    const auto v = static_cast<Exact<T>>(value);  // NOLINT(bugprone-signed-char-misuse): the sign is meant
    if constexpr (!std::is_integral_v<T>)
      if (std::isnan(v)) {
        ++r.outside[2];
        continue;
      }
    if (v < edges[0]) {
      ++r.outside[0];
    } else if (v > edges[bins] || (v == edges[bins] && !(closed && bins > 0))) {
      ++r.outside[1];
    } else if (v == edges[bins]) {
      ++r.counts[bins - 1];
    } else {
      const auto above = std::upper_bound(edges.begin(), edges.end(), v);
      ++r.counts[static_cast<std::size_t>(above - edges.begin()) - 1];
    }
  }
  return r;
}

template <class Count>
void require_counts(Operand<Count>& counts, const std::int64_t* expected, std::size_t n, const char* what) {
  counts.download();
  for (std::size_t i = 0; i < n; ++i) {
    INFO(what << " " << i);
    if (static_cast<std::int64_t>(counts.after(static_cast<index_t>(i))) != expected[i])
      REQUIRE(static_cast<std::int64_t>(counts.after(static_cast<index_t>(i))) == expected[i]);
  }
}

struct Strides {
  index_t x = 1, counts = 1, outside = 1, offset = 0;
};

/// Both forms of a call, with and without `outside`, against the reference. Old counts are garbage.
template <class Count, class T, class Call>
void check(const std::vector<T>& x, const std::vector<Exact<T>>& edges, bool closed, const Strides& s,
           const Call& call) {
  const auto bins = static_cast<index_t>(edges.size()) - 1;
  const Expected expected = reference(x, edges, closed);
  Operand<T> values({static_cast<index_t>(x.size()), 1, s.x, 0, s.offset});
  fill(values, x);
  for (const bool told : {false, true}) {
    INFO(x.size() << " values, stride " << s.x << ", " << bins << " bins" << (closed ? ", closed" : "")
                  << (told ? ", outside told" : ""));
    Operand<Count> counts({bins, 1, s.counts, 0, s.offset}, Count(77)), outside({3, 1, s.outside}, Count(77));
    if (told)
      call(values.vector(), counts.vector(), outside.vector());
    else
      call(values.vector(), counts.vector());
    require_counts(counts, expected.counts.data(), expected.counts.size(), "bin");
    if (told) require_counts(outside, expected.outside, 3, "outside");
  }
}

template <class Count, class T>
void check_even(const std::vector<T>& x, Level<T> lower, Level<T> upper, int bins, bool closed, const Strides& s = {}) {
  check<Count>(x, even_edges<T>(lower, upper, bins), closed, s, [&](const auto& values, const auto&... results) {
    tessera::histogram(Space(), values, lower, upper, results..., {.last_closed = closed});
  });
}

template <class Count, class T>
void check_edges(const std::vector<T>& x, const std::vector<T>& edges, bool closed, const Strides& s = {},
                 index_t edge_stride = 1) {
  Operand<T> given({static_cast<index_t>(edges.size()), 1, edge_stride});
  fill(given, edges);
  const std::vector<Exact<T>> exact(edges.begin(), edges.end());
  check<Count>(x, exact, closed, s, [&](const auto& values, const auto&... results) {
    tessera::histogram(Space(), values, given.vector(), results..., {.last_closed = closed});
  });
}

/// Values in and round [-2, 2), edges among them, and what no bin takes.
template <class T>
std::vector<T> some_values(index_t n, std::mt19937_64& random) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (auto& v : x) {
    const std::uint64_t r = random();
    if constexpr (std::is_integral_v<T>) {
      v = static_cast<T>(r);
    } else {
      using L = std::numeric_limits<T>;
      switch (r % 16) {
        case 0:
          v = r >> 8 & 1 ? L::quiet_NaN() : static_cast<T>(-static_cast<float>(L::quiet_NaN()));
          break;
        case 1:
          v = r >> 8 & 1 ? L::infinity() : static_cast<T>(-static_cast<float>(L::infinity()));
          break;
        case 2:
          v = r >> 8 & 1 ? L::max() : L::lowest();
          break;
        case 3:
        case 4:
        case 5:
          v = static_cast<T>(static_cast<float>(static_cast<int>(r >> 8 & 31) - 16) / 8);  // eighths
          break;
        case 6:
          v = static_cast<T>(static_cast<float>(static_cast<int>(r >> 8 & 31) - 16) / 10);  // tenths
          break;
        default:
          v = static_cast<T>(static_cast<double>(r >> 11) * 0x1p-53 * 5 - 2.5);
      }
    }
  }
  return x;
}

template <class T>
std::pair<Level<T>, Level<T>> whole_range() {
  using L = std::numeric_limits<T>;
  if constexpr (std::is_integral_v<T>)
    return {static_cast<Level<T>>(L::min()), static_cast<Level<T>>(L::max())};
  else
    return {Level<T>(-2), Level<T>(2)};
}

// bins of scratch tables, of several of them, and those that go to memory
const int bin_counts[] = {1, 2, 3, 7, 256, 1000, 12345, 70001};

}  // namespace

// sizes round the hosts' blocks and the devices' batches
TEMPLATE_TEST_CASE("histogram of even bins", "[histogram]", TESSERA_HISTOGRAM_TYPES) {
  using T = TestType;
  std::mt19937_64 random(31);
  const auto [lower, upper] = whole_range<T>();
  constexpr index_t batch = 512 * 4 * 16 / static_cast<index_t>(sizeof(T));
  for (const index_t n : {index_t{0}, index_t{1}, index_t{2}, index_t{511}, index_t{512}, index_t{513}, batch - 1,
                          batch, batch + 1, index_t{100003}}) {
    const auto x = some_values<T>(n, random);
    for (const int bins : {1, 7, 256}) {
      check_even<std::int32_t>(x, lower, upper, bins, false);
      check_even<std::int64_t>(x, lower, upper, bins, true);
    }
  }
  const auto x = some_values<T>(20011, random);
  for (const int bins : bin_counts) {
    check_even<std::uint64_t>(x, lower, upper, bins, false);
    check_even<std::int32_t>(x, lower, upper, bins, true);
    // a part of the range, not cut by a power of two
    const auto third = static_cast<Level<T>>(upper / 3);
    check_even<std::int64_t>(x, static_cast<Level<T>>(lower / 3), third, bins, bins % 2 == 0);
    if constexpr (sizeof(T) <= 4 && std::is_integral_v<T>) check_even<std::int64_t>(x, -1000, 100000, bins, false);
  }
}

// bins from 0 on whose width is a power of two: all edges are exact, and so is the product that finds the bin
TEMPLATE_TEST_CASE("histogram of whole numbers", "[histogram]", float, double, tessera::half, tessera::bfloat16) {
  using T = TestType;
  using L = std::numeric_limits<T>;
  std::mt19937_64 random(37);
  std::vector<T> x{T(-0.0F), T(0.0F), L::denorm_min(), static_cast<T>(-static_cast<float>(L::denorm_min())), L::max()};
  if constexpr (std::is_same_v<T, double>) {
    x.push_back(-L::denorm_min());
    x.push_back(std::nextafter(64.0, 0.0));
  }
  for (int i = 0; i < 9000; ++i) x.push_back(static_cast<T>(static_cast<float>(static_cast<int>(random() % 700) - 20)));
  for (int i = 0; i < 3000; ++i) x.push_back(static_cast<T>(static_cast<float>(random() % 5000) / 7.0F));
  for (const float upper : {1.0F, 64.0F, 256.0F, 512.0F, 300.0F})
    for (const int bins : {1, 64, 256, 300}) {
      check_even<std::int32_t>(x, Level<T>(0), static_cast<Level<T>>(upper), bins, false);
      check_even<std::int64_t>(x, Level<T>(0), static_cast<Level<T>>(upper), bins, true);
    }
}

TEMPLATE_TEST_CASE("histogram of any strides", "[histogram]", TESSERA_HISTOGRAM_TYPES) {
  using T = TestType;
  std::mt19937_64 random(32);
  const auto [lower, upper] = whole_range<T>();
  for (const index_t n : {1, 511, 5003}) {
    const auto x = some_values<T>(n, random);
    for (const int bins : {3, 100, 12345}) {
      check_even<std::int32_t>(x, lower, upper, bins, false, {3, 2, 2, 1});
      check_even<std::int64_t>(x, lower, upper, bins, false, {1, 1, 5, 1});  // unaligned
      check_even<std::uint64_t>(x, lower, upper, bins, true, {2, 1, 1, 3});
    }
  }
}

TEMPLATE_TEST_CASE("histogram of given edges", "[histogram]", TESSERA_HISTOGRAM_TYPES) {
  using T = TestType;
  std::mt19937_64 random(33);
  for (const index_t n : {0, 1, 513, 20011}) {
    const auto x = some_values<T>(n, random);
    for (const int bins : {0, 1, 2, 7, 256, 6000, 12345}) {
      std::vector<T> edges;
      for (const T v : some_values<T>(4 * bins + 16, random)) {
        if (static_cast<index_t>(edges.size()) > bins) break;
        // infinities too; many are equal
        if (v == v) edges.push_back(v);  // NOLINT(misc-redundant-expression): a NaN is not
      }
      REQUIRE(static_cast<index_t>(edges.size()) == bins + 1);
      std::sort(edges.begin(), edges.end());
      check_edges<std::int32_t>(x, edges, false);
      check_edges<std::uint64_t>(x, edges, true, {2, 3, 1, 1}, 2);
    }
  }
}

TEST_CASE("case A16: bin arithmetic neither truncates nor wraps", "[histogram][cases]") {
  const auto counted = [](const auto& x, auto lower, auto upper, int bins) {
    const auto values = operand(x);
    Operand<std::int32_t> counts({bins}, 77), outside({3}, 77);
    tessera::histogram(Space(), values.vector(), lower, upper, counts.vector(), outside.vector());
    counts.download();
    outside.download();
    std::vector<int> all;
    all.reserve(static_cast<std::size_t>(bins) + 3);
    for (int i = 0; i < bins; ++i) all.push_back(counts.after(i));
    for (int i = 0; i < 3; ++i) all.push_back(outside.after(i));
    return all;
  };
  REQUIRE(counted(std::vector<std::int32_t>{2, 6, 7, 2, 3, 0, 2, 2, 6, 999}, 0, 12, 7) ==
          std::vector<int>{1, 5, 0, 2, 1, 0, 0, 0, 1, 0});
  auto wide = counted(std::vector<std::int32_t>{-1500000000, 0, 1499999999}, -1500000000, 1500000000, 100);
  for (int i = 0; i < 103; ++i) REQUIRE(wide[static_cast<std::size_t>(i)] == (i == 0 || i == 50 || i == 99 ? 1 : 0));
  REQUIRE(counted(std::vector<std::int16_t>{-32768, -1, 0, 32767}, -32768, 32768, 4) ==
          std::vector<int>{1, 1, 1, 1, 0, 0, 0});
  REQUIRE(counted(std::vector<std::int8_t>{-128, -1, 0, 127}, -128, 128, 2) == std::vector<int>{2, 2, 0, 0, 0});
  const float nan = std::nanf(""), inf = HUGE_VALF;
  REQUIRE(counted(std::vector<float>{nan, -inf, inf, -nan, 0, 1, 0.5F}, 0, 1, 2) == std::vector<int>{1, 1, 1, 2, 2});
  // tenths are edges, each in the bin above it
  std::vector<float> tenths;
  tenths.reserve(10);
  for (int i = 0; i < 10; ++i) tenths.push_back(static_cast<float>(i) / 10);
  REQUIRE(counted(tenths, 0, 1, 10) == std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0});
  // the ends of 64 bits
  constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  REQUIRE(counted(std::vector<std::int64_t>{least, least + 1, -1, 0, most - 1, most}, least, most, 2) ==
          std::vector<int>{3, 2, 0, 1, 0});
  constexpr auto top = std::numeric_limits<std::uint64_t>::max();
  REQUIRE(counted(std::vector<std::uint64_t>{0, top / 3 - 1, top / 3, top - 1, top}, 0u, top, 3) ==
          std::vector<int>{2, 1, 1, 0, 1, 0});
  REQUIRE(counted(std::vector<std::int64_t>{most - 3, most - 2, most - 1, most}, most - 3, most, 3) ==
          std::vector<int>{1, 1, 1, 0, 1, 0});
}

TEMPLATE_TEST_CASE("histogram: every value near an edge goes to the right bin", "[histogram]", float, double) {
  using T = TestType;
  struct Bins {
    T lower, upper;
    int bins;
  };
  const T tiny = std::numeric_limits<T>::denorm_min(), big = std::numeric_limits<T>::max() / 2;
  const std::vector<Bins> all = {{0, 1, 10},
                                 {T(-0.3), T(0.7), 333},
                                 {1000000, 1000001, 64},
                                 {1000000, 1000001, 1000},
                                 {0, 3 * tiny, 2},
                                 {-big, big, 256},
                                 {0, std::numeric_limits<T>::min(), 77},
                                 {1, T(1.0001), 256},
                                 {T(-1e-30), T(1e-30), 1023},
                                 {0, 1, 60000},
                                 {T(-1e30), T(1e-3), 17}};
  for (const Bins& b : all) {
    INFO(b.lower << " to " << b.upper << ", " << b.bins);
    std::vector<T> x;
    for (const T e : even_edges<T>(b.lower, b.upper, b.bins)) {
      x.push_back(e);
      x.push_back(std::nextafter(e, T(-HUGE_VAL)));
      x.push_back(std::nextafter(e, T(HUGE_VAL)));
    }
    check_even<std::int64_t>(x, b.lower, b.upper, b.bins, false);
    check_even<std::int64_t>(x, b.lower, b.upper, b.bins, true);
  }
}

TEST_CASE("histogram: integers at every edge", "[histogram]") {
  std::mt19937_64 random(34);
  const auto at_edges = [&]<class T>(T) {
    for (int round = 0; round < 40; ++round) {
      auto a = static_cast<T>(random()), b = static_cast<T>(random());
      if (round % 4 == 0) b = static_cast<T>(a + static_cast<T>(round % 40));
      if (a == b) continue;
      if (b < a) std::swap(a, b);
      const int bins = 1 + static_cast<int>(random() % (round % 3 == 0 ? 5000 : 60));
      std::vector<T> x;
      for (const Integer e : even_edges<T>(a, b, bins))
        for (int step = -1; step <= 1; ++step)
          if (e + step >= std::numeric_limits<T>::min() && e + step <= std::numeric_limits<T>::max())
            x.push_back(static_cast<T>(e + step));
      check_even<std::int64_t>(x, a, b, bins, round % 2 == 0);
    }
  };
  at_edges(std::int8_t{});
  at_edges(std::uint16_t{});
  at_edges(std::int32_t{});
  at_edges(std::uint32_t{});
  at_edges(std::int64_t{});
  at_edges(std::uint64_t{});
}

TEST_CASE("histogram: equal values, and no bins", "[histogram]") {
  check_even<std::int32_t>(std::vector<float>(300007, 0.4F), 0, 1, 256, false);
  check_even<std::int32_t>(std::vector<float>(300007, 7), 0, 1, 256, false);
  check_even<std::int32_t>(std::vector<std::uint8_t>(300007, 255), 0, 256, 256, false);
  // without bins what lies between the ends is counted nowhere
  const auto x = operand(std::vector<float>{-1, 0, 0.5F, 1, 2, std::nanf("")});
  const Kokkos::View<int*, Space> none("none", 0), outside("outside", 3);
  tessera::histogram(Space(), x.vector(), 0, 1, none);
  tessera::histogram(Space(), x.vector(), 0, 1, none, outside);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), outside);
  REQUIRE(host(0) == 1);
  REQUIRE(host(1) == 2);
  REQUIRE(host(2) == 1);
}

TEST_CASE("histogram: one launch counts past what a count of a table could", "[histogram][large]") {
  // a stride of 0 makes many values of one
  const index_t n = (index_t{1} << 32) + 5;
  if (tessera::is_host_space<Space>) SKIP("a device's work");
  const Kokkos::View<float*, Space> one("one", 1);
  const Kokkos::View<float*, Kokkos::LayoutStride, Space> x(one.data(), Kokkos::LayoutStride(n, 0));
  const Kokkos::View<std::int64_t*, Space> counts("counts", 2);
  tessera::histogram(Space(), x, -1, 1, counts);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), counts);
  REQUIRE(host(1) == n);
}

TEST_CASE("histogram: unsorted edges count each value once", "[histogram]") {
  const auto x = operand(std::vector<float>{0.5F, 1.5F, 2.5F, 3.5F});
  const auto edges = operand(std::vector<float>{3, 0, 2, 1});
  Operand<std::int32_t> counts({3}, 77), outside({3}, 77);
  if constexpr (tessera::debug_checks) {
    if (tessera::is_host_space<Space>)
      REQUIRE_THROWS_WITH(tessera::histogram(Space(), x.vector(), edges.vector(), counts.vector()),
                          ContainsSubstring("edges 0 and 1 fall"));
    return;
  }
  tessera::histogram(Space(), x.vector(), edges.vector(), counts.vector(), outside.vector());
  counts.download();
  outside.download();
  int sum = 0;
  for (int i = 0; i < 3; ++i) sum += counts.after(i) + outside.after(i);
  REQUIRE(sum == 4);
}

TEST_CASE("histogram refuses what it cannot count", "[histogram]") {
  const Kokkos::View<float*, Space> x("x", 10);
  const Kokkos::View<std::int8_t*, Space> bytes("bytes", 10);
  const Kokkos::View<std::uint64_t*, Space> words("words", 10);
  const Kokkos::View<int*, Space> counts("counts", 4), two("two", 2), same("same", 10);
  const Kokkos::View<float*, Space> edges("edges", 4);
  const auto refused = [](const auto& call, const char* what) {
    REQUIRE_THROWS_WITH(call(), ContainsSubstring("tessera::histogram") && ContainsSubstring(what) &&
                                    ContainsSubstring("histogram.cpp"));
  };
  refused([&] { tessera::histogram(Space(), x, 1, 1, counts); }, "lower is 1 and upper is 1");
  refused([&] { tessera::histogram(Space(), bytes, 5, -5, counts); }, "lower is 5 and upper is -5");
  refused([&] { tessera::histogram(Space(), x, 0, HUGE_VAL, counts); }, "finite");
  refused([&] { tessera::histogram(Space(), x, 0, 1e300, counts); }, "as floats");
  refused([&] { tessera::histogram(Space(), x, std::nan(""), 1, counts); }, "finite");
  refused([&] { tessera::histogram(Space(), bytes, 0, std::int64_t{1} << 33, counts); }, "at most 2^32");
  refused([&] { tessera::histogram(Space(), words, -1, 5, counts); }, "an end of the bins is -1");
  refused([&] { tessera::histogram(Space(), bytes, 0, ~std::uint64_t{0}, counts); }, "end at 2^63 - 1");
  refused([&] { tessera::histogram(Space(), x, 0, 1, counts, two); }, "outside has 2 elements");
  refused([&] { tessera::histogram(Space(), x, edges, counts); }, "edges has 4 elements and counts has 4");
  refused([&] { tessera::histogram(Space(), same, 0, 1, same); }, "counts overlaps the input x");
  refused([&] { tessera::histogram(Space(), bytes, 0, 1, counts, Kokkos::subview(counts, Kokkos::pair(0, 3))); },
          "outside overlaps");
  const Kokkos::View<int*, Kokkos::LayoutStride, Space> far(counts.data(),
                                                            Kokkos::LayoutStride(std::size_t{1} << 31, 0));
  refused([&] { tessera::histogram(Space(), far, 0, 1, two); }, "Use 64-bit counts");
}
