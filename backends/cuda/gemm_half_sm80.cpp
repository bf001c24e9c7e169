// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gemm/half_sm80/half_sm80.hpp"
#include "gemm_half.hpp"

#include <tessera/backends/cuda/gemm_half_sm80.hpp>

namespace tessera::backends {
namespace {

constexpr const char* path = "cuda:mma_half_sm80";

int splits_of(const sm80::HalfGemm& g, const DeviceInfo& device) {
  return sm80::choose_splits(g, device.units, on_hopper(device));
}

}  // namespace

Verdict half_sm80_can_run(const HalfProduct& product, const DeviceInfo& device) {
  if (Verdict v = from_sm80(device); !v) return v;
  const auto g = without_epilogue(product);
  if (!g) return Verdict::no("an operand has unit stride in neither dimension");
  if (const char* const why = sm80::refusal(*g)) return Verdict::no(why);
  if (!product.by_name && !sm80::is_small(*g, splits_of(*g, device), device.units))
    return Verdict::no("so large a product: the vendor's library was measured faster");
  return Verdict::yes();
}

std::string half_sm80_configuration(const HalfProduct& product, const DeviceInfo& device) {
  const int splits = splits_of(without_epilogue(product).value(), device);
  return splits > 1 ? "64x64x64 split " + std::to_string(splits) : "64x64x64";
}

void half_sm80_run(const HalfProduct& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                   const DeviceInfo& device, void* stream) {
  sm80::HalfGemm g = without_epilogue(product).value();
  fill_scalars(g, alpha, beta);
  require_started(sm80::launch(g, splits_of(g, device), on_hopper(device), stream), path);
}

}  // namespace tessera::backends
