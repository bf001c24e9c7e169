// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include <tessera/core/portability.hpp>
#include <tessera/core/warp.hpp>

namespace tessera {

/// 32 lanes on every chip: half of a wave of 64 where waves are that wide, so that one text serves both.
template <>
struct warp<Kokkos::HIP> {
  using mask = std::uint32_t;
  static constexpr int width = 32;

#if TESSERA_DEVICE_PASS
  TESSERA_INLINE_FUNCTION static mask ballot(bool yes) {
    const unsigned long long wave = __ballot(yes);
    return static_cast<mask>(wave >> (__lane_id() & 32u));
  }
  template <class T>
  TESSERA_INLINE_FUNCTION static T shuffle(T value, int lane) {
    return __shfl(value, lane, width);
  }
#else
  TESSERA_INLINE_FUNCTION static mask ballot(bool yes) { return yes; }
  template <class T>
  TESSERA_INLINE_FUNCTION static T shuffle(T value, int /*lane*/) {
    return value;
  }
#endif
};

}  // namespace tessera
