// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <tessera/core/machine.hpp>

namespace tessera {

template <>
struct machine<Kokkos::HIP> {
  static constexpr bool is_host = false;
#if defined(KOKKOS_ARCH_AMD_GFX1030) || defined(KOKKOS_ARCH_AMD_GFX1100) || defined(KOKKOS_ARCH_AMD_GFX1103) || \
    defined(KOKKOS_ARCH_AMD_GFX1201)
  static constexpr int warp_width = 32;  // RDNA
#else
  static constexpr int warp_width = 64;  // CDNA
#endif
  static constexpr int simd_bytes = 16;
  static constexpr int vector_registers = 255;
  static constexpr int team_threads = 256;
  static constexpr std::size_t scratch_bytes = 40936;  // kept as on CUDA: tiles sized once
  static constexpr std::size_t l2_bytes = 0;
  static constexpr std::size_t load_bytes = 16;
  /// HIP counts warps on each of a multiprocessor's four vector units, of which none takes more than eight of CDNA's.
  static constexpr int launch_bound(int threads, int at_once) {
    const int warps = threads * at_once / (4 * warp_width);
    return warps < 1 ? 1 : warps > 8 ? 8 : warps;
  }
};

}  // namespace tessera
