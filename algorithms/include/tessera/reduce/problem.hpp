// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/operations.hpp>
#include <tessera/core/refs.hpp>
#include <tessera/level1/results.hpp>

namespace tessera {
namespace detail {
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || is_stored_float_v<T> || is_complex_v<T>;
/// Sums and products of numbers run and end in a wider type.
template <class T, class Op>
inline constexpr bool counts_wide = is_number<T> && (std::is_same_v<Op, Sum> || std::is_same_v<Op, Product>);
template <class T, class Op>
struct ReduceResult {
  using type = T;
};
template <class T, class Op>
  requires(counts_wide<T, Op>)
struct ReduceResult<T, Op> {
  using type = typename DotResult<T>::type;
};

/// Whether Op on T gives the same bits on every backend where it is applied in one order: all that is rounded by one
/// IEEE operation at a time. What a user's own operation rounds is not known.
template <class T, class Op>
inline constexpr bool portable_operation =
    is_number<T> &&
    (std::is_same_v<Op, Sum> ||
     (!is_complex_v<T> && (std::is_same_v<Op, Product> || std::is_same_v<Op, Minimum> || std::is_same_v<Op, Maximum>)));
}  // namespace detail

/// What reduce gives: dot_result_t<T> for Sum and Product, T for every other operation.
template <class T, class Op>
using reduce_result_t = typename detail::ReduceResult<T, Op>::type;

/// x_0 op x_1 op ..., of a matrix down its columns.
template <class T, class Op>
struct ReduceProblem {
  MatrixRef<const T> x;
  Op op;
  reduce_result_t<T, Op>* result = nullptr;  ///< where the kernel's space writes it; null: the caller waits
  Determinism determinism = Determinism::fast;
};

/// An element and its index.
template <class T>
struct Location {
  T value;
  index_t index;  ///< -1 where there is no element
};

/// The first largest or smallest element.
template <class T>
struct LocationProblem {
  VectorRef<const T> x;
  Location<T>* result = nullptr;  ///< as above
};

/// out_s = reduction of x_i, offsets_s <= i < offsets_(s + 1).
template <class T, class Offset, class Op>
struct SegmentedReduceProblem {
  VectorRef<const T> x;
  VectorRef<const Offset> offsets;
  VectorRef<reduce_result_t<T, Op>> out;
  Op op;
};

}  // namespace tessera
