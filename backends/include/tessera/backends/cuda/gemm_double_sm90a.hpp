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

/// A product of doubles as the Hopper kernels are asked for it.
struct DoubleProduct {
  PlainMatrix a, b, c;
  bool by_name = false;  ///< see Selection
  int configuration = -1;
};

/// Whether the kernels may run and are measured to be at least as fast as cuBLAS on the problem.
Verdict double_sm90a_can_run(const DoubleProduct& product, const DeviceInfo& device);
/// The tile shape, "128x64x16 s9"; of all, by number; the one expected to be fastest.
std::string double_sm90a_configuration(const DoubleProduct& product, const DeviceInfo& device);
std::vector<std::string> double_sm90a_configurations();
int double_sm90a_choose(const DoubleProduct& product, const DeviceInfo& device);
/// alpha and beta are host values where their pointer is null, else in device memory.
void double_sm90a_run(const DoubleProduct& product, const ScalarRef<double>& alpha, const ScalarRef<double>& beta,
                      const DeviceInfo& device, void* stream);

/// gemm of fp64 by the tensor cores of Hopper: mma fed by TMA, backends/cuda/gemm/fp64_sm90a.
struct GemmDoubleSm90a {
  static constexpr std::string_view name = "cuda:mma_fp64_sm90a";

  template <class Types, class Space>
  static constexpr bool supports = std::same_as<Space, Kokkos::Cuda> && std::same_as<typename Types::in, double> &&
                                   std::same_as<typename Types::out, double>;

  static std::uint64_t state() { return 0; }

  template <class Types>
  static Verdict can_run(const GemmProblem<Types>& p, const DeviceInfo& device) {
    if (const char* const why = batch_refusal(p)) return Verdict::no(why);
    return double_sm90a_can_run(product(p), device);
  }
  template <class Types>
  static std::string configuration(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return double_sm90a_configuration(product(p), device);
  }
  template <class Types>
  static std::vector<std::string> configurations(const GemmProblem<Types>&, const DeviceInfo&) {
    return double_sm90a_configurations();
  }
  template <class Types>
  static int choose(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return double_sm90a_choose(product(p), device);
  }
  template <class Types>
  static std::size_t workspace_bytes(const GemmProblem<Types>&) {
    return 0;
  }
  template <class Types>
  static void run(const Kokkos::Cuda& exec, const GemmProblem<Types>& p, GemmWorkspace) {
    double_sm90a_run(product(p), p.alpha, p.beta, device_of(exec), exec.cuda_stream());
  }

 private:
  template <class Types>
  static DoubleProduct product(const GemmProblem<Types>& p) {
    return {plain_matrix(p.a), plain_matrix(p.b), plain_matrix(p.c), p.by_name, p.configuration};
  }
};

}  // namespace tessera::backends
