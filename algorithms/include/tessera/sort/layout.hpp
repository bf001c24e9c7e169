// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the kernels of sort are given once strides and values of odd sizes are out of the way, and how a workspace is
/// cut into the arrays that a sort needs.

#include <tessera/core/execution.hpp>
#include <tessera/sort/problem.hpp>

namespace tessera::detail {

struct NoPayload {};

/// Keys and the words that move with them, side by side in memory. in and out are the same or share nothing; tmp is a
/// third place for as many.
template <class Key, class Payload>
struct SortArrays {
  using Word = typename Key::word;
  index_t n;
  const Word* keys_in;
  Word* keys_out;
  Word* keys_tmp;
  const Payload* values_in;  // null: the positions themselves
  Payload* values_out;
  Payload* values_tmp;
  KeyOrder<Key> order;
  int first_bit, last_bit;
  bool keys_wanted;  // else keys_out is one more place for the passes

  [[nodiscard]] int passes() const { return (last_bit - first_bit + 7) / 8; }
};

template <class Payload>
inline constexpr bool has_payload = !std::is_same_v<Payload, NoPayload>;

/// One digit of a key.
template <class Key>
struct SortDigit {
  KeyOrder<Key> order;
  int shift;
  unsigned mask;
  TESSERA_INLINE_FUNCTION unsigned operator()(typename Key::word bits) const {
    return static_cast<unsigned>(order(bits) >> shift) & mask;
  }
};
/// The digit of a pass over bits [first_bit, last_bit).
template <class Key>
TESSERA_INLINE_FUNCTION SortDigit<Key> digit_of(const KeyOrder<Key>& order, int first_bit, int last_bit, int pass) {
  const int shift = first_bit + 8 * pass;
  const int bits = last_bit - shift < 8 ? last_bit - shift : 8;
  return {order, shift, (1u << bits) - 1};
}
template <class Key, class Payload>
TESSERA_INLINE_FUNCTION SortDigit<Key> digit_of(const SortArrays<Key, Payload>& a, int pass) {
  return digit_of(a.order, a.first_bit, a.last_bit, pass);
}

/// Copies what a sort moves, or writes positions.
template <class Key, class Payload>
struct SortCopy {
  const typename Key::word* keys;
  typename Key::word* keys_to;  // null: not wanted
  const Payload* values;
  Payload* values_to;
  TESSERA_FUNCTION void operator()(index_t i) const {
    if (keys_to != nullptr) keys_to[i] = keys[i];
    if constexpr (has_payload<Payload>) values_to[i] = values != nullptr ? values[i] : static_cast<Payload>(i);
  }
};

/// Hands out pieces of a workspace, or only counts them where it has no memory.
class SortMemory {
 public:
  explicit SortMemory(void* base) : m_base(static_cast<char*>(base)) {}
  template <class T>
  T* take(index_t count) {
    const std::size_t at = m_used;
    m_used += (static_cast<std::size_t>(count) * sizeof(T) + 255) / 256 * 256;
    return m_base == nullptr ? nullptr : reinterpret_cast<T*>(m_base + at);
  }
  [[nodiscard]] std::size_t used() const { return m_used; }

 private:
  char* m_base;
  std::size_t m_used = 0;
};

}  // namespace tessera::detail
