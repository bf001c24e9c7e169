// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/core/portability.hpp>

/// \file
/// Plain references to strided data: what views become at the boundary of an algorithm. Layouts are run-time
/// strides here, a transpose is a swap of strides, a conjugation is a flag. Nothing here knows Kokkos, so that
/// plain device translation units read the same problem descriptions.

namespace tessera {

/// Extents, strides and counts are 64-bit and signed everywhere.
using index_t = std::int64_t;

/// A strided box of elements that somebody else owns. Strides are in elements and may be negative or zero
/// (zero only for inputs).
template <class T, int Rank>
struct StridedRef {
  using value_type = std::remove_const_t<T>;
  static constexpr int rank = Rank;

  T* pointer = nullptr;
  index_t extents[Rank] = {};
  index_t strides[Rank] = {};
  bool conj = false;  ///< elements are read conjugated (inputs only)

  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t extent(int r) const { return extents[r]; }
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t stride(int r) const { return strides[r]; }
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t size() const {
    index_t n = 1;
    for (int r = 0; r < Rank; ++r) n *= extents[r];
    return n;
  }

  template <class... Index>
    requires(sizeof...(Index) == Rank)
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t offset(Index... index) const {
    const index_t indices[] = {static_cast<index_t>(index)...};
    index_t sum = 0;
    for (int r = 0; r < Rank; ++r) sum += indices[r] * strides[r];
    return sum;
  }
  /// The element itself; `conj` is not applied here.
  template <class... Index>
    requires(sizeof...(Index) == Rank)
  [[nodiscard]] TESSERA_INLINE_FUNCTION T& operator()(Index... index) const {
    return pointer[offset(index...)];
  }

  // NOLINTNEXTLINE(google-explicit-constructor): a read-only reference to what may be written is always right
  template <class U>
    requires(!std::is_const_v<T> && std::is_same_v<U, const T>)
  operator StridedRef<U, Rank>() const {
    StridedRef<U, Rank> r;
    r.pointer = pointer;
    for (int i = 0; i < Rank; ++i) {
      r.extents[i] = extents[i];
      r.strides[i] = strides[i];
    }
    r.conj = conj;
    return r;
  }
};

template <class T>
using VectorRef = StridedRef<T, 1>;
template <class T>
using MatrixRef = StridedRef<T, 2>;

/// A scalar argument: a host value, or a place in memory that the kernel reads when it runs.
template <class T>
struct ScalarRef {
  const T* pointer = nullptr;  ///< in memory that the kernel's space reads, or null
  T value{};                   ///< used where pointer is null

  [[nodiscard]] TESSERA_INLINE_FUNCTION T get() const { return pointer ? *pointer : value; }
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool on_host() const { return pointer == nullptr; }
};

/// The same elements as words of their size, for code that only moves them: it is then compiled once a size.
template <class Word, class T, int Rank>
[[nodiscard]] StridedRef<Word, Rank> as_words(const StridedRef<T, Rank>& r) {
  static_assert(sizeof(Word) == sizeof(T));
  StridedRef<Word, Rank> words;
  words.pointer = reinterpret_cast<Word*>(r.pointer);
  for (int d = 0; d < Rank; ++d) {
    words.extents[d] = r.extents[d];
    words.strides[d] = r.strides[d];
  }
  return words;
}

/// Swaps the last two dimensions: transposes a matrix, or each of a batch.
template <class T, int Rank>
  requires(Rank >= 2)
[[nodiscard]] TESSERA_FUNCTION constexpr StridedRef<T, Rank> transpose_ref(StridedRef<T, Rank> a) {
  const index_t e = a.extents[Rank - 2], s = a.strides[Rank - 2];
  a.extents[Rank - 2] = a.extents[Rank - 1];
  a.strides[Rank - 2] = a.strides[Rank - 1];
  a.extents[Rank - 1] = e;
  a.strides[Rank - 1] = s;
  return a;
}

/// The first matrix of a batch, whose first index counts them; a matrix as itself.
template <class T>
[[nodiscard]] constexpr MatrixRef<T> first_matrix(const StridedRef<T, 3>& batch) {
  return {batch.pointer, {batch.extents[1], batch.extents[2]}, {batch.strides[1], batch.strides[2]}, batch.conj};
}
template <class T>
[[nodiscard]] constexpr MatrixRef<T> first_matrix(const MatrixRef<T>& a) {
  return a;
}

/// A vector as a matrix of one column; a matrix as itself.
template <class T>
[[nodiscard]] constexpr MatrixRef<T> as_matrix(const VectorRef<T>& x) {
  MatrixRef<T> m;
  m.pointer = x.pointer;
  m.extents[0] = x.extents[0];
  m.extents[1] = 1;
  m.strides[0] = x.strides[0];
  m.strides[1] = x.extents[0] * x.strides[0];
  m.conj = x.conj;
  return m;
}
template <class T>
[[nodiscard]] constexpr MatrixRef<T> as_matrix(const MatrixRef<T>& a) {
  return a;
}

}  // namespace tessera
