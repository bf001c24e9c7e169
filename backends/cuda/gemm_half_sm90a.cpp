// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gemm/half_sm90a/half_sm90a.hpp"
#include <algorithm>
#include <optional>

#include <tessera/backends/cuda/gemm_half_sm90a.hpp>
#include <tessera/core/error.hpp>

namespace tessera::backends {
namespace {

using cuda::sm90a::Element;
using cuda::sm90a::HalfGemm;

constexpr index_t round_up(index_t n, index_t to) { return (n + to - 1) / to * to; }

/// The leading dimension where one of the dimensions has unit stride; `inner_first` says which. A dimension of extent
/// 1 has no stride of its own.
struct Dense {
  bool inner_first = false;
  index_t leading = 0;
};

std::optional<Dense> dense(const HalfProduct::Matrix& m, bool prefer_first) {
  const auto with = [&](int inner) -> std::optional<Dense> {
    const int outer = 1 - inner;
    if (m.extents[inner] > 1 && m.strides[inner] != 1) return std::nullopt;
    // a lone row or column is never stepped over: any legal stride does
    return Dense{inner == 0, m.extents[outer] > 1 ? m.strides[outer] : round_up(m.extents[inner], 8)};
  };
  if (const auto first = with(prefer_first ? 0 : 1)) return first;
  return with(prefer_first ? 1 : 0);
}

/// The kernels' problem, or nothing where an operand has unit stride in neither dimension.
std::optional<HalfGemm> translate(const HalfProduct& p) {
  const auto a = dense(p.a, false), b = dense(p.b, true), c = dense(p.c, false);
  if (!a || !b || !c) return std::nullopt;
  HalfGemm g;
  g.in = p.is_bf16 ? Element::bf16 : Element::fp16;
  g.out = p.out_is_float ? Element::fp32 : g.in;
  g.m = p.c.extents[0];
  g.n = p.c.extents[1];
  g.k = p.a.extents[1];
  g.a = p.a.pointer;
  g.lda = a->leading;
  g.a_mn_major = a->inner_first;
  g.b = p.b.pointer;
  g.ldb = b->leading;
  g.b_mn_major = !b->inner_first;
  g.d = const_cast<void*>(p.c.pointer);
  g.ldd = c->leading;
  if (c->inner_first) {  // columns are contiguous: D^T = B^T A^T has contiguous rows
    std::swap(g.m, g.n);
    std::swap(g.a, g.b);
    std::swap(g.lda, g.ldb);
    const bool b_mn = g.b_mn_major;
    g.b_mn_major = g.a_mn_major;
    g.a_mn_major = b_mn;
  }
  return g;
}

}  // namespace

Verdict half_sm90a_can_run(const HalfProduct& product, const DeviceInfo& device) {
  if (device.major != 9 || device.minor != 0)
    return Verdict::no("the kernels are machine code for exactly 9.0 and the device is " +
                       std::to_string(device.major) + "." + std::to_string(device.minor));
  const auto g = translate(product);
  if (!g) return Verdict::no("an operand has unit stride in neither dimension");
  if (const char* why = cuda::sm90a::refusal(*g)) return Verdict::no(why);
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
  g.alpha = alpha.value;
  g.alpha_pointer = alpha.pointer;
  g.beta = beta.value;
  g.beta_pointer = beta.pointer;
  const int configuration = cuda::sm90a::choose_configuration(g, device.units);
  if (const char* wrong = cuda::sm90a::launch(g, configuration, device.units, stream))
    throw Error("tessera::gemm", std::string("the path cuda:wgmma_half_sm90a failed to start: ") + wrong,
                "the driver must be of CUDA 12 or newer and the device a Hopper",
                "Set TESSERA_GEMM=portable to go on without it, and report this");
}

}  // namespace tessera::backends
