// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gemm/fp32_sm90a/fp32_sm90a.hpp"
#include "gemm_dense.hpp"

#include <tessera/backends/cuda/gemm_split_sm90a.hpp>

namespace tessera::backends {
namespace {

using cuda::sm90a::SplitGemm;

/// Nothing where C has unit stride in neither dimension; A and B may have any strides.
std::optional<SplitGemm> translate(const SplitProduct& p) {
  const auto c = dense(p.c, false);
  if (!c) return std::nullopt;
  const PlainMatrix &a = p.a, &b = p.b;
  SplitGemm g;
  g.products = p.products;
  g.tf32 = p.tf32;
  g.k = a.extents[1];
  g.d = static_cast<float*>(const_cast<void*>(p.c.pointer));
  g.ldd = c->leading;
  const auto side = [&](const PlainMatrix& left, int row, const PlainMatrix& right) {
    g.m = left.extents[row];
    g.n = right.extents[1 - row];
    g.a = static_cast<const float*>(left.pointer);
    g.a_row = left.strides[row];
    g.a_column = left.strides[1 - row];
    g.b = static_cast<const float*>(right.pointer);
    g.b_row = right.strides[row];
    g.b_column = right.strides[1 - row];
  };
  if (c->inner_first)  // columns are contiguous: D^T = B^T A^T has contiguous rows
    side(b, 1, a);
  else
    side(a, 0, b);
  return g;
}

}  // namespace

Verdict split_sm90a_can_run(const SplitProduct& product, const DeviceInfo& device) {
  if (product.products == 0)
    return Verdict::no(std::string("fp32 products from ") + (product.tf32 ? "tf32" : "bf16") +
                       " terms are taken only when asked for by name");
  if (Verdict v = exactly_sm90(device); !v) return v;
  const auto g = translate(product);
  if (!g) return Verdict::no("C has unit stride in neither dimension");
  if (const char* why = cuda::sm90a::split_refusal(*g)) return Verdict::no(why);
  if (!cuda::sm90a::split_pays(*g, device.units))
    return Verdict::no("so small or narrow a product: the vendor's library in fp32 is expected to be faster");
  return Verdict::yes();
}

std::string split_sm90a_configuration(const SplitProduct& product, const DeviceInfo& device) {
  const auto g = translate(product);
  return "x" + std::to_string(product.products) + " " +
         cuda::sm90a::split_configuration_name(cuda::sm90a::choose_split_configuration(g.value(), device.units),
                                               product.tf32);
}

std::size_t split_sm90a_workspace_bytes(const SplitProduct& product) {
  return cuda::sm90a::split_workspace_bytes(translate(product).value());
}

void split_sm90a_run(const SplitProduct& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                     GemmWorkspace workspace, const DeviceInfo& device, void* stream) {
  SplitGemm g = translate(product).value();
  fill_scalars(g, alpha, beta);
  const int configuration = cuda::sm90a::choose_split_configuration(g, device.units);
  require_started(cuda::sm90a::split_launch(g, configuration, device.units, workspace.pointer, stream),
                  product.tf32 ? "cuda:wgmma_tf32_terms_sm90a" : "cuda:wgmma_bf16_terms_sm90a");
}

}  // namespace tessera::backends
