// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

namespace tessera::cuda::sm80 {
namespace {
std::int64_t tiles(const HalfGemm& p) { return (p.m + tile_m - 1) / tile_m * ((p.n + tile_n - 1) / tile_n); }
std::int64_t steps(const HalfGemm& p) { return (p.k + tile_k - 1) / tile_k; }
}  // namespace

const char* refusal(const HalfGemm& p) {
  if (p.m == 0 || p.n == 0 || p.k == 0) return "an extent is 0";
  if (p.d_column_major) return "D's rows must be contiguous";
  if (p.epilogue.any) return "epilogues are a pass of their own here";
  if (p.batches == 0 || p.batches > 65535) return "no product, or more of a batch than one launch takes (65535)";
  if (tiles(p) > std::int64_t{1} << 27) return "more tiles than one launch has blocks for";
  if (steps(p) >= std::int64_t{1} << 31) return "K is larger than the kernel counts";
  return nullptr;
}

int choose_splits(const HalfGemm& p, int units, bool on_hopper) {
  if (!on_hopper || steps(p) < 4) return 1;  // a cluster costs about two steps
  int splits = 1;
  while (splits < most_splits && tiles(p) * p.batches * splits * 2 <= units && steps(p) >= 2 * splits) splits *= 2;
  return splits;
}

bool is_small(const HalfGemm& p, int splits, int units) {
  if (p.m == 1 || p.n == 1) return false;  // a matrix by a vector, which is no work for tiles
  return tiles(p) * p.batches * splits <= units && (steps(p) + splits - 1) / splits <= 4;
}

const char* launch(const HalfGemm& p, int splits, bool on_hopper, void* stream) {
  Arguments g = {};
  g.a = p.a;
  g.b = p.b;
  g.d = p.d;
  g.m = p.m;
  g.n = p.n;
  g.k = p.k;
  g.lda = p.lda;
  g.ldb = p.ldb;
  g.ldd = p.ldd;
  g.a_batch = p.a_batch;
  g.b_batch = p.b_batch;
  g.d_batch = p.d_batch;
  g.alpha = p.alpha;
  g.beta = p.beta;
  g.alpha_pointer = p.alpha_pointer;
  g.beta_pointer = p.beta_pointer;
  g.tiles_n = static_cast<int>((p.n + tile_n - 1) / tile_n);
  g.splits = splits;
  g.d_is_fp32 = p.out == Element::fp32;
  const auto blocks = static_cast<unsigned>(tiles(p) * splits);
  const auto batches = static_cast<unsigned>(p.batches);
  return p.in == Element::bf16 ? launch_bf16(g, p.a_mn_major, p.b_mn_major, blocks, batches, on_hopper, stream)
                               : launch_fp16(g, p.a_mn_major, p.b_mn_major, blocks, batches, on_hopper, stream);
}

}  // namespace tessera::cuda::sm80
