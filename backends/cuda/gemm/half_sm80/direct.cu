// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "direct.cuh"
#include <algorithm>
#include <cmath>
#include <utility>

namespace tessera::cuda::sm80 {
namespace {

/// Columns of D or of its transpose that a launch can count in groups of 8.
constexpr std::int64_t most_columns = std::int64_t{65535} * 8;
constexpr std::int64_t few = 8, short_k = 16;

/// D's or its transpose's strides, as the kernel names them.
DirectArguments oriented(const HalfGemm& p, bool transposed) {
  DirectArguments g = {};
  g.a = static_cast<const std::uint16_t*>(p.a);
  g.b = static_cast<const std::uint16_t*>(p.b);
  g.a_row = p.a_mn_major ? 1 : p.lda;
  g.a_k = p.a_mn_major ? p.lda : 1;
  g.b_column = p.b_mn_major ? 1 : p.ldb;
  g.b_k = p.b_mn_major ? p.ldb : 1;
  g.d_row = p.ldd;
  g.d_column = 1;
  g.m = p.m;
  g.a_batch = p.a_batch;
  g.b_batch = p.b_batch;
  if (transposed) {
    std::swap(g.a, g.b);
    std::swap(g.a_row, g.b_column);
    std::swap(g.a_k, g.b_k);
    std::swap(g.d_row, g.d_column);
    std::swap(g.a_batch, g.b_batch);
    g.m = p.n;
  }
  g.n = static_cast<int>(transposed ? p.m : p.n);
  g.d = p.d;
  g.d_batch = p.d_batch;
  g.k = static_cast<int>(p.k);
  g.alpha = p.alpha;
  g.beta = p.beta;
  g.alpha_pointer = p.alpha_pointer;
  g.beta_pointer = p.beta_pointer;
  g.d_is_fp32 = p.out == Element::fp32;
  return g;
}

/// Whether it is for the kernel of short K; beside few columns that of sums is ahead from a K of 3 on.
bool is_outer(const HalfGemm& p) { return p.k <= short_k && (p.k <= 2 || std::min(p.m, p.n) > few); }
/// Whether the kernel's rows are D's columns. A short K leaves most of the time to D: rows run along its contiguous
/// dimension, where that is a warp's length; else they are the longer side.
bool transposed(const HalfGemm& p) { return is_outer(p) ? p.n >= 32 || p.n >= p.m : p.m < p.n; }

/// The least power of 2 that is n or more, from 1 to `most`.
int power_from(std::int64_t n, int most) {
  int p = 1;
  while (p < n && p < most) p *= 2;
  return p;
}
int log2_of(int power) {
  int bits = 0;
  while ((1 << bits) < power) ++bits;
  return bits;
}

}  // namespace

const char* direct_refusal(const HalfGemm& p) {
  if (p.m == 0 || p.n == 0 || p.k == 0) return "an extent is 0";
  if (p.d_column_major) return "D's rows must be contiguous";
  if (p.epilogue.any) return "epilogues are a pass of their own here";
  if (p.batches == 0 || p.batches > 65535) return "no product, or more of a batch than one launch takes (65535)";
  if (std::max(p.m, p.n) > std::int64_t{1} << 30 || p.k > std::int64_t{1} << 30) return "a side beyond 2^30";
  if ((transposed(p) ? p.m : p.n) > most_columns) return "more rows and columns than one launch counts";
  return nullptr;
}

namespace {

DirectPlan plan_outer(const HalfGemm& p, const DirectArguments& g, int units) {
  DirectPlan plan;
  plan.outer = true;
  plan.each = static_cast<double>(g.m) * g.n * static_cast<double>(p.batches) > units * 4096.0 ? outer_each : 1;
  const int bytes = g.d_is_fp32 ? 8 : 4;
  plan.pairs =
      g.d_row == 1 && reinterpret_cast<std::uintptr_t>(g.d) % bytes == 0 && g.d_column % 2 == 0 && g.d_batch % 2 == 0;
  plan.rows = power_from((g.m + plan.each - 1) / plan.each, outer_threads);
  const std::int64_t groups = (g.m + plan.each * plan.rows - 1) / (plan.each * plan.rows) * p.batches;
  // columns of a block: two or more for each thread, and two blocks for each multiprocessor where there are so many
  const std::int64_t beside = outer_threads / plan.rows, wanted = (groups * g.n + 2 * units - 1) / (2 * units);
  const std::int64_t least = std::min<std::int64_t>(2 * beside, outer_most_columns);
  plan.columns = static_cast<int>(std::clamp<std::int64_t>(wanted, least, outer_most_columns));
  return plan;
}

DirectPlan plan_sums(const HalfGemm& p, const DirectArguments& g, int units, bool on_hopper) {
  DirectPlan best;
  best.cost = 1e30;
  const int columns = power_from(g.n, 8), ahead = direct_ahead(columns);
  const bool rows_first = g.a_row == 1 && g.m >= 8;
  const std::int64_t groups = p.batches * ((g.n + columns - 1) / columns);
  // loads from the first-level cache, of which each multiprocessor starts those of a warp in a cycle, in microseconds
  const double loads = static_cast<double>(g.m * groups) * static_cast<double>(g.k) * (columns + 1) / (units * 5.4e4);
  for (int threads = 128; threads <= direct_most_threads; threads *= 2)
    for (int lanes = 1; lanes <= threads; lanes *= 2)
      for (int splits = 1; splits <= (on_hopper ? direct_most_splits : 1); splits *= 2) {
        const int rows = threads / lanes;
        if (rows_first && (rows < 8 || rows > 256)) continue;  // a sector of memory is 16 elements
        if (splits > 1 && g.k < splits * lanes) continue;
        const std::int64_t blocks = (g.m + rows - 1) / rows * groups * splits;
        // clusters want their multiprocessors side by side, so that not all of the chip can be filled with them
        const int at_once = direct_blocks(columns) * direct_most_threads / threads * units;
        if (splits > 1 && blocks > at_once * 4 / 5) continue;
        const int trips =
            static_cast<int>((g.k + std::int64_t{ahead} * lanes * splits - 1) / (std::int64_t{ahead} * lanes * splits));
        const double full = static_cast<double>(blocks) / at_once, waves = full < 4 ? std::ceil(full) : full;
        const double cost = 1 + std::max(trips * waves, loads) + (splits > 1 ? 0.7 : 0) +
                            (lanes > 32 || rows_first ? 0.2 : 0) + (rows_first && rows == 8 ? 0.3 : 0) +
                            threads / 2048.0;
        if (cost < best.cost) {
          best.cost = cost;
          best.rows = rows;
          best.lanes = lanes;
          best.splits = splits;
        }
      }
  best.rows_first = rows_first;
  best.columns = columns;
  return best;
}

}  // namespace

DirectPlan plan_direct(const HalfGemm& p, int units, bool on_hopper) {
  const DirectArguments g = oriented(p, transposed(p));
  return is_outer(p) ? plan_outer(p, g, units) : plan_sums(p, g, units, on_hopper);
}

int packed(const DirectPlan& plan) {
  const bool flags[] = {plan.outer, plan.pairs, plan.rows_first, plan.each > 1};
  int number = 0;
  for (const bool f : flags) number = number * 2 + (f ? 1 : 0);
  for (const int size : {plan.rows, plan.lanes, plan.splits}) number = number * 16 + log2_of(size);
  return number * 64 + plan.columns;
}

DirectPlan unpacked(int number) {
  DirectPlan plan;
  plan.columns = number % 64;
  number /= 64;
  for (int* const size : {&plan.splits, &plan.lanes, &plan.rows}) {
    *size = 1 << number % 16;
    number /= 16;
  }
  plan.each = (number & 1) != 0 ? outer_each : 1;
  plan.rows_first = (number & 2) != 0;
  plan.pairs = (number & 4) != 0;
  plan.outer = (number & 8) != 0;
  return plan;
}

std::string direct_text(const DirectPlan& plan) {
  const std::string columns = std::to_string(plan.columns);
  if (plan.outer) return "outer " + std::to_string(plan.rows * plan.each) + "x" + columns;
  return std::to_string(plan.rows) + "x" + columns + " by " + std::to_string(plan.lanes) + " lanes" +
         (plan.splits > 1 ? " split " + std::to_string(plan.splits) : "");
}

bool is_direct(const HalfGemm& p, const DirectPlan& plan) {
  if (p.batches != 1) return false;
  if (plan.outer) {
    // of many elements the multiplications are no longer hidden behind the stores, the fewer the better these are
    const double elements = static_cast<double>(p.m) * static_cast<double>(p.n);
    return p.k <= (plan.pairs ? 4 : 8) || elements < (p.k <= 8 ? 8e6 : 4e6);
  }
  return std::min(p.m, p.n) <= 32 && plan.cost <= 5.6;
}

const char* launch_direct(const HalfGemm& p, const DirectPlan& plan, bool on_hopper, void* stream) {
  DirectArguments g = oriented(p, transposed(p));
  g.row_bits = log2_of(plan.rows);
  g.lane_bits = log2_of(plan.lanes);
  g.rows_first = plan.rows_first;
  g.splits = plan.splits;
  g.columns = plan.columns;
  const std::int64_t rows = std::int64_t{plan.rows} * plan.each;
  const dim3 blocks(static_cast<unsigned>((g.m + rows - 1) / rows * plan.splits),
                    static_cast<unsigned>((g.n + plan.columns - 1) / plan.columns), static_cast<unsigned>(p.batches));
  return (p.in == Element::bf16 ? launch_direct_bf16 : launch_direct_fp16)(g, plan, blocks, on_hopper, stream);
}

}  // namespace tessera::cuda::sm80
