// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Element values for tests: random ones, ones that must not be read, and their exact wide equals.

#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

#include <tessera/core/types.hpp>

namespace test_values {

using Wide = std::complex<long double>;

template <class T>
Wide wide(const T& v) {
  if constexpr (tessera::is_complex_v<T>)
    return {static_cast<long double>(v.real()), static_cast<long double>(v.imag())};
  else
    return {static_cast<long double>(v), 0.0L};
}

/// In [-1, 1], parts of complex numbers each; integers in [-9, 9].
template <class T>
T random_value(std::mt19937& random) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::uniform_int_distribution<int>(-9, 9)(random));
  } else if constexpr (tessera::is_complex_v<T>) {
    std::uniform_real_distribution<double> d(-1, 1);
    const auto re = static_cast<typename T::value_type>(d(random));
    return T(re, static_cast<typename T::value_type>(d(random)));
  } else {
    return static_cast<T>(std::uniform_real_distribution<double>(-1, 1)(random));
  }
}

/// What must not be read: NaN where there is one, else a value that spoils every sum.
template <class T>
T poison() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::min() / 3;
  else if constexpr (tessera::is_complex_v<T>)
    return T(std::numeric_limits<typename T::value_type>::quiet_NaN(), 1);
  else
    return std::numeric_limits<T>::quiet_NaN();
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace test_values
