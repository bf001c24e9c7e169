// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <tessera/core/portability.hpp>

/// \file
/// Our own narrow floating-point storage types, with the hardware's bits on every backend, and the rules that
/// go with element types: accumulator_t, is_complex_v, real_t. Knows neither Kokkos nor a vendor.
///
/// Every conversion rounds once, to nearest with ties to even, from whatever arithmetic type it starts. A NaN becomes
/// the one canonical NaN (0x7fff, 0x7f); widening is exact and of a NaN gives a NaN of unspecified payload.

namespace tessera {
namespace detail {

/// std::bit_cast is host-only for device compilers that do not relax constexpr.
template <class To, class From>
[[nodiscard]] TESSERA_INLINE_FUNCTION constexpr To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

/// What happens to a magnitude above the largest finite value.
enum class Overflow { to_infinity, saturate };

/// A binary interchange-like format of at most 16 bits: sign, `Exponent` bits, `Mantissa` bits.
/// `HasInfinity`: the top exponent encodes infinity and NaN (IEEE 754); otherwise only the all-ones pattern is
/// NaN and the rest of the top exponent is finite (OCP FP8 E4M3).
template <int Exponent, int Mantissa, bool HasInfinity, Overflow OnOverflow>
struct FloatFormat {
  static constexpr int exponent_bits = Exponent;
  static constexpr int mantissa_bits = Mantissa;
  static constexpr bool has_infinity = HasInfinity;
  static constexpr int bias = (1 << (Exponent - 1)) - 1;
  static constexpr std::uint32_t sign_bit = 1u << (Exponent + Mantissa);
  static constexpr std::uint32_t all_ones = sign_bit - 1;
  static constexpr std::uint32_t infinity = ((1u << Exponent) - 1) << Mantissa;  // where HasInfinity
  static constexpr std::uint32_t max_finite = HasInfinity ? infinity - 1 : all_ones - 1;
  static constexpr std::uint32_t nan = all_ones;  // what the hardware's conversions give for every NaN
  static constexpr std::uint32_t above_range = OnOverflow == Overflow::saturate || !HasInfinity ? max_finite : infinity;

  /// Round to nearest, ties to even, of any value: exact in one rounding, subnormals included.
  TESSERA_FUNCTION static constexpr std::uint32_t encode(double value) {
    const std::uint64_t source = bit_cast<std::uint64_t>(value);
    const std::uint32_t sign = static_cast<std::uint32_t>(source >> 63) << (Exponent + Mantissa);
    const std::uint64_t magnitude = source & 0x7fffffffffffffffu;
    if (magnitude > 0x7ff0000000000000u) return nan;
    if (magnitude == 0x7ff0000000000000u) return sign | above_range;
    const int source_exponent = static_cast<int>(magnitude >> 52);
    if (source_exponent == 0) return sign;  // a double subnormal is far below half the smallest value here
    const int exponent = source_exponent - 1023;
    const std::uint64_t significand = (magnitude & 0xfffffffffffffu) | 0x10000000000000u;
    // bits to drop: more of them below the smallest normal number
    const int missing = exponent < 1 - bias ? (1 - bias) - exponent : 0;
    const int drop = 52 - Mantissa + missing;
    if (drop > 53) return sign;  // below half of the smallest subnormal
    const std::uint64_t kept = significand >> drop;
    const std::uint64_t rest = significand & ((std::uint64_t{1} << drop) - 1);
    const std::uint64_t half_way = std::uint64_t{1} << (drop - 1);
    const std::uint64_t rounded = kept + ((rest > half_way || (rest == half_way && (kept & 1))) ? 1 : 0);
    // a normal number carries its hidden bit in `rounded`, which adds one to the exponent field; a carry out of
    // the mantissa moves the exponent up by itself
    if (exponent > bias + 1) return sign | above_range;
    const std::uint64_t field =
        missing > 0 ? rounded : (static_cast<std::uint64_t>(exponent + bias - 1) << Mantissa) + rounded;
    if (field > max_finite) return sign | above_range;
    return sign | static_cast<std::uint32_t>(field);
  }

  /// The same from float, in 32-bit arithmetic.
  TESSERA_FUNCTION static constexpr std::uint32_t encode(float value) {
    constexpr int drop = 23 - Mantissa;
    const std::uint32_t source = bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (source >> 31) << (Exponent + Mantissa);
    const std::uint32_t magnitude = source & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return nan;
    if constexpr (bias != 127) {  // bfloat16 has float's exponents and so no subnormals of its own
      constexpr std::uint32_t smallest_normal = static_cast<std::uint32_t>(1 - bias + 127) << 23;
      if (magnitude < smallest_normal) {
        // adding 2^23 units of the last place lets the float adder round, ties to even
        constexpr std::uint32_t shift = static_cast<std::uint32_t>(127 + 23 + 1 - bias - Mantissa) << 23;
        const float moved = bit_cast<float>(magnitude) + bit_cast<float>(shift);
        return sign | (bit_cast<std::uint32_t>(moved) - shift);
      }
    }
    const std::uint32_t moved = magnitude - (static_cast<std::uint32_t>(127 - bias) << 23);
    const std::uint32_t field = (moved + ((1u << (drop - 1)) - 1) + ((moved >> drop) & 1)) >> drop;
    return sign | (field > max_finite ? above_range : field);
  }

  /// Exact.
  TESSERA_FUNCTION static constexpr float decode(std::uint32_t bits) {
    const std::uint32_t sign = (bits & sign_bit) ? 0x80000000u : 0u;
    const std::uint32_t magnitude = bits & all_ones;
    if constexpr (bias == 127) {
      return bit_cast<float>(bits << 16);
    } else {
      // mantissa * 2^(1 - bias - Mantissa), exact in float
      constexpr std::uint32_t unit = static_cast<std::uint32_t>(127 + 1 - bias - Mantissa) << 23;
      if (magnitude < (1u << Mantissa))
        return bit_cast<float>(sign | bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) *
                                                              bit_cast<float>(unit)));
      constexpr std::uint32_t shift = static_cast<std::uint32_t>(127 - bias) << 23;
      std::uint32_t wide = (magnitude << (23 - Mantissa)) + shift;
      if constexpr (HasInfinity) {
        if (magnitude >= infinity) wide += shift;  // infinity and NaN: to the top exponent
      } else {
        if (magnitude == nan) wide = 0x7fc00000u;
      }
      return bit_cast<float>(sign | wide);
    }
  }
};

/// Where a processor converts in one instruction: `encode` and `decode` as those of the format, bit for bit (a NaN may
/// widen to another NaN). Backends specialise it for their devices; what they mark available is used in device code.
template <class Format>
struct DeviceConversion {
  static constexpr bool available = false;
};

/// The same for the host compiler's own type.
template <class Format>
struct HostConversion {
  static constexpr bool available = false;
};

/// An integer of any width as a double that rounds to any narrower format as the integer would: above 2^53 the
/// dropped bits are gathered in the last one ("round to odd"), so that no tie is made or lost.
template <class T>
TESSERA_INLINE_FUNCTION constexpr double odd_double(T value) {
  if constexpr (sizeof(T) <= 4) {
    return static_cast<double>(value);
  } else {
    bool negative = false;
    if constexpr (std::is_signed_v<T>) negative = value < 0;
    std::uint64_t magnitude = static_cast<std::uint64_t>(value);
    if (negative) magnitude = ~magnitude + 1;
    double scale = 1;
    if (magnitude >> 53 != 0) {
      magnitude = (magnitude >> 11) | ((magnitude & 0x7ffu) != 0 ? 1u : 0u);
      scale = 2048;
    }
    const double exact = static_cast<double>(magnitude) * scale;
    return negative ? -exact : exact;
  }
}

/// A long double of any width in the same way. Host only.
constexpr double odd_double(long double value) {
  const double near = static_cast<double>(value);
  const auto back = static_cast<long double>(near);
  if (back == value || !(value == value)) return near;
  std::uint64_t bits = bit_cast<std::uint64_t>(near);
  const bool outside = value < 0 ? back < value : back > value;
  if (outside) --bits;  // towards zero; an infinity becomes the largest finite double
  return bit_cast<double>(bits | 1u);
}

/// A storage type: it converts, it does not compute. It widens to float by itself, so that comparisons and
/// expressions are float's; narrowing is always written out. Sums belong in accumulator_t.
template <class Bits, class Format>
struct StoredFloat {
  using bits_type = Bits;
  using format = Format;

  Bits bits;

  StoredFloat() = default;

  TESSERA_INLINE_FUNCTION constexpr explicit StoredFloat(float value) : bits(narrowed(value)) {}
  TESSERA_INLINE_FUNCTION constexpr explicit StoredFloat(double value)
      : bits(static_cast<Bits>(Format::encode(value))) {}
  constexpr explicit StoredFloat(long double value) : bits(static_cast<Bits>(Format::encode(odd_double(value)))) {}
  template <std::integral T>
  TESSERA_INLINE_FUNCTION constexpr explicit StoredFloat(T value)
      : bits(static_cast<Bits>(Format::encode(odd_double(value)))) {}
  template <class B, class F>
    requires(!std::is_same_v<F, Format>)
  TESSERA_INLINE_FUNCTION constexpr explicit StoredFloat(const StoredFloat<B, F>& other)
      : StoredFloat(static_cast<float>(other)) {}

  [[nodiscard]] TESSERA_INLINE_FUNCTION static constexpr StoredFloat from_bits(Bits b) {
    StoredFloat f{};
    f.bits = b;
    return f;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): widening is exact
  TESSERA_INLINE_FUNCTION constexpr operator float() const {
    if (!__builtin_is_constant_evaluated()) {
#if TESSERA_DEVICE_PASS
      if constexpr (DeviceConversion<Format>::available) return DeviceConversion<Format>::decode(bits);
#else
      if constexpr (HostConversion<Format>::available) return HostConversion<Format>::decode(bits);
#endif
    }
    return Format::decode(bits);
  }

 private:
  TESSERA_INLINE_FUNCTION static constexpr Bits narrowed(float value) {
    if (!__builtin_is_constant_evaluated()) {
#if TESSERA_DEVICE_PASS
      if constexpr (DeviceConversion<Format>::available)
        return static_cast<Bits>(DeviceConversion<Format>::encode(value));
#else
      if constexpr (HostConversion<Format>::available) return static_cast<Bits>(HostConversion<Format>::encode(value));
#endif
    }
    return static_cast<Bits>(Format::encode(value));
  }
};

using HalfFormat = FloatFormat<5, 10, true, Overflow::to_infinity>;
using Bfloat16Format = FloatFormat<8, 7, true, Overflow::to_infinity>;
using Fp8E4m3Format = FloatFormat<4, 3, false, Overflow::saturate>;
using Fp8E5m2Format = FloatFormat<5, 2, true, Overflow::saturate>;

#if !TESSERA_DEVICE_PASS && (defined(__F16C__) || defined(__ARM_FP16_FORMAT_IEEE))
/// The compiler's own 16-bit type, where it is an instruction and not a library call.
template <>
struct HostConversion<HalfFormat> {
  static constexpr bool available = true;
  TESSERA_INLINE_FUNCTION static std::uint32_t encode(float value) {
    const auto bits = bit_cast<std::uint16_t>(static_cast<_Float16>(value));
    return value == value ? bits : HalfFormat::nan;
  }
  TESSERA_INLINE_FUNCTION static float decode(std::uint16_t bits) {
    return static_cast<float>(bit_cast<_Float16>(bits));
  }
};
#endif

}  // namespace detail

/// IEEE binary16; overflow rounds to infinity.
using half = detail::StoredFloat<std::uint16_t, detail::HalfFormat>;
/// The upper half of a float; overflow rounds to infinity.
using bfloat16 = detail::StoredFloat<std::uint16_t, detail::Bfloat16Format>;
/// OCP FP8 E4M3: no infinity, largest 448; conversions saturate, infinities included.
using fp8_e4m3 = detail::StoredFloat<std::uint8_t, detail::Fp8E4m3Format>;
/// OCP FP8 E5M2: largest finite 57344; conversions saturate, infinities included.
using fp8_e5m2 = detail::StoredFloat<std::uint8_t, detail::Fp8E5m2Format>;

template <class T>
inline constexpr bool is_stored_float_v = false;
template <class Bits, class Format>
inline constexpr bool is_stored_float_v<detail::StoredFloat<Bits, Format>> = true;

/// True for complex numbers: any type with a value_type and real() and imag() members of that type.
template <class T>
inline constexpr bool is_complex_v = requires(const T& z) {
  typename T::value_type;
  { z.real() } -> std::convertible_to<typename T::value_type>;
  { z.imag() } -> std::convertible_to<typename T::value_type>;
};

namespace detail {
template <class T>
struct RealOf {
  using type = T;
};
template <class T>
  requires(is_complex_v<T>)
struct RealOf<T> {
  using type = typename T::value_type;
};

template <class T>
struct Accumulator {
  using type = T;
};
template <class T>
  requires(is_stored_float_v<T>)
struct Accumulator<T> {
  using type = float;
};
template <class T>
  requires(std::is_integral_v<T> && sizeof(T) < 4)
struct Accumulator<T> {
  using type = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
};
}  // namespace detail

/// The real type behind a complex one; the type itself otherwise.
template <class T>
using real_t = typename detail::RealOf<T>::type;

/// The type in which products of T are summed: float for 8- and 16-bit floats, 32 bits for narrower integers.
template <class T>
using accumulator_t = typename detail::Accumulator<T>::type;

/// conj(z) for complex types, the value itself for all others.
template <class T>
[[nodiscard]] TESSERA_INLINE_FUNCTION constexpr T conj_value(const T& z) {
  if constexpr (is_complex_v<T>)
    return T(z.real(), -z.imag());
  else
    return z;
}

}  // namespace tessera

/// What the standard tells of its own floating-point types, of ours. epsilon() is the distance from 1 to the next.
template <class Bits, class Format>
class std::numeric_limits<tessera::detail::StoredFloat<Bits, Format>> {
  using T = tessera::detail::StoredFloat<Bits, Format>;
  static constexpr int m = Format::mantissa_bits;
  static constexpr int top = Format::has_infinity ? Format::bias : Format::bias + 1;  // exponent of the largest value
  // whole part of a * log10(2) for |a| below 1000
  static constexpr int decimal(int a) { return static_cast<int>(a * 0.30102999566398120 + (a < 0 ? -1 : 0)); }

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = Format::has_infinity;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = false;
  static constexpr bool is_iec559 = false;  // it stores, it does not compute
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr std::float_round_style round_style = std::round_to_nearest;
  static constexpr int radix = 2;
  static constexpr int digits = m + 1;
  static constexpr int digits10 = decimal(m);
  static constexpr int max_digits10 = decimal(m + 1) + 2;
  static constexpr int min_exponent = 2 - Format::bias;
  static constexpr int min_exponent10 = decimal(1 - Format::bias) + 1;
  static constexpr int max_exponent = top + 1;
  static constexpr int max_exponent10 = decimal(top);

  static constexpr T min() noexcept { return T::from_bits(Bits{1} << m); }
  static constexpr T max() noexcept { return T::from_bits(static_cast<Bits>(Format::max_finite)); }
  static constexpr T lowest() noexcept {
    return T::from_bits(static_cast<Bits>(Format::sign_bit | Format::max_finite));
  }
  static constexpr T denorm_min() noexcept { return T::from_bits(Bits{1}); }
  static constexpr T epsilon() noexcept { return power(-m); }
  static constexpr T round_error() noexcept { return power(-1); }
  /// The largest finite value where the format has no infinity.
  static constexpr T infinity() noexcept {
    return T::from_bits(static_cast<Bits>(has_infinity ? Format::infinity : Format::max_finite));
  }
  static constexpr T quiet_NaN() noexcept { return T::from_bits(static_cast<Bits>(Format::nan)); }
  static constexpr T signaling_NaN() noexcept { return quiet_NaN(); }

 private:
  static constexpr T power(int exponent) {
    return T(tessera::detail::bit_cast<float>(static_cast<std::uint32_t>(127 + exponent) << 23));
  }
};
