// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <numeric>
#include <support/level1.hpp>

#include <tessera/gather.hpp>
#include <tessera/scatter.hpp>

using namespace level1;
using Catch::Matchers::ContainsSubstring;
using tessera::Determinism;

namespace {

struct alignas(8) Bytes16 {
  std::uint64_t a, b;
};

template <class T>
T value_of(std::uint64_t i) {
  T v{};
  const std::uint64_t bits[2] = {i * 0x9e3779b97f4a7c15u, i * 0xbf58476d1ce4e5b9u};
  std::memcpy(static_cast<void*>(&v), bits, sizeof v);
  return v;
}

struct Strides {
  index_t x = 1, index = 1, y = 1, offset = 0;
  [[nodiscard]] std::string text() const {
    return "strides " + std::to_string(x) + ", " + std::to_string(index) + ", " + std::to_string(y) + ", offset " +
           std::to_string(offset);
  }
};
const Strides all_strides[] = {{}, {2, 1, 1, 0}, {1, 3, 2, 1}, {1, 1, 1, 1}, {3, 2, 1, 0}, {1, 1, 5, 2}};

template <class T, class Index>
void check_gather(index_t n, index_t extent, const Strides& s, std::mt19937_64& random) {
  INFO("gather of " << n << " from " << extent << ", " << s.text());
  std::vector<T> x, expected;
  std::vector<Index> index;
  for (index_t i = 0; i < extent; ++i) x.push_back(value_of<T>(random()));
  for (index_t i = 0; i < n; ++i) {
    index.push_back(static_cast<Index>(i < 2 ? i * (extent - 1) : static_cast<index_t>(random() % extent)));
    expected.push_back(x[static_cast<std::size_t>(index.back())]);
  }
  Operand<T> from({extent, 1, s.x, 0, s.offset}), to({n, 1, s.y, 0, s.offset});
  Operand<Index> positions({n, 1, s.index, 0, s.offset});
  fill(from, x);
  fill(positions, index);
  to.upload();
  tessera::gather(Space(), from.vector(), positions.vector(), to.vector());
  require_same(to, expected);
}

template <class T, class Index>
void check_scatter(index_t n, index_t extent, const Strides& s, std::mt19937_64& random) {
  INFO("scatter of " << n << " to " << extent << ", " << s.text());
  std::vector<index_t> places(static_cast<std::size_t>(extent));
  std::iota(places.begin(), places.end(), index_t{0});
  std::shuffle(places.begin(), places.end(), random);
  std::vector<T> x, expected;
  std::vector<Index> index;
  for (index_t i = 0; i < extent; ++i) expected.push_back(value_of<T>(random()));
  Operand<T> to({extent, 1, s.y, 0, s.offset});
  fill(to, expected);
  for (index_t i = 0; i < n; ++i) {
    index.push_back(static_cast<Index>(places[static_cast<std::size_t>(i)]));
    x.push_back(value_of<T>(random()));
    expected[static_cast<std::size_t>(index.back())] = x.back();
  }
  Operand<T> from({n, 1, s.x, 0, s.offset});
  Operand<Index> positions({n, 1, s.index, 0, s.offset});
  fill(from, x);
  fill(positions, index);
  tessera::scatter(Space(), from.vector(), positions.vector(), to.vector());
  require_same(to, expected);
}

/// Whole numbers, so that every order gives the same sum.
template <class T>
T whole(std::uint64_t r) {
  if constexpr (tessera::is_complex_v<T>)
    return T(static_cast<typename T::value_type>(static_cast<int>(r % 17) - 8),
             static_cast<typename T::value_type>(static_cast<int>(r >> 8 & 15) - 8));
  else
    return static_cast<T>(static_cast<int>(r % 17) - 8);
}

template <class T, class Index>
void check_scatter_add(index_t n, index_t extent, const Strides& s, Determinism determinism, std::mt19937_64& random) {
  INFO("scatter_add of " << n << " to " << extent << ", " << s.text() << ", determinism "
                         << static_cast<int>(determinism));
  std::vector<T> x, expected;
  std::vector<Index> index;
  for (index_t i = 0; i < extent; ++i) expected.push_back(whole<T>(random()));
  Operand<T> to({extent, 1, s.y, 0, s.offset}), from({n, 1, s.x, 0, s.offset});
  fill(to, expected);
  for (index_t i = 0; i < n; ++i) {
    index.push_back(static_cast<Index>(random() % extent));
    x.push_back(whole<T>(random()));
    T& e = expected[static_cast<std::size_t>(index.back())];
    e = static_cast<T>(e + x.back());
  }
  Operand<Index> positions({n, 1, s.index, 0, s.offset});
  fill(from, x);
  fill(positions, index);
  tessera::scatter_add(Space(), from.vector(), positions.vector(), to.vector(), {.determinism = determinism});
  require_same(to, expected);
}

}  // namespace

template <>
Bytes16 test_values::random_value<Bytes16>(std::mt19937& random) {
  return {random(), random()};
}

TEMPLATE_TEST_CASE("gather and scatter move every bit", "[gather]", std::uint8_t, tessera::half, float, std::int32_t,
                   double, Kokkos::complex<float>, Kokkos::complex<double>, Bytes16) {
  using T = TestType;
  std::mt19937_64 random(41);
  for (const auto& s : all_strides)
    for (const index_t n : {0, 1, 2, 7, 8, 9, 31, 32, 33, 4097, 20011}) {
      check_gather<T, std::int32_t>(n, 1000, s, random);
      check_gather<T, std::int64_t>(n, n < 100 ? 1 : 30011, s, random);
      check_scatter<T, std::int32_t>(n, n + 3, s, random);
      check_scatter<T, std::int64_t>(n, n + 1000, s, random);
    }
}

TEMPLATE_TEST_CASE("scatter_add adds what equal indices bring", "[scatter_add]", std::int32_t, std::int64_t, float,
                   double, Kokkos::complex<float>, Kokkos::complex<double>) {
  using T = TestType;
  std::mt19937_64 random(42);
  for (const auto& s : all_strides)
    for (const auto determinism : {Determinism::fast, Determinism::reproducible, Determinism::portable})
      for (const index_t n : {0, 1, 2, 33, 49, 1000, 20011}) {
        check_scatter_add<T, std::int32_t>(n, 1, s, determinism, random);
        check_scatter_add<T, std::int64_t>(n, 100, s, determinism, random);
        check_scatter_add<T, std::int32_t>(n, 70001, s, determinism, random);
      }
}

TEMPLATE_TEST_CASE("scatter_add: the bits of the documented order", "[scatter_add]", float, double) {
  using T = TestType;
  std::mt19937_64 random(43);
  const index_t n = 50021, extent = 300;
  std::vector<T> x, expected(extent);
  std::vector<std::int32_t> index;
  for (index_t i = 0; i < n; ++i) {
    x.push_back(static_cast<T>(
        std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53 - 0.5, static_cast<int>(random() % 60) - 30)));
    index.push_back(static_cast<std::int32_t>(random() % extent));
  }
  for (index_t j = 0; j < extent; ++j) expected[static_cast<std::size_t>(j)] = static_cast<T>(random() % 100) / 7;
  Operand<T> from({n, 1, 2}), to({extent});
  Operand<std::int32_t> positions({n});
  fill(from, x);
  fill(positions, index);
  fill(to, expected);
  std::vector<double> sums(extent);
  for (index_t i = 0; i < n; ++i)
    sums[static_cast<std::size_t>(index[static_cast<std::size_t>(i)])] +=
        static_cast<double>(x[static_cast<std::size_t>(i)]);
  for (std::size_t j = 0; j < extent; ++j) expected[j] = static_cast<T>(static_cast<double>(expected[j]) + sums[j]);
  tessera::scatter_add(Space(), from.vector(), positions.vector(), to.vector(), {.determinism = Determinism::portable});
  require_same(to, expected);
}

TEST_CASE("scatter with equal indices puts one of the values, whole", "[gather]") {
  const auto x = operand(std::vector<float>{1, 2, 3, 4});
  const auto index = operand(std::vector<std::int32_t>{1, 1, 0, 1});
  Operand<float> y({3}, 9.0F);
  tessera::scatter(Space(), x.vector(), index.vector(), y.vector());
  y.download();
  REQUIRE(y.after(0) == 3);
  REQUIRE((y.after(1) == 1 || y.after(1) == 2 || y.after(1) == 4));
  REQUIRE(y.after(2) == 9);
}

TEST_CASE("integers wrap in scatter_add", "[scatter_add]") {
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  const auto x = operand(std::vector<std::int32_t>{most, 1, 1});
  const auto index = operand(std::vector<std::int64_t>{0, 0, 0});
  Operand<std::int32_t> y({1}, 0);
  tessera::scatter_add(Space(), x.vector(), index.vector(), y.vector());
  y.download();
  REQUIRE(y.after(0) == std::numeric_limits<std::int32_t>::min() + 1);
}

TEST_CASE("gather, scatter and scatter_add refuse what they cannot do", "[gather]") {
  const Kokkos::View<float*, Space> x("x", 10), y("y", 9), z("z", 20);
  const Kokkos::View<int*, Space> index("index", 10), to("to", 10);
  const Kokkos::View<int*, Space> part = Kokkos::subview(index, Kokkos::pair(0, 9));
  const auto refused = [](const auto& call, const char* name, const char* what) {
    REQUIRE_THROWS_WITH(call(), ContainsSubstring(name) && ContainsSubstring(what) && ContainsSubstring("gather.cpp"));
  };
  refused([&] { tessera::gather(Space(), x, index, y); }, "tessera::gather", "index is 10 and y is 9");
  refused([&] { tessera::gather(Space(), z, index, Kokkos::subview(z, Kokkos::pair(5, 15))); }, "tessera::gather",
          "y overlaps the input x");
  refused([&] { tessera::gather(Space(), to, index, index); }, "tessera::gather", "y overlaps the input index");
  refused([&] { tessera::scatter(Space(), y, index, x); }, "tessera::scatter", "x is 9 and index is 10");
  refused([&] { tessera::scatter(Space(), x, index, x); }, "tessera::scatter", "y overlaps the input x");
  refused([&] { tessera::scatter_add(Space(), x, part, z); }, "tessera::scatter_add", "x is 10 and index is 9");
  refused([&] { tessera::scatter_add(Space(), to, index, index); }, "tessera::scatter_add",
          "y overlaps the input index");
  if constexpr (tessera::debug_checks && tessera::is_host_space<Space>) {
    Kokkos::deep_copy(index, 10);
    refused([&] { tessera::gather(Space(), x, index, Kokkos::subview(z, Kokkos::pair(0, 10))); }, "tessera::gather",
            "index 0 is 10");
    refused([&] { tessera::scatter(Space(), Kokkos::subview(z, Kokkos::pair(0, 10)), index, x); }, "tessera::scatter",
            "indices lie in [0, 10)");
    Kokkos::deep_copy(index, -1);
    refused([&] { tessera::scatter_add(Space(), Kokkos::subview(z, Kokkos::pair(0, 10)), index, x); },
            "tessera::scatter_add", "index 0 is -1");
  }
}
