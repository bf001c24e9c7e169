// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gemm_half.hpp"

#include <tessera/backends/cuda/gemm_half_direct.hpp>

namespace tessera::backends {
namespace {

constexpr const char* path = "cuda:direct_half_sm80";

/// The one that was chosen for products of this signature.
sm80::DirectPlan plan_of(const sm80::HalfGemm& g, const HalfProduct& product, const DeviceInfo& device) {
  return product.configuration >= 0 ? sm80::unpacked(product.configuration)
                                    : sm80::plan_direct(g, device.units, on_hopper(device));
}

}  // namespace

Verdict half_direct_can_run(const HalfProduct& product, const DeviceInfo& device) {
  if (Verdict v = from_sm80(device); !v) return v;
  const auto g = without_epilogue(product);
  if (!g) return Verdict::no("an operand has unit stride in neither dimension");
  if (const char* const why = sm80::direct_refusal(*g)) return Verdict::no(why);
  if (!product.by_name && !is_direct(*g, device))
    return Verdict::no("so many columns for so long a K: tiles were measured faster");
  return Verdict::yes();
}

std::string half_direct_configuration(const HalfProduct& product, const DeviceInfo& device) {
  return sm80::direct_text(plan_of(without_epilogue(product).value(), product, device));
}

int half_direct_choose(const HalfProduct& product, const DeviceInfo& device) {
  return sm80::packed(sm80::plan_direct(without_epilogue(product).value(), device.units, on_hopper(device)));
}

void half_direct_run(const HalfProduct& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                     const DeviceInfo& device, void* stream) {
  sm80::HalfGemm g = without_epilogue(product).value();
  fill_scalars(g, alpha, beta);
  require_started(sm80::launch_direct(g, plan_of(g, product, device), on_hopper(device), stream), path);
}

}  // namespace tessera::backends
