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
  /// as the vendor's own scans take it
  static constexpr bool teams_begin_in_order = true;

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
  TESSERA_INLINE_FUNCTION static std::uint32_t up(std::uint32_t value, int by) {
    return __shfl_up_sync(all, value, static_cast<unsigned>(by));
  }
  TESSERA_INLINE_FUNCTION static mask ballot(bool vote) { return __ballot_sync(all, vote); }
  TESSERA_INLINE_FUNCTION static void sync() { __syncwarp(); }
  TESSERA_INLINE_FUNCTION static void count(std::uint32_t* counter) { atomicAdd(counter, 1u); }
  // PTX ISA 9.0, "ld" and "st" with .relaxed
  TESSERA_INLINE_FUNCTION static void load(const std::uint64_t* p, std::uint64_t& a, std::uint64_t& b) {
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(p) : "memory");
  }
  TESSERA_INLINE_FUNCTION static void store(std::uint64_t* p, std::uint64_t a, std::uint64_t b) {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" : : "l"(p), "l"(a), "l"(b) : "memory");
  }
};
#else
template <>
struct warp<Kokkos::Cuda> : detail::WarpInHostPass {
  static constexpr bool teams_begin_in_order = true;
};
#endif

}  // namespace tessera
