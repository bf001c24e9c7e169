// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <tessera/core/portability.hpp>

namespace tessera {

/// What the lanes of a device's warp can tell each other: Kokkos has no votes, and shuffles only as internals. Lane l
/// of warp w is the thread of rank w * width + l of a team with vector length 1. All lanes of the warp must make a
/// call together. The backends specialise it for their devices; hosts have none.
///   using mask = std::uint32_t;                      // a bit a lane
///   static constexpr int width;
///   template <int Bits> static mask match(unsigned);   // the lanes whose value, below 2^Bits, is this one's
///   static std::uint32_t shuffle(std::uint32_t, int lane);  // that lane's value
///   static void sync();                                // what the lanes wrote before, they see after
///   static void count(std::uint32_t*);                 // adds 1 to a counter in the team's scratch, as an atomic
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
  TESSERA_INLINE_FUNCTION static void sync() {}
  TESSERA_INLINE_FUNCTION static void count(std::uint32_t* counter) { ++*counter; }
};
}  // namespace detail

}  // namespace tessera
