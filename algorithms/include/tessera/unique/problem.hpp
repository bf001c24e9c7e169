// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tessera/select/problem.hpp>

/// \file
/// Compactions that choose the first element of each run; the problem is select's, with FirstOfRuns.

namespace tessera {

/// Elements are equal as == has it: NaN to nothing, itself included; -0 to +0.
struct Equal {
  template <class T>
  TESSERA_INLINE_FUNCTION constexpr bool operator()(const T& a, const T& b) const {
    return a == b;
  }
};

namespace detail {
template <std::size_t Bytes>
using signed_word_t = std::conditional_t<
    Bytes == 1, std::int8_t,
    std::conditional_t<Bytes == 2, std::int16_t, std::conditional_t<Bytes == 4, std::int32_t, std::int64_t>>>;

/// What elements of T are compared as: integers, if as == has it, as the signed ones of their size.
template <class T, class Equality>
struct RunElement {
  using type = T;
};
template <class T>
  requires(std::is_integral_v<T>)
struct RunElement<T, Equal> {
  using type = signed_word_t<sizeof(T)>;
};
template <class T, class Equality>
using run_element_t = typename RunElement<T, Equality>::type;
}  // namespace detail

}  // namespace tessera
