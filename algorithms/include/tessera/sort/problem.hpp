// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>

namespace tessera {

enum class Order { ascending, descending };

/// Memory that a caller lends a sort: in the space that sorts, aligned to 16 bytes or more.
struct SortWorkspace {
  void* pointer = nullptr;
  std::size_t bytes = 0;
};

struct SortOptions {
  Order order = Order::ascending;  ///< descending: the exact reverse order, equal keys still as they came
  int first_bit = 0;               ///< keys are told apart by bits [first_bit, last_bit) of their ordered form alone:
  int last_bit = -1;               ///< the key, signed keys and floats mapped to unsigned numbers (KeyOrder); -1: to
                                   ///< the end
  std::string path = {};           ///< forces a path by name ("portable"); empty: TESSERA_SORT, else free choice
};

/// How keys lie in memory: their bits as an unsigned word, and whether these are of a float (sign and magnitude).
template <class Word, bool IsFloat>
struct SortKey {
  using word = Word;
  static constexpr bool is_float = IsFloat;
  static constexpr int bits = 8 * static_cast<int>(sizeof(Word));
  static constexpr Word sign = static_cast<Word>(Word{1} << (bits - 1));
};

/// Keys as unsigned words whose order is the order of the sort. Signed integers move their sign bit; of floats
/// negative ones turn round, the two zeros become one word, and every NaN the largest.
template <class Key>
struct KeyOrder {
  using key = Key;
  using Word = typename Key::word;
  Word flip{};      ///< xor: the sign of signed integers; all bits where the order is descending
  Word infinity{};  ///< floats: the magnitude above which a word is NaN

  TESSERA_INLINE_FUNCTION constexpr Word operator()(Word bits) const {
    if constexpr (Key::is_float) {
      const auto magnitude = static_cast<Word>(bits & static_cast<Word>(~Key::sign));
      auto ordered = static_cast<Word>(bits != magnitude ? Word{0} - bits : bits | Key::sign);
      if (magnitude > infinity) ordered = static_cast<Word>(~Word{0});
      return static_cast<Word>(ordered ^ flip);
    } else {
      return static_cast<Word>(bits ^ flip);
    }
  }
};

/// Elements of any trivially copyable type as bytes; null pointer with bytes > 0: the positions 0, 1, ... themselves.
template <class Void>
struct SortValues {
  Void* pointer = nullptr;
  index_t stride = 1;  ///< in elements
  int bytes = 0;       ///< of an element; 0: there are no values
};

/// Stable sort of n keys, and of values with them. in and out are the same or share nothing.
template <class Key>
struct SortProblem {
  using Word = typename Key::word;
  VectorRef<const Word> keys_in;
  VectorRef<Word> keys_out;  ///< null pointer: only the values are wanted
  SortValues<const void> values_in;
  SortValues<void> values_out;
  KeyOrder<Key> order;
  int first_bit = 0;
  int last_bit = Key::bits;

  [[nodiscard]] index_t n() const { return keys_in.extents[0]; }
};

/// Keys of the segments [offsets[s], offsets[s + 1]), each sorted by itself.
template <class Key, class Offset>
struct SegmentedSortProblem {
  SortProblem<Key> sort;  ///< without values
  VectorRef<const Offset> offsets;
};

/// What a choice of path may look at.
struct SortSignature {
  std::int64_t n = 0, strides[4] = {};
  std::uint64_t infinity = 0, flip = 0;
  std::int32_t bits[2] = {}, value_bytes = 0;
  std::uint32_t flags = 0;

  bool operator==(const SortSignature&) const = default;
};

template <class Key>
[[nodiscard]] SortSignature signature_of(const SortProblem<Key>& p) {
  SortSignature s;
  s.n = p.n();
  const auto stride = [&](index_t of) { return s.n > 1 ? of : 1; };
  s.strides[0] = stride(p.keys_in.strides[0]);
  s.strides[1] = stride(p.keys_out.strides[0]);
  s.strides[2] = stride(p.values_in.stride);
  s.strides[3] = stride(p.values_out.stride);
  s.infinity = p.order.infinity;
  s.flip = p.order.flip;
  s.bits[0] = p.first_bit;
  s.bits[1] = p.last_bit;
  s.value_bytes = p.values_out.bytes;
  // words of 4 and 8 bytes move with the keys where they are aligned
  const auto aligned = [&](const void* pointer) {
    return p.values_out.bytes > 0 &&
           reinterpret_cast<std::uintptr_t>(pointer) % static_cast<unsigned>(p.values_out.bytes) == 0;
  };
  s.flags = (p.keys_in.pointer == p.keys_out.pointer ? 1u : 0u) | (p.keys_out.pointer == nullptr ? 2u : 0u) |
            (p.values_in.pointer == nullptr ? 4u : 0u) | (p.values_in.pointer == p.values_out.pointer ? 8u : 0u) |
            (aligned(p.values_in.pointer) ? 16u : 0u) | (aligned(p.values_out.pointer) ? 32u : 0u);
  return s;
}

}  // namespace tessera
