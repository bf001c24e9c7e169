// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

#include <tessera/core/types.hpp>

/// \file
/// What reductions and scans combine elements with. An operation is associative; a user's own is any type with
/// `T operator()(const T&, const T&) const` and an identity, callable where the kernel runs:
///   struct Gcd {
///     TESSERA_FUNCTION int operator()(int a, int b) const { ... }
///     TESSERA_FUNCTION static int identity() { return 0; }
///   };

namespace tessera {
namespace detail {
template <class T>
TESSERA_INLINE_FUNCTION constexpr bool is_nan(const T& x) {
  return x != x;  // NOLINT(misc-redundant-expression): of a NaN they are not
}
/// The ends of a type's range: infinities where it has them. numeric_limits is host code, so that device code is given
/// constants alone, and of our own types their bits.
template <class T>
inline constexpr T top_value =
    std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
template <class T>
inline constexpr T bottom_value =
    std::numeric_limits<T>::has_infinity ? T(-std::numeric_limits<T>::infinity()) : std::numeric_limits<T>::lowest();
template <class T>
inline constexpr auto top_bits = top_value<T>.bits;
template <class T>
inline constexpr auto bottom_bits = bottom_value<T>.bits;
template <class T>
TESSERA_INLINE_FUNCTION constexpr T top_of() {
  if constexpr (is_stored_float_v<T>)
    return T::from_bits(top_bits<T>);
  else
    return top_value<T>;
}
template <class T>
TESSERA_INLINE_FUNCTION constexpr T bottom_of() {
  if constexpr (is_stored_float_v<T>)
    return T::from_bits(bottom_bits<T>);
  else
    return bottom_value<T>;
}
}  // namespace detail

struct Sum {
  template <class T>
  TESSERA_INLINE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return a + b;
  }
  template <class T>
  TESSERA_INLINE_FUNCTION static constexpr T identity() {
    return T(0);
  }
};
struct Product {
  template <class T>
  TESSERA_INLINE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return a * b;
  }
  template <class T>
  TESSERA_INLINE_FUNCTION static constexpr T identity() {
    return T(1);
  }
};
/// The smallest element; NaN where there is any NaN.
struct Minimum {
  template <class T>
  TESSERA_INLINE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return b < a || detail::is_nan(b) ? b : a;
  }
  template <class T>
  TESSERA_INLINE_FUNCTION static constexpr T identity() {
    return detail::top_of<T>();
  }
};
/// The largest element; NaN where there is any NaN.
struct Maximum {
  template <class T>
  TESSERA_INLINE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return a < b || detail::is_nan(b) ? b : a;
  }
  template <class T>
  TESSERA_INLINE_FUNCTION static constexpr T identity() {
    return detail::bottom_of<T>();
  }
};

/// The identity of an operation on T, whether its `identity` is a template or not.
template <class T, class Op>
[[nodiscard]] TESSERA_INLINE_FUNCTION constexpr T identity_of(const Op&) {
  if constexpr (requires { Op::template identity<T>(); })
    return Op::template identity<T>();
  else
    return Op::identity();
}

template <class Op, class T>
concept Operation = requires(const Op& op, const T& a) {
  { op(a, a) } -> std::convertible_to<T>;
  { identity_of<T>(op) } -> std::convertible_to<T>;
};

}  // namespace tessera
