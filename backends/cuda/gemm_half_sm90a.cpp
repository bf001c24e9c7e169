// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gemm/half_sm90a/half_sm90a.hpp"
#include "gemm_dense.hpp"
#include <algorithm>
#include <optional>

#include <tessera/backends/cuda/gemm_half_sm90a.hpp>

namespace tessera::backends {
namespace {

using cuda::sm90a::Element;
using cuda::sm90a::HalfGemm;

/// The kernels' problem, or nothing where an operand has unit stride in neither dimension.
std::optional<HalfGemm> translate(const HalfProduct& p) {
  HalfGemm g;
  g.in = p.is_bf16 ? Element::bf16 : Element::fp16;
  g.out = p.out_is_float ? Element::fp32 : g.in;
  if (!fill_dense(g, p.a, p.b, p.c)) return std::nullopt;
  return g;
}

}  // namespace

Verdict half_sm90a_can_run(const HalfProduct& product, const DeviceInfo& device) {
  if (Verdict v = exactly_sm90(device); !v) return v;
  const auto g = translate(product);
  if (!g) return Verdict::no("an operand has unit stride in neither dimension");
  if (const char* why = cuda::sm90a::refusal(*g)) return Verdict::no(in_callers_names(why, *g, product.a));
  if (std::min(g->m, g->n) <= 64)
    return Verdict::no("64 rows or columns or fewer: the vendor's library was measured faster");
  // measured against cuBLAS on an H200: no split of K here yet, so that few tiles leave multiprocessors idle
  const index_t tiles = ((g->m + 127) / 128) * ((g->n + 63) / 64);
  if (2 * tiles < device.units && g->k > 4096)
    return Verdict::no("so few tiles for so long a K: the vendor's library was measured faster");
  return Verdict::yes();
}

std::string half_sm90a_configuration(const HalfProduct& product, const DeviceInfo& device) {
  const auto g = translate(product);
  return cuda::sm90a::configuration_name(cuda::sm90a::choose_configuration(g.value(), device.units));
}

void half_sm90a_run(const HalfProduct& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                    const DeviceInfo& device, void* stream) {
  HalfGemm g = translate(product).value();
  fill_scalars(g, alpha, beta);
  const int configuration = cuda::sm90a::choose_configuration(g, device.units);
  require_started(cuda::sm90a::launch(g, configuration, device.units, stream), "cuda:wgmma_half_sm90a");
}

}  // namespace tessera::backends
