// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Elements that move by an index: what may move, by which indices, and the check of the indices in Debug builds.

#include <Kokkos_Core.hpp>
#include <concepts>
#include <source_location>
#include <string>
#include <type_traits>

#include <tessera/core/debug_checks.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/core/views.hpp>
#include <tessera/gather/problem.hpp>

namespace tessera {

/// What gather and scatter move: trivially copyable types of 1, 2, 4, 8 or 16 bytes, aligned as an integer of that size
/// (of 16 bytes: of 8).
template <class T>
concept MovedElement = std::is_trivially_copyable_v<T> &&
                       (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) &&
                       alignof(T) >= alignof(moved_word_t<sizeof(T)>);

/// Positions, as int32 or int64, in memory that Space reads.
template <class V, class Space>
concept IndexView = VectorView<V> && AccessibleFrom<V, Space> &&
                    (std::same_as<value_t<V>, std::int32_t> || std::same_as<value_t<V>, std::int64_t>);

namespace detail {

template <class T, int Rank>
auto moved_words(const StridedRef<T, Rank>& r) {
  using Word = moved_word_t<sizeof(T)>;
  return as_words<std::conditional_t<std::is_const_v<T>, const Word, Word>>(r);
}

template <class Index>
struct IndicesInside {
  const Index* index;
  index_t stride, extent;
  TESSERA_FUNCTION void operator()(index_t i) const {
    const auto j = static_cast<index_t>(index[i * stride]);
    if (j < 0 || j >= extent)
      Kokkos::abort("tessera::gather, scatter or scatter_add: an index lies outside the view that it points into");
  }
};

/// Debug builds: refuses (devices: aborts at) an index outside [0, extent).
template <class Space, class Index>
void check_indices(const Space& exec, const char* function, const VectorRef<const Index>& index, index_t extent,
                   const std::source_location& where) {
  if constexpr (!debug_checks) {
    return;
  } else if constexpr (machine<Space>::is_host) {
    exec.fence("tessera::gather::check_indices");
    for (index_t i = 0; i < index.extents[0]; ++i) {
      const auto j = static_cast<index_t>(index(i));
      require(j >= 0 && j < extent, [&] {
        return Error(function, "index " + std::to_string(i) + " is " + std::to_string(j),
                     "indices lie in [0, " + std::to_string(extent) + ")", "", where);
      });
    }
  } else {
    Kokkos::parallel_for("tessera::gather::check_indices", Range<Space>(exec, 0, index.extents[0]),
                         IndicesInside<Index>{index.pointer, index.strides[0], extent});
  }
}

}  // namespace detail
}  // namespace tessera
