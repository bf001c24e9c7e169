// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gemm/fp64_sm90a/fp64_sm90a.hpp"
#include "gemm_dense.hpp"

#include <tessera/backends/cuda/gemm_double_sm90a.hpp>

namespace tessera::backends {
namespace {

using cuda::sm90a::DoubleGemm;

std::optional<DoubleGemm> translate(const DoubleProduct& p) {
  DoubleGemm g;
  if (!fill_dense(g, p.a, p.b, p.c)) return std::nullopt;
  return g;
}

/// The one that was chosen for products of this signature, or the one expected to be fastest.
int configuration_of(const DoubleGemm& g, const DoubleProduct& product, const DeviceInfo& device) {
  return product.configuration >= 0 ? product.configuration : cuda::sm90a::choose_double_configuration(g, device.units);
}

}  // namespace

Verdict double_sm90a_can_run(const DoubleProduct& product, const DeviceInfo& device) {
  if (Verdict v = exactly_sm90(device); !v) return v;
  const auto g = translate(product);
  if (!g) return Verdict::no("an operand has unit stride in neither dimension");
  if (const char* why = cuda::sm90a::double_refusal(*g)) return Verdict::no(in_callers_names(why, *g, product.a));
  if (product.by_name) return Verdict::yes();
  const double share =
      cuda::sm90a::double_expected_share(*g, cuda::sm90a::choose_double_configuration(*g, device.units), device.units);
  if (const char* const why = slower_fp64(*g, device.units, share, 0x1p28, 0.8)) return Verdict::no(why);
  // measured against cuBLAS on an H200: of equal clocks it needs 1 to 4 % fewer cycles there, at more power each
  if (static_cast<double>(g->m) * static_cast<double>(g->n) * static_cast<double>(g->k) > 0x1p33)
    return Verdict::no(
        "so large a product: the vendor's library was measured up to 4 % faster in short runs (in long ones, which the "
        "power limits, 2 to 5 % slower)");
  return Verdict::yes();
}

std::string double_sm90a_configuration(const DoubleProduct& product, const DeviceInfo& device) {
  return cuda::sm90a::double_configuration_name(configuration_of(translate(product).value(), product, device));
}

std::vector<std::string> double_sm90a_configurations() {
  return configuration_names(cuda::sm90a::double_configurations(), cuda::sm90a::double_configuration_name);
}

int double_sm90a_choose(const DoubleProduct& product, const DeviceInfo& device) {
  return cuda::sm90a::choose_double_configuration(translate(product).value(), device.units);
}

void double_sm90a_run(const DoubleProduct& product, const ScalarRef<double>& alpha, const ScalarRef<double>& beta,
                      const DeviceInfo& device, void* stream) {
  DoubleGemm g = translate(product).value();
  fill_scalars(g, alpha, beta);
  const int configuration = configuration_of(g, product, device);
  require_started(cuda::sm90a::double_launch(g, configuration, device.units, stream), "cuda:mma_fp64_sm90a");
}

}  // namespace tessera::backends
