// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "epilogue.cuh"
#include "wgmma.cuh"
#include <cstdint>
#include <cuda.h>
#include <cuda/gemm/instructions_sm90a.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <type_traits>

/// \file
/// D = alpha op(A) op(B) + beta D for bf16 or fp16 operands and fp32 accumulation on Hopper (sm_90a).
/// One producer warp feeds a ring of shared-memory stages by TMA; two consumer warpgroups multiply by wgmma; blocks
/// are persistent. In a cluster of two the blocks take neighbouring row tiles and share B: each loads half of it and
/// multicasts. Or the blocks of a cluster share a tile and split K: their sums meet in distributed shared memory, in
/// the order of the blocks, so that neither a workspace nor atomics are needed and the bits do not depend on time. Or K
/// streams through the clusters: the K tiles of the last one or two waves lie one behind the other, each cluster takes
/// an equal part, and sums of a tile that does not end in a part go through a workspace (stream-K: Osama et al., 2023).
/// D is row-major; a column-major D is the transposed product, which the caller asks for, or one that only splits
/// store. Of a batch the tiles of all products follow each other.

namespace tessera::cuda::sm90a {

/// Cluster: row tiles that share B by multicast; 0: the blocks of a cluster, as many as are launched, split K.
/// Stages: at most, fewer where shared memory ends. Streamed: K streams.
template <class TIn_, class TOut_, int BM_, int BN_, int Stages_, int Cluster_, bool AMnMajor_, bool BMnMajor_,
          bool Streamed_ = false>
struct Configuration {
  using TIn = TIn_;
  using TOut = TOut_;
  static constexpr int BM = BM_, BN = BN_, BK = 64;
  static constexpr bool split = Cluster_ == 0, streamed = Streamed_;
  static constexpr int cluster = split ? 1 : Cluster_;
  static constexpr bool a_mn_major = AMnMajor_, b_mn_major = BMnMajor_;
  static constexpr int consumers = BM / 64;  // warpgroups, 64 rows each
  // of a B that is multicast: a block brings whole columns where they are MN-major's 64, else rows of K
  static constexpr bool shares_k = cluster > 1 && (BN / cluster) % 64 != 0 && b_mn_major;
  static constexpr int threads = 128 * (consumers + 1);
  // of a thread: what the one warpgroup gives up is the others'
  static constexpr int producer_registers = consumers == 1 || (consumers == 2 && (split || streamed)) ? 56 : 40;
  static constexpr int consumer_registers = consumers == 3                               ? 152
                                            : consumers == 2 && producer_registers == 56 ? 224
                                                                                         : 232;
  // an MN-major operand is loaded 64 columns at a time
  static constexpr int a_bytes = BM * BK * 2, b_bytes = (b_mn_major && BN < 64 ? 64 : BN) * BK * 2;
  static constexpr int staging_columns = BN < 64                           ? BN
                                         : BN % 128 == 0 && consumers <= 2 ? 128
                                                                           : 64;  // of D, at a time, a warpgroup
  static constexpr int staging_bytes = std::is_same_v<TOut, float> || split ? 0 : consumers * 64 * staging_columns * 2;
  static constexpr int bias_bytes = split ? 0 : 4 * (BM > BN ? BM : BN);  // of a tile's rows or columns, in fp32
  static constexpr int most_bytes = 232448, stage_bytes = a_bytes + b_bytes + 2 * 8;
  static constexpr int fitting = (most_bytes - 1024 - staging_bytes - bias_bytes - 16) / stage_bytes;
  static constexpr int stages = Stages_ < fitting ? Stages_ : fitting;
  static constexpr int shared_bytes = 1024 + stages * stage_bytes + staging_bytes + bias_bytes + 16;
  // a tile's sums, of those that split K: lines of 32 bytes more than the tile's, so that a warp meets every bank once
  static constexpr int sums_stride = BN + 8;
  static_assert(!split || BM * sums_stride * 4 <= stages * (a_bytes + b_bytes));
};

/// The workspace of a product whose K streams: sums as the threads hold them, a slot for each block, and a flag for
/// each of their warpgroups, which is raised by the value `raised` and lowered by whoever waited for it. Where there
/// are fewer tiles than clusters, every tile is in parts; each block then has two slots, of the end of a tile and of
/// the beginning of one, and another kernel adds.
struct Streams {
  float4* sums;
  std::uint64_t* flags;
  std::uint64_t raised;
  int apart;
};

/// The part of the streamed K tiles, `all` of them, that is before cluster `g` of `clusters`.
__host__ __device__ inline int stream_begin(int all, int g, int clusters) {
  return static_cast<int>(static_cast<long long>(all) * g / clusters);
}
/// The tiles that are streamed: those of the last, unfilled wave and a whole one.
__host__ __device__ inline int streamed_tiles(int tiles, int clusters) {
  return tiles <= clusters ? tiles : tiles % clusters == 0 ? clusters : tiles % clusters + clusters;
}

/// What a cluster does, one tile or part of one after the other: first its streamed part, whose first tile may end in
/// it and whose last may begin in it, then whole tiles.
template <bool Streamed>
struct Turns {
  int tile, k_begin, k_end, tiles, step;

  __device__ __forceinline__ Turns(int first, int step_, int tiles_, int, int begin, int end)
      : tile(first), k_begin(begin), k_end(end), tiles(tiles_), step(step_) {}
  __device__ __forceinline__ bool more() const { return tile < tiles; }
  __device__ __forceinline__ bool others() const { return tile + step < tiles; }
  __device__ __forceinline__ void next() { tile += step; }
};
template <>
struct Turns<true> {
  int tile, k_begin, k_end, tiles, step, k_tiles, at, end, whole;

  __device__ __forceinline__ Turns(int first, int step_, int tiles_, int k_tiles_, int, int)
      : tiles(tiles_), step(step_), k_tiles(k_tiles_) {
    const int streamed = streamed_tiles(tiles, step);
    at = stream_begin(streamed * k_tiles, first, step);
    end = stream_begin(streamed * k_tiles, first + 1, step);
    whole = streamed + first;
    take();
  }
  __device__ __forceinline__ bool more() const { return tile < tiles; }
  __device__ __forceinline__ void next() {
    if (at < end) {
      at += k_end - k_begin;
      if (at < end) return take();
      tile = whole;
    } else {
      tile += step;
    }
    k_begin = 0;
    k_end = k_tiles;
  }

 private:
  __device__ __forceinline__ void take() {
    tile = at / k_tiles;
    k_begin = at - tile * k_tiles;
    k_end = min(k_tiles, k_begin + end - at);
  }
};

/// What a launch needs besides the tensor maps. Strides in elements.
struct Arguments {
  void* d;
  long long ldd;
  int m, n, k;
  float alpha, beta;
  const float* alpha_pointer;  ///< on the device, or null
  const float* beta_pointer;
  int store_by_tma;        ///< D's base and stride allow it (16-byte multiples)
  int columns_contiguous;  ///< D's element (i, j) is at j ldd + i instead of i ldd + j; only where K is split
  int batches;
  int a_shared, b_shared;  ///< one for all products of a batch
  long long d_batch;       ///< from one product's D to the next's
  Streams streams;
  Epilogue epilogue;
};

/// And a user's functor, where there is one.
template <class F>
struct ArgumentsAndFunctor : Arguments {
  F functor;
};
template <class F>
using ArgumentsOf = std::conditional_t<is_functor<F>, ArgumentsAndFunctor<F>, Arguments>;

/// Blocks that may split K: as many as a cluster has on every device.
inline constexpr int most_blocks = 8;

/// The sums of a tile's blocks, for the part of the tile that this block finishes. By `threads` threads from `thread`.
template <class C, class F>
__device__ __forceinline__ void finish_split(const float* sums, int block, int blocks, int m0, int n0, int product,
                                             const ArgumentsOf<F>& args, int thread, int threads) {
  using TOut = typename C::TOut;
  const float alpha = args.alpha_pointer ? *args.alpha_pointer : args.alpha;
  const float beta = args.beta_pointer ? *args.beta_pointer : args.beta;
  TOut* const out = static_cast<TOut*>(args.d) + product * args.d_batch;
  const std::uint32_t here = shared_address(sums);
  if (args.columns_contiguous) {
    const int columns = C::BN / blocks;
    for (int e = thread; e < columns * C::BM; e += threads) {
      const int i = e % C::BM, j = block * columns + e / C::BM;
      if (m0 + i >= args.m || n0 + j >= args.n) continue;
      float part[most_blocks], sum = 0;
#pragma unroll
      for (int b = 0; b < most_blocks; ++b)  // all asked for before one is waited for
        part[b] = b < blocks ? load_cluster(here + static_cast<std::uint32_t>(i * C::sums_stride + j) * 4, b) : 0.0f;
#pragma unroll
      for (int b = 0; b < most_blocks; ++b) sum += part[b];
      TOut& to = out[static_cast<long long>(n0 + j) * args.ldd + m0 + i];
      float value = alpha * sum;
      if (beta != 0.0f) value += beta * static_cast<float>(to);
      if constexpr (is_functor<F>)
        value = apply(args.functor, args.epilogue.transposed, value, m0 + i, n0 + j);
      else if (args.epilogue.any)
        value = finish_element<TOut>(args.epilogue, value, m0 + i, n0 + j);
      to = static_cast<TOut>(value);
    }
    return;
  }
  constexpr int quads = C::BN / 4;
  const int rows = C::BM / blocks;
#pragma unroll 1
  for (int e = thread; e < rows * quads; e += threads) {
    const int i = block * rows + e / quads, j = 4 * (e % quads);
    if (m0 + i >= args.m || n0 + j >= args.n) continue;
    float part[most_blocks][4] = {}, sum[4] = {};
#pragma unroll
    for (int b = 0; b < most_blocks; ++b)
      if (b < blocks) load_cluster(part[b], here + static_cast<std::uint32_t>(i * C::sums_stride + j) * 4, b);
#pragma unroll
    for (int b = 0; b < most_blocks; ++b)
#pragma unroll
      for (int q = 0; q < 4; ++q) sum[q] += part[b][q];
    TOut* const to = out + static_cast<long long>(m0 + i) * args.ldd + n0 + j;
    struct alignas(4 * sizeof(TOut)) Quad {
      TOut lane[4];
    };
    const bool whole = n0 + j + 4 <= args.n && reinterpret_cast<std::uintptr_t>(to) % sizeof(Quad) == 0;
    Quad quad{};
    if (beta != 0.0f) {
      if (whole)
        quad = *reinterpret_cast<const Quad*>(to);
      else
        for (int q = 0; q < 4; ++q)
          if (n0 + j + q < args.n) quad.lane[q] = to[q];
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      sum[q] *= alpha;
      if (beta != 0.0f) sum[q] += beta * static_cast<float>(quad.lane[q]);
    }
    if constexpr (is_functor<F>) {
#pragma unroll
      for (int q = 0; q < 4; ++q)
        if (n0 + j + q < args.n) sum[q] = apply(args.functor, args.epilogue.transposed, sum[q], m0 + i, n0 + j + q);
    } else if (args.epilogue.any) {
      finish_quad<TOut>(args.epilogue, sum, m0 + i, n0 + j, args.n);
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) quad.lane[q] = static_cast<TOut>(sum[q]);
    if (whole)
      *reinterpret_cast<Quad*>(to) = quad;
    else
      for (int q = 0; q < 4; ++q)
        if (n0 + j + q < args.n) to[q] = quad.lane[q];
  }
}

/// A warpgroup's sums in slot `slot` of a workspace: four of a thread together, those of a warp side by side.
template <class C>
__device__ __forceinline__ constexpr long long place_in_slot(int slot, int quad, int consumer, int thread) {
  return (static_cast<long long>(slot) * (C::BN / 8) + quad) * (128 * C::consumers) + consumer * 128 + thread;
}
template <class C>
__device__ __forceinline__ void store_sums(float4* sums, int slot, int consumer, int thread,
                                           const float (&d)[C::BN / 2]) {
  float4* const to = sums + place_in_slot<C>(slot, 0, consumer, thread);
#pragma unroll
  for (int q = 0; q < C::BN / 8; ++q)
    __stcg(to + q * (128 * C::consumers), make_float4(d[4 * q], d[4 * q + 1], d[4 * q + 2], d[4 * q + 3]));
}
template <class C>
__device__ __forceinline__ void add_sums(const float4* sums, int slot, int consumer, int thread,
                                         float (&d)[C::BN / 2]) {
  const float4* const from = sums + place_in_slot<C>(slot, 0, consumer, thread);
  constexpr int batch = C::BN / 8 < 16 ? C::BN / 8 : 16;  // loads under way, for which there are registers
#pragma unroll
  for (int first = 0; first < C::BN / 8; first += batch) {
    float4 part[batch];
#pragma unroll
    for (int q = 0; q < batch; ++q) part[q] = __ldcg(from + (first + q) * (128 * C::consumers));
#pragma unroll
    for (int q = 0; q < batch; ++q) {
      float* const to = d + 4 * (first + q);
      to[0] += part[q].x;
      to[1] += part[q].y;
      to[2] += part[q].z;
      to[3] += part[q].w;
    }
  }
}

/// Threads of join_streams(): for each of the sums of a quad of columns as many helpers as have four parts to add.
inline constexpr int most_join_threads = 1024;
template <class C>
int join_threads(std::int64_t tiles, std::int64_t clusters) {
  constexpr int holders = 128 * C::consumers;
  const std::int64_t helpers = clusters / tiles / 4;
  return holders * static_cast<int>(helpers < 1                             ? 1
                                    : helpers < most_join_threads / holders ? helpers
                                                                            : most_join_threads / holders);
}

/// Adds what the clusters left of each tile, where all tiles are in parts: in the order of K, each helper an equal
/// share of the parts and then the helpers. A block for a quad of columns (y) of a tile (x).
template <class C>
__global__ void __launch_bounds__(most_join_threads) join_streams(const Arguments args, int clusters) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using TOut = typename C::TOut;
  constexpr int holders = 128 * C::consumers;
  const int helpers = static_cast<int>(blockDim.x) / holders;
  __shared__ float4 shared[most_join_threads / holders][holders];
  wait_for_earlier_kernels();
  let_later_kernels_start();
  const int k_tiles = (args.k + C::BK - 1) / C::BK;
  const int row_tiles = (args.m + C::BM * C::cluster - 1) / (C::BM * C::cluster);
  const int column_tiles = (args.n + C::BN - 1) / C::BN;
  const int tiles = row_tiles * column_tiles * args.batches, all = tiles * k_tiles;
  const int t = static_cast<int>(blockIdx.x) / C::cluster, rank = static_cast<int>(blockIdx.x) % C::cluster;
  const int quad = static_cast<int>(blockIdx.y);
  const int holder = static_cast<int>(threadIdx.x) % holders, helper = static_cast<int>(threadIdx.x) / holders;
  // the cluster in whose part the tile begins, and the one in whose part it ends
  const auto part_of = [&](int at) {
    int g = static_cast<int>(static_cast<long long>(at) * clusters / all);
    while (stream_begin(all, g + 1, clusters) <= at) ++g;
    return g;
  };
  const int from = part_of(t * k_tiles), parts = part_of((t + 1) * k_tiles - 1) - from + 1;
  // the tile is what a part begins with, but perhaps not of its first: there it may be what the part ends with
  const int behind = stream_begin(all, from, clusters) > t * k_tiles ? 0 : 1;
  const float4* const first =
      args.streams.sums + place_in_slot<C>(2 * (from * C::cluster + rank), quad, holder / 128, holder % 128);
  constexpr long long slot = place_in_slot<C>(1, 0, 0, 0);
  const int begin = parts * helper / helpers, end = parts * (helper + 1) / helpers;
  float4 sum = make_float4(0, 0, 0, 0);
  const auto add = [&](const float4& p) {
    sum.x += p.x;
    sum.y += p.y;
    sum.z += p.z;
    sum.w += p.w;
  };
  constexpr int batch = 4;  // loads under way
  for (int g = begin; g < end; g += batch) {
    float4 part[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (g + i < end) part[i] = __ldcg(first + ((g + i) * 2 * C::cluster + (g + i == 0 ? behind : 0)) * slot);
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (g + i < end) add(part[i]);
  }
  shared[helper][holder] = sum;
  __syncthreads();
  if (helper > 0) return;
  for (int h = 1; h < helpers; ++h) add(shared[h][holder]);
  const float alpha = args.alpha_pointer ? *args.alpha_pointer : args.alpha;
  const float beta = args.beta_pointer ? *args.beta_pointer : args.beta;
  int row, column, product;
  locate(t, row_tiles, column_tiles, row, column, product);
  const int i0 = (row * C::cluster + rank) * C::BM + holder / 32 * 16 + holder % 32 / 4;
  const int j0 = column * C::BN + 8 * quad + 2 * (holder % 4);
  TOut* const out = static_cast<TOut*>(args.d) + product * args.d_batch;
  const float of[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int i = i0 + e / 2 * 8, j = j0 + e % 2;
    if (i >= args.m || j >= args.n) continue;
    TOut& d = out[static_cast<long long>(i) * args.ldd + j];
    float value = alpha * of[e];
    if (beta != 0.0f) value += beta * static_cast<float>(d);
    d = static_cast<TOut>(value);
  }
#endif
}

/// Configurations that split K take every epilogue in the kernel for none. A functor is compiled into kernels of its
/// own, for no epilogue.
template <class C, Finish finish, class F = NoFunctor>
__global__ void __launch_bounds__(C::threads, 1)
    gemm_kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                const __grid_constant__ CUtensorMap map_d, const ArgumentsOf<F> args) {
  static_assert(!is_functor<F> || finish == Finish::nothing);
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using TIn = typename C::TIn;
  using TOut = typename C::TOut;
  constexpr int BM = C::BM, BN = C::BN, BK = C::BK;
  extern __shared__ std::uint8_t raw[];
  auto* const base =
      reinterpret_cast<std::uint8_t*>((reinterpret_cast<std::uintptr_t>(raw) + 1023) & ~std::uintptr_t{1023});
  std::uint8_t* const stage_a = base;
  std::uint8_t* const stage_b = base + C::stages * C::a_bytes;
  std::uint8_t* const staging = stage_b + C::stages * C::b_bytes;
  auto* const bias = reinterpret_cast<float*>(staging + C::staging_bytes);
  auto* const full = reinterpret_cast<std::uint64_t*>(staging + C::staging_bytes + C::bias_bytes);
  std::uint64_t* const empty = full + C::stages;
  auto* const behind = reinterpret_cast<volatile int*>(empty + C::stages);  // the producer has no register for it

  constexpr int bias_full = 1 + C::consumers, bias_empty = 2 + C::consumers,
                bias_threads = 96 + 128 * C::consumers;  // named barriers
  const int warpgroup = threadIdx.x / 128;
  const int block = C::cluster > 1 || C::split ? cluster_rank() : 0;
  const int blocks = C::split ? cluster_size() : C::cluster;
  const int rank = C::split ? 0 : block;  // row tile in the cluster
  const int k_tiles = (args.k + BK - 1) / BK;
  // the tiles of K that are this block's
  const int k_begin = C::split ? static_cast<int>(static_cast<long long>(k_tiles) * block / blocks) : 0;
  const int k_end = C::split ? static_cast<int>(static_cast<long long>(k_tiles) * (block + 1) / blocks) : k_tiles;
  const int row_tiles = (args.m + BM * C::cluster - 1) / (BM * C::cluster);  // of clusters
  const int column_tiles = (args.n + BN - 1) / BN;
  const int tiles = row_tiles * column_tiles * args.batches;
  const int step = static_cast<int>(gridDim.x) / blocks;
  // a cluster waits for sums of the next one alone: blocks begin in the order of their numbers, so that this one has
  // begun, whatever else the device is busy with
  const int first =
      C::streamed ? step - 1 - static_cast<int>(blockIdx.x) / blocks : static_cast<int>(blockIdx.x) / blocks;
  using Turn = Turns<C::streamed>;

  if (threadIdx.x == 0) {
    for (int s = 0; s < C::stages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], C::consumers * C::cluster);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map_a) : "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map_b) : "memory");
  }
  if constexpr (C::cluster > 1)
    cluster_sync();
  else
    __syncthreads();
  // what came before in the stream may still have been running until here
  wait_for_earlier_kernels();

  if (warpgroup == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(C::producer_registers));
    if (threadIdx.x == 0) {
      int stage = 0;
      std::uint32_t phase = 1;  // the first pass finds every stage free
      // alpha = 0: no element of A or B may be read; behind the end of K the copy engine brings zeros
      const float alpha = args.alpha_pointer ? *args.alpha_pointer : args.alpha;
      *behind = alpha == 0.0f ? k_tiles * BK : 0;
      for (Turn turn(first, step, tiles, k_tiles, k_begin, k_end); turn.more(); turn.next()) {
        int row, column, product;
        locate(turn.tile, row_tiles, column_tiles, row, column, product);
        const int m0 = (row * C::cluster + rank) * BM, n0 = column * BN;
        const int of_a = args.a_shared ? 0 : product, of_b = args.b_shared ? 0 : product;
        for (int kt = turn.k_begin; kt < turn.k_end; ++kt) {
          barrier_wait(&empty[stage], phase);
          barrier_expect(&full[stage], C::a_bytes + C::b_bytes);
          std::uint8_t* const a = stage_a + stage * C::a_bytes;
          std::uint8_t* const b = stage_b + stage * C::b_bytes;
          const int k0 = *behind + kt * BK;
          if constexpr (C::a_mn_major) {
#pragma unroll
            for (int i = 0; i < BM / 64; ++i)
              tma_load(a + i * 64 * BK * 2, &map_a, &full[stage], m0 + 64 * i, k0, of_a);
          } else {
            tma_load(a, &map_a, &full[stage], k0, m0, of_a);
          }
          constexpr int share = BN / C::cluster;  // columns of B that this block brings
          if constexpr (C::shares_k) {
            constexpr int rows = BK / C::cluster;
#pragma unroll
            for (int i = 0; i < BN / 64; ++i)
              tma_load_multicast(b + i * 64 * BK * 2 + rank * rows * 128, &map_b, &full[stage], n0 + 64 * i,
                                 k0 + rank * rows, of_b, static_cast<std::uint16_t>((1 << C::cluster) - 1));
          } else if constexpr (C::b_mn_major) {
#pragma unroll
            for (int i = 0; i < (share + 63) / 64; ++i) {
              const int chunk = rank * (share / 64) + i;
              if constexpr (C::cluster > 1)
                tma_load_multicast(b + chunk * 64 * BK * 2, &map_b, &full[stage], n0 + 64 * chunk, k0, of_b,
                                   static_cast<std::uint16_t>((1 << C::cluster) - 1));
              else
                tma_load(b + chunk * 64 * BK * 2, &map_b, &full[stage], n0 + 64 * chunk, k0, of_b);
            }
          } else if constexpr (C::cluster > 1) {
            tma_load_multicast(b + rank * share * BK * 2, &map_b, &full[stage], k0, n0 + rank * share, of_b,
                               static_cast<std::uint16_t>((1 << C::cluster) - 1));
          } else {
            tma_load(b, &map_b, &full[stage], k0, n0, of_b);
          }
          if (++stage == C::stages) {
            stage = 0;
            phase ^= 1;
          }
        }
      }
      // What comes next may get ready as this did: now that nothing more is loaded, so that it takes nothing from this
      let_later_kernels_start();
      // no block may leave while a peer can still arrive on its barriers
      for (int s = 0; s < C::stages; ++s) {
        barrier_wait(&empty[stage], phase);
        if (++stage == C::stages) {
          stage = 0;
          phase ^= 1;
        }
      }
    } else if (finish != Finish::nothing && threadIdx.x >= 32 && args.epilogue.bias != nullptr) {
      // the other warps bring the bias of a tile while its product is being formed
      const bool rows = args.epilogue.bias_along_rows;
      for (int t = first; t < tiles; t += step) {
        int row, column, product;
        locate(t, row_tiles, column_tiles, row, column, product);
        const int begin = rows ? (row * C::cluster + rank) * BM : column * BN, end = rows ? args.m : args.n;
        if (t != first) named_barrier(bias_empty, bias_threads);
        for (int k = static_cast<int>(threadIdx.x) - 32; k < (rows ? BM : BN); k += 96)
          bias[k] = begin + k < end ? bias_at<TOut>(args.epilogue, begin + k) : 0.0f;
        __threadfence_block();
        named_barrier_arrive(bias_full, bias_threads);
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(C::consumer_registers));
    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    constexpr bool is_bf16 = std::is_same_v<TIn, __nv_bfloat16>;
    using Multiply = Wgmma<BN, is_bf16, C::a_mn_major, C::b_mn_major>;
    // bytes: K-major steps 16 columns inside the 128-byte row; MN-major steps 16 rows
    constexpr int a_step = C::a_mn_major ? 16 * 128 : 32, b_step = C::b_mn_major ? 16 * 128 : 32;
    constexpr int leading = BK * 128;
    const auto release = [&](int s) {
      if constexpr (C::cluster > 1) {
        if (thread < C::cluster) barrier_arrive_cluster(&empty[s], thread);
      } else {
        if (thread == 0) barrier_arrive(&empty[s]);
      }
    };
    float d[BN / 2];
    int stage = 0;
    std::uint32_t phase = 0;
    for (Turn turn(first, step, tiles, k_tiles, k_begin, k_end); turn.more(); turn.next()) {
      int row, column;
      locate(turn.tile % (row_tiles * column_tiles), row_tiles, column_tiles, row, column);
      const int m0 = (row * C::cluster + rank) * BM + consumer * 64, n0 = column * BN;
      int previous = 0;
      for (int kt = turn.k_begin; kt < turn.k_end; ++kt) {
        barrier_wait(&full[stage], phase);
        const std::uint32_t a = shared_address(stage_a + stage * C::a_bytes) + consumer * 64 * BK * 2;
        const std::uint32_t b = shared_address(stage_b + stage * C::b_bytes);
        wgmma_fence();
#pragma unroll
        for (int kk = 0; kk < BK / 16; ++kk)
          Multiply::run(d, descriptor(a + kk * a_step, leading, 1024), descriptor(b + kk * b_step, leading, 1024),
                        kt > turn.k_begin || kk > 0);
        wgmma_commit();
        if (kt > turn.k_begin) {
          wgmma_wait<1>();
          release(previous);
        }
        previous = stage;
        if (++stage == C::stages) {
          stage = 0;
          phase ^= 1;
        }
      }
      wgmma_wait<0>();
      release(previous);

      if constexpr (C::split) {
        // one tile for each cluster: its stages are free. Whole lines of the fragment go to rows lane/4 and lane/4 + 8
        named_barrier(1, 128 * C::consumers);
        float* const line = reinterpret_cast<float*>(base) + (consumer * 64 + warp * 16 + lane / 4) * C::sums_stride;
#pragma unroll
        for (int j = 0; j < BN / 8; ++j) {
          float* const to = line + 8 * j + 2 * (lane % 4);
          *reinterpret_cast<float2*>(to) = make_float2(d[4 * j], d[4 * j + 1]);
          *reinterpret_cast<float2*>(to + 8 * C::sums_stride) = make_float2(d[4 * j + 2], d[4 * j + 3]);
        }
        continue;
      }
      if constexpr (C::streamed) {
        if (turn.k_begin > 0 || turn.k_end < k_tiles || args.streams.apart) {
          const bool ends = turn.k_begin > 0;  // another cluster began the tile
          const int here = first * blocks + rank;
          if (ends || args.streams.apart) {
            store_sums<C>(args.streams.sums, args.streams.apart ? 2 * here + (ends ? 0 : 1) : here, consumer, thread,
                          d);
            if (!args.streams.apart) {
              named_barrier(1 + consumer, 128);
              if (thread == 0) signal(&args.streams.flags[here * C::consumers + consumer], args.streams.raised);
            }
            continue;
          }
          // of the next cluster this tile's end was the first part
          if (thread == 0) {
            std::uint64_t* const flag = &args.streams.flags[(here + blocks) * C::consumers + consumer];
            wait_for(flag, args.streams.raised);
            *flag = 0;
          }
          named_barrier(1 + consumer, 128);
          add_sums<C>(args.streams.sums, here + blocks, consumer, thread, d);
        }
      }
      // these are found here, not before the main loop, whose registers are all taken
      int finished = turn.tile;
      asm volatile("" : "+r"(finished));  // another number, for all that the compiler knows
      const int product = finished / (row_tiles * column_tiles);
      float alpha = args.alpha_pointer ? *args.alpha_pointer : args.alpha;
      float beta = args.beta_pointer ? *args.beta_pointer : args.beta;
      if constexpr (finish != Finish::nothing) {
        const bool biased = args.epilogue.bias != nullptr;
        if (biased) named_barrier(bias_full, bias_threads);
        alpha = finish_fragment<finish>(args.epilogue, d, alpha, beta,
                                        shared_address(bias) + (args.epilogue.bias_along_rows ? consumer * 64 * 4 : 0),
                                        static_cast<const TOut*>(args.d) + product * args.d_batch, args.ldd, m0, n0,
                                        args.m, args.n, warp, lane);
        if (biased && turn.others()) named_barrier_arrive(bias_empty, bias_threads);
        beta = 0.0f;
      }
      if constexpr (is_functor<F>) {
        apply_to_fragment<TOut>(args.functor, args.epilogue.transposed, d, alpha, beta,
                                static_cast<const TOut*>(args.d) + product * args.d_batch, args.ldd, m0, n0, args.m,
                                args.n, warp, lane);
        alpha = 1.0f;
        beta = 0.0f;
      }
      // D fragment: rows lane/4 and lane/4 + 8 of the warp's 16, columns 8 j + 2 (lane % 4) and the next
      bool stored = false;
      if constexpr (C::staging_bytes > 0) {
        if (args.store_by_tma && beta == 0.0f) {
          stored = true;
          constexpr int columns = C::staging_columns;
          std::uint8_t* const tile = staging + consumer * 64 * columns * 2;
          using Pair = std::conditional_t<std::is_same_v<TOut, __nv_bfloat16>, __nv_bfloat162, __half2>;
#pragma unroll
          for (int part = 0; part < BN / columns; ++part) {
            if (thread == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
            named_barrier(1 + consumer, 128);
#pragma unroll
            for (int j = 0; j < columns / 16; ++j) {
              const float* const f = d + part * columns / 2 + 8 * j;
              std::uint32_t packed[4];
#pragma unroll
              for (int i = 0; i < 4; ++i) {
                Pair pair;
                if constexpr (std::is_same_v<TOut, __nv_bfloat16>)
                  pair = __floats2bfloat162_rn(alpha * f[2 * i], alpha * f[2 * i + 1]);
                else
                  pair = __floats2half2_rn(alpha * f[2 * i], alpha * f[2 * i + 1]);
                packed[i] = *reinterpret_cast<std::uint32_t*>(&pair);
              }
              const int r = warp * 16 + lane % 16, chunk = 2 * j + lane / 16;  // 16-byte chunk in the row
              const std::uint32_t address =
                  shared_address(tile) + (chunk / 8) * 64 * 128 + r * 128 + ((chunk % 8) ^ (r % 8)) * 16;
              asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
                           "r"(packed[0]), "r"(packed[1]), "r"(packed[2]), "r"(packed[3])
                           : "memory");
            }
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            named_barrier(1 + consumer, 128);
            if (thread == 0 && m0 < args.m) {
#pragma unroll
              for (int i = 0; i < columns / 64; ++i)
                if (n0 + part * columns + 64 * i < args.n)
                  tma_store(&map_d, tile + i * 64 * 128, n0 + part * columns + 64 * i, m0, product);
              asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            }
          }
        }
      }
      if (!stored) {
        TOut* const out = static_cast<TOut*>(args.d) + product * args.d_batch;
#pragma unroll
        for (int half_tile = 0; half_tile < 2; ++half_tile) {
          const int i = m0 + warp * 16 + lane / 4 + 8 * half_tile;
          if (i < args.m) {
            TOut* const line = out + static_cast<long long>(i) * args.ldd;
#pragma unroll
            for (int j = 0; j < BN / 8; ++j) {
#pragma unroll
              for (int e = 0; e < 2; ++e) {
                const int column_index = n0 + 8 * j + 2 * (lane % 4) + e;
                if (column_index < args.n) {
                  float value = alpha * d[4 * j + 2 * half_tile + e];
                  TOut& to = line[column_index];
                  if (beta != 0.0f) value += beta * static_cast<float>(to);
                  to = static_cast<TOut>(value);
                }
              }
            }
          }
        }
      }
    }
    if constexpr (C::staging_bytes > 0)
      if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  if constexpr (C::split) {
    cluster_sync();  // the sums of all blocks are there
    int row, column, product;
    locate(first, row_tiles, column_tiles, row, column, product);
    if (warpgroup > 0)
      finish_split<C, F>(reinterpret_cast<const float*>(base), block, blocks, row * BM, column * BN, product, args,
                         static_cast<int>(threadIdx.x) - 128, 128 * C::consumers);
  }
  if constexpr (C::cluster > 1 || C::split) cluster_sync();  // no block leaves while a peer reads or arrives
#endif
}

}  // namespace tessera::cuda::sm90a
