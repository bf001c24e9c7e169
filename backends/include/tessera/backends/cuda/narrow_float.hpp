// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <tessera/core/types.hpp>

/// \file
/// One-instruction conversions of the narrow floats. The bits are those of the portable arithmetic; without this header
/// device code converts by integer arithmetic. No vendor header: PTX only (ISA 9.0, "cvt"). fp8 has its instruction
/// from sm_89, bfloat16 from sm_80 on; older chips keep the portable text.

namespace tessera::detail {

#if TESSERA_DEVICE_PASS

template <>
struct DeviceConversion<HalfFormat> {
  static constexpr bool available = true;
  TESSERA_INLINE_FUNCTION static std::uint32_t encode(float value) {
    std::uint16_t bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
  }
  TESSERA_INLINE_FUNCTION static float decode(std::uint16_t bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
};

#if __CUDA_ARCH__ >= 800
template <>
struct DeviceConversion<Bfloat16Format> {
  static constexpr bool available = true;
  TESSERA_INLINE_FUNCTION static std::uint32_t encode(float value) {
    std::uint16_t bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
  }
  TESSERA_INLINE_FUNCTION static float decode(std::uint16_t bits) {
    return bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }
};
#endif

#if __CUDA_ARCH__ >= 890
template <>
struct DeviceConversion<Fp8E4m3Format> {
  static constexpr bool available = true;
  TESSERA_INLINE_FUNCTION static std::uint32_t encode(float value) {
    std::uint16_t pair;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0F), "f"(value));
    return pair & 0xffu;
  }
  TESSERA_INLINE_FUNCTION static float decode(std::uint8_t bits) {
    std::uint32_t halves;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<std::uint16_t>(bits)));
    return DeviceConversion<HalfFormat>::decode(static_cast<std::uint16_t>(halves));
  }
};

template <>
struct DeviceConversion<Fp8E5m2Format> {
  static constexpr bool available = true;
  TESSERA_INLINE_FUNCTION static std::uint32_t encode(float value) {
    std::uint16_t pair;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0F), "f"(value));
    return pair & 0xffu;
  }
  // E5M2 is the upper byte of a half
  TESSERA_INLINE_FUNCTION static float decode(std::uint8_t bits) {
    return DeviceConversion<HalfFormat>::decode(static_cast<std::uint16_t>(bits << 8));
  }
};
#endif

#endif

}  // namespace tessera::detail
