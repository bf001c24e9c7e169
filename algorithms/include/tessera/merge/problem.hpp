// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>

namespace tessera {

/// Whether a comes before b in the order of the house's sorts: -inf < finite < +inf < NaN, the two zeros and all NaNs
/// each equal among themselves; backwards where `descending`.
struct KeyBefore {
  bool descending = false;

  template <class T>
    requires(requires(const T& key) { static_cast<bool>(key < key); })
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool operator()(const T& a, const T& b) const {
    return descending ? rises(b, a) : rises(a, b);
  }

 private:
  template <class T>
  [[nodiscard]] TESSERA_INLINE_FUNCTION static bool rises(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T>)
      return a < b;
    else                           // two comparisons: less or not comparable, and a not the NaN
      return !(a >= b) && a == a;  // NOLINT(misc-redundant-expression): a NaN is not equal to itself
  }
};

namespace detail {
/// KeyBefore whose direction kernels know when they are compiled.
template <bool Descending>
struct FixedKeyBefore {
  template <class T>
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool operator()(const T& a, const T& b) const {
    return KeyBefore{Descending}(a, b);
  }
};
}  // namespace detail

/// Elements that move with nothing.
struct NoValues {};

/// out = a and b, both in the order of `before`, put together in it; of equal keys those of a first, and each key's
/// value with it.
template <class Key, class Value, class Before>
struct MergeProblem {
  static constexpr bool has_values = !std::is_same_v<Value, NoValues>;
  VectorRef<const Key> a, b;
  VectorRef<Key> out;
  VectorRef<const Value> a_values, b_values;
  VectorRef<Value> out_values;
  Before before;
};

}  // namespace tessera
