// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <concepts>
#include <source_location>
#include <string>
#include <type_traits>

#include <tessera/core/error.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>

/// \file
/// What algorithms accept as views: Kokkos::View of any layout (strided included), mdspan, and the
/// wrappers transposed(), conjugated(), adjoint() round either. Every public function names one of the concepts
/// below, so that a wrong argument fails in one readable line.

namespace tessera {

/// How a type is seen as strided data. Specialise it to make your own array type a View:
///   value_type (const for read-only), rank, memory_space (void where unknown), conjugates (false),
///   `static StridedRef<value_type, rank> ref(const V&)` (rank 0: a StridedRef of rank 1 and extent 1).
template <class V>
struct view_traits {};

template <class V>
  requires(Kokkos::is_view_v<V>)
struct view_traits<V> {
  using value_type = typename V::value_type;
  using memory_space = typename V::memory_space;
  static constexpr int rank = static_cast<int>(V::rank());
  static constexpr bool conjugates = false;

  static StridedRef<value_type, rank == 0 ? 1 : rank> ref(const V& view) {
    StridedRef<value_type, rank == 0 ? 1 : rank> r;
    r.pointer = view.data();
    if constexpr (rank == 0) {
      r.extents[0] = 1;
      r.strides[0] = 1;
    } else {
      for (int i = 0; i < rank; ++i) {
        r.extents[i] = static_cast<index_t>(view.extent(i));
        r.strides[i] = static_cast<index_t>(view.stride(i));
      }
    }
    return r;
  }
};

namespace detail {
/// Kokkos::mdspan and std::mdspan alike: plain elements behind a plain pointer.
template <class V>
concept MdspanLike = !Kokkos::is_view_v<V> && requires(const V& v) {
  typename V::extents_type;
  typename V::layout_type;
  typename V::accessor_type;
  requires std::is_constructible_v<typename V::element_type*, typename V::data_handle_type>;
  requires std::same_as<typename V::reference, typename V::element_type&>;
  requires V::is_always_strided();
  v.data_handle();
};

/// The accessor tells the memory space where it has one; otherwise void.
template <class Accessor>
struct AccessorMemory {
  using type = void;
};
template <class Accessor>
  requires requires { typename Accessor::memory_space; }
struct AccessorMemory<Accessor> {
  using type = typename Accessor::memory_space;
};
}  // namespace detail

/// A mdspan with strided layout. Most carry no memory space: that the space of the call can reach it is then the
/// caller's duty.
template <class V>
  requires(detail::MdspanLike<V>)
struct view_traits<V> {
  using value_type = typename V::element_type;
  using memory_space = typename detail::AccessorMemory<typename V::accessor_type>::type;
  static constexpr int rank = static_cast<int>(V::rank());
  static constexpr bool conjugates = false;

  static StridedRef<value_type, rank == 0 ? 1 : rank> ref(const V& view) {
    StridedRef<value_type, rank == 0 ? 1 : rank> r;
    r.pointer = static_cast<value_type*>(view.data_handle());
    if constexpr (rank == 0) {
      r.extents[0] = 1;
      r.strides[0] = 1;
    } else {
      for (int i = 0; i < rank; ++i) {
        const auto d = static_cast<typename V::rank_type>(i);
        r.extents[i] = static_cast<index_t>(view.extent(d));
        r.strides[i] = static_cast<index_t>(view.stride(d));
      }
    }
    return r;
  }
};

/// Anything that view_traits describes.
template <class V>
concept View = requires(const std::remove_cvref_t<V>& v) {
  typename view_traits<std::remove_cvref_t<V>>::value_type;
  { view_traits<std::remove_cvref_t<V>>::rank } -> std::convertible_to<int>;
  view_traits<std::remove_cvref_t<V>>::ref(v);
};

template <View V>
using value_t = std::remove_const_t<typename view_traits<std::remove_cvref_t<V>>::value_type>;
template <View V>
inline constexpr int rank_v = view_traits<std::remove_cvref_t<V>>::rank;

/// A View whose elements may be written: not const, and not wrapped in conjugated().
template <class V>
concept MutableView = View<V> && !std::is_const_v<typename view_traits<std::remove_cvref_t<V>>::value_type> &&
                      !view_traits<std::remove_cvref_t<V>>::conjugates;

template <class V>
concept VectorView = View<V> && rank_v<V> == 1;
template <class V>
concept MatrixView = View<V> && rank_v<V> == 2;
template <class V>
concept MutableVectorView = MutableView<V> && rank_v<V> == 1;
template <class V>
concept MutableMatrixView = MutableView<V> && rank_v<V> == 2;
/// A matrix, or a batch of matrices of equal extents: the first index is the batch, whatever the layout.
template <class V>
concept MatricesView = View<V> && (rank_v<V> == 2 || rank_v<V> == 3);
template <class V>
concept MutableMatricesView = MutableView<V> && (rank_v<V> == 2 || rank_v<V> == 3);
/// A rank-0 view: a scalar that stays in the space's memory.
template <class V>
concept ScalarView = View<V> && rank_v<V> == 0;
template <class V>
concept MutableScalarView = MutableView<V> && rank_v<V> == 0;

namespace detail {
template <class V, class Space>
consteval bool accessible() {
  using Memory = typename view_traits<std::remove_cvref_t<V>>::memory_space;
  if constexpr (std::is_void_v<Memory>)
    return true;
  else
    return Kokkos::SpaceAccessibility<Space, Memory>::accessible;
}
}  // namespace detail

/// The kernels of Space can read and write the view's memory.
template <class V, class Space>
concept AccessibleFrom = View<V> && ExecutionSpace<Space> && detail::accessible<V, Space>();

/// A scalar argument: a value convertible to T on the host, or a rank-0 view of T.
template <class S, class T>
concept ScalarOf = (ScalarView<S> && std::same_as<value_t<S>, T>) || (!View<S> && std::convertible_to<S, T>);

/// The same, in memory that Space reads.
template <class S, class T, class Space>
concept ScalarFor = ScalarOf<S, T> && (!View<S> || AccessibleFrom<S, Space>);

/// The plain reference behind a view.
template <View V>
[[nodiscard]] auto ref(const V& view) {
  return view_traits<V>::ref(view);
}
/// The plain read-only reference behind a view.
template <View V>
[[nodiscard]] StridedRef<const value_t<V>, rank_v<V> == 0 ? 1 : rank_v<V>> const_ref(const V& view) {
  return view_traits<V>::ref(view);
}

/// Turns a scalar argument into a ScalarRef<T>.
template <class T, ScalarOf<T> S>
[[nodiscard]] ScalarRef<T> scalar_ref(const S& s) {
  if constexpr (View<S>)
    return {ref(s).pointer, T{}};
  else
    return {nullptr, static_cast<T>(s)};
}

/// A view with its (last two) dimensions swapped, its elements conjugated, or both. Made by transposed(), conjugated()
/// and adjoint(); holds the view, copies nothing.
template <View V, bool Transpose, bool Conjugate>
struct Operated {
  V view;
};

template <View V, bool Transpose, bool Conjugate>
struct view_traits<Operated<V, Transpose, Conjugate>> {
  using value_type = typename view_traits<V>::value_type;
  using memory_space = typename view_traits<V>::memory_space;
  static constexpr int rank = view_traits<V>::rank;
  static constexpr bool conjugates = Conjugate && is_complex_v<std::remove_const_t<value_type>>;

  static auto ref(const Operated<V, Transpose, Conjugate>& wrapped) {
    auto r = view_traits<V>::ref(wrapped.view);
    if constexpr (Transpose) r = transpose_ref(r);
    r.conj = conjugates;
    return r;
  }
};

namespace detail {
template <bool Transpose, bool Conjugate, View V>
auto operated(const V& view) {
  return Operated<V, Transpose, Conjugate>{view};
}
template <bool Transpose, bool Conjugate, View V, bool T, bool C>
auto operated(const Operated<V, T, C>& wrapped) {
  return Operated<V, Transpose != T, Conjugate != C>{wrapped.view};
}
}  // namespace detail

/// A^T, without moving data; of each matrix of a batch.
template <MatricesView V>
[[nodiscard]] auto transposed(const V& view) {
  return detail::operated<true, false>(view);
}
/// conj(A), without moving data; the view itself for real elements.
template <View V>
[[nodiscard]] auto conjugated(const V& view) {
  return detail::operated<false, true>(view);
}
/// A^H, without moving data; of each matrix of a batch.
template <MatricesView V>
[[nodiscard]] auto adjoint(const V& view) {
  return detail::operated<true, true>(view);
}

/// A checked view of memory that somebody else owns (a raw array, a library's buffer).
/// \param pointer  first element; may be null only where an extent is 0
/// \param extents  extents, each >= 0
/// \param strides  strides in elements, each >= 1 for extents above 1; in the order of ascending strides each
///                 dimension steps over all that the ones before it span (so no two indices share an element)
/// \throws Error   naming the argument that breaks a rule
template <class T, std::size_t Rank, class MemorySpace = Kokkos::HostSpace>
[[nodiscard]] auto adopt(T* pointer, const std::array<index_t, Rank>& extents, const std::array<index_t, Rank>& strides,
                         MemorySpace = {}, std::source_location where = std::source_location::current());

/// The same with row-major (LayoutRight) strides.
template <class T, std::size_t Rank, class MemorySpace = Kokkos::HostSpace>
[[nodiscard]] auto adopt(T* pointer, const std::array<index_t, Rank>& extents, MemorySpace space = {},
                         std::source_location where = std::source_location::current()) {
  std::array<index_t, Rank> strides{};
  index_t next = 1;
  for (std::size_t r = Rank; r-- > 0;) {
    strides[r] = next;
    next *= extents[r] > 0 ? extents[r] : 1;
  }
  return adopt(pointer, extents, strides, space, where);
}

namespace detail {
/// Throws unless the box is a valid, non-self-overlapping one for elements of `size` bytes.
void check_adopt(const void* pointer, const index_t* extents, const index_t* strides, int rank, std::size_t size,
                 std::size_t alignment, const std::source_location& where);

template <class T, std::size_t Rank>
struct pointers : pointers<T*, Rank - 1> {};
template <class T>
struct pointers<T, 0> {
  using type = T;
};
}  // namespace detail

template <class T, std::size_t Rank, class MemorySpace>
auto adopt(T* pointer, const std::array<index_t, Rank>& extents, const std::array<index_t, Rank>& strides, MemorySpace,
           std::source_location where) {
  static_assert(Rank >= 1 && Rank <= 4, "tessera::adopt: rank 1 to 4");
  detail::check_adopt(pointer, extents.data(), strides.data(), static_cast<int>(Rank), sizeof(T), alignof(T), where);
  using Result = Kokkos::View<typename detail::pointers<T, Rank>::type, Kokkos::LayoutStride, MemorySpace,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::LayoutStride layout;
  for (std::size_t r = 0; r < Rank; ++r) {
    layout.dimension[r] = static_cast<std::size_t>(extents[r]);
    layout.stride[r] = static_cast<std::size_t>(strides[r]);
  }
  return Result(pointer, layout);
}

}  // namespace tessera
