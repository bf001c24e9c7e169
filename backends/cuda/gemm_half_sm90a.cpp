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
  // a functor that these kernels do not hold is somebody else's pass
  if (half_sm90a_functor_refusal(p) == nullptr) g->functor = p.functor.pointer;
  g->has_workspace = p.planned || p.by_name;
  // the narrow side of a skinny product is the tiles' columns, of which there may be as few as 16
  if (g->batches == 1 && g->m <= 64 && g->m < g->n) {
    transpose_product(*g);
    g->d_column_major = true;
  }
  return g;
}

/// Whether operands that the copy engine cannot read are copied first: where a plan has a workspace and the product is
/// so large that the copies weigh little against what the vendor's library loses on such operands, or this path was
/// asked for.
bool realigned(const HalfGemm& g, const HalfProduct& product) {
  // of a flat or a skinny product the copies cost as much as what they save
  const bool large = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k) >= 0x1p30 &&
                     std::min(g.m, g.n) > 64 && g.k >= 256;
  if (!product.planned || g.batches > 1 || !(large || product.by_name) || cuda::sm90a::realign_bytes(g) == 0)
    return false;
  return cuda::sm90a::refusal(cuda::sm90a::after_realign(g)) == nullptr;  // nothing else may stand against it
}

/// As run() hands it to the kernels: with the copies.
HalfGemm as_it_runs(const HalfGemm& g, const HalfProduct& product) {
  return realigned(g, product) ? cuda::sm90a::after_realign(g) : g;
}

/// The one that was chosen for products of this signature. A residual may lie otherwise than that one's; another
/// configuration then has to do without a workspace that was not asked for.
int configuration_of(HalfGemm runs, const HalfProduct& product, const DeviceInfo& device) {
  const int c = product.configuration;
  if (c >= 0 && cuda::sm90a::configuration_fits(runs, c)) return c;
  runs.has_workspace = runs.has_workspace && c < 0;
  return cuda::sm90a::choose_configuration(runs, device.units);
}

std::string name_of(const HalfGemm& g, int configuration, bool copied) {
  std::string name = cuda::sm90a::configuration_name(configuration);
  if (g.d_column_major) name += " swapped";
  return copied ? "copied " + name : name;
}

double elements(index_t rows, index_t columns) { return static_cast<double>(rows) * static_cast<double>(columns); }

/// Why the vendor's library was measured faster on an H200, of products without an epilogue, or null.
const char* slower_than_library(const HalfGemm& g, bool across_lines, int units) {
  if (g.batches > 1)
    return std::min(g.m, g.n) <= 32 ? "a batch of products of 32 rows or columns or fewer, which fill no tile"
                                    : nullptr;
  if (std::min(g.m, g.n) <= 64)
    return across_lines || elements(std::max(g.m, g.n), g.k) > 0x1p25
               ? "64 rows or columns or fewer, and the other operand large or of rows that are no multiples of "
                 "128 bytes: the vendor's library was measured faster"
               : nullptr;
  const index_t tiles = ((g.m + 127) / 128) * ((g.n + 63) / 64), pairs = ((g.m + 127) / 128) * ((g.n + 127) / 128);
  if (2 * tiles < units && elements(tiles, g.k) > 8e4)
    return "so few tiles for so long a K: the vendor's library was measured faster";
  if (across_lines && 2 * pairs <= units && g.k > 1024)  // blocks in pairs that share B, all at once
    return "so few tiles, of rows that are no multiples of 128 bytes: the vendor's library was measured faster";
  return nullptr;
}

constexpr const char* path = "cuda:wgmma_half_sm90a";

}  // namespace

Verdict half_sm90a_can_run(const HalfProduct& product, const DeviceInfo& device) {
  if (Verdict v = exactly_sm90(device); !v) return v;
  const auto g = translate(product);
  if (!g) return Verdict::no("an operand has unit stride in neither dimension");
  const char* const why = cuda::sm90a::refusal(*g);
  if (why != nullptr && !realigned(*g, product)) return Verdict::no(in_callers_names(why, *g, product.a));
  if (g->batches > 1 && g->epilogue.residual != nullptr) return Verdict::no("the kernels have no residuals of a batch");
  // a functor in the kernel costs less than a pass of its own behind another path
  if (product.by_name || g->functor != nullptr) return Verdict::yes();
  if (!product.epilogue.any && g->batches == 1) {
    const auto plain = without_epilogue(product);
    if (plain && is_direct(*plain, device))
      return Verdict::no("so few columns or so short a K: products without tiles were measured faster");
  }
  const bool across_lines = why == nullptr && (g->lda % 64 != 0 || g->ldb % 64 != 0);
  if (const char* const slower = product.epilogue.any ? nullptr : slower_than_library(*g, across_lines, device.units))
    return Verdict::no(slower);
  // Where the tiles that there are leave many multiprocessors idle at the end, a library that has more of them is
  // ahead; not of so short a K, whose time is that of C
  const index_t pairs = g->batches * ((g->m + 127) / 128) * ((g->n + 127) / 128);
  if (g->k <= 256 || 2 * pairs <= device.units) return Verdict::yes();
  const HalfGemm runs = as_it_runs(*g, product);
  const double ours =
      cuda::sm90a::expected_cycles(runs, cuda::sm90a::choose_configuration(runs, device.units), device.units);
  const double any = cuda::sm90a::expected_cycles_of_any_tile(*g, device.units);
  // of lines that lie across L2's the library is no faster than of others than these are; operands that have to be
  // copied here cost it over twice the time; small products start earlier here by a microsecond
  double library = why != nullptr ? 2.2 * any : across_lines ? 1.49 * any : 1.1 * (any + 2000);
  // behind it the epilogue is a pass of its own: a launch, and C once more in and out at 2500 bytes a cycle
  if (product.epilogue.any) library += 3000 + elements(g->batches * g->m, g->n) * (product.out_is_float ? 8 : 4) / 2500;
  if (ours > library)
    return Verdict::no("so many multiprocessors idle behind the last tiles: the vendor's library has others");
  return Verdict::yes();
}

const char* half_sm90a_functor_refusal(const HalfProduct& product) {
  using cuda::sm90a::Element;
  const Element in = product.is_bf16 ? Element::bf16 : Element::fp16;
  if (!product.functor.given()) return "there is none";
  if (product.functor.kernels == nullptr)
    return "it is not compiled into the kernels of compute capability 9.0: TESSERA_GEMM_EPILOGUE and "
           "tessera_add_gemm_epilogue(target file.cu) do that";
  if (product.functor.kernels->of(in, product.out_is_float ? Element::fp32 : in) == nullptr)
    return "it is not compiled in for these element types: name them in TESSERA_GEMM_EPILOGUE_KERNELS";
  if (product.epilogue.any) return "it is compiled in for products without another epilogue";
  return nullptr;
}

std::string half_sm90a_configuration(const HalfProduct& product, const DeviceInfo& device) {
  const HalfGemm g = translate(product).value();
  return name_of(g, configuration_of(as_it_runs(g, product), product, device), realigned(g, product));
}

std::vector<std::string> half_sm90a_configurations(const HalfProduct& product, const DeviceInfo&) {
  const HalfGemm g = translate(product).value(), runs = as_it_runs(g, product);
  std::vector<std::string> names(static_cast<std::size_t>(cuda::sm90a::configurations()));
  for (int c = 0; c < cuda::sm90a::configurations(); ++c)
    if (cuda::sm90a::configuration_fits(runs, c))
      names[static_cast<std::size_t>(c)] = name_of(g, c, realigned(g, product));
  return names;
}

int half_sm90a_choose(const HalfProduct& product, const DeviceInfo& device) {
  return cuda::sm90a::choose_configuration(as_it_runs(translate(product).value(), product), device.units);
}

std::size_t half_sm90a_workspace_bytes(const HalfProduct& product) {
  const auto g = translate(product);
  if (!g) return 0;
  const std::size_t streams = product.configuration >= 0 ? cuda::sm90a::stream_bytes(*g, product.configuration) : 0;
  return streams + (realigned(*g, product) ? cuda::sm90a::realign_bytes(*g) : 0);
}

void half_sm90a_run(const HalfProduct& product, const ScalarRef<float>& alpha, const ScalarRef<float>& beta,
                    GemmWorkspace workspace, const DeviceInfo& device, void* stream) {
  HalfGemm g = translate(product).value();
  fill_scalars(g, alpha, beta);
  g.workspace = workspace.pointer;
  if (realigned(g, product)) {
    g.workspace = static_cast<char*>(workspace.pointer) + cuda::sm90a::realign_bytes(g);
    require_started(cuda::sm90a::realign(g, workspace.pointer, stream), path);
  }
  const int configuration = configuration_of(g, product, device);
  const auto start = g.functor != nullptr ? product.functor.kernels->of(g.in, g.out) : cuda::sm90a::launch;
  require_started(start(g, configuration, device.units, stream), path);
}

}  // namespace tessera::backends
