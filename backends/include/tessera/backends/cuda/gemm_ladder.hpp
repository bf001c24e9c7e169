// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <string_view>

#include <tessera/backends/ladder.hpp>
#include <tessera/core/device.hpp>
#include <tessera/core/plan.hpp>

namespace tessera::backends {

/// Steps of the teaching ladder that need tensor cores: backends/cuda/gemm/ladder_sm80 and ladder_sm90a. They are in
/// the library tessera::ladder_kernels, which apps alone link.
enum class LadderKernel { mma_sync, wgmma_tma, warp_specialised, clusters };

Verdict ladder_can_run(LadderKernel kernel, const LadderProduct& product, const DeviceInfo& device);
void ladder_run(LadderKernel kernel, const LadderProduct& product, void* stream);

template <LadderKernel kernel>
struct LadderStep {
  static constexpr std::string_view names[] = {"mma_sync", "wgmma_tma", "warp_specialised", "clusters"};
  static constexpr std::string_view name = names[static_cast<int>(kernel)];

  /// Operands' bases and strides must be multiples of 16 bytes.
  static Verdict can_run(const LadderProduct& product, const DeviceInfo& device) {
    return ladder_can_run(kernel, product, device);
  }
  /// The product must be one that can_run().
  static void run(const Kokkos::Cuda& exec, const LadderProduct& product) {
    ladder_run(kernel, product, exec.cuda_stream());
  }
};

}  // namespace tessera::backends
