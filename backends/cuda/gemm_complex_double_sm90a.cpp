// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gemm/complex_fp64_sm90a/complex_fp64_sm90a.hpp"
#include "gemm_dense.hpp"

#include <tessera/backends/cuda/gemm_complex_double_sm90a.hpp>

namespace tessera::backends {
namespace {

using cuda::sm90a::ComplexDouble;
using cuda::sm90a::ComplexDoubleGemm;

std::optional<ComplexDoubleGemm> translate(const ComplexDoubleProduct& p) {
  ComplexDoubleGemm g;
  g.a_conj = p.a_conj;
  g.b_conj = p.b_conj;
  if (!fill_dense(g, p.a, p.b, p.c)) return std::nullopt;
  return g;
}

/// The one that was chosen for products of this signature, or the one expected to be fastest.
int configuration_of(const ComplexDoubleGemm& g, const ComplexDoubleProduct& product, const DeviceInfo& device) {
  return product.configuration >= 0 ? product.configuration
                                    : cuda::sm90a::choose_complex_double_configuration(g, device.units);
}

}  // namespace

Verdict complex_double_sm90a_can_run(const ComplexDoubleProduct& product, const DeviceInfo& device) {
  if (Verdict v = exactly_sm90(device); !v) return v;
  const auto g = translate(product);
  if (!g) return Verdict::no("an operand has unit stride in neither dimension");
  if (const char* why = cuda::sm90a::complex_double_refusal(*g))
    return Verdict::no(in_callers_names(why, *g, product.a));
  if (product.by_name) return Verdict::yes();
  const double share = cuda::sm90a::complex_double_expected_share(
      *g, cuda::sm90a::choose_complex_double_configuration(*g, device.units), device.units);
  if (const char* const why = slower_fp64(*g, device.units, share, 0x1p27, 0.88)) return Verdict::no(why);
  return Verdict::yes();
}

std::string complex_double_sm90a_configuration(const ComplexDoubleProduct& product, const DeviceInfo& device) {
  return cuda::sm90a::complex_double_configuration_name(configuration_of(translate(product).value(), product, device));
}

std::vector<std::string> complex_double_sm90a_configurations() {
  return configuration_names(cuda::sm90a::complex_double_configurations(),
                             cuda::sm90a::complex_double_configuration_name);
}

int complex_double_sm90a_choose(const ComplexDoubleProduct& product, const DeviceInfo& device) {
  return cuda::sm90a::choose_complex_double_configuration(translate(product).value(), device.units);
}

void complex_double_sm90a_run(const ComplexDoubleProduct& product, const ScalarRef<Kokkos::complex<double>>& alpha,
                              const ScalarRef<Kokkos::complex<double>>& beta, const DeviceInfo& device, void* stream) {
  ComplexDoubleGemm g = translate(product).value();
  g.alpha = {alpha.value.real(), alpha.value.imag()};
  g.alpha_pointer = reinterpret_cast<const ComplexDouble*>(alpha.pointer);
  g.beta = {beta.value.real(), beta.value.imag()};
  g.beta_pointer = reinterpret_cast<const ComplexDouble*>(beta.pointer);
  const int configuration = configuration_of(g, product, device);
  require_started(cuda::sm90a::complex_double_launch(g, configuration, device.units, stream),
                  "cuda:mma_complex_fp64_sm90a");
}

}  // namespace tessera::backends
