// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include <tessera/core/portability.hpp>
#include <tessera/core/warp.hpp>

namespace tessera {

#if TESSERA_DEVICE_PASS
template <>
struct warp<Kokkos::Cuda> {
  using mask = std::uint32_t;
  static constexpr int width = 32;
  static constexpr mask all = 0xffffffffu;

  template <int Bits>
  TESSERA_INLINE_FUNCTION static mask match(unsigned value) {
    mask same = all;
    for (int b = 0; b < Bits; ++b) {
      const bool one = (value >> b & 1u) != 0;
      const mask ones = __ballot_sync(all, one);
      same &= one ? ones : ~ones;
    }
    return same;
  }
  TESSERA_INLINE_FUNCTION static std::uint32_t shuffle(std::uint32_t value, int lane) {
    return __shfl_sync(all, value, lane);
  }
  TESSERA_INLINE_FUNCTION static void sync() { __syncwarp(); }
  TESSERA_INLINE_FUNCTION static void count(std::uint32_t* counter) { atomicAdd(counter, 1u); }
};
#else
template <>
struct warp<Kokkos::Cuda> : detail::WarpInHostPass {};
#endif

}  // namespace tessera
