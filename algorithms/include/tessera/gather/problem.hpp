// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/core/refs.hpp>

namespace tessera {

/// Elements of 16 bytes as they are moved; aligned as the least aligned of them.
struct MovedPair {
  std::uint64_t parts[2];
};

/// What elements of so many bytes are moved as: their values do not matter.
template <std::size_t Bytes>
using moved_word_t = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<
        Bytes == 2, std::uint16_t,
        std::conditional_t<Bytes == 4, std::uint32_t, std::conditional_t<Bytes == 8, std::uint64_t, MovedPair>>>>;

/// y_i = x[index_i].
template <class Word, class Index>
struct GatherProblem {
  VectorRef<const Word> x;
  VectorRef<const Index> index;  ///< of y's extent
  VectorRef<Word> y;
};

}  // namespace tessera
