// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <string>
#include <string_view>

#include <tessera/backends/cuda/gemm_half_sm90a.hpp>

namespace tessera::backends {

/// Whether mma.sync kernels may run and are measured to be faster than cuBLAS: on small products, whatever their
/// alignment.
Verdict half_sm80_can_run(const HalfProduct& product, const DeviceInfo& device);
/// The tile shape, "64x64x64 split 4".
std::string half_sm80_configuration(const HalfProduct& product, const DeviceInfo& device);
/// alpha and beta are host values where their pointer is null, else in device memory.
void half_sm80_run(const HalfProduct& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                   const DeviceInfo& device, void* stream);

/// gemm of fp16 and bf16 by mma.sync, for chips from 8.0 on and operands that no copy engine reads:
/// backends/cuda/gemm/half_sm80.
struct GemmHalfSm80 {
  static constexpr std::string_view name = "cuda:mma_half_sm80";

  template <class Types, class Space>
  static constexpr bool supports = GemmHalfSm90a::supports<Types, Space>;

  static std::uint64_t state() { return 0; }

  template <class Types>
  static Verdict can_run(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return half_sm80_can_run(half_product(p), device);
  }
  template <class Types>
  static std::string configuration(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return half_sm80_configuration(half_product(p), device);
  }
  template <class Types>
  static std::size_t workspace_bytes(const GemmProblem<Types>&) {
    return 0;
  }
  template <class Types>
  static void run(const Kokkos::Cuda& exec, const GemmProblem<Types>& p, GemmWorkspace) {
    half_sm80_run(half_product(p), p.alpha, p.beta, device_of(exec), exec.cuda_stream());
  }
};

}  // namespace tessera::backends
