// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/types.hpp>

using Space = TESSERA_TEST_SPACE;
using tessera::index_t;

namespace {

/// What a format is, written down again from its definition and independent of the code under test: the finite
/// values in ascending order of magnitude, each made by ldexp.
struct Reference {
  int exponent, mantissa;
  bool has_infinity, saturates;

  int bias() const { return (1 << (exponent - 1)) - 1; }
  std::uint32_t sign() const { return 1u << (exponent + mantissa); }
  std::uint32_t largest() const {
    return has_infinity ? (((1u << exponent) - 1) << mantissa) - 1 : (1u << (exponent + mantissa)) - 2;
  }
  std::uint32_t nan() const { return sign() - 1; }
  std::uint32_t overflow() const { return saturates ? largest() : largest() + 1; }
  double value(std::uint32_t magnitude) const {
    const int e = static_cast<int>(magnitude >> mantissa);
    const int m = static_cast<int>(magnitude & ((1u << mantissa) - 1));
    return e == 0 ? std::ldexp(m, 1 - bias() - mantissa) : std::ldexp((1 << mantissa) + m, e - bias() - mantissa);
  }

  /// Nearest, ties to even, by comparison with the midpoint of the two neighbours, in long double.
  std::uint32_t round(long double x) const {
    if (std::isnan(x)) return nan();
    const std::uint32_t s = std::signbit(x) ? sign() : 0;
    const long double a = std::fabs(x);
    // the value after the largest, as if the range went on
    const long double beyond = 2 * static_cast<long double>(value(largest())) - value(largest() - 1);
    std::uint32_t low = 0, high = largest() + 1;  // value(low) <= a < value(high)
    if (a >= beyond) return s | overflow();
    while (high - low > 1) {
      const std::uint32_t middle = (low + high) / 2;
      (static_cast<long double>(value(middle)) <= a ? low : high) = middle;
    }
    const long double below = value(low), above = low == largest() ? beyond : static_cast<long double>(value(low + 1));
    const long double half_way = below + (above - below) / 2;
    const std::uint32_t nearest = a < half_way ? low : a > half_way ? low + 1 : low + (low & 1);
    return s | (nearest > largest() ? overflow() : nearest);
  }
};

template <class T>
Reference reference();
template <>
Reference reference<tessera::half>() {
  return {5, 10, true, false};
}
template <>
Reference reference<tessera::bfloat16>() {
  return {8, 7, true, false};
}
template <>
Reference reference<tessera::fp8_e4m3>() {
  return {4, 3, false, true};
}
template <>
Reference reference<tessera::fp8_e5m2>() {
  return {5, 2, true, true};
}

template <class T>
T pattern(std::uint32_t bits) {
  return T::from_bits(static_cast<typename T::bits_type>(bits));
}
template <class T>
constexpr std::uint32_t patterns = 1u << (8 * sizeof(T));

float float_of(std::uint32_t bits) { return tessera::detail::bit_cast<float>(bits); }

/// Floats that matter to T: every value, every midpoint, the floats next to both, and a walk through all patterns.
template <class T>
std::vector<float> interesting_floats(std::uint64_t stride) {
  std::vector<float> values;
  const Reference r = reference<T>();
  for (std::uint32_t m = 0; m <= r.largest(); ++m) {
    const double here = r.value(m);
    const double next = m == r.largest() ? 2 * here - r.value(m - 1) : r.value(m + 1);
    for (const double x : {here, here + (next - here) / 2}) {
      const auto f = static_cast<float>(x);
      values.insert(values.end(), {f, -f, std::nextafter(f, HUGE_VALF), std::nextafter(f, -HUGE_VALF)});
    }
  }
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += stride)
    values.push_back(float_of(static_cast<std::uint32_t>(bits)));
  const float special[] = {0.0F, -0.0F,         HUGE_VALF, -HUGE_VALF, NAN,
                           -NAN, 3.4028235e38F, 1e-45F,    -1e-45F,    float_of(0x7f800001u)};
  values.insert(values.end(), std::begin(special), std::end(special));
  return values;
}

template <class T>
struct Convert {
  const float* from;
  typename T::bits_type* to;
  float* back;
  KOKKOS_FUNCTION void operator()(index_t i) const {
    const T narrow(from[i]);
    to[i] = narrow.bits;
    back[i] = static_cast<float>(narrow);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("every pattern decodes to its value and encodes to itself", "[types]", tessera::half,
                   tessera::bfloat16, tessera::fp8_e4m3, tessera::fp8_e5m2) {
  using T = TestType;
  const Reference r = reference<T>();
  STATIC_REQUIRE(sizeof(T) == sizeof(typename T::bits_type));
  STATIC_REQUIRE(std::is_trivial_v<T>);
  for (std::uint32_t bits = 0; bits < patterns<T>; ++bits) {
    INFO("pattern " << bits);
    const T x = pattern<T>(bits);
    const std::uint32_t magnitude = bits & ~r.sign();
    const float f = x;
    REQUIRE((tessera::detail::bit_cast<std::uint32_t>(f) ==
                 tessera::detail::bit_cast<std::uint32_t>(T::format::decode(bits)) ||
             f != f));  // the quick way and the portable one
    if (magnitude <= r.largest()) {
      REQUIRE(static_cast<double>(f) == (bits & r.sign() ? -1 : 1) * r.value(magnitude));
      REQUIRE(std::signbit(f) == ((bits & r.sign()) != 0));
      REQUIRE(T(f).bits == bits);
      REQUIRE(T(static_cast<double>(f)).bits == bits);
      REQUIRE(T(static_cast<long double>(f)).bits == bits);
    } else if (r.has_infinity && magnitude == r.largest() + 1) {
      REQUIRE(std::isinf(f));
      REQUIRE(std::signbit(f) == ((bits & r.sign()) != 0));
      REQUIRE(T(f).bits == ((bits & r.sign()) | r.overflow()));
    } else {
      REQUIRE(std::isnan(f));
      REQUIRE(std::isnan(T::format::decode(bits)));
      REQUIRE(T(f).bits == r.nan());
      REQUIRE(T(static_cast<double>(f)).bits == r.nan());
      REQUIRE(T(static_cast<long double>(f)).bits == r.nan());
    }
  }
}

TEMPLATE_TEST_CASE("float rounds once, to nearest even", "[types]", tessera::half, tessera::bfloat16, tessera::fp8_e4m3,
                   tessera::fp8_e5m2) {
  using T = TestType;
  const Reference r = reference<T>();
  for (const float x : interesting_floats<T>(2039)) {
    const std::uint32_t expected = r.round(x);
    if (T(x).bits == expected && T::format::encode(x) == expected &&
        T::format::encode(static_cast<double>(x)) == expected)
      continue;
    INFO("value " << x << ", bits " << tessera::detail::bit_cast<std::uint32_t>(x));
    CHECK(T(x).bits == expected);
    CHECK(T::format::encode(x) == expected);
    REQUIRE(T::format::encode(static_cast<double>(x)) == expected);
  }
}

TEMPLATE_TEST_CASE("double and long double round once, to nearest even", "[types]", tessera::half, tessera::bfloat16,
                   tessera::fp8_e4m3, tessera::fp8_e5m2) {
  using T = TestType;
  const Reference r = reference<T>();
  const auto check = [&](long double x) {
    const auto d = static_cast<double>(x);
    if (T(x).bits == r.round(x) && T(-x).bits == r.round(-x) && T(d).bits == r.round(d)) return;
    INFO("value " << d);
    CHECK(T(x).bits == r.round(x));
    CHECK(T(-x).bits == r.round(-x));
    REQUIRE(T(d).bits == r.round(d));
  };
  for (std::uint32_t m = 0; m <= r.largest(); ++m) {
    const double here = r.value(m);
    const double next = m == r.largest() ? 2 * here - r.value(m - 1) : r.value(m + 1);
    const double middle = here + (next - here) / 2;
    for (const double x : {here, middle, next}) {
      check(x);
      check(std::nextafter(x, HUGE_VAL));
      check(std::nextafter(x, 0.0));
      // a difference that neither float nor double holds
      check(std::nextafter(static_cast<long double>(x), HUGE_VALL));
      check(std::nextafter(static_cast<long double>(x), 0.0L));
    }
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000000; ++i) check(tessera::detail::bit_cast<double>(random()));
  for (const long double x : {static_cast<long double>(std::numeric_limits<double>::max()) * 4,
                              static_cast<long double>(std::numeric_limits<double>::denorm_min()) / 4,
                              static_cast<long double>(HUGE_VALL), 0.0L})
    check(x);
  REQUIRE(T(-std::numeric_limits<double>::quiet_NaN()).bits == r.nan());
}

TEMPLATE_TEST_CASE("integers round once", "[types]", tessera::half, tessera::bfloat16, tessera::fp8_e4m3,
                   tessera::fp8_e5m2) {
  using T = TestType;
  const Reference r = reference<T>();
  for (std::int32_t i = -70000; i <= 70000; ++i) REQUIRE(T(i).bits == r.round(i));
  for (int i = -128; i < 128; ++i) REQUIRE(T(static_cast<std::int8_t>(i)).bits == r.round(i));
  // long double holds every 64-bit integer here
  REQUIRE(std::numeric_limits<long double>::digits >= 64);  // of the host: a device compiler's own pass says less
  const auto check = [&](std::uint64_t u) {
    REQUIRE(T(u).bits == r.round(static_cast<long double>(u)));
    const auto i = static_cast<std::int64_t>(u);
    REQUIRE(T(i).bits == r.round(static_cast<long double>(i)));
  };
  std::mt19937_64 random(4);
  for (int i = 0; i < 200000; ++i) check(random() >> (random() % 64));
  for (int e = 1; e < 64; ++e)
    for (int b = 0; b < e; ++b)
      for (int d = -1; d <= 1; ++d) {
        const std::uint64_t near_tie =
            (std::uint64_t{1} << e) + (std::uint64_t{1} << b) + static_cast<std::uint64_t>(d);
        check(near_tie);
        check(0 - near_tie);
      }
  REQUIRE(T(std::numeric_limits<std::int64_t>::min()).bits == r.round(-0x1p63L));
  REQUIRE(T(true).bits == r.round(1));
}

TEST_CASE("an integer above 2^53 next to a tie does not round twice", "[types]") {
  // 2^60 + 2^52 is a tie of bfloat16; one more must go up, though double cannot tell the two apart
  const std::int64_t tie = (std::int64_t{1} << 60) + (std::int64_t{1} << 52);
  REQUIRE(tessera::bfloat16(tie).bits == 0x5d80);
  REQUIRE(tessera::bfloat16(tie + 1).bits == 0x5d81);
  REQUIRE(tessera::bfloat16(-tie - 1).bits == 0xdd81);
}

#if defined(__FLT16_MAX__)
TEST_CASE("half is the compiler's _Float16", "[types]") {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto f = static_cast<float>(__builtin_bit_cast(_Float16, static_cast<std::uint16_t>(bits)));
    const float ours = pattern<tessera::half>(bits);
    if (!(f == ours && std::signbit(f) == std::signbit(ours)) && !(std::isnan(f) && std::isnan(ours)))
      FAIL("pattern " << bits);
  }
  for (const float x : interesting_floats<tessera::half>(509)) {
    if (std::isnan(x)) continue;
    if (tessera::half(x).bits != __builtin_bit_cast(std::uint16_t, static_cast<_Float16>(x)) ||
        tessera::half::format::encode(x) != tessera::half(x).bits)
      FAIL("value " << x);
  }
}
#endif
#if defined(__BFLT16_MAX__)
TEST_CASE("bfloat16 is the compiler's __bf16", "[types]") {
  for (const float x : interesting_floats<tessera::bfloat16>(509)) {
    if (std::isnan(x)) continue;
    if (tessera::bfloat16(x).bits != __builtin_bit_cast(std::uint16_t, static_cast<__bf16>(x))) FAIL("value " << x);
  }
}
#endif

TEMPLATE_TEST_CASE("kernels convert to the same bits as the host", "[types]", tessera::half, tessera::bfloat16,
                   tessera::fp8_e4m3, tessera::fp8_e5m2) {
  using T = TestType;
  const std::vector<float> values = interesting_floats<T>(4099);
  const auto n = static_cast<index_t>(values.size());
  Kokkos::View<float*, Space> from("from", n), back("back", n);
  Kokkos::View<typename T::bits_type*, Space> to("to", n);
  Kokkos::deep_copy(from, Kokkos::View<const float*, Kokkos::HostSpace>(values.data(), n));
  Kokkos::parallel_for("tessera::test::convert", tessera::Range<Space>(Space(), 0, n),
                       Convert<T>{from.data(), to.data(), back.data()});
  const auto host_to = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
  const auto host_back = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), back);
  for (index_t i = 0; i < n; ++i) {
    const T expected(values[i]);
    const float wide = expected;
    if (host_to(i) == expected.bits && (host_back(i) == wide || (std::isnan(wide) && std::isnan(host_back(i)))))
      continue;
    INFO("value " << values[i]);
    CHECK(host_to(i) == expected.bits);
    REQUIRE(host_back(i) == wide);
  }
}

TEMPLATE_TEST_CASE("numeric_limits", "[types]", tessera::half, tessera::bfloat16, tessera::fp8_e4m3,
                   tessera::fp8_e5m2) {
  using T = TestType;
  using Limits = std::numeric_limits<T>;
  const Reference r = reference<T>();
  STATIC_REQUIRE(Limits::is_specialized);
  STATIC_REQUIRE(Limits::has_infinity == T::format::has_infinity);
  REQUIRE(static_cast<double>(Limits::max()) == r.value(r.largest()));
  REQUIRE(static_cast<double>(Limits::lowest()) == -r.value(r.largest()));
  REQUIRE(static_cast<double>(Limits::min()) == std::ldexp(1.0, 1 - r.bias()));
  REQUIRE(static_cast<double>(Limits::denorm_min()) == r.value(1));
  REQUIRE(static_cast<double>(Limits::epsilon()) == std::ldexp(1.0, -r.mantissa));
  REQUIRE(static_cast<double>(Limits::round_error()) == 0.5);
  REQUIRE(std::isnan(static_cast<float>(Limits::quiet_NaN())));
  if (r.has_infinity) REQUIRE(std::isinf(static_cast<float>(Limits::infinity())));
  // the defining inequalities of the exponents
  REQUIRE(Limits::digits == r.mantissa + 1);
  REQUIRE(std::ldexp(1.0, Limits::min_exponent - 1) == static_cast<double>(Limits::min()));
  REQUIRE(std::ldexp(1.0, Limits::max_exponent - 1) <= static_cast<double>(Limits::max()));
  REQUIRE(std::ldexp(1.0, Limits::max_exponent) > static_cast<double>(Limits::max()));
  REQUIRE(std::pow(10.0, Limits::max_exponent10) <= static_cast<double>(Limits::max()));
  REQUIRE(std::pow(10.0, Limits::max_exponent10 + 1) > static_cast<double>(Limits::max()));
  REQUIRE(std::pow(10.0, Limits::min_exponent10) >= static_cast<double>(Limits::min()));
  REQUIRE(std::pow(10.0, Limits::min_exponent10 - 1) < static_cast<double>(Limits::min()));
}

TEST_CASE("what the standard documents tell of the formats", "[types]") {
  STATIC_REQUIRE(tessera::half(1.0).bits == 0x3c00);
  STATIC_REQUIRE(tessera::half(65504).bits == 0x7bff);
  STATIC_REQUIRE(tessera::half(65519.996F).bits == 0x7bff);
  STATIC_REQUIRE(tessera::half(65520.0F).bits == 0x7c00);
  STATIC_REQUIRE(tessera::bfloat16(1.0F).bits == 0x3f80);
  STATIC_REQUIRE(tessera::fp8_e4m3(448.0F).bits == 0x7e);
  STATIC_REQUIRE(tessera::fp8_e4m3(1e9F).bits == 0x7e);
  STATIC_REQUIRE(tessera::fp8_e5m2(57344.0F).bits == 0x7b);
  STATIC_REQUIRE(tessera::fp8_e5m2(std::numeric_limits<float>::infinity()).bits == 0x7b);
  STATIC_REQUIRE(std::numeric_limits<tessera::half>::digits10 == 3);
  STATIC_REQUIRE(std::numeric_limits<tessera::half>::max_digits10 == 5);
  STATIC_REQUIRE(std::numeric_limits<tessera::bfloat16>::digits10 == 2);
  STATIC_REQUIRE(std::numeric_limits<tessera::bfloat16>::max_digits10 == 4);
}

TEST_CASE("narrow floats store: they compare as floats and do not convert narrowingly by themselves", "[types]") {
  const tessera::half a(1.5F), b(2.0F);
  REQUIRE(a < b);
  REQUIRE(a == 1.5F);
  REQUIRE(tessera::half(0.0F) == tessera::half(-0.0F));
  STATIC_REQUIRE(std::is_same_v<decltype(a + b), float>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<float, tessera::half>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<tessera::bfloat16, tessera::half>);
  STATIC_REQUIRE(std::is_convertible_v<tessera::half, double>);
  REQUIRE(tessera::half(tessera::bfloat16(3.0F)).bits == tessera::half(3.0F).bits);
  REQUIRE(tessera::fp8_e4m3(tessera::half(1000.0F)).bits == 0x7e);
  STATIC_REQUIRE(std::is_same_v<tessera::accumulator_t<tessera::half>, float>);
  STATIC_REQUIRE(std::is_same_v<tessera::accumulator_t<std::int8_t>, std::int32_t>);
  STATIC_REQUIRE(std::is_same_v<tessera::real_t<Kokkos::complex<float>>, float>);
}
