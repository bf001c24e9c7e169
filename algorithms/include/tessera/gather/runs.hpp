// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What gather, scatter and scatter_add share: the index is read as many elements at a time as 16 bytes hold, and what
/// lies beside it goes in runs of as many.

#include <Kokkos_Core.hpp>
#include <type_traits>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/level1/walk.hpp>

namespace tessera::detail {

template <class Space, class Index, Access access>
inline constexpr int index_lanes =
    access == Access::strided || machine<Space>::is_host ? 1 : 16 / static_cast<int>(sizeof(Index));

/// Elements of a run that move at once.
template <class T, int N>
inline constexpr int moved_at_once = !std::is_arithmetic_v<T>                ? 1
                                     : N * static_cast<int>(sizeof(T)) <= 16 ? N
                                                                             : 16 / static_cast<int>(sizeof(T));

template <Access access, class T, int N>
TESSERA_INLINE_FUNCTION void put_run(T* y, index_t stride, index_t i, const T (&v)[N]) {
  constexpr int piece = moved_at_once<T, N>;
  if constexpr (access == Access::strided || piece == 1) {
    for (int l = 0; l < N; ++l) y[(i + l) * stride] = v[l];
  } else {
    for (int q = 0; q < N; q += piece) {
      vec<T, piece> part;
      for (int l = 0; l < piece; ++l) part.set(l, v[q + l]);
      part.store_aligned(y + i + q);
    }
  }
}
template <Access access, class T, int N>
TESSERA_INLINE_FUNCTION void fetch_run(const T* x, index_t stride, index_t i, T (&v)[N]) {
  constexpr int piece = moved_at_once<T, N>;
  if constexpr (access == Access::strided || piece == 1) {
    for (int l = 0; l < N; ++l) v[l] = x[(i + l) * stride];
  } else {
    for (int q = 0; q < N; q += piece) {
      const auto part = vec<T, piece>::load_aligned(x + i + q);
      for (int l = 0; l < piece; ++l) v[q + l] = part[l];
    }
  }
}

/// Calls f(access) with that of the index and of what lies beside it.
template <class Space, class Index, class T, class F>
void with_access(const VectorRef<const Index>& index, const VectorRef<T>& beside, const F& f) {
  const bool one = index.extents[0] == 1;
  if (unit_access<Space>(index.pointer, one ? 1 : index.strides[0]) &&
      unit_access<Space>(beside.pointer, one ? 1 : beside.strides[0]))
    f(std::integral_constant<Access, Access::unit>{});
  else
    f(std::integral_constant<Access, Access::strided>{});
}

template <class Space>
index_t moving_workers(const Space& exec, index_t n, int lanes) {
  return worker_count(exec, n, machine<Space>::is_host ? 4096 : index_t{in_flight} * lanes);
}

}  // namespace tessera::detail
