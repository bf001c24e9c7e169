// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "block.cuh"
#include <cstdint>
#include <cuda/gemm/half_sm80/half_sm80.hpp>
#include <type_traits>

/// \file
/// The kernel: 16 warps, or 4 of a batch, multiply a tile of 64 x 64 by mma.sync.m16n8k16. Its time is that of its
/// instructions, one behind the other: hence many warps, and nothing done for rows and columns that are not there.
/// Elements go through registers to scratch, so that any base and leading dimension will do.
/// Scratch holds rows of 128 bytes whose 16-byte chunks are exchanged by the row's number, for ldmatrix to meet every
/// bank once. The blocks of a cluster share a tile's K; each adds a part of all their sums, in the order of K.

namespace tessera::cuda::sm80 {

/// What the kernel reads.
struct Arguments {
  const void *a, *b;
  void* d;
  std::int64_t m, n, k, lda, ldb, ldd;
  std::int64_t a_batch, b_batch, d_batch;  ///< from the operand of one y of the grid to the next's
  float alpha, beta;
  const float *alpha_pointer, *beta_pointer;
  int tiles_n, splits;
  bool d_is_fp32;
};

namespace {

/// Warps of a block: a single product's is to be over soon, of a batch's many blocks run side by side.
template <bool batched>
inline constexpr int warps_of = batched ? 4 : 16;

/// What of a step's tile there is: lines, and elements of each. Lines up to `needed` go to scratch, zeros for those
/// that are not there: lines along K that a slice of 16 has, of others none.
struct Part {
  int lines, count, needed;
  bool ends;  ///< the last line is the operand's last
};
__device__ int within(std::int64_t n, int most) { return n < 0 ? 0 : n < most ? static_cast<int>(n) : most; }

/// Where chunk `chunk` of row `row` lies in scratch, in bytes.
__device__ int place(int row, int chunk) { return row * 128 + ((chunk ^ (row & 7)) << 4); }

/// An operand as the kernel walks it, tile by tile of 64 lines of 64 contiguous elements, and a tile on its way through
/// a thread's registers. Lines that are aligned to 16 bytes and of whole chunks of 8 elements come in chunks.
template <bool whole, int warps>
struct Walk {
  static constexpr int chunks = 64 * 64 / 8 / (32 * warps), lines_apart = 32 * warps / 8;
  struct Piece {
    uint4 chunk[chunks];
  };
  const std::uint16_t* at;  ///< the first of a thread's elements in the next tile
  std::int64_t leading, step;
  int line, inner;

  __device__ Walk(const std::uint16_t* tile, std::int64_t leading_, std::int64_t step_, int t)
      : at(tile + t / 8 * leading_ + t % 8 * 8), leading(leading_), step(step_), line(t / 8), inner(t % 8 * 8) {}

  /// Without branches, so that all loads of a thread are on their way at once; zeros beyond the edges.
  __device__ void load(Piece& to, const Part& part) {
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
      to.chunk[c] = make_uint4(0, 0, 0, 0);
      if (line + c * lines_apart < part.lines && inner < part.count)
        to.chunk[c] = __ldg(reinterpret_cast<const uint4*>(at + c * lines_apart * leading));
    }
    at += step;
  }
  __device__ void keep(const Piece& from, const Part& part, char* to) const {
#pragma unroll
    for (int c = 0; c < chunks; ++c)
      if (line + c * lines_apart < part.needed)
        *reinterpret_cast<uint4*>(to + place(line + c * lines_apart, inner / 8)) = from.chunk[c];
  }
};

/// Others come in words, a line a warp, so that a load meets one or two lines of the cache: of each the word in which a
/// lane's two elements begin, and the next one where they begin in its second half. A word may hold an element of the
/// line behind, but none behind the operand's last: half of that word is read.
template <int warps>
struct Walk<false, warps> {
  static constexpr int rows = 64 / warps;
  struct Piece {
    std::uint32_t word[rows], next[rows];
    int shift[2];  ///< bits by which even and odd rows begin inside a word
  };
  const std::uint16_t* at;
  std::int64_t leading, step;
  int line, inner;

  __device__ Walk(const std::uint16_t* tile, std::int64_t leading_, std::int64_t step_, int t)
      : at(tile + t / 32 * rows * leading_ + t % 32 * 2),
        leading(leading_),
        step(step_),
        line(t / 32 * rows),
        inner(t % 32 * 2) {}

  __device__ void load(Piece& to, const Part& part) {
    const int present = part.lines - line;
    const std::uint16_t* p = at;
    at += step;
#pragma unroll
    for (int r = 0; r < rows; ++r) to.word[r] = to.next[r] = 0;
    const auto bit = [](const std::uint16_t* q) {
      return static_cast<int>(reinterpret_cast<std::uintptr_t>(q) >> 1 & 1);
    };
    const int shift[2] = {bit(p), bit(p + leading)};
    to.shift[0] = 16 * shift[0];
    to.shift[1] = 16 * shift[1];
    if (present <= 0) return;
    const int end = part.ends ? present - 1 : -1;  // the operand's last line
    const int halves[2] = {part.count + shift[0] - inner, part.count + shift[1] - inner};
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const auto* const q = reinterpret_cast<const std::uint32_t*>(p - shift[r % 2]);
      const int left = r < present ? halves[r % 2] - (r == end ? 1 : 0) : 0;
      if (left > 0) to.word[r] = __ldg(q);
      if (left > 2 && shift[r % 2] != 0) to.next[r] = __ldg(q + 1);
      p += leading;
    }
    if (end < 0 || end >= rows) return;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::uint16_t* const q = p + (r - rows) * leading - shift[r % 2];
      if (r == end && halves[r % 2] == 1) to.word[r] = __ldg(q);
      if (r == end && halves[r % 2] == 3 && shift[r % 2] != 0) to.next[r] = __ldg(q + 2);
    }
  }
  __device__ void keep(const Piece& from, const Part& part, char* to) const {
    if (line >= part.needed) return;
    const int here = part.count - inner;
    const std::uint32_t mask = here >= 2 ? 0xffffffffu : here == 1 ? 0xffffu : 0u;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const std::uint32_t w = __funnelshift_r(from.word[r], from.next[r], from.shift[r % 2]) & mask;
      if (line + r < part.needed)
        *reinterpret_cast<std::uint32_t*>(to + place(line + r, inner / 8) + inner % 8 * 2) = w;
    }
  }
};

template <bool transposed>
__device__ void load_matrices(std::uint32_t (&r)[4], std::uint32_t address) {
  if constexpr (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
}

template <class In>
__device__ void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  if constexpr (std::is_same_v<In, __nv_bfloat16>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Where an operand of this block's product begins.
template <bool batched>
__device__ std::int64_t in_batch(std::int64_t stride) {
  if constexpr (!batched) return 0;
  unsigned y = blockIdx.y;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  // asked for anew each time: kept, offsets would be spilled
  asm volatile("mov.u32 %0, %%ctaid.y;" : "=r"(y));
#endif
  return y * stride;
}

}  // namespace

/// Of a batch each y of the grid is a product; apart, since its offsets cost the others registers. `ahead`: steps of K
/// whose elements are on their way at once; where a block has one step, code for more would only have to be fetched.
template <class In, bool a_m_major, bool b_n_major, bool whole, bool batched, int ahead>
__global__ void __launch_bounds__(32 * warps_of<batched>) gemm_half_sm80(const Arguments g) {
  constexpr int stage = 2 * 64 * 128, columns = 68;  // bytes of a pair of tiles; of sums, floats a row
  constexpr int warps = warps_of<batched>, threads = 32 * warps;
  static_assert(64 * columns * 4 <= 2 * stage);
  __shared__ __align__(128) char memory[2 * stage];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int split = static_cast<int>(blockIdx.x) % g.splits;
  const auto tile = static_cast<int>(blockIdx.x) / g.splits;
  const std::int64_t row = std::int64_t{tile / g.tiles_n} * 64, column = std::int64_t{tile % g.tiles_n} * 64;
#if __CUDA_ARCH__ >= 900
  wait_for_earlier_kernels();
#endif
  const float alpha = g.alpha_pointer != nullptr ? *g.alpha_pointer : g.alpha;
  const float beta = g.beta_pointer != nullptr ? *g.beta_pointer : g.beta;
  const int steps = alpha == 0 ? 0 : static_cast<int>((g.k + 63) / 64);
  const int first = static_cast<int>(std::int64_t{steps} * split / g.splits);
  const int last = static_cast<int>(std::int64_t{steps} * (split + 1) / g.splits);
  const int rows_here = within(g.m - row, 64), columns_here = within(g.n - column, 64);

  const auto walk = [&](const void* base, std::int64_t leading, std::int64_t batch, bool along_k, std::int64_t other) {
    const std::int64_t depth = std::int64_t{first} * 64;
    const auto* const tile = static_cast<const std::uint16_t*>(base) + in_batch<batched>(batch) +
                             (along_k ? depth * leading + other : other * leading + depth);
    return Walk<whole, warps>(tile, leading, along_k ? 64 * leading : 64, t);
  };
  auto walk_a = walk(g.a, g.lda, g.a_batch, a_m_major, row), walk_b = walk(g.b, g.ldb, g.b_batch, b_n_major, column);
  typename Walk<whole, warps>::Piece pieces_a[ahead], pieces_b[ahead];
  const auto part = [&](bool along_k, int step, int lines, bool ends) {
    const std::int64_t left = g.k - std::int64_t{step} * 64;
    const int depth = within(left, 64);
    return along_k ? Part{depth, lines, (depth + 15) / 16 * 16, left <= 64} : Part{lines, depth, lines, ends};
  };
  const bool rows_end = g.m - row <= 64, columns_end = g.n - column <= 64;
  const auto load = [&](int step, int d) {
    walk_a.load(pieces_a[d], part(a_m_major, step, rows_here, rows_end));
    walk_b.load(pieces_b[d], part(b_n_major, step, columns_here, columns_end));
  };
  const auto keep = [&](int step, int d) {
    char* const to = memory + (step - first) % 2 * stage;
    walk_a.keep(pieces_a[d], part(a_m_major, step, rows_here, rows_end), to);
    walk_b.keep(pieces_b[d], part(b_n_major, step, columns_here, columns_end), to + stage / 2);
  };

  // rows 16 i, columns 8 j of the warp's 32 x 32 or 16 x 16
  constexpr int side = warps == 4 ? 32 : 16, across = 64 / side;
  float sums[side / 16][side / 8][4] = {};
  const int warp_row = warp / across * side, warp_column = warp % across * side;
  const bool has_elements = warp_row < rows_here && warp_column < columns_here;
  const int low = lane % 8, middle = lane / 8 % 2, high = lane / 16;
#pragma unroll
  for (int d = 0; d < ahead; ++d)
    if (first + d < last) load(first + d, d);
  for (int begin = first; begin < last; begin += ahead) {
#pragma unroll
    for (int d = 0; d < ahead; ++d) {
      const int step = begin + d;
      if (step >= last) break;
      // the scratch of the step before last: every warp is behind it, since it has met the barrier after
      keep(step, d);
      if (step + ahead < last) load(step + ahead, d);
      __syncthreads();
      if (!has_elements) continue;
      const std::uint32_t tile_a = shared_address(memory + (step - first) % 2 * stage), tile_b = tile_a + stage / 2;
      const int here = within(g.k - std::int64_t{step} * 64, 64);
#pragma unroll
      for (int k = 0; k < 64; k += 16) {
        if (k >= here) break;
        std::uint32_t fa[side / 16][4], fb[side / 16][4];
#pragma unroll
        for (int i = 0; i < side / 16; ++i) {
          const int m0 = warp_row + 16 * i, n0 = warp_column + 16 * i;
          load_matrices<a_m_major>(fa[i], tile_a + (a_m_major ? place(k + low + 8 * high, m0 / 8 + middle)
                                                              : place(m0 + low + 8 * middle, k / 8 + high)));
          load_matrices<b_n_major>(fb[i], tile_b + (b_n_major ? place(k + low + 8 * middle, n0 / 8 + high)
                                                              : place(n0 + low + 8 * high, k / 8 + middle)));
        }
#pragma unroll
        for (int i = 0; i < side / 16; ++i)
#pragma unroll
          for (int j = 0; j < side / 8; ++j)
            multiply<In>(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
      }
    }
  }
#if __CUDA_ARCH__ >= 900
  let_later_kernels_start();
#endif
  __syncthreads();

  // the sums through scratch, so that rows of D are written side by side
  auto* const all = reinterpret_cast<float*>(memory);
  if (has_elements)
#pragma unroll
    for (int i = 0; i < side / 16; ++i)
#pragma unroll
      for (int j = 0; j < side / 8; ++j)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int r = warp_row + 16 * i + lane / 4 + 8 * h, c = warp_column + 8 * j + lane % 4 * 2;
          *reinterpret_cast<float2*>(all + r * columns + c) = make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
        }
  const std::int64_t offset = in_batch<batched>(g.d_batch);
  const auto put = [&](int e, float sum) {
    if (e / 64 >= rows_here || e % 64 >= columns_here) return;
    const std::int64_t at = (row + e / 64) * g.ldd + offset + column + e % 64;
    if (g.d_is_fp32)
      finish<true>(static_cast<float*>(g.d) + at, alpha, beta, sum);
    else
      finish<true>(static_cast<In*>(g.d) + at, alpha, beta, sum);
  };
#if __CUDA_ARCH__ >= 900
  if (g.splits > 1) {
    cluster_barrier();
    const std::uint32_t at = shared_address(all);
    const int share = 64 / g.splits * 64, end = min((split + 1) * share, rows_here * 64);
    for (int e = split * share + t; e < end; e += threads) {
      const std::uint32_t place_of = at + static_cast<std::uint32_t>(e / 64 * columns + e % 64) * 4;
      put(e, sum_of_blocks<most_splits>(place_of, g.splits));
    }
    cluster_barrier();  // nobody leaves while its sums are read
    return;
  }
#endif
  __syncthreads();
#pragma unroll 4
  for (int e = t; e < rows_here * 64; e += threads) put(e, all[e / 64 * columns + e % 64]);
}

}  // namespace tessera::cuda::sm80
