// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gemm/half_sm80/half_sm80.hpp"
#include "gemm_half.hpp"

#include <tessera/backends/cuda/gemm_half_sm80.hpp>

namespace tessera::backends {
namespace {

namespace sm80 = cuda::sm80;

constexpr const char* path = "cuda:mma_half_sm80";

/// The kernels' problem; the epilogue is a pass of its own.
std::optional<sm80::HalfGemm> translate(const HalfProduct& p) {
  auto g = half_gemm(p);
  if (g) g->epilogue = {};
  return g;
}
/// Machine code with clusters is for exactly 9.0.
bool on_hopper(const DeviceInfo& device) { return device.major == 9 && device.minor == 0; }
int splits_of(const sm80::HalfGemm& g, const DeviceInfo& device) {
  return sm80::choose_splits(g, device.units, on_hopper(device));
}

}  // namespace

Verdict half_sm80_can_run(const HalfProduct& product, const DeviceInfo& device) {
  if (device.major < 8)
    return Verdict::no("the kernels are for 8.0 and newer and the device is " + std::to_string(device.major) + "." +
                       std::to_string(device.minor));
  const auto g = translate(product);
  if (!g) return Verdict::no("an operand has unit stride in neither dimension");
  if (const char* const why = sm80::refusal(*g)) return Verdict::no(why);
  if (!product.by_name && !sm80::is_small(*g, splits_of(*g, device), device.units))
    return Verdict::no("so large a product: the vendor's library was measured faster");
  return Verdict::yes();
}

std::string half_sm80_configuration(const HalfProduct& product, const DeviceInfo& device) {
  const int splits = splits_of(translate(product).value(), device);
  return splits > 1 ? "64x64x64 split " + std::to_string(splits) : "64x64x64";
}

void half_sm80_run(const HalfProduct& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                   const DeviceInfo& device, void* stream) {
  sm80::HalfGemm g = translate(product).value();
  fill_scalars(g, alpha, beta);
  require_started(sm80::launch(g, splits_of(g, device), on_hopper(device), stream), path);
}

}  // namespace tessera::backends
