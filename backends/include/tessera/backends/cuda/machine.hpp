// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <tessera/core/machine.hpp>

namespace tessera {

template <>
struct machine<Kokkos::Cuda> {
  static constexpr bool is_host = false;
  static constexpr int warp_width = 32;
  static constexpr int simd_bytes = 16;
  static constexpr int vector_registers = 255;
  static constexpr int team_threads = 256;
  static constexpr std::size_t scratch_bytes = 40936;  // Kokkos 5.0.2's level-0 limit of 48 KiB less its own use
  static constexpr std::size_t l2_bytes = 0;
  static constexpr std::size_t load_bytes = 16;
  static constexpr int launch_bound(int /*threads*/, int at_once) { return at_once; }
};

}  // namespace tessera
