// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/core/types.hpp>

/// \file
/// What the reductions of level 1 give for each element type.

namespace tessera {
namespace detail {
template <class T>
struct DotResult {
  using type = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;
};
template <class T>
  requires(is_stored_float_v<T>)
struct DotResult<T> {
  using type = float;
};
}  // namespace detail

/// The type of a dot product of T: T for floats and complex, float for narrower floats, 64 bits for integers.
template <class T>
using dot_result_t = typename detail::DotResult<T>::type;

/// The type of a norm of T: dot_result_t of the real type behind T.
template <class T>
using norm_result_t = dot_result_t<real_t<T>>;

}  // namespace tessera
