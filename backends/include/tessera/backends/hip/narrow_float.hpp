// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <tessera/core/types.hpp>

/// \file
/// One-instruction conversions of half; the other narrow floats keep the portable integer arithmetic.

namespace tessera::detail {

#if TESSERA_DEVICE_PASS

template <>
struct DeviceConversion<HalfFormat> {
  static constexpr bool available = true;
  TESSERA_INLINE_FUNCTION static std::uint32_t encode(float value) {
    const auto bits = bit_cast<std::uint16_t>(static_cast<_Float16>(value));
    return value == value ? bits : HalfFormat::nan;
  }
  TESSERA_INLINE_FUNCTION static float decode(std::uint16_t bits) {
    return static_cast<float>(bit_cast<_Float16>(bits));
  }
};

#endif

}  // namespace tessera::detail
