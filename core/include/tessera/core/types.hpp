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
  static constexpr int bias = (1 << (Exponent - 1)) - 1;
  static constexpr std::uint32_t sign_bit = 1u << (Exponent + Mantissa);
  static constexpr std::uint32_t all_ones = sign_bit - 1;
  static constexpr std::uint32_t infinity = ((1u << Exponent) - 1) << Mantissa;  // where HasInfinity
  static constexpr std::uint32_t max_finite = HasInfinity ? infinity - 1 : all_ones - 1;

  /// Round to nearest, ties to even, of any value: exact in one rounding, subnormals included.
  TESSERA_FUNCTION static constexpr std::uint32_t encode(double value) {
    const std::uint64_t source = bit_cast<std::uint64_t>(value);
    const std::uint32_t sign = static_cast<std::uint32_t>(source >> 63) << (Exponent + Mantissa);
    const std::uint64_t magnitude = source & 0x7fffffffffffffffu;
    if (magnitude > 0x7ff0000000000000u) return nan_bits(sign);
    if (magnitude == 0x7ff0000000000000u) return sign | above_range();
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
    if (exponent > bias + 1) return sign | above_range();
    const std::uint64_t field =
        missing > 0 ? rounded : (static_cast<std::uint64_t>(exponent + bias - 1) << Mantissa) + rounded;
    if (field > max_finite) return sign | above_range();
    return sign | static_cast<std::uint32_t>(field);
  }

  /// Exact.
  TESSERA_FUNCTION static constexpr float decode(std::uint32_t bits) {
    const std::uint32_t sign = (bits & sign_bit) ? 0x80000000u : 0u;
    const std::uint32_t magnitude = bits & all_ones;
    if constexpr (HasInfinity) {
      if (magnitude >= infinity)
        return bit_cast<float>(sign | 0x7f800000u | ((magnitude & (infinity - 1) & ((1u << Mantissa) - 1))
                                                          << (23 - Mantissa)));
    } else {
      if (magnitude == all_ones) return bit_cast<float>(sign | 0x7fc00000u);
    }
    const std::uint32_t exponent = magnitude >> Mantissa;
    const std::uint32_t mantissa = magnitude & ((1u << Mantissa) - 1);
    if (exponent != 0)
      return bit_cast<float>(sign | ((exponent + 127 - bias) << 23) | (mantissa << (23 - Mantissa)));
    if constexpr (bias == 127) {  // bfloat16: its subnormals are float's
      return bit_cast<float>(sign | (mantissa << (23 - Mantissa)));
    } else {
      // mantissa * 2^(1 - bias - Mantissa), exact in float
      const float unit = bit_cast<float>(static_cast<std::uint32_t>(127 + 1 - bias - Mantissa) << 23);
      const float value = static_cast<float>(mantissa) * unit;
      return sign ? -value : value;
    }
  }

 private:
  TESSERA_FUNCTION static constexpr std::uint32_t above_range() {
    return OnOverflow == Overflow::saturate || !HasInfinity ? max_finite : infinity;
  }
  TESSERA_FUNCTION static constexpr std::uint32_t nan_bits(std::uint32_t sign) {
    if constexpr (OnOverflow == Overflow::saturate)
      return HasInfinity ? (sign & 0u) | all_ones : (sign & 0u) | all_ones;  // the hardware's canonical NaN
    else
      return (sign & 0u) | all_ones;
  }
};

/// A storage type: it converts, it does not compute. Arithmetic happens in accumulator_t.
template <class Bits, class Format>
struct StoredFloat {
  using bits_type = Bits;
  using format = Format;

  Bits bits;

  StoredFloat() = default;
  template <class T>
    requires(std::is_arithmetic_v<T>)
  TESSERA_INLINE_FUNCTION constexpr explicit StoredFloat(T value)
      : bits(static_cast<Bits>(Format::encode(static_cast<double>(value)))) {}

  [[nodiscard]] TESSERA_INLINE_FUNCTION static constexpr StoredFloat from_bits(Bits b) {
    StoredFloat f{};
    f.bits = b;
    return f;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): widening is exact
  TESSERA_INLINE_FUNCTION constexpr operator float() const { return Format::decode(bits); }
};

}  // namespace detail

/// IEEE binary16; overflow rounds to infinity.
using half = detail::StoredFloat<std::uint16_t, detail::FloatFormat<5, 10, true, detail::Overflow::to_infinity>>;
/// The upper half of a float; overflow rounds to infinity.
using bfloat16 = detail::StoredFloat<std::uint16_t, detail::FloatFormat<8, 7, true, detail::Overflow::to_infinity>>;
/// OCP FP8 E4M3: no infinity, largest 448; conversions saturate.
using fp8_e4m3 = detail::StoredFloat<std::uint8_t, detail::FloatFormat<4, 3, false, detail::Overflow::saturate>>;
/// OCP FP8 E5M2: largest finite 57344; conversions saturate.
using fp8_e5m2 = detail::StoredFloat<std::uint8_t, detail::FloatFormat<5, 2, true, detail::Overflow::saturate>>;

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
