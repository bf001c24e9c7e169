// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "block.cuh"
#include <cstdint>
#include <cuda/gemm/half_sm80/direct.hpp>
#include <cuda_runtime_api.h>
#include <type_traits>

/// \file
/// The kernel: a thread sums `columns` elements of a row over every lanes-th k, straight from global memory, and a
/// row's threads add up: in their warp by shuffles, then through scratch, then through the cluster's, always in the
/// same order. B is read by every row and stays in the first-level cache.

namespace tessera::cuda::sm80 {

/// What the kernel reads. Strides are in elements.
struct DirectArguments {
  const std::uint16_t *a, *b;
  void* d;
  std::int64_t m, a_row, a_k, b_k, b_column, d_row, d_column;
  std::int64_t a_batch, b_batch, d_batch;
  int n, k;
  float alpha, beta;
  const float *alpha_pointer, *beta_pointer;
  int row_bits, lane_bits, splits;  ///< log2 of a block's rows, and of the threads of each
  int columns;                      ///< of a block, where K is short
  bool rows_first, d_is_fp32;
};

inline constexpr int direct_most_threads = 512, direct_most_splits = 8;
/// k of a thread whose elements are on their way at once.
__host__ __device__ constexpr int direct_ahead(int columns) { return columns <= 2 ? 8 : 4; }

/// Blocks of `direct_most_threads` that a multiprocessor has registers for.
__host__ __device__ constexpr int direct_blocks(int columns) { return columns == 1 ? 3 : columns <= 4 ? 2 : 1; }

namespace {

template <class In>
__device__ __forceinline__ float widened(std::uint16_t bits) {
  if constexpr (std::is_same_v<In, __nv_bfloat16>)
    return __uint_as_float(static_cast<std::uint32_t>(bits) << 16);
  else
    return __half2float(__ushort_as_half(bits));
}

}  // namespace

template <class In, int columns>
__global__ void __launch_bounds__(direct_most_threads, direct_blocks(columns))
    gemm_half_direct_sm80(const DirectArguments g) {
  constexpr int ahead = direct_ahead(columns);
  __shared__ float sums_of[direct_most_threads * columns];
  const int t = static_cast<int>(threadIdx.x), rows = 1 << g.row_bits, lanes = 1 << g.lane_bits;
  const int r = g.rows_first ? t & (rows - 1) : t >> g.lane_bits;
  const int lane = g.rows_first ? t >> g.row_bits : t & (lanes - 1);
  const int split = g.splits > 1 ? static_cast<int>(blockIdx.x) % g.splits : 0;
  const std::int64_t first_row = static_cast<std::int64_t>(g.splits > 1 ? blockIdx.x / g.splits : blockIdx.x)
                                 << g.row_bits;
  const std::int64_t row = first_row + r < g.m ? first_row + r : g.m - 1;  // rows beyond are summed, and not stored
  const int column = static_cast<int>(blockIdx.y) * columns, present = min(g.n - column, columns);
  const int first = static_cast<int>(std::int64_t{g.k} * split / g.splits);
  const int last = static_cast<int>(std::int64_t{g.k} * (split + 1) / g.splits);
#if __CUDA_ARCH__ >= 900
  wait_for_earlier_kernels();
#endif
  const float alpha = g.alpha_pointer != nullptr ? *g.alpha_pointer : g.alpha;
  const float beta = g.beta_pointer != nullptr ? *g.beta_pointer : g.beta;

  float sum[columns] = {};
  if (alpha != 0) {
    int k = first + lane;
    const std::uint16_t* a = g.a + blockIdx.z * g.a_batch + row * g.a_row + std::int64_t{k} * g.a_k;
    const std::uint16_t* b = g.b + blockIdx.z * g.b_batch + column * g.b_column + std::int64_t{k} * g.b_k;
    const std::int64_t a_step = g.a_k << g.lane_bits, b_step = g.b_k << g.lane_bits;
    const auto add = [&](auto whole) {
      std::uint16_t of_a[ahead], of_b[ahead][columns];
#pragma unroll
      for (int u = 0; u < ahead; ++u) {
        const bool there = whole.value || k + (u << g.lane_bits) < last;
        of_a[u] = there ? load_element(a + u * a_step) : std::uint16_t{0};
#pragma unroll
        for (int j = 0; j < columns; ++j)
          of_b[u][j] = there && j < present ? load_element(b + u * b_step + j * g.b_column) : std::uint16_t{0};
      }
#pragma unroll
      for (int u = 0; u < ahead; ++u)
#pragma unroll
        for (int j = 0; j < columns; ++j) sum[j] += widened<In>(of_a[u]) * widened<In>(of_b[u][j]);
      k += ahead << g.lane_bits;
      a += ahead * a_step;
      b += ahead * b_step;
    };
    while (k + ((ahead - 1) << g.lane_bits) < last) add(std::true_type());
    if (k < last) add(std::false_type());
  }
#if __CUDA_ARCH__ >= 900
  let_later_kernels_start();
#endif

  // lanes of one row in a warp are neighbours, or lie as many threads apart as the block has rows
  const int from = g.rows_first ? rows : 1, to = g.rows_first ? 32 : min(lanes, 32);
  for (int apart = from; apart < to; apart *= 2)
#pragma unroll
    for (int j = 0; j < columns; ++j) sum[j] += __shfl_xor_sync(0xffffffffu, sum[j], apart);
  // what is left: a row's sums lie in `parts` warps or, where a warp holds one lane of 32 rows or more, threads
  const int parts = g.rows_first ? (rows >= 32 ? lanes : static_cast<int>(blockDim.x) / 32) : max(lanes / 32, 1);
  const auto store = [&](std::int64_t i, int j, float value) {
    if (i >= g.m || j >= present) return;
    const std::int64_t at = blockIdx.z * g.d_batch + i * g.d_row + (column + j) * g.d_column;
    if (g.d_is_fp32)
      finish<true>(static_cast<float*>(g.d) + at, alpha, beta, value);
    else
      finish<true>(static_cast<In*>(g.d) + at, alpha, beta, value);
  };
  if (parts == 1 && g.splits == 1) {
    const bool mine = g.rows_first ? lane == 0 : (t & (min(lanes, 32) - 1)) == 0;
    if (mine)
#pragma unroll
      for (int j = 0; j < columns; ++j) store(first_row + r, j, sum[j]);
    return;
  }
  // of part p, column j, row r: sums_of[(p * columns + j) * rows + r]
  const int part = g.rows_first ? (rows >= 32 ? lane : t / 32) : lane / 32;
  const bool mine = g.rows_first ? (rows >= 32 || t % 32 < rows) : lane % 32 == 0;
  if (mine)
#pragma unroll
    for (int j = 0; j < columns; ++j) sums_of[(part * columns + j) * rows + r] = sum[j];
  __syncthreads();
  const int all = rows * columns;
  for (int e = t; e < all; e += static_cast<int>(blockDim.x)) {
    float value = 0;
    for (int p = 0; p < parts; ++p) value += sums_of[p * all + e];
    if (g.splits == 1)
      store(first_row + (e & (rows - 1)), e >> g.row_bits, value);
    else
      sums_of[e] = value;  // of part 0, which no other thread reads at e
  }
#if __CUDA_ARCH__ >= 900
  if (g.splits > 1) {
    cluster_barrier();
    const std::uint32_t scratch = shared_address(sums_of);
    for (int e = split * static_cast<int>(blockDim.x) + t; e < all; e += g.splits * static_cast<int>(blockDim.x))
      store(first_row + (e & (rows - 1)), e >> g.row_bits,
            sum_of_blocks<direct_most_splits>(scratch + static_cast<std::uint32_t>(e) * 4, g.splits));
    cluster_barrier();  // nobody leaves while its sums are read
  }
#endif
}

/// The kernel of short sums: threads of a block, and columns of it at most, which go through scratch.
inline constexpr int outer_threads = 256, outer_most_columns = 32;
/// Rows of a thread where there are many.
inline constexpr int outer_each = 4;

/// Of a K of `depth` at most: a thread has `each` rows of A in registers and goes through its block's columns. Rows
/// follow D's contiguous dimension, so that a warp's stores lie side by side; in pairs where `pairs`, which wants D's
/// columns to begin at even elements.
template <class In, int depth, int each, bool pairs>
__global__ void __launch_bounds__(outer_threads) gemm_half_outer_sm80(const DirectArguments g) {
  static_assert(!pairs || each % 2 == 0);
  constexpr int neighbours = pairs ? 2 : 1;  // rows of a thread that lie side by side
  __shared__ __align__(16) float of_b[outer_most_columns * depth];
  const int t = static_cast<int>(threadIdx.x), rows = 1 << g.row_bits;
  const int beside = outer_threads >> g.row_bits;  // threads that share rows, and take every beside-th column
  const std::int64_t first_row =
      (static_cast<std::int64_t>(blockIdx.x) * each << g.row_bits) + (t & (rows - 1)) * neighbours;
  const auto row_of = [&](int i) { return first_row + ((i / neighbours * neighbours) << g.row_bits) + i % neighbours; };
  const int first_column = static_cast<int>(blockIdx.y) * g.columns, present = min(g.n - first_column, g.columns);
#if __CUDA_ARCH__ >= 900
  wait_for_earlier_kernels();
#endif
  const float alpha = g.alpha_pointer != nullptr ? *g.alpha_pointer : g.alpha;
  const float beta = g.beta_pointer != nullptr ? *g.beta_pointer : g.beta;
  const int k = alpha == 0 ? 0 : g.k;
  // beyond the edges what is there is read once more: no branch stands between the loads
  std::uint16_t bits[each][depth] = {};
  if (k > 0) {
#pragma unroll
    for (int i = 0; i < each; ++i) {
      const std::uint16_t* a = g.a + blockIdx.z * g.a_batch + (row_of(i) < g.m ? row_of(i) : g.m - 1) * g.a_row;
#pragma unroll
      for (int l = 0; l < depth; ++l) {
        bits[i][l] = load_element(a);
        if (l + 1 < k) a += g.a_k;
      }
    }
#pragma unroll 1
    for (int e = t; e < present * depth; e += outer_threads) {
      const int j = e / depth, l = e % depth;
      const std::uint16_t* const b = g.b + blockIdx.z * g.b_batch + (first_column + j) * g.b_column + l * g.b_k;
      of_b[e] = l < k ? widened<In>(load_element(b)) : 0.0f;
    }
  }
#if __CUDA_ARCH__ >= 900
  let_later_kernels_start();
#endif
  float a[each][depth];
#pragma unroll
  for (int i = 0; i < each; ++i)
#pragma unroll
    for (int l = 0; l < depth; ++l) a[i][l] = l < k ? widened<In>(bits[i][l]) : 0.0f;
  __syncthreads();
  const auto fill = [&]<class Out>(Out* const d, auto adds) {
    Out* to[each / neighbours];
#pragma unroll
    for (int i = 0; i < each; i += neighbours)
      to[i / neighbours] =
          d + blockIdx.z * g.d_batch + row_of(i) * g.d_row + (first_column + (t >> g.row_bits)) * g.d_column;
#pragma unroll 1
    for (int j = t >> g.row_bits; j < present; j += beside) {
      float sum[each] = {};
      if (k > 0) {
#pragma unroll
        for (int l = 0; l < depth; ++l) {
          const float b = of_b[j * depth + l];
#pragma unroll
          for (int i = 0; i < each; ++i) sum[i] += a[i][l] * b;
        }
      }
#pragma unroll
      for (int i = 0; i < each; i += neighbours) {
        Out* const here = to[i / neighbours];
        to[i / neighbours] += beside * g.d_column;
        if constexpr (pairs) {
          if (row_of(i) + 1 < g.m) finish_pair<adds.value>(here, alpha, beta, sum[i], sum[i + 1]);
          if (row_of(i) + 1 == g.m) finish<adds.value>(here, alpha, beta, sum[i]);
        } else {
          if (row_of(i) < g.m) finish<adds.value>(here, alpha, beta, sum[i]);
        }
      }
    }
  };
  const auto fill_as = [&](auto* const d) {
    if (beta == 0)
      fill(d, std::false_type());
    else
      fill(d, std::true_type());
  };
  if (g.d_is_fp32)
    fill_as(static_cast<float*>(g.d));
  else
    fill_as(static_cast<In*>(g.d));
}

/// One for each type of A and B, in a source of its own.
const char* launch_direct_bf16(const DirectArguments& arguments, const DirectPlan& plan, dim3 blocks, bool for_hopper,
                               void* stream);
const char* launch_direct_fp16(const DirectArguments& arguments, const DirectPlan& plan, dim3 blocks, bool for_hopper,
                               void* stream);

namespace {
template <class In>
const char* launch_direct_kernel(const DirectArguments& arguments, const DirectPlan& plan, dim3 blocks, bool for_hopper,
                                 void* stream) {
  using Kernel = void (*)(DirectArguments);
  if (plan.outer) {
    const auto of = [&]<int depth>(std::integral_constant<int, depth>) -> Kernel {
      if (plan.each == 1) return gemm_half_outer_sm80<In, depth, 1, false>;
      return plan.pairs ? gemm_half_outer_sm80<In, depth, outer_each, true>
                        : gemm_half_outer_sm80<In, depth, outer_each, false>;
    };
    const Kernel kernel = arguments.k <= 1   ? of(std::integral_constant<int, 1>())
                          : arguments.k <= 2 ? of(std::integral_constant<int, 2>())
                          : arguments.k <= 4 ? of(std::integral_constant<int, 4>())
                          : arguments.k <= 8 ? of(std::integral_constant<int, 8>())
                                             : of(std::integral_constant<int, 16>());
    return start(kernel, arguments, blocks, outer_threads, 1, for_hopper, stream);
  }
  const Kernel kernel = plan.columns == 1   ? gemm_half_direct_sm80<In, 1>
                        : plan.columns == 2 ? gemm_half_direct_sm80<In, 2>
                        : plan.columns == 4 ? gemm_half_direct_sm80<In, 4>
                                            : gemm_half_direct_sm80<In, 8>;
  return start(kernel, arguments, blocks, plan.rows * plan.lanes, plan.splits, for_hopper, stream);
}
}  // namespace

}  // namespace tessera::cuda::sm80
