// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gemm/tf32_sm90a/tf32_sm90a.hpp"
#include "gemm_dense.hpp"
#include <algorithm>
#include <optional>

#include <tessera/backends/cuda/gemm_tf32_sm90a.hpp>

namespace tessera::backends {
namespace {

using cuda::sm90a::Tf32Gemm;

/// Nothing where an operand has unit stride in neither dimension.
std::optional<Tf32Gemm> translate(const Tf32Product& p) {
  Tf32Gemm g;
  if (!fill_dense(g, p.a, p.b, p.c)) return std::nullopt;
  return cuda::sm90a::tf32_oriented(g);
}

/// Whether operands are copied first: where a plan has a workspace and the product is so large that the copies weigh
/// little, or this path was asked for. Of a flat or a skinny product they cost as much as what they save.
bool copied(const Tf32Gemm& g, const Tf32Product& product) {
  const bool large = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k) >= 0x1p32 &&
                     std::min(g.m, g.n) > 64 && g.k >= 256;
  if (!product.planned || !(large || product.by_name) || cuda::sm90a::tf32_copy_bytes(g) == 0) return false;
  return cuda::sm90a::tf32_refusal(cuda::sm90a::tf32_after_copy(g)) == nullptr;  // nothing else may stand against it
}

/// As run() hands it to the kernels: with the copies.
Tf32Gemm as_it_runs(const Tf32Gemm& g, const Tf32Product& product) {
  return copied(g, product) ? cuda::sm90a::tf32_after_copy(g) : g;
}

/// The one that was chosen for products of this signature.
int configuration_of(const Tf32Gemm& runs, const Tf32Product& product, const DeviceInfo& device) {
  const int c = product.configuration;
  return c >= 0 && cuda::sm90a::tf32_configuration_fits(runs, c)
             ? c
             : cuda::sm90a::choose_tf32_configuration(runs, device.units);
}

std::string name_of(int configuration, bool with_copies) {
  return std::string(with_copies ? "copied " : "") + cuda::sm90a::tf32_configuration_name(configuration);
}

constexpr const char* path = "cuda:wgmma_tf32_sm90a";

}  // namespace

Verdict tf32_sm90a_can_run(const Tf32Product& product, const DeviceInfo& device) {
  if (!product.permitted) return Verdict::no("products in tf32 are taken only where the precision permits them");
  if (Verdict v = exactly_sm90(device); !v) return v;
  const auto g = translate(product);
  if (!g) return Verdict::no("an operand has unit stride in neither dimension");
  const char* const why = cuda::sm90a::tf32_refusal(*g);
  if (why != nullptr && !copied(*g, product)) return Verdict::no(in_callers_names(why, *g, product.a));
  if (product.by_name) return Verdict::yes();
  // measured against cuBLASLt on an H200
  const index_t tiles = ((g->m + 127) / 128) * ((g->n + 63) / 64);
  if (2 * tiles < device.units && std::min(g->m, g->n) > 64 && g->k > 2048)
    return Verdict::no("so few tiles for so long a K: the vendor's library was measured faster");
  return Verdict::yes();
}

std::string tf32_sm90a_configuration(const Tf32Product& product, const DeviceInfo& device) {
  const Tf32Gemm g = translate(product).value();
  return name_of(configuration_of(as_it_runs(g, product), product, device), copied(g, product));
}

std::vector<std::string> tf32_sm90a_configurations(const Tf32Product& product, const DeviceInfo&) {
  const Tf32Gemm g = translate(product).value(), runs = as_it_runs(g, product);
  std::vector<std::string> names(static_cast<std::size_t>(cuda::sm90a::tf32_configurations()));
  for (int c = 0; c < cuda::sm90a::tf32_configurations(); ++c)
    if (cuda::sm90a::tf32_configuration_fits(runs, c))
      names[static_cast<std::size_t>(c)] = name_of(c, copied(g, product));
  return names;
}

int tf32_sm90a_choose(const Tf32Product& product, const DeviceInfo& device) {
  return cuda::sm90a::choose_tf32_configuration(as_it_runs(translate(product).value(), product), device.units);
}

std::size_t tf32_sm90a_workspace_bytes(const Tf32Product& product) {
  const auto g = translate(product);
  return g && copied(*g, product) ? cuda::sm90a::tf32_copy_bytes(*g) : 0;
}

void tf32_sm90a_run(const Tf32Product& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                    GemmWorkspace workspace, const DeviceInfo& device, void* stream) {
  Tf32Gemm g = translate(product).value();
  fill_scalars(g, alpha, beta);
  if (product.planned) require_started(cuda::sm90a::tf32_copy(g, workspace.pointer, stream), path);
  const int configuration = configuration_of(g, product, device);
  require_started(cuda::sm90a::tf32_launch(g, configuration, device.units, stream), path);
}

}  // namespace tessera::backends
