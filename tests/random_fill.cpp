// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <cstring>
#include <support/level1.hpp>

#include <tessera/random_fill.hpp>

using namespace level1;
using Catch::Matchers::ContainsSubstring;
using tessera::Philox;
using tessera::RandomStream;

namespace {

#define TESSERA_RANDOM_TYPES float, double, std::int32_t, std::uint32_t, std::int64_t

using Words = std::array<std::uint32_t, 4>;

/// Philox4x32-10 as the paper has it, one round after the other, in 64-bit arithmetic.
Words philox(Words c, std::uint32_t k0, std::uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = 0xD2511F53ULL * c[0], p1 = 0xCD9E8D57ULL * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return c;
}

std::uint32_t bits32(const RandomStream& from, std::uint64_t i) {
  const std::uint64_t block = i / 4;
  return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                 static_cast<std::uint32_t>(from.stream), static_cast<std::uint32_t>(from.stream >> 32)},
                static_cast<std::uint32_t>(from.seed), static_cast<std::uint32_t>(from.seed >> 32))[i % 4];
}
std::uint64_t bits64(const RandomStream& from, std::uint64_t i) {
  return bits32(from, 2 * i) | static_cast<std::uint64_t>(bits32(from, 2 * i + 1)) << 32;
}

template <class T>
T unit(const RandomStream& from, std::uint64_t i) {
  if constexpr (sizeof(T) == 4)
    return static_cast<T>(std::ldexp(static_cast<double>(bits32(from, i) >> 8), -24));
  else
    return static_cast<T>(std::ldexp(static_cast<double>(bits64(from, i) >> 11), -53));
}

template <class T>
T any_value(const RandomStream& from, std::uint64_t i) {
  if constexpr (!std::is_integral_v<T>)
    return unit<T>(from, i);
  else if constexpr (sizeof(T) == 4)
    return static_cast<T>(bits32(from, i));
  else
    return static_cast<T>(bits64(from, i));
}

template <class T>
T between(const RandomStream& from, std::uint64_t i, T lower, T upper) {
  if constexpr (std::is_integral_v<T>) {
    const auto range = static_cast<unsigned __int128>(static_cast<__int128>(upper) - lower);
    return static_cast<T>(static_cast<__int128>(lower) + static_cast<__int128>(range * bits64(from, i) >> 64));
  } else {
    const T v = std::fma(unit<T>(from, i), upper - lower, lower);
    return v < upper ? v : std::nextafter(upper, lower);
  }
}

template <class T, class Value>
void require_elements(Operand<T>& y, const Value& value) {
  y.download();
  const Shape& s = y.shape();
  index_t wrong = 0;
  y.for_each([&](index_t i, index_t j) {
    wrong += same_bits(y.after(i, j), value(static_cast<std::uint64_t>(i * s.columns + j))) ? 0 : 1;
  });
  REQUIRE(wrong == 0);
}

}  // namespace

TEST_CASE("Philox4x32-10: the known answers", "[random]") {
  const auto same = [](const Words& counter, std::uint32_t k0, std::uint32_t k1, const Words& expected) {
    const Philox b = Philox::cipher({{counter[0], counter[1], counter[2], counter[3]}}, k0, k1);
    for (std::size_t w = 0; w < 4; ++w) REQUIRE(b.word[w] == expected[w]);
    REQUIRE(philox(counter, k0, k1) == expected);
  };
  // kat_vectors of Random123
  same({0, 0, 0, 0}, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  same({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  same({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0,
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("the known answers come out of a view", "[random]") {
  Operand<std::uint32_t> y({4}, 0u);
  tessera::random_fill(Space(), y.vector(), {0, 0});
  y.download();
  const Words expected{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int i = 0; i < 4; ++i) REQUIRE(y.after(i) == expected[static_cast<std::size_t>(i)]);
}

TEMPLATE_TEST_CASE("random_fill: each element is a function of seed, stream and place", "[random]",
                   TESSERA_RANDOM_TYPES) {
  using T = TestType;
  constexpr bool integers = std::is_integral_v<T>;
  const RandomStream from{0x123456789abcdef0u, 0xfedcba9876543210u};
  // sizes round blocks, the hosts' sixteen blocks, and their threads' shares
  std::vector<Shape> shapes;
  for (const index_t n : {0, 1, 2, 3, 4, 5, 63, 64, 65, 1023, 1024, 1025, 70001}) shapes.push_back({n});
  for (const index_t offset : {1, 2, 3}) shapes.push_back({1000, 1, 1, 0, offset});
  shapes.push_back({777, 1, 3, 0, 1});
  shapes.push_back({33, 31, 1, 33});
  shapes.push_back({33, 31, 1, 40});
  shapes.push_back({33, 31, 31, 1});
  shapes.push_back({33, 31, 35, 1});
  shapes.push_back({1, 100, 500, 3});
  shapes.push_back({100, 1, 2, 1});
  shapes.push_back({20, 30, 2, 50, 1});
  shapes.push_back({0, 5, 1, 1});
  for (const Shape& s : shapes) {
    INFO(s.text());
    Operand<T> y(s, T(7));
    const auto fill = [&](const auto&... bounds) {
      if (s.s1 == 0)
        tessera::random_fill(Space(), y.vector(), from, bounds...);
      else
        tessera::random_fill(Space(), y.matrix(), from, bounds...);
    };
    fill();
    require_elements(y, [&](std::uint64_t i) { return any_value<T>(from, i); });
    using L = std::numeric_limits<T>;
    std::vector<std::pair<T, T>> bounds{{T(3), T(10)}, {T(0), T(1)}};
    if constexpr (integers)
      bounds.insert(bounds.end(), {{L::min(), L::max()}, {T(5), T(6)}});
    else
      bounds.insert(bounds.end(), {{T(-0.3), T(0.7)}, {T(1), std::nextafter(T(1), T(2))}, {T(-1e30), T(1e-30)}});
    for (const auto& [lower, upper] : bounds) {
      fill(lower, upper);
      require_elements(y, [&, lower = lower, upper = upper](std::uint64_t i) {
        const T v = between<T>(from, i, lower, upper);
        REQUIRE((v >= lower && v < upper));
        return v;
      });
    }
  }
}

TEST_CASE("random_fill: seeds and streams share nothing, and fill evenly", "[random]") {
  const index_t n = 100000;
  Kokkos::View<double*, Space> x("x", n);
  std::vector<std::vector<double>> all;
  for (const RandomStream& from : {RandomStream{1, 0}, {2, 0}, {1, 1}, {1, std::uint64_t{1} << 32}}) {
    tessera::random_fill(Space(), x, from);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
    all.emplace_back(host.data(), host.data() + n);
    // chi square over 100 bins: mean 99, deviation 14.1
    double chi = 0;
    std::vector<double> counts(100);
    for (const double v : all.back()) counts[static_cast<std::size_t>(v * 100)] += 1;
    for (const double c : counts) chi += (c - n / 100.0) * (c - n / 100.0) / (n / 100.0);
    REQUIRE((chi > 50 && chi < 170));
  }
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      int equal = 0;
      for (std::size_t i = 0; i < all[a].size(); ++i) equal += all[a][i] == all[b][i] ? 1 : 0;
      REQUIRE(equal == 0);
    }
}

TEMPLATE_TEST_CASE("random_normal follows its definition", "[random]", float, double) {
  using T = TestType;
  const RandomStream from{99, 7};
  const T mean = T(1.5), deviation = T(0.25);
  for (const Shape& s :
       {Shape{0}, {1}, {2}, {3}, {5}, {64}, {70001}, {1000, 1, 1, 0, 1}, {999, 1, 2}, {33, 31, 35, 1}}) {
    INFO(s.text());
    Operand<T> y(s, T(7));
    if (s.s1 == 0)
      tessera::random_normal(Space(), y.vector(), from, mean, deviation);
    else
      tessera::random_normal(Space(), y.matrix(), from, mean, deviation);
    y.download();
    long double sum = 0, squares = 0;
    index_t wrong = 0;
    y.for_each([&](index_t i, index_t j) {
      const auto at = static_cast<std::uint64_t>(i * s.columns + j), first = at / 2 * 2;
      long double u, v = static_cast<long double>(unit<T>(from, first + 1));
      if constexpr (sizeof(T) == 4)
        u = std::fma(static_cast<float>(bits32(from, first)), 0x1p-32F, 0x1p-33F);
      else
        u = std::ldexp(static_cast<long double>((bits64(from, first) >> 11) + 1), -53);
      const long double r = std::sqrt(-2 * std::log(u)), a = 6.283185307179586476925286766559L * v;
      const long double z = r * (at % 2 == 0 ? std::cos(a) : std::sin(a));
      const auto found = static_cast<long double>(y.after(i, j));
      // the angle is off by some units of 2 pi, of log and root by few, relatively
      const long double bound = 16 * roundoff<T>() * (1 + r) * deviation + roundoff<T>() * std::fabs(found);
      if (!(std::fabs(found - (mean + deviation * z)) <= bound)) ++wrong;
      const long double standard = (found - mean) / deviation;
      sum += standard;
      squares += standard * standard;
    });
    REQUIRE(wrong == 0);
    if (s.rows == 70001) {  // five deviations of the mean and of the variance
      REQUIRE(std::fabs(sum / 70001) < 5 / std::sqrt(70001.0L));
      REQUIRE(std::fabs(squares / 70001 - 1) < 5 * std::sqrt(2 / 70001.0L));
    }
  }
}

TEST_CASE("random_normal gives the same bits on every backend", "[random]") {
  // of the first 100,003 numbers, as an AMD host with AVX-512 made them
  const auto hash_of = []<class T>(T mean) {
    Operand<T> y(Shape{100'003}, T(7));
    tessera::random_normal(Space(), y.vector(), {2026, 30}, mean, T(0.75));
    y.download();
    std::uint64_t hash = 0xcbf29ce484222325u;
    y.for_each([&](index_t i, index_t j) {
      using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
      hash = (hash ^ std::bit_cast<Bits>(y.after(i, j))) * 0x100000001b3u;
    });
    return hash;
  };
  CHECK(hash_of(0.0F) == 0xfa6a74b4215628afu);
  CHECK(hash_of(0.0) == 0x8438d9d5e3348d2fu);
}

TEST_CASE("random_fill and random_normal refuse bounds without numbers", "[random]") {
  const Kokkos::View<float*, Space> x("x", 4);
  const Kokkos::View<std::int32_t*, Space> k("k", 4);
  const auto refused = [](const auto& call, const char* name, const char* what) {
    REQUIRE_THROWS_WITH(call(),
                        ContainsSubstring(name) && ContainsSubstring(what) && ContainsSubstring("random_fill.cpp"));
  };
  refused([&] { tessera::random_fill(Space(), x, {1}, 1, 1); }, "tessera::random_fill", "lower is 1 and upper is 1");
  refused([&] { tessera::random_fill(Space(), x, {1}, 0, HUGE_VALF); }, "tessera::random_fill", "finite");
  refused([&] { tessera::random_fill(Space(), x, {1}, -3e38F, 3e38F); }, "tessera::random_fill", "finite");
  refused([&] { tessera::random_fill(Space(), x, {1}, std::nanf(""), 1); }, "tessera::random_fill", "finite");
  refused([&] { tessera::random_fill(Space(), k, {1}, 5, -5); }, "tessera::random_fill", "lower is 5 and upper is -5");
  refused([&] { tessera::random_normal(Space(), x, {1}, 0, -1); }, "tessera::random_normal", "deviation is -1");
  refused([&] { tessera::random_normal(Space(), x, {1}, HUGE_VALF, 1); }, "tessera::random_normal", "mean is inf");
}
