// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/core/refs.hpp>

/// \file
/// One problem for all compactions: which elements are chosen, what goes along with them, where their number is
/// wanted.

namespace tessera {

/// Chosen: elements whose flag is not 0.
template <class Flag>
struct ByFlag {
  VectorRef<const Flag> flags;
};
/// Chosen: elements for which the predicate holds.
template <class Predicate>
struct ByPredicate {
  Predicate predicate;
};
/// Chosen: elements that are not equal to the one before them, and the first one.
template <class Equality>
struct FirstOfRuns {
  Equality equal;
};

/// Nothing goes along.
struct Alone {};
/// The values that stand where chosen elements do.
template <class W>
struct WithValues {
  VectorRef<const W> in;
  VectorRef<W> out;
};
/// How far it is from each chosen element to the next one, or to the end.
template <class Length>
struct WithLengths {
  VectorRef<Length> out;
};

/// y_0, y_1, ... = the chosen elements of x in their order. What does not fit into an output is left out.
template <class T, class Choice, class Along = Alone>
struct SelectProblem {
  VectorRef<const T> x;
  VectorRef<T> y;
  Choice choice;
  Along along;
  index_t* count = nullptr;     ///< how many are chosen, in memory that the kernel writes; null: not wanted
  index_t* returned = nullptr;  ///< the same on the host, for which the caller waits; null: not wanted
};

namespace detail {
struct alignas(16) SelectWord16 {
  std::uint64_t parts[2];
};

/// What elements of T are moved as: words of as many bytes, so that types of one size share their code.
template <class T>
struct SelectWord {
  template <std::size_t bytes>
  static constexpr bool is = sizeof(T) == bytes && alignof(T) == bytes;
  using type = std::conditional_t<
      is<1>, std::uint8_t,
      std::conditional_t<
          is<2>, std::uint16_t,
          std::conditional_t<is<4>, std::uint32_t,
                             std::conditional_t<is<8>, std::uint64_t, std::conditional_t<is<16>, SelectWord16, T>>>>>;
};
template <class T>
using select_word_t = typename SelectWord<T>::type;

}  // namespace detail

}  // namespace tessera
