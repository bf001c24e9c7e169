// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/backends/cuda/plain_matrix.hpp>
#include <tessera/core/plan.hpp>
#include <tessera/gemm/problem.hpp>

namespace tessera::backends {

/// An epilogue without C's element type.
struct PlainEpilogue {
  bool any = false;
  Activation activation = Activation::none;
  BiasAlong bias_along = BiasAlong::columns;
  float scale = 1;
  const void* bias = nullptr;
  bool bias_is_float = false;
  index_t bias_stride = 0;
  PlainMatrix residual;
};

/// A product of 16-bit floats as the Hopper kernels are asked for it.
struct HalfProduct {
  bool is_bf16 = false;
  bool out_is_float = false;
  bool planned = false;  ///< a workspace may be asked for
  bool by_name = false;  ///< see Selection
  int configuration = -1;
  PlainMatrix a, b, c;
  PlainEpilogue epilogue;
  GemmFunctorRef functor;
  index_t batches = 1, batch_strides[3] = {};  ///< A, B and C are the first product's
};

/// The product without its element types.
template <class Types>
[[nodiscard]] HalfProduct half_product(const GemmProblem<Types>& p) {
  const auto& e = p.epilogue;
  const bool wide_bias = std::same_as<typename Types::out, float> || e.wide_bias != nullptr;
  const void* const bias = e.wide_bias != nullptr ? static_cast<const void*>(e.wide_bias) : e.bias;
  return {std::same_as<typename Types::in, bfloat16>,
          std::same_as<typename Types::out, float>,
          p.planned,
          p.by_name,
          p.configuration,
          plain_matrix(p.a),
          plain_matrix(p.b),
          plain_matrix(p.c),
          {e.any, e.activation, e.bias_along, e.scale, bias, wide_bias, e.bias_stride, plain_matrix(e.residual)},
          p.functor,
          p.batches,
          {p.a_batch, p.b_batch, p.c_batch}};
}

/// Whether wgmma kernels may run and are measured to be at least as fast as cuBLAS on the problem.
Verdict half_sm90a_can_run(const HalfProduct& product, const DeviceInfo& device);
/// Why no kernel with the product's functor may run, or null.
const char* half_sm90a_functor_refusal(const HalfProduct& product);
/// The tile shape, "128x256x64 s4 multicast 2"; of all that take the product, by number; the one expected to be
/// fastest.
std::string half_sm90a_configuration(const HalfProduct& product, const DeviceInfo& device);
std::vector<std::string> half_sm90a_configurations(const HalfProduct& product, const DeviceInfo& device);
int half_sm90a_choose(const HalfProduct& product, const DeviceInfo& device);
/// For copies of operands that the copy engine cannot read as they lie, and of the configuration named for sums of
/// tiles that lie in several parts; 0 for the others.
std::size_t half_sm90a_workspace_bytes(const HalfProduct& product);
/// alpha and beta are host values where their pointer is null, else in device memory.
void half_sm90a_run(const HalfProduct& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                    GemmWorkspace workspace, const DeviceInfo& device, void* stream);

/// gemm of fp16 and bf16 by the tensor cores of Hopper: wgmma fed by TMA, backends/cuda/gemm/half_sm90a.
struct GemmHalfSm90a {
  static constexpr std::string_view name = "cuda:wgmma_half_sm90a";

  template <class Types, class Space>
  static constexpr bool supports =
      std::same_as<Space, Kokkos::Cuda> &&
      (std::same_as<typename Types::in, half> || std::same_as<typename Types::in, bfloat16>) &&
      (std::same_as<typename Types::out, typename Types::in> || std::same_as<typename Types::out, float>);

  static std::uint64_t state() { return 0; }

  template <class Types>
  static bool forms_epilogue(const GemmProblem<Types>&) {
    return true;
  }

  template <class Types>
  static const char* functor_refusal(const GemmProblem<Types>& p) {
    return half_sm90a_functor_refusal(half_product(p));
  }

  template <class Types>
  static Verdict can_run(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return half_sm90a_can_run(half_product(p), device);
  }
  template <class Types>
  static std::string configuration(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return half_sm90a_configuration(half_product(p), device);
  }
  template <class Types>
  static std::vector<std::string> configurations(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return half_sm90a_configurations(half_product(p), device);
  }
  template <class Types>
  static int choose(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return half_sm90a_choose(half_product(p), device);
  }
  template <class Types>
  static std::size_t workspace_bytes(const GemmProblem<Types>& p) {
    return half_sm90a_workspace_bytes(half_product(p));
  }
  template <class Types>
  static void run(const Kokkos::Cuda& exec, const GemmProblem<Types>& p, GemmWorkspace workspace) {
    half_sm90a_run(half_product(p), p.alpha, p.beta, workspace, device_of(exec), exec.cuda_stream());
  }
};

}  // namespace tessera::backends
