// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <tessera/core/execution.hpp>
#include <tessera/core/simd_width.hpp>
#include <tessera/core/vec.hpp>

using Space = TESSERA_TEST_SPACE;
using tessera::index_t;
using tessera::vec;

namespace {

// What a kernel does with two vectors, one array of results for each operation.
enum Operation { plus, minus, times, fused, least, most, absolute, chosen, negated, count };

template <class T, int N>
struct Arithmetic {
  const T* a;
  const T* b;
  T* results;  // count x n
  T* sums;     // one a vector
  T* parts;    // partial stores, guard value elsewhere
  index_t vectors;

  KOKKOS_FUNCTION void operator()(index_t v) const {
    using V = vec<T, N>;
    const index_t n = vectors * N;
    const V x = V::load(a + v * N);
    const V y = V::load_aligned(b + v * N);
    (x + y).store(results + plus * n + v * N);
    (x - y).store_aligned(results + minus * n + v * N);
    (x * y).store(results + times * n + v * N);
    fma(x, y, x).store(results + fused * n + v * N);
    min(x, y).store(results + least * n + v * N);
    max(x, y).store(results + most * n + v * N);
    abs(x).store(results + absolute * n + v * N);
    select(x < y, V(T(1)), V(T(2))).store(results + chosen * n + v * N);
    (-x).store(results + negated * n + v * N);
    sums[v] = reduce_add(x);
    sums[vectors + v] = reduce_max(x);
    sums[2 * vectors + v] = reduce_min(x);
    sums[3 * vectors + v] = T(any(x == y) ? 1 : 0);
    const int some = static_cast<int>(v % (N + 1));
    V::load(a + v * N, some).store(parts + v * N, some);
    V::load_strided(a + v, 2).store_strided(parts + n + v, vectors);
  }
};

template <class T>
T small_value(std::mt19937& random) {
  // small whole numbers: every operation is exact in every type, also after contraction
  return static_cast<T>(std::uniform_int_distribution<int>(std::is_signed_v<T> ? -5 : 0, 5)(random));
}

template <class T, int N>
void check_arithmetic() {
  INFO("lanes " << N << ", bytes an element " << sizeof(T));
  constexpr index_t vectors = 37;
  constexpr index_t n = vectors * N;
  Kokkos::View<T*, Space> a("a", n + 2 * N), b("b", n), results("results", count * n), sums("sums", 4 * vectors),
      parts("parts", 2 * n);
  auto ha = Kokkos::create_mirror_view(a);
  auto hb = Kokkos::create_mirror_view(b);
  std::mt19937 random(1);
  for (index_t i = 0; i < n + 2 * N; ++i) ha(i) = small_value<T>(random);
  for (index_t i = 0; i < n; ++i) hb(i) = small_value<T>(random);
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  Kokkos::deep_copy(parts, T(99));
  Kokkos::parallel_for("tessera::test::vec", tessera::Range<Space>(Space(), 0, vectors),
                       Arithmetic<T, N>{a.data(), b.data(), results.data(), sums.data(), parts.data(), vectors});
  const auto hr = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), results);
  const auto hs = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
  const auto hp = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), parts);
  for (index_t i = 0; i < n; ++i) {
    const T x = ha(i), y = hb(i);
    REQUIRE(hr(plus * n + i) == T(x + y));
    REQUIRE(hr(minus * n + i) == T(x - y));
    REQUIRE(hr(times * n + i) == T(x * y));
    REQUIRE(hr(fused * n + i) == T(x * y + x));
    REQUIRE(hr(least * n + i) == (x < y ? x : y));
    REQUIRE(hr(most * n + i) == (x > y ? x : y));
    REQUIRE(hr(absolute * n + i) == (T(x + 1) < T(1) ? T(-x) : x));
    REQUIRE(hr(chosen * n + i) == (x < y ? T(1) : T(2)));
    REQUIRE(hr(negated * n + i) == T(-x));
  }
  for (index_t v = 0; v < vectors; ++v) {
    T sum = 0, high = ha(v * N), low = ha(v * N);
    bool equal = false;
    for (index_t i = v * N; i < (v + 1) * N; ++i) {
      sum = T(sum + ha(i));
      high = ha(i) > high ? ha(i) : high;
      low = ha(i) < low ? ha(i) : low;
      equal = equal || ha(i) == hb(i);
    }
    REQUIRE(hs(v) == sum);
    REQUIRE(hs(vectors + v) == high);
    REQUIRE(hs(2 * vectors + v) == low);
    REQUIRE(hs(3 * vectors + v) == T(equal ? 1 : 0));
    for (int i = 0; i < N; ++i) {
      REQUIRE(hp(v * N + i) == (i < static_cast<int>(v % (N + 1)) ? ha(v * N + i) : T(99)));
      REQUIRE(hp(n + v + i * vectors) == ha(v + 2 * i));
    }
  }
}

template <class T, int N>
struct ComplexArithmetic {
  const T* a;
  const T* b;
  T* results;  // 6 x n
  T* sums;
  index_t vectors;

  KOKKOS_FUNCTION void operator()(index_t v) const {
    using V = vec<T, N>;
    const index_t n = vectors * N;
    const V x = V::load(a + v * N);
    const V y = V::load_aligned(b + v * N);
    (x + y).store(results + v * N);
    (x - y).store(results + n + v * N);
    (x * y).store_aligned(results + 2 * n + v * N);
    fma(x, y, -x).store(results + 3 * n + v * N);
    conj(x).store(results + 4 * n + v * N);
    fma(V(T(2, -3)), conj(y), x).store(results + 5 * n + v * N);
    sums[v] = reduce_add(x);
  }
};

template <class R, int N>
void check_complex() {
  using T = Kokkos::complex<R>;
  constexpr index_t vectors = 21;
  constexpr index_t n = vectors * N;
  Kokkos::View<T*, Space> a("a", n), b("b", n), results("results", 6 * n), sums("sums", vectors);
  auto ha = Kokkos::create_mirror_view(a);
  auto hb = Kokkos::create_mirror_view(b);
  std::mt19937 random(2);
  for (index_t i = 0; i < n; ++i) {
    ha(i) = T(small_value<R>(random), small_value<R>(random));
    hb(i) = T(small_value<R>(random), small_value<R>(random));
  }
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  Kokkos::parallel_for("tessera::test::vec_complex", tessera::Range<Space>(Space(), 0, vectors),
                       ComplexArithmetic<T, N>{a.data(), b.data(), results.data(), sums.data(), vectors});
  const auto hr = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), results);
  const auto hs = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sums);
  for (index_t v = 0; v < vectors; ++v) {
    T sum{};
    for (index_t i = v * N; i < (v + 1) * N; ++i) {
      const T x = ha(i), y = hb(i);
      const T product(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
      sum += x;
      REQUIRE(hr(i) == x + y);
      REQUIRE(hr(n + i) == x - y);
      REQUIRE(hr(2 * n + i) == product);
      REQUIRE(hr(3 * n + i) == product - x);
      REQUIRE(hr(4 * n + i) == T(x.real(), -x.imag()));
      REQUIRE(hr(5 * n + i) == T(2 * y.real() - 3 * y.imag() + x.real(), -2 * y.imag() - 3 * y.real() + x.imag()));
    }
    REQUIRE(hs(v) == sum);
  }
}

template <class From, class To, int N>
struct Conversion {
  const From* from;
  To* to;
  KOKKOS_FUNCTION void operator()(index_t v) const {
    tessera::convert<To>(vec<From, N>::load_aligned(from + v * N)).store(to + v * N);
  }
};

template <class From, class To, int N>
std::vector<To> converted(const std::vector<From>& values) {
  const auto n = static_cast<index_t>(values.size());
  Kokkos::View<From*, Space> from("from", n);
  Kokkos::View<To*, Space> to("to", n);
  auto host = Kokkos::create_mirror_view(from);
  for (index_t i = 0; i < n; ++i) host(i) = values[i];
  Kokkos::deep_copy(from, host);
  Kokkos::parallel_for("tessera::test::vec_convert", tessera::Range<Space>(Space(), 0, n / N),
                       Conversion<From, To, N>{from.data(), to.data()});
  const auto back = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
  return std::vector<To>(back.data(), back.data() + n);
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class Narrow, int N>
void check_widening() {
  std::vector<Narrow> all(65536);
  for (std::uint32_t bits = 0; bits < 65536; ++bits) all[bits] = Narrow::from_bits(static_cast<std::uint16_t>(bits));
  const std::vector<float> wide = converted<Narrow, float, N>(all);
  const std::vector<double> wider = converted<Narrow, double, N>(all);
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float expected = static_cast<float>(all[bits]);
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(wide[bits]));
      REQUIRE(std::isnan(wider[bits]));
    } else {
      REQUIRE(same_bits(wide[bits], expected));
      REQUIRE(same_bits(wider[bits], static_cast<double>(expected)));
    }
  }
}

template <class Narrow, int N>
void check_narrowing() {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits < (1ull << 32); bits += 65521)
    values.push_back(tessera::detail::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  // values that lie exactly between two neighbours, and one float away on either side
  for (std::uint32_t bits = 0; bits < 65535; ++bits) {
    const float low = static_cast<float>(Narrow::from_bits(static_cast<std::uint16_t>(bits)));
    const float high = static_cast<float>(Narrow::from_bits(static_cast<std::uint16_t>(bits + 1)));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const float middle = low + (high - low) / 2;
    values.insert(values.end(), {low, middle, std::nextafter(middle, 1e38F), std::nextafter(middle, -1e38F)});
  }
  while (values.size() % N != 0) values.push_back(0);
  const std::vector<Narrow> narrow = converted<float, Narrow, N>(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Narrow expected =
        Narrow::from_bits(static_cast<std::uint16_t>(Narrow::format::encode(static_cast<double>(values[i]))));
    INFO("value " << values[i]);
    REQUIRE(narrow[i].bits == expected.bits);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("vec computes lane by lane", "[vec]", float, double, std::int32_t, std::int64_t, std::int8_t,
                   std::uint32_t) {
  constexpr int full = tessera::detail::host_simd_bytes / static_cast<int>(sizeof(TestType));
  check_arithmetic<TestType, full>();
  check_arithmetic<TestType, 1>();
  check_arithmetic<TestType, 2>();
  check_arithmetic<TestType, 3>();
  check_arithmetic<TestType, 16 / static_cast<int>(sizeof(TestType))>();
}

TEMPLATE_TEST_CASE("vec of complex numbers", "[vec]", float, double) {
  check_complex<TestType, 1>();
  check_complex<TestType, 2>();
  check_complex<TestType, tessera::detail::host_simd_bytes / static_cast<int>(2 * sizeof(TestType))>();
}

TEMPLATE_TEST_CASE("vec widens and narrows every 16-bit pattern", "[vec]", tessera::half, tessera::bfloat16) {
  check_widening<TestType, 1>();
  check_widening<TestType, 4>();
  check_widening<TestType, 8>();
  check_narrowing<TestType, 2>();
  check_narrowing<TestType, 4>();
  check_narrowing<TestType, 8>();
}

TEST_CASE("vec converts between arithmetic types", "[vec]") {
  std::vector<float> values(64);
  for (int i = 0; i < 64; ++i) values[i] = static_cast<float>(i) * 1.5F - 40;
  const auto doubles = converted<float, double, 4>(values);
  const auto ints = converted<float, std::int32_t, 8>(values);
  const auto complex = converted<float, Kokkos::complex<double>, 4>(values);
  for (int i = 0; i < 64; ++i) {
    REQUIRE(doubles[i] == static_cast<double>(values[i]));
    REQUIRE(ints[i] == static_cast<std::int32_t>(values[i]));
    REQUIRE(complex[i] == Kokkos::complex<double>(values[i], 0));
  }
}

TEST_CASE("a broadcast keeps the sign of zero and abs clears it", "[vec]") {
  const vec<double, 4> minus_zero(-0.0);
  for (int i = 0; i < 4; ++i) {
    REQUIRE(std::signbit(minus_zero[i]));
    REQUIRE_FALSE(std::signbit(abs(minus_zero)[i]));
  }
  const vec<float, 8> nan(-std::numeric_limits<float>::quiet_NaN());
  REQUIRE_FALSE(std::signbit(abs(nan)[3]));
}
