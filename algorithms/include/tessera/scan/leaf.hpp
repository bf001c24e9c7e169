// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <tessera/core/vec.hpp>
#include <tessera/level1/walk.hpp>

/// \file
/// A few elements side by side, as a thread of a scan takes them.

namespace tessera::detail {

template <class T>
inline constexpr bool has_vec = std::is_arithmetic_v<T> || is_stored_float_v<T> || is_complex_v<T>;

/// Where T has no vec: users' structs.
template <class T, int N>
struct PlainPack {
  T lane[N];
  [[nodiscard]] TESSERA_INLINE_FUNCTION const T& operator[](int i) const { return lane[i]; }
  TESSERA_INLINE_FUNCTION void set(int i, const T& value) { lane[i] = value; }
};
template <class T, int N>
struct PackOf {
  using type = PlainPack<T, N>;
};
template <class T, int N>
  requires(has_vec<T>)
struct PackOf<T, N> {
  using type = vec<T, N>;
};
template <class T, int N>
using Pack = typename PackOf<T, N>::type;

/// Elements of a leaf: 16 bytes of the wider type. Part of the tree, so the same on every backend.
template <class TIn, class TOut>
inline constexpr int leaf_of = 16 / static_cast<int>(sizeof(TIn) > sizeof(TOut) ? sizeof(TIn) : sizeof(TOut)) > 0
                                   ? 16 / static_cast<int>(sizeof(TIn) > sizeof(TOut) ? sizeof(TIn) : sizeof(TOut))
                                   : 1;

template <class Space, Access access, bool whole, int N, class T>
[[nodiscard]] TESSERA_INLINE_FUNCTION Pack<T, N> fetch_leaf(const T* p, index_t stride, index_t i, int count) {
  if constexpr (whole && access == Access::unit && has_vec<T>) {
    return fetch<Space, access, N>(p, 1, i);
  } else {
    Pack<T, N> v;
    for (int j = 0; j < N; ++j)
      if (whole || j < count) v.set(j, p[(i + j) * stride]);
    return v;
  }
}
template <class Space, Access access, bool whole, int N, class T>
TESSERA_INLINE_FUNCTION void put_leaf(const Pack<T, N>& v, T* p, index_t stride, index_t i, int count) {
  if constexpr (whole && access == Access::unit && has_vec<T>) {
    put<Space, access>(v, p, 1, i);
  } else {
    for (int j = 0; j < N; ++j)
      if (whole || j < count) p[(i + j) * stride] = v[j];
  }
}

}  // namespace tessera::detail
