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

/// A product of floats that may be rounded to tf32.
struct Tf32Product {
  bool permitted = false;  ///< by the precision asked for
  bool planned = false;    ///< a workspace may be asked for
  bool by_name = false;    ///< see Selection
  int configuration = -1;
  PlainMatrix a, b, c;
};

/// Whether the kernels may run and are measured to be at least as fast as cuBLAS in tf32.
Verdict tf32_sm90a_can_run(const Tf32Product& product, const DeviceInfo& device);
/// The tile shape, "128x256x32 s4 multicast 2"; of all that take the product, by number; the one expected to be
/// fastest.
std::string tf32_sm90a_configuration(const Tf32Product& product, const DeviceInfo& device);
std::vector<std::string> tf32_sm90a_configurations(const Tf32Product& product, const DeviceInfo& device);
int tf32_sm90a_choose(const Tf32Product& product, const DeviceInfo& device);
/// For copies of operands that the kernels cannot read as they lie; 0 for the others.
std::size_t tf32_sm90a_workspace_bytes(const Tf32Product& product);
/// alpha and beta are host values where their pointer is null, else in device memory.
void tf32_sm90a_run(const Tf32Product& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                    GemmWorkspace workspace, const DeviceInfo& device, void* stream);

/// gemm of fp32 by the tf32 tensor cores of Hopper, where the precision permits it: backends/cuda/gemm/tf32_sm90a.
struct GemmTf32Sm90a {
  static constexpr std::string_view name = "cuda:wgmma_tf32_sm90a";

  template <class Types, class Space>
  static constexpr bool supports = std::same_as<Space, Kokkos::Cuda> && std::same_as<typename Types::in, float> &&
                                   std::same_as<typename Types::out, float>;

  static std::uint64_t state() { return 0; }

  template <class Types>
  static Verdict can_run(const GemmProblem<Types>& p, const DeviceInfo& device) {
    if (const char* const why = batch_refusal(p)) return Verdict::no(why);
    return tf32_sm90a_can_run(product(p), device);
  }
  template <class Types>
  static std::string configuration(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return tf32_sm90a_configuration(product(p), device);
  }
  template <class Types>
  static std::vector<std::string> configurations(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return tf32_sm90a_configurations(product(p), device);
  }
  template <class Types>
  static int choose(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return tf32_sm90a_choose(product(p), device);
  }
  template <class Types>
  static std::size_t workspace_bytes(const GemmProblem<Types>& p) {
    return tf32_sm90a_workspace_bytes(product(p));
  }
  template <class Types>
  static void run(const Kokkos::Cuda& exec, const GemmProblem<Types>& p, GemmWorkspace workspace) {
    tf32_sm90a_run(product(p), p.alpha, p.beta, workspace, device_of(exec), exec.cuda_stream());
  }

 private:
  template <class Types>
  static Tf32Product product(const GemmProblem<Types>& p) {
    return {p.precision == Precision::tf32,
            p.planned,
            p.by_name,
            p.configuration,
            plain_matrix(p.a),
            plain_matrix(p.b),
            plain_matrix(p.c)};
  }
};

}  // namespace tessera::backends
