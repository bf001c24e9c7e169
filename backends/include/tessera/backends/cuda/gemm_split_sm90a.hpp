// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <string>
#include <string_view>

#include <tessera/backends/cuda/plain_matrix.hpp>
#include <tessera/core/plan.hpp>
#include <tessera/gemm/problem.hpp>

namespace tessera::backends {

/// A product of floats whose operands are written as sums of bf16 or tf32 terms.
struct SplitProduct {
  int products = 0;   ///< of terms: 3, 6 or 9; 0 where the precision asked for does not permit it
  bool tf32 = false;  ///< the terms are tf32
  PlainMatrix a, b, c;
};

/// Whether the kernels may run and are measured to be faster than cuBLAS in fp32.
Verdict split_sm90a_can_run(const SplitProduct& product, const DeviceInfo& device);
/// Products and tile shape, "x6 128x192x32", "x3 128x192x16".
std::string split_sm90a_configuration(const SplitProduct& product, const DeviceInfo& device);
std::size_t split_sm90a_workspace_bytes(const SplitProduct& product);
/// alpha and beta are host values where their pointer is null, else in device memory.
void split_sm90a_run(const SplitProduct& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                     GemmWorkspace workspace, const DeviceInfo& device, void* stream);

/// gemm of fp32 by the bf16 or tf32 tensor cores of Hopper, asked for by name: backends/cuda/gemm/fp32_sm90a.
template <bool Tf32>
struct GemmTermsSm90a {
  static constexpr std::string_view name = Tf32 ? "cuda:wgmma_tf32_terms_sm90a" : "cuda:wgmma_bf16_terms_sm90a";

  template <class Types, class Space>
  static constexpr bool supports = std::same_as<Space, Kokkos::Cuda> && std::same_as<typename Types::in, float> &&
                                   std::same_as<typename Types::out, float>;

  static std::uint64_t state() { return 0; }

  template <class Types>
  static Verdict can_run(const GemmProblem<Types>& p, const DeviceInfo& device) {
    if (const char* const why = batch_refusal(p)) return Verdict::no(why);
    return split_sm90a_can_run(product(p), device);
  }
  template <class Types>
  static std::string configuration(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return split_sm90a_configuration(product(p), device);
  }
  template <class Types>
  static std::size_t workspace_bytes(const GemmProblem<Types>& p) {
    return split_sm90a_workspace_bytes(product(p));
  }
  template <class Types>
  static void run(const Kokkos::Cuda& exec, const GemmProblem<Types>& p, GemmWorkspace workspace) {
    split_sm90a_run(product(p), p.alpha, p.beta, workspace, device_of(exec), exec.cuda_stream());
  }

 private:
  static constexpr int products(Precision precision) {
    if constexpr (Tf32)
      return precision == Precision::fp32_tf32x3 ? 3 : 0;
    else
      return precision == Precision::fp32_bf16x3   ? 3
             : precision == Precision::fp32_bf16x6 ? 6
             : precision == Precision::fp32_bf16x9 ? 9
                                                   : 0;
  }
  template <class Types>
  static SplitProduct product(const GemmProblem<Types>& p) {
    return {products(p.precision), Tf32, plain_matrix(p.a), plain_matrix(p.b), plain_matrix(p.c)};
  }
};

using GemmSplitSm90a = GemmTermsSm90a<false>;
using GemmTf32TermsSm90a = GemmTermsSm90a<true>;

}  // namespace tessera::backends
