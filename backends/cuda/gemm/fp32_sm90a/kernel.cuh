// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cuda/gemm/half_sm90a/wgmma.cuh>
#include <cuda/gemm/instructions_sm90a.cuh>
#include <cuda/gemm/tf32_sm90a/wgmma_tf32.cuh>
#include <cuda_runtime.h>
#include <type_traits>

/// \file
/// D = alpha A B + beta D in fp32 by bf16 tensor cores (sm_90a): x = x1 + x2 + x3 with bf16 terms, each of 8 bits, and
/// the products of the terms that matter, the small ones first; or x = x1 + x2 with tf32 terms of 11 bits. Another
/// kernel has written the terms as images of shared memory, so that a stage is two contiguous copies. The tensor cores
/// cut the bits that fall below a running sum, always towards zero, so that long sums drift: sums of a few chunks of K
/// are added to registers of their own, rounded to nearest. Source of the splitting: G. Henry, P. T. P. Tang, A.
/// Heinecke, Leveraging the bfloat16 artificial intelligence datatype for higher-precision computations, 2019.

namespace tessera::cuda::sm90a {

/// Products: 3 of two terms, 6 or 9 of three. Promote: chunks of K that the tensor cores sum by themselves.
template <int Products_, int BN_, int Stages_, int Promote_, bool Tf32_ = false>
struct SplitConfiguration {
  static constexpr bool tf32 = Tf32_;
  static constexpr int products = Products_, terms = products == 3 ? 2 : 3;
  static constexpr int BM = 128, BN = BN_, BK = tf32 ? 16 : 32, stages = Stages_, promote = Promote_;
  static_assert(promote == 1 || promote == 2);  // of an even number
  static constexpr int cluster = 2, consumers = 2, threads = 128 * (consumers + 1);
  static constexpr int row_bytes = 64;  // of a term; 64-byte swizzle
  static constexpr int a_term = BM * row_bytes, b_term = BN * row_bytes;
  static constexpr int a_bytes = terms * a_term, b_bytes = terms * b_term;
  static constexpr int shared_bytes = 1024 + stages * (a_bytes + b_bytes) + 2 * stages * 8;
  static_assert(shared_bytes <= 232448);
};

struct SplitArguments {
  const std::uint8_t* a;  ///< for each 128 rows, for each chunk of K: the terms' images
  const std::uint8_t* b;  ///< for each BN columns, the same
  float* d;
  long long ldd;
  int m, n, k;
  float alpha, beta;
  const float* alpha_pointer;
  const float* beta_pointer;
  std::uint8_t* flags;  ///< for each 16 rows of D and tile of columns: whether a sum is not finite and D not written
  int pairs;            ///< D's base and stride are multiples of 8 bytes
};

/// Which term of A meets which of B, in order of magnitude; a configuration takes the last `products` of them.
__host__ __device__ constexpr int split_term(int which, bool of_b) {
  constexpr int a[] = {2, 1, 2, 0, 2, 1, 0, 1, 0}, b[] = {2, 2, 1, 2, 0, 1, 1, 0, 0};
  return of_b ? b[which] : a[which];
}

/// Chunks along K, of 32 or, with tf32 terms, of 16; an even number.
__host__ __device__ constexpr int split_chunks(std::int64_t k, bool tf32) {
  return static_cast<int>(tf32 ? (k + 31) / 32 * 2 : (k + 63) / 64 * 2);
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1) split_gemm_kernel(const SplitArguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr int BM = C::BM, BN = C::BN;
  extern __shared__ std::uint8_t raw[];
  auto* const base =
      reinterpret_cast<std::uint8_t*>((reinterpret_cast<std::uintptr_t>(raw) + 1023) & ~std::uintptr_t{1023});
  std::uint8_t* const stage_a = base;
  std::uint8_t* const stage_b = base + C::stages * C::a_bytes;
  auto* const full = reinterpret_cast<std::uint64_t*>(stage_b + C::stages * C::b_bytes);
  std::uint64_t* const empty = full + C::stages;

  const int warpgroup = threadIdx.x / 128;
  const int rank = cluster_rank();
  const int chunks = split_chunks(args.k, C::tf32);
  const int row_blocks = (args.m + BM - 1) / BM;
  const int row_tiles = (row_blocks + C::cluster - 1) / C::cluster;  // of clusters
  const int column_tiles = (args.n + BN - 1) / BN;
  const int tiles = row_tiles * column_tiles;
  const int first = static_cast<int>(blockIdx.x) / C::cluster, step = static_cast<int>(gridDim.x) / C::cluster;

  if (threadIdx.x == 0) {
    for (int s = 0; s < C::stages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], C::consumers * C::cluster);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  cluster_sync();

  if (warpgroup == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      int stage = 0;
      std::uint32_t phase = 1;  // the first pass finds every stage free
      constexpr int share = C::b_bytes / C::cluster;
      for (int t = first; t < tiles; t += step) {
        int row, column;
        locate(t, row_tiles, column_tiles, row, column);
        // past the last rows a block reads the last ones again, and stores nothing
        const int row_block = min(row * C::cluster + rank, row_blocks - 1);
        const std::uint8_t* a = args.a + static_cast<std::size_t>(row_block) * chunks * C::a_bytes;
        const std::uint8_t* b = args.b + static_cast<std::size_t>(column) * chunks * C::b_bytes + rank * share;
        for (int chunk = 0; chunk < chunks; ++chunk) {
          barrier_wait(&empty[stage], phase);
          barrier_expect(&full[stage], C::a_bytes + C::b_bytes);
          bulk_load(stage_a + stage * C::a_bytes, a, C::a_bytes, &full[stage]);
          bulk_load_multicast(stage_b + stage * C::b_bytes + rank * share, b, share, &full[stage],
                              static_cast<std::uint16_t>((1 << C::cluster) - 1));
          a += C::a_bytes;
          b += C::b_bytes;
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
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int consumer = warpgroup - 1;
    const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    using Multiply = std::conditional_t<C::tf32, WgmmaTf32<BN>, Wgmma<BN, true, 0, 0>>;
    const auto release = [&](int s) {
      if (thread < C::cluster) barrier_arrive_cluster(&empty[s], thread);
    };
    float sum[BN / 2];
    int stage = 0;
    std::uint32_t phase = 0;
    // starts the products of the next stage; returns which it is
    const auto start = [&](float(&d)[BN / 2], bool accumulate) {
      barrier_wait(&full[stage], phase);
      const std::uint32_t a = shared_address(stage_a + stage * C::a_bytes) + consumer * 64 * C::row_bytes;
      const std::uint32_t b = shared_address(stage_b + stage * C::b_bytes);
      wgmma_fence();
#pragma unroll
      for (int p = 9 - C::products; p < 9; ++p)
#pragma unroll
        for (int kk = 0; kk < C::row_bytes / 32; ++kk)
          Multiply::run(d, descriptor<Swizzle::bytes_64>(a + split_term(p, false) * C::a_term + kk * 32, 0, 512),
                        descriptor<Swizzle::bytes_64>(b + split_term(p, true) * C::b_term + kk * 32, 0, 512),
                        accumulate || p > 9 - C::products || kk > 0);
      wgmma_commit();
      const int used = stage;
      if (++stage == C::stages) {
        stage = 0;
        phase ^= 1;
      }
      return used;
    };
    const auto add = [&](float(&d)[BN / 2]) {
#pragma unroll
      for (int i = 0; i < BN / 2; ++i) {
        asm volatile("" : "+f"(d[i])::"memory");  // not before the wait
        sum[i] += d[i];
      }
    };
    for (int t = first; t < tiles; t += step) {
      int row, column;
      locate(t, row_tiles, column_tiles, row, column);
      const int m0 = (row * C::cluster + rank) * BM + consumer * 64, n0 = column * BN;
#pragma unroll
      for (int i = 0; i < BN / 2; ++i) sum[i] = 0;
      float d[BN / 2];
      for (int chunk = 0; chunk < chunks; chunk += C::promote) {
#pragma unroll
        for (int i = 0; i < C::promote; ++i) {
          const int used = start(d, i > 0);
          wgmma_wait<0>();
          release(used);
        }
        add(d);
      }

      // read here, not before the main loop, whose registers are all taken
      const float alpha = args.alpha_pointer ? *args.alpha_pointer : args.alpha;
      const float beta = args.beta_pointer ? *args.beta_pointer : args.beta;
      // D fragment: rows lane/4 and lane/4 + 8 of the warp's 16, columns 8 j + 2 (lane % 4) and the next
      bool finite = true;
#pragma unroll
      for (int i = 0; i < BN / 2; ++i) finite = finite && fabsf(sum[i]) <= 3.402823466e38f;
      // terms of infinities are infinities and NaN: such strips are left to the kernel that multiplies in fp32
      const bool write = __all_sync(~0u, finite) || alpha == 0.0f;
      const int strip = m0 / 16 + warp;
      if (lane == 0 && strip * 16 < args.m) args.flags[static_cast<long long>(strip) * column_tiles + column] = !write;
      if (write) {
#pragma unroll
        for (int half_tile = 0; half_tile < 2; ++half_tile) {
          const int i = m0 + warp * 16 + lane / 4 + 8 * half_tile;
          if (i < args.m) {
            float* const line = args.d + static_cast<long long>(i) * args.ldd;
            const bool whole = args.pairs && n0 + BN <= args.n;
#pragma unroll
            for (int j = 0; j < BN / 8; ++j) {
              const int at = n0 + 8 * j + 2 * (lane % 4);
              float2 value = {0.0f, 0.0f};
              if (alpha != 0.0f) value = {alpha * sum[4 * j + 2 * half_tile], alpha * sum[4 * j + 2 * half_tile + 1]};
              if (whole) {
                auto* const to = reinterpret_cast<float2*>(line + at);
                if (beta != 0.0f) {
                  const float2 old = *to;
                  value.x += beta * old.x;
                  value.y += beta * old.y;
                }
                *to = value;
              } else {
                if (at < args.n) line[at] = beta != 0.0f ? value.x + beta * line[at] : value.x;
                if (at + 1 < args.n) line[at + 1] = beta != 0.0f ? value.y + beta * line[at + 1] : value.y;
              }
            }
          }
        }
      }
    }
  }
  cluster_sync();
#endif
}

}  // namespace tessera::cuda::sm90a
