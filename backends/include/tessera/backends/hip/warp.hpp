// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include <tessera/core/portability.hpp>
#include <tessera/core/warp.hpp>

namespace tessera {

#if TESSERA_DEVICE_PASS
/// 32 lanes on every chip: half of a wave of 64 where waves are that wide, so that one text serves both.
template <>
struct warp<Kokkos::HIP> {
  using mask = std::uint32_t;
  static constexpr int width = 32;
  static constexpr bool teams_begin_in_order = false;

  template <int Bits>
  TESSERA_INLINE_FUNCTION static mask match(unsigned value) {
    const unsigned half = __lane_id() & 32u;
    mask same = ~mask{0};
    for (int b = 0; b < Bits; ++b) {
      const bool one = (value >> b & 1u) != 0;
      const auto ones = static_cast<mask>(static_cast<unsigned long long>(__ballot(one)) >> half);
      same &= one ? ones : ~ones;
    }
    return same;
  }
  TESSERA_INLINE_FUNCTION static std::uint32_t shuffle(std::uint32_t value, int lane) {
    return __shfl(value, lane, width);
  }
  TESSERA_INLINE_FUNCTION static std::uint32_t up(std::uint32_t value, int by) {
    return __shfl_up(value, static_cast<unsigned>(by), width);
  }
  TESSERA_INLINE_FUNCTION static mask ballot(bool vote) {
    return static_cast<mask>(static_cast<unsigned long long>(__ballot(vote)) >> (__lane_id() & 32u));
  }
  TESSERA_INLINE_FUNCTION static void sync() {
    // the wave runs in lock step: only the compiler must not move memory accesses across
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
  }
  TESSERA_INLINE_FUNCTION static void count(std::uint32_t* counter) { atomicAdd(counter, 1u); }
  TESSERA_INLINE_FUNCTION static void load(const std::uint64_t* p, std::uint64_t& a, std::uint64_t& b) {
    a = __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    b = __hip_atomic_load(p + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
  TESSERA_INLINE_FUNCTION static void store(std::uint64_t* p, std::uint64_t a, std::uint64_t b) {
    __hip_atomic_store(p, a, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_store(p + 1, b, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
};
#else
template <>
struct warp<Kokkos::HIP> : detail::WarpInHostPass {
  static constexpr bool teams_begin_in_order = false;
};
#endif

}  // namespace tessera
