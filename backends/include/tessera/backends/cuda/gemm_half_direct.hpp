// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <string>
#include <string_view>

#include <tessera/backends/cuda/gemm_half_sm90a.hpp>

namespace tessera::backends {

/// Whether the kernels without tiles may run and were measured to be the fastest: few columns, or a short K.
Verdict half_direct_can_run(const HalfProduct& product, const DeviceInfo& device);
/// How the work is shared, as text and as a number that is kept with the choice.
std::string half_direct_configuration(const HalfProduct& product, const DeviceInfo& device);
int half_direct_choose(const HalfProduct& product, const DeviceInfo& device);
/// alpha and beta are host values where their pointer is null, else in device memory.
void half_direct_run(const HalfProduct& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                     const DeviceInfo& device, void* stream);

/// gemm of fp16 and bf16 without tensor cores, for products of a matrix and a few vectors and for sums of a few
/// elements, on chips from 8.0 on: backends/cuda/gemm/half_sm80/direct.hpp.
struct GemmHalfDirect {
  static constexpr std::string_view name = "cuda:direct_half_sm80";

  template <class Types, class Space>
  static constexpr bool supports = GemmHalfSm90a::supports<Types, Space>;

  static std::uint64_t state() { return 0; }

  template <class Types>
  static Verdict can_run(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return half_direct_can_run(half_product(p), device);
  }
  template <class Types>
  static std::string configuration(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return half_direct_configuration(half_product(p), device);
  }
  template <class Types>
  static int choose(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return half_direct_choose(half_product(p), device);
  }
  template <class Types>
  static std::size_t workspace_bytes(const GemmProblem<Types>&) {
    return 0;
  }
  template <class Types>
  static void run(const Kokkos::Cuda& exec, const GemmProblem<Types>& p, GemmWorkspace) {
    half_direct_run(half_product(p), p.alpha, p.beta, device_of(exec), exec.cuda_stream());
  }
};

}  // namespace tessera::backends
