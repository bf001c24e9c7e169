// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include <tessera/core/portability.hpp>
#include <tessera/core/warp.hpp>

namespace tessera {

template <>
struct warp<Kokkos::Cuda> {
  using mask = std::uint32_t;
  static constexpr int width = 32;

#if TESSERA_DEVICE_PASS
  TESSERA_INLINE_FUNCTION static mask ballot(bool yes) { return __ballot_sync(0xffffffffu, yes); }
  template <class T>
  TESSERA_INLINE_FUNCTION static T shuffle(T value, int lane) {
    return __shfl_sync(0xffffffffu, value, lane);
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
