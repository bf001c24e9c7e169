// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/core/portability.hpp>

namespace tessera {

/// What the lanes of a device's warp can tell each other: Kokkos has no votes, and shuffles only as internals. Lane l
/// of warp w is the thread of rank w * width + l of a team with vector length 1. All lanes of the warp must make a
/// call together. The backends specialise it for their devices; hosts have none.
///   using mask = std::uint32_t;  // a bit a lane
///   static constexpr int width;
///   template <int Bits> static mask match(unsigned);        // the lanes whose value, below 2^Bits, is this one's
///   static std::uint32_t shuffle(std::uint32_t, int lane);  // that lane's value
///   static std::uint32_t up(std::uint32_t, int by);         // the value of the lane `by` lower; without one, the own
///   static mask ballot(bool);                               // the lanes that say yes
///   static void sync();                                     // what the lanes wrote before, they see after
///   static void count(std::uint32_t*);                      // adds 1 to a counter in the team's scratch, atomically
/// and of what one team writes while another reads it:
///   static constexpr bool teams_begin_in_order;        // teams of a launch begin in the order of their numbers
///   static void store(std::uint64_t* p, std::uint64_t a, std::uint64_t b);         // p[0] and p[1], soon seen by
///   static void load(const std::uint64_t* p, std::uint64_t& a, std::uint64_t& b);  // such a load of any team
/// p is aligned to 16 bytes; each of the two words is whole, the pair need not be, and nothing is said of other memory.
template <class Space>
struct warp;

namespace detail {
/// What the host pass of a device compiler sees of a warp: it only reads the kernels' text.
struct WarpInHostPass {
  using mask = std::uint32_t;
  static constexpr int width = 32;
  template <int Bits>
  TESSERA_INLINE_FUNCTION static mask match(unsigned /*value*/) {
    return 1;
  }
  TESSERA_INLINE_FUNCTION static std::uint32_t shuffle(std::uint32_t value, int /*lane*/) { return value; }
  TESSERA_INLINE_FUNCTION static std::uint32_t up(std::uint32_t value, int /*by*/) { return value; }
  TESSERA_INLINE_FUNCTION static mask ballot(bool vote) { return vote ? 1u : 0u; }
  TESSERA_INLINE_FUNCTION static void sync() {}
  TESSERA_INLINE_FUNCTION static void count(std::uint32_t* counter) { ++*counter; }
  TESSERA_INLINE_FUNCTION static void load(const std::uint64_t* p, std::uint64_t& a, std::uint64_t& b) {
    a = p[0];
    b = p[1];
  }
  TESSERA_INLINE_FUNCTION static void store(std::uint64_t* p, std::uint64_t a, std::uint64_t b) {
    p[0] = a;
    p[1] = b;
  }
};

/// A value as 32-bit words.
template <class T>
struct Words {
  static constexpr int count = static_cast<int>((sizeof(T) + 3) / 4);
  std::uint32_t word[count] = {};
  Words() = default;
  TESSERA_INLINE_FUNCTION explicit Words(const T& value) { __builtin_memcpy(word, &value, sizeof(T)); }
  [[nodiscard]] TESSERA_INLINE_FUNCTION T value() const {
    T v;
    __builtin_memcpy(&v, word, sizeof(T));
    return v;
  }
};

/// Small numbers packed into registers, since a compiler gives each element of an array one of its own. Indices are
/// constants once loops are unrolled.
template <int Count, int Bits>
struct PackedNumbers {
  static constexpr int each = 32 / Bits;
  std::uint32_t words[(Count + each - 1) / each] = {};
  TESSERA_INLINE_FUNCTION void add(int i, std::uint32_t number) { words[i / each] += number << (i % each * Bits); }
  TESSERA_INLINE_FUNCTION std::uint32_t operator[](int i) const {
    return words[i / each] >> (i % each * Bits) & ((1u << Bits) - 1);
  }
};
}  // namespace detail

/// warp::up of a value of any size.
template <class Space, class T>
[[nodiscard]] TESSERA_INLINE_FUNCTION T warp_up(const T& value, int by) {
  static_assert(std::is_trivially_copyable_v<T>);
  detail::Words<T> w(value);
  for (int i = 0; i < w.count; ++i) w.word[i] = warp<Space>::up(w.word[i], by);
  return w.value();
}
/// warp::shuffle of a value of any size.
template <class Space, class T>
[[nodiscard]] TESSERA_INLINE_FUNCTION T warp_shuffle(const T& value, int lane) {
  static_assert(std::is_trivially_copyable_v<T>);
  detail::Words<T> w(value);
  for (int i = 0; i < w.count; ++i) w.word[i] = warp<Space>::shuffle(w.word[i], lane);
  return w.value();
}

}  // namespace tessera
