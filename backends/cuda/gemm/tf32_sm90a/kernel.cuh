// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "wgmma_tf32.cuh"
#include <cstdint>
#include <cuda.h>
#include <cuda/gemm/instructions_sm90a.cuh>

/// \file
/// D = alpha A B + beta D of fp32 numbers by the tf32 tensor cores of Hopper (sm_90a), in the manner of the 16-bit
/// kernel: one producer warp feeds a ring of shared-memory stages by TMA, two consumer warpgroups multiply by wgmma,
/// blocks are persistent, and in a cluster of two B is shared by multicast; or the blocks of a cluster split K and add
/// their sums in distributed shared memory, in the order of the blocks. wgmma reads tf32 from shared memory only along
/// K: B lies so; where A lies along M, its fragments come through registers, and since any row of the tile may be any
/// row of the fragment, their order is chosen so that the loads meet no bank twice. The copy engine rounds the numbers
/// to tf32, to nearest, as it brings them (CU_TENSOR_MAP_DATA_TYPE_TFLOAT32); the tensor cores by themselves would cut.

namespace tessera::cuda::sm90a {

/// Cluster: row tiles that share B by multicast; 0: the blocks of a cluster, as many as are launched, split K.
template <int BM_, int BN_, int Cluster_, bool AMnMajor_>
struct Tf32Configuration {
  static constexpr int BM = BM_, BN = BN_, BK = 32;
  static constexpr bool split = Cluster_ == 0;
  static constexpr int cluster = split ? 1 : Cluster_;
  static constexpr bool a_mn_major = AMnMajor_;
  static constexpr int consumers = BM / 64;  // warpgroups, 64 rows each
  static constexpr int threads = 128 * (consumers + 1);
  // of a thread: what the one warpgroup gives up is the others'
  static constexpr int producer_registers = split && consumers == 2 ? 56 : 40;
  static constexpr int consumer_registers = split && consumers == 2 ? 224 : 232;
  static constexpr int a_bytes = BM * BK * 4, b_bytes = BN * BK * 4;
  static constexpr int part_columns = 32, part_bytes = 64 * part_columns * 4;  // of a warpgroup's D, on its way out
  static constexpr int staging_bytes = split ? 0 : 2 * consumers * part_bytes;
  static constexpr int most_bytes = 232448, stage_bytes = a_bytes + b_bytes + 2 * 8;
  static constexpr int fitting = (most_bytes - 1024 - staging_bytes - 16) / stage_bytes;
  static constexpr int stages = fitting < 24 ? fitting : 24;
  static constexpr int shared_bytes = 1024 + stages * stage_bytes + staging_bytes + 16;
  // a tile's sums, of those that split K, by rows or by columns: lines of so much more than the tile's that a warp
  // meets no bank twice, or columns in pairs twice
  static constexpr int sums_row = BN + 8, sums_column = BM + 4;
  static_assert(!split || BM * sums_row <= stages * (a_bytes + b_bytes) / 4);
  static_assert(!split || BN * sums_column <= stages * (a_bytes + b_bytes) / 4);
};

/// What a launch needs besides the tensor maps. Strides in elements.
struct Tf32Arguments {
  float* d;
  long long ldd;
  int m, n, k;
  float alpha, beta;
  const float* alpha_pointer;  ///< on the device, or null
  const float* beta_pointer;
  int columns_contiguous;  ///< D's element (i, j) is at j ldd + i instead of i ldd + j
  int pairs;               ///< D's base and stride are multiples of 8 bytes
  int store_by_tma;        ///< and of 16, and there is a map of D; never where the kernel splits K
};

/// The sums of a tile's blocks, for the part of the tile that this block finishes: quads along D's lines, of which
/// `lines` are this block's, from `first` on. By `threads` threads from `thread`.
template <int Blocks, int Quads, int Stride>
__device__ __forceinline__ void tf32_finish_split(const float* sums, int first, int lines, int end, int right, float* d,
                                                  const Tf32Arguments& args, int thread, int threads) {
  const float alpha = args.alpha_pointer ? *args.alpha_pointer : args.alpha;
  const float beta = args.beta_pointer ? *args.beta_pointer : args.beta;
  const std::uint32_t here = shared_address(sums);
  constexpr int together = 8 / Blocks;  // quads: a wait for each would take most of the time
#pragma unroll 1
  for (int e = thread; e < lines * Quads; e += together * threads) {
    float part[together][Blocks][4];
#pragma unroll
    for (int u = 0; u < together; ++u) {
      const int at = min(e + u * threads, lines * Quads - 1), i = first + at / Quads, j = 4 * (at % Quads);
#pragma unroll
      for (int b = 0; b < Blocks; ++b)
        load_cluster(part[u][b], here + static_cast<std::uint32_t>(i * Stride + j) * 4, b);
    }
#pragma unroll
    for (int u = 0; u < together; ++u) {
      const int at = e + u * threads, i = first + at / Quads, j = 4 * (at % Quads);
      if (at >= lines * Quads || i >= end || j >= right) continue;
      float sum[4] = {};
#pragma unroll
      for (int b = 0; b < Blocks; ++b)
#pragma unroll
        for (int q = 0; q < 4; ++q) sum[q] += part[u][b][q];
      float* const to = d + static_cast<long long>(i) * args.ldd + j;
      if (j + 4 <= right && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
        float4 value = make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
        if (beta != 0.0f) {
          const float4 old = *reinterpret_cast<const float4*>(to);
          value = make_float4(value.x + beta * old.x, value.y + beta * old.y, value.z + beta * old.z,
                              value.w + beta * old.w);
        }
        *reinterpret_cast<float4*>(to) = value;
      } else {
#pragma unroll
        for (int q = 0; q < 4; ++q)
          if (j + q < right) to[q] = beta != 0.0f ? alpha * sum[q] + beta * to[q] : alpha * sum[q];
      }
    }
  }
}

/// The same for a tile at (m0, n0), of D's rows or columns, whichever are contiguous.
template <class C, int Blocks>
__device__ __forceinline__ void tf32_finish_split(const float* sums, int block, int m0, int n0,
                                                  const Tf32Arguments& args, int thread) {
  constexpr int threads = 128 * C::consumers;
  if (args.columns_contiguous) {
    constexpr int lines = C::BN / Blocks;
    tf32_finish_split<Blocks, C::BM / 4, C::sums_column>(sums, block * lines, lines, args.n - n0, args.m - m0,
                                                         args.d + n0 * args.ldd + m0, args, thread, threads);
  } else {
    constexpr int lines = C::BM / Blocks;
    tf32_finish_split<Blocks, C::BN / 4, C::sums_row>(sums, block * lines, lines, args.m - m0, args.n - n0,
                                                      args.d + m0 * args.ldd + n0, args, thread, threads);
  }
}

/// Where a warpgroup's fragments lie in its 64 rows: the row of a thread's h-th of two (h = 0, 1).
template <class C>
__device__ __forceinline__ int tf32_row(int warp, int lane, int h) {
  const int g = lane / 4;
  if constexpr (C::a_mn_major)  // two neighbours; see tf32_fragments()
    return 32 * (warp / 2) + 4 * (2 * (warp % 2) + g / 4 + 4 * (g / 2 % 2)) + 2 * (g % 2) + h;
  else
    return warp * 16 + g + 8 * h;
}

/// The fragments of a stage's A that lies along M: boxes of 32 rows, [k][32 numbers], of which 16-byte pieces are
/// swizzled by k % 8. The lanes of half a warp read pairs of 4 values of k and of the pieces x and x + 4: every bank
/// once.
__device__ __forceinline__ void tf32_fragments(std::uint32_t (&a)[4][4], std::uint32_t box, int warp, int lane) {
  const int g = lane / 4, t = lane % 4, piece = 2 * (warp % 2) + g / 4 + 4 * (g / 2 % 2);
  const std::uint32_t near = box + t * 128 + ((piece ^ t) * 16) + (g % 2) * 8;
  const std::uint32_t far = box + (t + 4) * 128 + ((piece ^ (t + 4)) * 16) + (g % 2) * 8;
#pragma unroll
  for (int kk = 0; kk < 4; ++kk) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                 : "=r"(a[kk][0]), "=r"(a[kk][1])
                 : "r"(near + kk * 1024)
                 : "memory");
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(a[kk][2]), "=r"(a[kk][3]) : "r"(far + kk * 1024) : "memory");
  }
}

/// A warpgroup's 64 rows of D from (m0, n0), as wgmma leaves them, by plain stores.
template <class C>
__device__ __forceinline__ void tf32_store(const float (&d)[C::BN / 2], const Tf32Arguments& args, float alpha,
                                           float beta, int m0, int n0, int warp, int lane) {
  constexpr int BN = C::BN;
  const int column = n0 + 2 * (lane % 4);
  if (args.columns_contiguous) {
    const int i = m0 + tf32_row<C>(warp, lane, 0), next = tf32_row<C>(0, 0, 1);  // the other row
    const bool pair = C::a_mn_major && args.pairs && i + 1 < args.m;
#pragma unroll
    for (int j = 0; j < BN / 8; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int at = column + 8 * j + e;
        if (at >= args.n) continue;
        float* const to = args.d + static_cast<long long>(at) * args.ldd + i;
        float2 value = {alpha * d[4 * j + e], alpha * d[4 * j + 2 + e]};
        if (pair) {
          if (beta != 0.0f) {
            const float2 old = *reinterpret_cast<const float2*>(to);
            value = {value.x + beta * old.x, value.y + beta * old.y};
          }
          *reinterpret_cast<float2*>(to) = value;
        } else {
          if (i < args.m) to[0] = beta != 0.0f ? value.x + beta * to[0] : value.x;
          if (i + next < args.m) to[next] = beta != 0.0f ? value.y + beta * to[next] : value.y;
        }
      }
    return;
  }
  const bool whole = args.pairs && n0 + BN <= args.n;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int i = m0 + tf32_row<C>(warp, lane, h);
    if (i >= args.m) continue;
    float* const line = args.d + static_cast<long long>(i) * args.ldd;
#pragma unroll
    for (int j = 0; j < BN / 8; ++j) {
      const int at = column + 8 * j;
      float2 value = {alpha * d[4 * j + 2 * h], alpha * d[4 * j + 2 * h + 1]};
      if (whole) {
        auto* const to = reinterpret_cast<float2*>(line + at);
        if (beta != 0.0f) {
          const float2 old = *to;
          value = {value.x + beta * old.x, value.y + beta * old.y};
        }
        *to = value;
      } else {
        if (at < args.n) line[at] = beta != 0.0f ? value.x + beta * line[at] : value.x;
        if (at + 1 < args.n) line[at + 1] = beta != 0.0f ? value.y + beta * line[at + 1] : value.y;
      }
    }
  }
}

/// The same by the copy engine, which goes on while the next tile's products are formed: parts of 32 columns in two
/// places by turns, boxes of lines of 128 bytes, swizzled. Of neighbouring lanes that would meet a bank twice, one
/// takes another pair of sums first.
template <class C>
__device__ __forceinline__ void tf32_store_by_tma(const float (&d)[C::BN / 2], const CUtensorMap* map,
                                                  std::uint8_t* staging, const Tf32Arguments& args, float alpha, int m0,
                                                  int n0, int consumer, int thread) {
  const int warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int part = 0; part < C::BN / C::part_columns; ++part) {
    std::uint8_t* const box = staging + (2 * consumer + part % 2) * C::part_bytes;
    if (thread == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
    named_barrier(1 + consumer, 128);
    const float* const f = d + part * C::part_columns / 2;
    if (C::a_mn_major && args.columns_contiguous) {
      // boxes of 32 rows of D, a line for each column
      const std::uint32_t to = shared_address(box) + warp / 2 * (C::part_bytes / 2) + (g % 2) * 8;
      const int piece = 2 * (warp % 2) + g / 4 + 4 * (g / 2 % 2);
      const bool other = t >= 2;
#pragma unroll
      for (int j = 0; j < C::part_columns / 8; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const int line = 2 * t + (other ? 1 - e : e);
          const float x = alpha * (other ? f[4 * j + 1 - e] : f[4 * j + e]);
          const float y = alpha * (other ? f[4 * j + 3 - e] : f[4 * j + 2 + e]);
          asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to + (8 * j + line) * 128 + ((piece ^ line) * 16)),
                       "f"(x), "f"(y)
                       : "memory");
        }
    } else {
      const bool other = (C::a_mn_major ? g / 2 : g) % 2 != 0;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int line = tf32_row<C>(warp, lane, h);
        const std::uint32_t to = shared_address(box) + line * 128 + (t % 2) * 8;
#pragma unroll
        for (int j = 0; j < C::part_columns / 8; ++j) {
          const int piece = 2 * (other ? j ^ 2 : j) + t / 2;
          const float x = alpha * (other ? f[4 * (j ^ 2) + 2 * h] : f[4 * j + 2 * h]);
          const float y = alpha * (other ? f[4 * (j ^ 2) + 2 * h + 1] : f[4 * j + 2 * h + 1]);
          asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to + ((piece ^ (line % 8)) * 16)), "f"(x), "f"(y)
                       : "memory");
        }
      }
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    named_barrier(1 + consumer, 128);
    if (thread == 0) {
      const int column = n0 + part * C::part_columns;
      if (column < args.n) {
        if (C::a_mn_major && args.columns_contiguous) {
#pragma unroll
          for (int i = 0; i < 2; ++i)
            if (m0 + 32 * i < args.m) tma_store(map, box + i * (C::part_bytes / 2), m0 + 32 * i, column);
        } else if (m0 < args.m) {
          tma_store(map, box, column, m0);
        }
      }
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
  }
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    tf32_kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                const __grid_constant__ CUtensorMap map_d, const Tf32Arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr int BM = C::BM, BN = C::BN, BK = C::BK;
  extern __shared__ std::uint8_t raw[];
  auto* const base =
      reinterpret_cast<std::uint8_t*>((reinterpret_cast<std::uintptr_t>(raw) + 1023) & ~std::uintptr_t{1023});
  std::uint8_t* const stage_a = base;
  std::uint8_t* const stage_b = base + C::stages * C::a_bytes;
  std::uint8_t* const staging = stage_b + C::stages * C::b_bytes;
  auto* const full = reinterpret_cast<std::uint64_t*>(staging + C::staging_bytes);
  std::uint64_t* const empty = full + C::stages;
  auto* const behind = reinterpret_cast<volatile int*>(empty + C::stages);  // the producer has no register for it

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
  const int tiles = row_tiles * column_tiles;
  const int first = static_cast<int>(blockIdx.x) / blocks, step = static_cast<int>(gridDim.x) / blocks;

  if (threadIdx.x == 0) {
    for (int s = 0; s < C::stages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], C::consumers * C::cluster);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map_a) : "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map_b) : "memory");
  }
  if constexpr (C::cluster > 1)
    cluster_sync();
  else
    __syncthreads();
  // what came before in the stream may still have been running until here; what comes next may get ready as this did
  wait_for_earlier_kernels();
  let_later_kernels_start();

  if (warpgroup == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(C::producer_registers));
    if (threadIdx.x == 0) {
      int stage = 0;
      std::uint32_t phase = 1;  // the first pass finds every stage free
      // alpha = 0: no element of A or B may be read; behind the end of K the copy engine brings zeros
      const float alpha = args.alpha_pointer ? *args.alpha_pointer : args.alpha;
      *behind = alpha == 0.0f ? k_tiles * BK : 0;
      for (int t = first; t < tiles; t += step) {
        int row, column;
        locate(t, row_tiles, column_tiles, row, column);
        const int m0 = (row * C::cluster + rank) * BM, n0 = column * BN;
        for (int kt = k_begin; kt < k_end; ++kt) {
          barrier_wait(&empty[stage], phase);
          barrier_expect(&full[stage], C::a_bytes + C::b_bytes);
          std::uint8_t* const a = stage_a + stage * C::a_bytes;
          std::uint8_t* const b = stage_b + stage * C::b_bytes;
          const int k0 = *behind + kt * BK;
          if constexpr (C::a_mn_major) {
#pragma unroll
            for (int i = 0; i < BM / 32; ++i) tma_load(a + i * 32 * BK * 4, &map_a, &full[stage], m0 + 32 * i, k0);
          } else {
            tma_load(a, &map_a, &full[stage], k0, m0);
          }
          constexpr int share = BN / C::cluster;  // columns of B that this block brings
          if constexpr (C::cluster > 1)
            tma_load_multicast(b + rank * share * BK * 4, &map_b, &full[stage], k0, n0 + rank * share,
                               static_cast<std::uint16_t>((1 << C::cluster) - 1));
          else
            tma_load(b, &map_b, &full[stage], k0, n0);
          if (++stage == C::stages) {
            stage = 0;
            phase ^= 1;
          }
        }
      }
      // no block may leave while a peer can still arrive on its barriers
      for (int s = 0; s < C::stages; ++s) {
        barrier_wait(&empty[stage], phase);
        if (++stage == C::stages) {
          stage = 0;
          phase ^= 1;
        }
      }
    }
    if (C::split && blocks > 1) cluster_sync();  // the sums of all blocks are there
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(C::consumer_registers));
    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    using Multiply = WgmmaTf32<BN>;
    const auto release = [&](int s) {
      if constexpr (C::cluster > 1) {
        if (thread < C::cluster) barrier_arrive_cluster(&empty[s], thread);
      } else {
        if (thread == 0) barrier_arrive(&empty[s]);
      }
    };
    float d[BN / 2];
    int stage = 0, previous = 0;
    std::uint32_t phase = 0;
    // starts the products of a tile of K, waits for the ones before them and releases their stage
    std::uint32_t even[4][4], odd[4][4];
    const auto multiply = [&](int kt, std::uint32_t(&fragments)[4][4]) {
      barrier_wait(&full[stage], phase);
      const std::uint32_t a = shared_address(stage_a + stage * C::a_bytes) + consumer * 64 * BK * 4;
      const std::uint32_t b = shared_address(stage_b + stage * C::b_bytes);
      if constexpr (C::a_mn_major) tf32_fragments(fragments, a + warp / 2 * 32 * BK * 4, warp, lane);
      wgmma_fence();
#pragma unroll
      for (int kk = 0; kk < BK / 8; ++kk) {
        const std::uint64_t of_b = descriptor(b + kk * 32, 0, 1024);
        if constexpr (C::a_mn_major)
          Multiply::run(d, fragments[kk], of_b, kt > k_begin || kk > 0);
        else
          Multiply::run(d, descriptor(a + kk * 32, 0, 1024), of_b, kt > k_begin || kk > 0);
      }
      wgmma_commit();
      if (kt > k_begin) {
        wgmma_wait<1>();
        release(previous);
      }
      previous = stage;
      if (++stage == C::stages) {
        stage = 0;
        phase ^= 1;
      }
    };
    for (int t = first; t < tiles; t += step) {
      int row, column;
      locate(t, row_tiles, column_tiles, row, column);
      const int m0 = (row * C::cluster + rank) * BM + consumer * 64, n0 = column * BN;
      if constexpr (C::a_mn_major) {
        for (int kt = k_begin; kt < k_end; kt += 2) {
          multiply(kt, even);
          if (kt + 1 < k_end) multiply(kt + 1, odd);
        }
      } else {
        for (int kt = k_begin; kt < k_end; ++kt) multiply(kt, even);
      }
      wgmma_wait<0>();
      release(previous);

      if (C::split && blocks > 1) {
        // one tile for each cluster: its stages are free
        named_barrier(1, 128 * C::consumers);
        float* const sums = reinterpret_cast<float*>(base);
        const int column = 2 * (lane % 4);
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int line = consumer * 64 + tf32_row<C>(warp, lane, h);
          if (args.columns_contiguous) {
#pragma unroll
            for (int j = 0; j < BN / 8; ++j)
#pragma unroll
              for (int e = 0; e < 2; ++e) sums[(column + 8 * j + e) * C::sums_column + line] = d[4 * j + 2 * h + e];
          } else {
#pragma unroll
            for (int j = 0; j < BN / 8; ++j)
              *reinterpret_cast<float2*>(sums + line * C::sums_row + column + 8 * j) =
                  make_float2(d[4 * j + 2 * h], d[4 * j + 2 * h + 1]);
          }
        }
        continue;
      }
      // read here, not before the main loop, whose registers are all taken
      const float alpha = args.alpha_pointer ? *args.alpha_pointer : args.alpha;
      const float beta = args.beta_pointer ? *args.beta_pointer : args.beta;
      if constexpr (!C::split) {
        if (args.store_by_tma && beta == 0.0f) {
          tf32_store_by_tma<C>(d, &map_d, staging, args, alpha, m0, n0, consumer, thread);
          continue;
        }
      }
      tf32_store<C>(d, args, alpha, beta, m0, n0, warp, lane);
    }
    if constexpr (!C::split)
      if (thread == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    // here, not behind the branches, where no more registers than the producer's could be used
    if (C::split && blocks > 1) {
      cluster_sync();
      const auto* const sums = reinterpret_cast<const float*>(base);
      int row, column;
      locate(first, row_tiles, column_tiles, row, column);
      const int m0 = row * BM, n0 = column * BN, of_all = consumer * 128 + thread;
      if (blocks == 2)
        tf32_finish_split<C, 2>(sums, block, m0, n0, args, of_all);
      else if (blocks == 4)
        tf32_finish_split<C, 4>(sums, block, m0, n0, args, of_all);
      else
        tf32_finish_split<C, 8>(sums, block, m0, n0, args, of_all);
    }
  }
  if (C::cluster > 1 || (C::split && blocks > 1)) cluster_sync();  // no block leaves while a peer reads or arrives
#endif
}

}  // namespace tessera::cuda::sm90a
