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

/// A product of complex doubles as the Hopper kernels are asked for it.
struct ComplexDoubleProduct {
  PlainMatrix a, b, c;
  bool a_conj = false, b_conj = false;
  bool by_name = false;  ///< see Selection
  int configuration = -1;
};

/// Whether the kernels may run and are measured to be at least as fast as cuBLAS on the problem.
Verdict complex_double_sm90a_can_run(const ComplexDoubleProduct& product, const DeviceInfo& device);
/// The tile shape, "128x64x8 s9"; of all, by number; the one expected to be fastest.
std::string complex_double_sm90a_configuration(const ComplexDoubleProduct& product, const DeviceInfo& device);
std::vector<std::string> complex_double_sm90a_configurations();
int complex_double_sm90a_choose(const ComplexDoubleProduct& product, const DeviceInfo& device);
/// alpha and beta are host values where their pointer is null, else in device memory.
void complex_double_sm90a_run(const ComplexDoubleProduct& product, const ScalarRef<Kokkos::complex<double>>& alpha,
                              const ScalarRef<Kokkos::complex<double>>& beta, const DeviceInfo& device, void* stream);

/// gemm of complex fp64 by the tensor cores of Hopper: mma fed by TMA, backends/cuda/gemm/complex_fp64_sm90a.
struct GemmComplexDoubleSm90a {
  static constexpr std::string_view name = "cuda:mma_complex_fp64_sm90a";

  template <class Types, class Space>
  static constexpr bool supports =
      std::same_as<Space, Kokkos::Cuda> && std::same_as<typename Types::in, Kokkos::complex<double>> &&
      std::same_as<typename Types::out, Kokkos::complex<double>>;

  static std::uint64_t state() { return 0; }

  template <class Types>
  static Verdict can_run(const GemmProblem<Types>& p, const DeviceInfo& device) {
    if (const char* const why = batch_refusal(p)) return Verdict::no(why);
    return complex_double_sm90a_can_run(product(p), device);
  }
  template <class Types>
  static std::string configuration(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return complex_double_sm90a_configuration(product(p), device);
  }
  template <class Types>
  static std::vector<std::string> configurations(const GemmProblem<Types>&, const DeviceInfo&) {
    return complex_double_sm90a_configurations();
  }
  template <class Types>
  static int choose(const GemmProblem<Types>& p, const DeviceInfo& device) {
    return complex_double_sm90a_choose(product(p), device);
  }
  template <class Types>
  static std::size_t workspace_bytes(const GemmProblem<Types>&) {
    return 0;
  }
  template <class Types>
  static void run(const Kokkos::Cuda& exec, const GemmProblem<Types>& p, GemmWorkspace) {
    complex_double_sm90a_run(product(p), p.alpha, p.beta, device_of(exec), exec.cuda_stream());
  }

 private:
  template <class Types>
  static ComplexDoubleProduct product(const GemmProblem<Types>& p) {
    return {plain_matrix(p.a), plain_matrix(p.b), plain_matrix(p.c), p.a.conj, p.b.conj, p.by_name, p.configuration};
  }
};

}  // namespace tessera::backends
