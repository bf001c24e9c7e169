// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/core/determinism.hpp>
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

/// How a reduction is done: the last argument of dot, nrm2, asum and reduce.
struct ReductionOptions {
  /// fast and reproducible: sums follow an order that depends on n, the space and its number of threads; portable: a
  /// tree that depends on n and the element type alone (level1/fixed_tree.hpp says which), for up to a third more time.
  Determinism determinism = Determinism::fast;
};

/// The type of a norm of T: dot_result_t of the real type behind T.
template <class T>
using norm_result_t = dot_result_t<real_t<T>>;

}  // namespace tessera
