// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gemm_half.hpp"
#include <algorithm>
#include <optional>

#include <tessera/backends/cuda/gemm_half_sm90a.hpp>

namespace tessera::backends {
namespace {

using cuda::sm90a::HalfGemm;

std::optional<HalfGemm> translate(const HalfProduct& p) {
  auto g = half_gemm(p);
  if (!g) return g;
  // the narrow side of a skinny product is the tiles' columns, of which there may be as few as 16
  if (g->m <= 64 && g->m < g->n) {
    transpose_product(*g);
    g->d_column_major = true;
  }
  return g;
}

/// Whether operands that the copy engine cannot read are copied first: where a plan has a workspace and the product is
/// so large that the copies weigh little against what the vendor's library loses on such operands.
bool realigned(const HalfGemm& g, bool planned) {
  // of a flat or a skinny product the copies cost as much as what they save
  const bool large = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k) >= 0x1p30 &&
                     std::min(g.m, g.n) > 64 && g.k >= 256;
  if (!planned || !large || cuda::sm90a::realign_bytes(g) == 0) return false;
  return cuda::sm90a::refusal(cuda::sm90a::after_realign(g)) == nullptr;  // nothing else may stand against it
}

constexpr const char* path = "cuda:wgmma_half_sm90a";

}  // namespace

Verdict half_sm90a_can_run(const HalfProduct& product, const DeviceInfo& device) {
  if (Verdict v = exactly_sm90(device); !v) return v;
  const auto g = translate(product);
  if (!g) return Verdict::no("an operand has unit stride in neither dimension");
  const char* const why = cuda::sm90a::refusal(*g);
  if (why != nullptr && !realigned(*g, product.planned)) return Verdict::no(in_callers_names(why, *g, product.a));
  // the epilogue costs less here than a pass of its own behind any other path
  if (product.epilogue.any) return Verdict::yes();
  // measured against cuBLAS on an H200
  const auto elements = [](index_t rows, index_t columns) {
    return static_cast<double>(rows) * static_cast<double>(columns);
  };
  const bool across_lines = why == nullptr && (g->lda % 64 != 0 || g->ldb % 64 != 0);
  if (std::min(g->m, g->n) <= 64) {
    if (across_lines || elements(std::max(g->m, g->n), g->k) > 0x1p25)
      return Verdict::no(
          "64 rows or columns or fewer, and the other operand large or of rows that are no multiples of "
          "128 bytes: the vendor's library was measured faster");
    return Verdict::yes();
  }
  const index_t tiles = ((g->m + 127) / 128) * ((g->n + 63) / 64);
  if (2 * tiles < device.units && g->k > 2048)
    return Verdict::no("so few tiles for so long a K: the vendor's library was measured faster");
  if (across_lines && elements(g->m, g->n) * static_cast<double>(g->k) < 0x1p31)
    return Verdict::no(
        "so small a product of rows that are no multiples of 128 bytes: the vendor's library was measured faster");
  return Verdict::yes();
}

std::string half_sm90a_configuration(const HalfProduct& product, const DeviceInfo& device) {
  const auto g = translate(product);
  // the shape that run() chooses, which sees the copies
  const bool copied = realigned(g.value(), product.planned);
  std::string name = cuda::sm90a::configuration_name(
      cuda::sm90a::choose_configuration(copied ? cuda::sm90a::after_realign(*g) : *g, device.units));
  if (g->d_column_major) name += " swapped";
  return copied ? "copied " + name : name;
}

std::size_t half_sm90a_workspace_bytes(const HalfProduct& product) {
  const auto g = translate(product);
  return g && realigned(*g, product.planned) ? cuda::sm90a::realign_bytes(*g) : 0;
}

void half_sm90a_run(const HalfProduct& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                    GemmWorkspace workspace, const DeviceInfo& device, void* stream) {
  HalfGemm g = translate(product).value();
  fill_scalars(g, alpha, beta);
  if (product.planned) require_started(cuda::sm90a::realign(g, workspace.pointer, stream), path);
  const int configuration = cuda::sm90a::choose_configuration(g, device.units);
  require_started(cuda::sm90a::launch(g, configuration, device.units, stream), path);
}

}  // namespace tessera::backends
