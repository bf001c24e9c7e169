// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cuda/gemm/half_sm80/half_sm80.hpp>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <type_traits>

/// \file
/// The kernel: 4 warps multiply a tile of 64 x 64 by mma.sync.m16n8k16. Chunks of 8 elements go through registers to
/// scratch, so that any base and leading dimension will do.
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

constexpr int threads = 128,
              chunks = 64 * 64 / 8 / threads;  // chunks of 8 elements that a thread brings of each operand

__device__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// An operand as the kernel walks it: lines of contiguous elements.
struct Lines {
  const std::uint16_t* base;
  std::int64_t leading, lines, length;
};

/// A step's tile of an operand, 64 lines of 64 elements, on its way through a thread's registers.
/// Lines that are aligned to 16 bytes and of whole chunks of 8 elements come in chunks.
template <bool whole>
struct Piece {
  uint4 chunk[chunks];

  /// Elements from `inner` on of lines from `line` on; zeros beyond the edges. Without branches, so that all loads of a
  /// thread are on their way at once.
  __device__ void load(const Lines& from, std::int64_t line, std::int64_t inner, int t) {
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
      const int e = t + c * threads;
      const std::int64_t at = line + e / 8, first = inner + e % 8 * 8;
      chunk[c] = make_uint4(0, 0, 0, 0);
      if (at < from.lines && first < from.length)
        chunk[c] = __ldg(reinterpret_cast<const uint4*>(from.base + at * from.leading + first));
    }
  }
  __device__ void keep(const Lines&, std::int64_t, std::int64_t, char* to, int t) const;
};

/// Others come in words, a line a warp, so that a load meets one or two lines of the cache. A line that begins inside
/// a word is shifted on its way to scratch; its last element is in a 33rd word, which lane r brings for line r of the
/// warp. Nothing behind a line is read.
template <>
struct Piece<false> {
  static constexpr int rows = 64 / (threads / 32);
  std::uint32_t word[rows], last;

  /// What a warp has of a tile: lines from `first` on, as many as there are, `count` elements of each; bit 0 of
  /// `start + r step` says whether line r begins inside a word.
  struct Part {
    std::int64_t first;
    int present, count;
    unsigned start, step;

    __device__ Part(const Lines& from, std::int64_t line, std::int64_t inner, int warp)
        : first(line + warp * rows), step(static_cast<unsigned>(from.leading)) {
      const std::int64_t lines = from.lines - first, elements = from.length - inner;
      present = lines < 0 ? 0 : lines < rows ? static_cast<int>(lines) : rows;
      count = elements < 0 ? 0 : elements < 64 ? static_cast<int>(elements) : 64;
      start = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from.base) / 2) +
              static_cast<unsigned>(first) * step + static_cast<unsigned>(inner);
    }
    __device__ int shift(int r) const { return static_cast<int>((start + static_cast<unsigned>(r) * step) & 1u); }
  };

  __device__ void load(const Lines& from, std::int64_t line, std::int64_t inner, int t) {
    const int lane = t % 32;
    const Part part(from, line, inner, t / 32);
    const std::uint16_t* p = from.base + part.first * from.leading + inner;
    // where a line ends inside a word, that word may end behind the operand's memory: half of it is read
    const auto piece_at = [&](const std::uint16_t* q, int halves) {
      std::uint32_t w = 0;
      if (halves >= 2) w = __ldg(reinterpret_cast<const std::uint32_t*>(q));
      if (halves == 1) w = __ldg(q);
      return w;
    };
    last = 0;
    if (lane < part.present && part.count == 64 && part.shift(lane) != 0) last = __ldg(p + lane * from.leading + 63);
    p += 2 * lane;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int shift = part.shift(r);
      word[r] = piece_at(p - shift, r < part.present ? part.count + shift - 2 * lane : 0);
      p += from.leading;
    }
  }
  __device__ void keep(const Lines& from, std::int64_t line, std::int64_t inner, char* to, int t) const;
};

/// Where chunk `chunk` of row `row` lies in scratch, in bytes.
__device__ int place(int row, int chunk) { return row * 128 + ((chunk ^ (row & 7)) << 4); }

template <bool whole>
__device__ void Piece<whole>::keep(const Lines&, std::int64_t, std::int64_t, char* to, int t) const {
#pragma unroll
  for (int c = 0; c < chunks; ++c) {
    const int e = t + c * threads;
    *reinterpret_cast<uint4*>(to + place(e / 8, e % 8)) = chunk[c];
  }
}
__device__ void Piece<false>::keep(const Lines& from, std::int64_t line, std::int64_t inner, char* to, int t) const {
  const int lane = t % 32, row = t / 32 * rows;
  const Part part(from, line, inner, t / 32);
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const std::uint32_t next = __shfl_down_sync(0xffffffffu, word[r], 1), end = __shfl_sync(0xffffffffu, last, r);
    std::uint32_t w = __funnelshift_r(word[r], lane == 31 ? end : next, part.shift(r) * 16);
    const int here = part.count - 2 * lane;  // a line that is not there has no words
    w = here >= 2 ? w : here == 1 ? w & 0xffffu : 0u;
    *reinterpret_cast<std::uint32_t*>(to + place(row + r, lane / 4) + lane % 4 * 4) = w;
  }
}

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

template <class T>
__device__ float widened(T v) {
  return static_cast<float>(v);
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

template <bool batched>
__device__ decltype(auto) of_product(const Lines& first, std::int64_t stride) {
  if constexpr (batched)
    return Lines{first.base + in_batch<true>(stride), first.leading, first.lines, first.length};
  else
    return (first);
}

/// d = alpha sum + beta d.
template <class Out>
__device__ void finish(const Arguments& g, std::int64_t i, std::int64_t j, float alpha, float beta, float sum) {
  Out* const d = static_cast<Out*>(g.d) + i * g.ldd + j;
  float value = alpha * sum;
  if (beta != 0) value += beta * widened(*d);
  *d = static_cast<Out>(value);
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// What came before in the stream may still run until here; what comes next may get ready.
__device__ void meet_neighbours() {
  asm volatile("griddepcontrol.wait;\ngriddepcontrol.launch_dependents;" ::: "memory");
}
__device__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ float from_block(std::uint32_t address, int block) {
  std::uint32_t there = 0;
  float v = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(there) : "memory");
  return v;
}
#endif

}  // namespace

/// Of a batch each y of the grid is a product; apart, since its offsets cost the others registers.
template <class In, bool a_m_major, bool b_n_major, bool whole, bool batched>
__global__ void __launch_bounds__(threads) gemm_half_sm80(const Arguments g) {
  constexpr int stage = 2 * 64 * 128, columns = 68;  // bytes of a pair of tiles; of sums, floats a row
  static_assert(64 * columns * 4 <= 2 * stage);
  __shared__ __align__(128) char memory[2 * stage];
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int split = static_cast<int>(blockIdx.x) % g.splits;
  const auto tile = static_cast<int>(blockIdx.x) / g.splits;
  const std::int64_t row = std::int64_t{tile / g.tiles_n} * 64, column = std::int64_t{tile % g.tiles_n} * 64;
#if __CUDA_ARCH__ >= 900
  meet_neighbours();
#endif
  const float alpha = g.alpha_pointer != nullptr ? *g.alpha_pointer : g.alpha;
  const float beta = g.beta_pointer != nullptr ? *g.beta_pointer : g.beta;
  const int steps = alpha == 0 ? 0 : static_cast<int>((g.k + 63) / 64);
  const int first = static_cast<int>(std::int64_t{steps} * split / g.splits);
  const int last = static_cast<int>(std::int64_t{steps} * (split + 1) / g.splits);

  Piece<whole> piece_a, piece_b;
  const Lines lines_a{static_cast<const std::uint16_t*>(g.a), g.lda, a_m_major ? g.k : g.m, a_m_major ? g.m : g.k};
  const Lines lines_b{static_cast<const std::uint16_t*>(g.b), g.ldb, b_n_major ? g.k : g.n, b_n_major ? g.n : g.k};
  const auto load = [&](int step) {
    const std::int64_t depth = std::int64_t{step} * 64;
    piece_a.load(of_product<batched>(lines_a, g.a_batch), a_m_major ? depth : row, a_m_major ? row : depth, t);
    piece_b.load(of_product<batched>(lines_b, g.b_batch), b_n_major ? depth : column, b_n_major ? column : depth, t);
  };
  const auto keep = [&](int step, int buffer) {
    const std::int64_t depth = std::int64_t{step} * 64;
    char* const to = memory + buffer * stage;
    piece_a.keep(of_product<batched>(lines_a, g.a_batch), a_m_major ? depth : row, a_m_major ? row : depth, to, t);
    piece_b.keep(of_product<batched>(lines_b, g.b_batch), b_n_major ? depth : column, b_n_major ? column : depth,
                 to + stage / 2, t);
  };

  float sums[2][4][4] = {};  // rows 16 i, columns 8 j of the warp's 32 x 32
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
  const int low = lane % 8, middle = lane / 8 % 2, high = lane / 16;
  if (first < last) {
    load(first);
    keep(first, 0);
  }
  __syncthreads();
  for (int step = first; step < last; ++step) {
    const int buffer = (step - first) % 2;
    if (step + 1 < last) load(step + 1);
    const std::uint32_t tile_a = shared_address(memory + buffer * stage), tile_b = tile_a + stage / 2;
#pragma unroll
    for (int k = 0; k < 64; k += 16) {
      std::uint32_t fa[2][4], fb[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int m0 = warp_row + 16 * i, n0 = warp_column + 16 * i;
        load_matrices<a_m_major>(fa[i], tile_a + (a_m_major ? place(k + low + 8 * high, m0 / 8 + middle)
                                                            : place(m0 + low + 8 * middle, k / 8 + high)));
        load_matrices<b_n_major>(fb[i], tile_b + (b_n_major ? place(k + low + 8 * middle, n0 / 8 + high)
                                                            : place(n0 + low + 8 * high, k / 8 + middle)));
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply<In>(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }
    if (step + 1 < last) keep(step + 1, 1 - buffer);
    __syncthreads();
  }

  // the sums through scratch, so that rows of D are written side by side
  auto* const all = reinterpret_cast<float*>(memory);
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int r = warp_row + 16 * i + lane / 4 + 8 * h, c = warp_column + 8 * j + lane % 4 * 2;
        *reinterpret_cast<float2*>(all + r * columns + c) = make_float2(sums[i][j][2 * h], sums[i][j][2 * h + 1]);
      }
  const std::int64_t offset = in_batch<batched>(g.d_batch);
  const auto put = [&](int e, float sum) {
    const std::int64_t i = row + e / 64, j = column + e % 64;
    if (i >= g.m || j >= g.n) return;
    if (g.d_is_fp32)
      finish<float>(g, i, offset + j, alpha, beta, sum);
    else
      finish<In>(g, i, offset + j, alpha, beta, sum);
  };
#if __CUDA_ARCH__ >= 900
  if (g.splits > 1) {
    cluster_barrier();
    const std::uint32_t at = shared_address(all);
    const int share = 64 / g.splits * 64;
    for (int e = split * share + t; e < (split + 1) * share; e += threads) {
      const std::uint32_t place_of = at + static_cast<std::uint32_t>(e / 64 * columns + e % 64) * 4;
      float sum = 0;
      for (int s = 0; s < g.splits; ++s) sum += from_block(place_of, s);
      put(e, sum);
    }
    cluster_barrier();  // nobody leaves while its sums are read
    return;
  }
#endif
  __syncthreads();
#pragma unroll 4
  for (int e = t; e < 64 * 64; e += threads) put(e, all[e / 64 * columns + e % 64]);
}

}  // namespace tessera::cuda::sm80
