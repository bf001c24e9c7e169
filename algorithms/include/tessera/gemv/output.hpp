// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>

/// \file
/// What matrix-vector products share: the type of their sums, and the ways of writing y.

namespace tessera::detail {

/// Integers are summed in 64 bits, everything else in accumulator_t.
template <class T>
using product_sum_t = std::conditional_t<std::is_integral_v<T>, std::int64_t, accumulator_t<T>>;

/// Elements that parts of a sum may be added to one by one without losing bits that the sum had.
template <class T>
inline constexpr bool adds_atomically = !is_stored_float_v<T> && sizeof(real_t<T>) >= 4;

/// y = alpha * sum + beta * y as kernels do it: alpha and beta are read when the kernel runs.
template <class T>
struct ProductOutput {
  using A = accumulator_t<T>;
  using S = product_sum_t<T>;

  ScalarRef<A> alpha, beta;
  T* y;
  index_t stride;

  ProductOutput(const ScalarRef<A>& a, const ScalarRef<A>& b, const VectorRef<T>& to)
      : alpha(a), beta(b), y(to.pointer), stride(to.strides[0]) {}

  /// The factors may be read once for many stores.
  TESSERA_INLINE_FUNCTION void store(index_t row, const S& a, const S& b, const S& sum) const {
    T* const to = y + row * stride;
    S result{};
    if (a != S{}) result = a * sum;
    if (b != S{}) result += b * S(*to);
    *to = T(result);
  }
  /// y += value, among other threads.
  TESSERA_INLINE_FUNCTION void add(index_t row, const S& value) const {
    T* const to = y + row * stride;
    if constexpr (is_complex_v<T>) {
      // a complex number may be seen as its two parts; two real additions are faster than a wide compare-and-swap
      using R = typename T::value_type;
      R* const parts = reinterpret_cast<R*>(to);
      Kokkos::atomic_add(parts, value.real());
      Kokkos::atomic_add(parts + 1, value.imag());
    } else if constexpr (adds_atomically<T>) {
      Kokkos::atomic_add(to, T(value));
    }
  }
  /// y += value, alone.
  TESSERA_INLINE_FUNCTION void add_alone(index_t row, const S& value) const {
    T* const to = y + row * stride;
    *to = T(S(*to) + value);
  }
};

/// y = beta * y
template <class T>
struct ScaleOutput {
  ProductOutput<T> out;
  TESSERA_INLINE_FUNCTION void operator()(index_t i) const {
    using S = product_sum_t<T>;
    out.store(i, S{}, S(out.beta.get()), S{});
  }
};

}  // namespace tessera::detail
