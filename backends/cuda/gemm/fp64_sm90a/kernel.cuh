// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cuda.h>
#include <cuda/gemm/fp64_instructions_sm90a.cuh>
#include <cuda/gemm/instructions_sm90a.cuh>
#include <cuda_runtime.h>
#include <type_traits>

/// \file
/// D = alpha op(A) op(B) + beta D in fp64 by the tensor cores of Hopper (mma.sync m16n8k8). One producer thread feeds a
/// ring of shared-memory stages by TMA, eight consumer warps multiply, blocks are persistent. Tiles have lines of 128
/// bytes, swizzled. Which of a tile's k meets in one instruction is free as long as A and B agree, and so is, along the
/// unit stride of an MN-major operand, which row an instruction's row is: both are chosen so that no load from shared
/// memory meets a bank twice.

namespace tessera::cuda::sm90a {

template <int BM_, int BN_, int Stages_, int WarpsM_, bool AMnMajor_, bool BMnMajor_, bool TransposedD_>
struct DoubleConfiguration {
  static constexpr int BM = BM_, BN = BN_, BK = 16, stages = Stages_;
  static constexpr bool a_mn_major = AMnMajor_, b_mn_major = BMnMajor_, transposed_d = TransposedD_;
  static_assert(a_mn_major || !b_mn_major, "computed as the transposed product");
  static_assert(a_mn_major || !transposed_d);
  static constexpr int warps = 8, warps_m = WarpsM_, warps_n = warps / warps_m;
  static constexpr int threads = 128 + 32 * warps;
  static constexpr int rows = BM / warps_m, columns = BN / warps_n;  // of a warp
  static_assert(rows % 16 == 0 && columns % 16 == 0);
  static constexpr int a_bytes = BM * BK * 8, b_bytes = BN * BK * 8;
  static constexpr int shared_bytes = 1024 + stages * (a_bytes + b_bytes) + 2 * stages * 8;
  static_assert(shared_bytes <= 232448);
};

struct DoubleArguments {
  double* d;
  long long ldd;
  int m, n, k;
  int pairs;      ///< D's base and stride are multiples of 16 bytes
  unsigned zero;  ///< 0, which the compiler does not know
  double alpha, beta;
  const double* alpha_pointer;
  const double* beta_pointer;
};

/// Where a thread finds its numbers in the tiles of a stage, from the tile's start; the same for every stage.
template <class C>
struct DoubleAddresses {
  std::uint32_t a[2], b[2], b_upper[2];  // by half of the stage's k

  __device__ DoubleAddresses(int warp, int lane) {
    const int g = lane / 4, t = lane % 4;
    const int row = warp % C::warps_m * C::rows, column = warp / C::warps_m * C::columns;
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      if constexpr (!C::a_mn_major) {
        // Both K-major: line g of eight. k is 4 s + {0, 1, 8, 9} and 2 above; 8 bytes a load, already in the order of
        // the instruction's registers.
        const auto along_k = [&](int first) {
          return static_cast<std::uint32_t>(first * 128 + g * 128 + ((2 * s + 4 * (t / 2)) ^ g) * 16 + t % 2 * 8);
        };
        a[s] = along_k(row);
        b[s] = along_k(column);
      } else {
        const int pair = 2 * t + (s ^ (t / 2));  // k = 2 pair and 2 pair + 1
        // MN-major: line k, number i of 16; the next k is at xor 0x90
        const auto along_mn = [&](int first, int i) {
          return static_cast<std::uint32_t>(first * 128 + 2 * pair * 128 + ((i / 2 ^ 2 * pair) & 7) * 16 + i % 2 * 8);
        };
        a[s] = along_mn(row, 2 * g);
        b[s] =
            C::b_mn_major ? along_mn(column, g) : static_cast<std::uint32_t>(column * 128 + g * 128 + (pair ^ g) * 16);
        b_upper[s] = along_mn(column, 8 + g);
      }
    }
  }

  /// Rows 16 i to 16 i + 15 of A's part.
  __device__ __forceinline__ void load_a(double (&f)[4], std::uint32_t stage, int s, int i) const {
    if constexpr (C::a_mn_major) {
      load_pair(f[0], f[1], stage + a[s] + i * 2048);
      load_pair(f[2], f[3], stage + (a[s] ^ 0x90) + i * 2048);
    } else {
      load_one(f[0], stage + a[s] + i * 2048);
      load_one(f[1], stage + a[s] + i * 2048 + 1024);
      load_one(f[2], stage + (a[s] ^ 0x10) + i * 2048);
      load_one(f[3], stage + (a[s] ^ 0x10) + i * 2048 + 1024);
    }
  }
  /// Columns 8 j to 8 j + 7 of B's part.
  __device__ __forceinline__ void load_b(double (&f)[2], std::uint32_t stage, int s, int j) const {
    if constexpr (C::b_mn_major) {
      // by 8 bytes: pairs of columns would have to be sorted into the instruction's registers
      const std::uint32_t at = j % 2 ? b_upper[s] : b[s];
      load_one(f[0], stage + at + j / 2 * 2048);
      load_one(f[1], stage + (at ^ 0x90) + j / 2 * 2048);
    } else if constexpr (C::a_mn_major) {
      load_pair(f[0], f[1], stage + b[s] + j * 1024);
    } else {
      load_one(f[0], stage + b[s] + j * 1024);
      load_one(f[1], stage + (b[s] ^ 0x10) + j * 1024);
    }
  }
};

template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    double_gemm_kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                       const DoubleArguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr int BM = C::BM, BN = C::BN, BK = C::BK;
  extern __shared__ std::uint8_t raw[];
  auto* const base =
      reinterpret_cast<std::uint8_t*>((reinterpret_cast<std::uintptr_t>(raw) + 1023) & ~std::uintptr_t{1023});
  std::uint8_t* const stage_a = base;
  std::uint8_t* const stage_b = base + C::stages * C::a_bytes;
  auto* const full = reinterpret_cast<std::uint64_t*>(stage_b + C::stages * C::b_bytes);
  std::uint64_t* const empty = full + C::stages;
  const int k_tiles = (args.k + BK - 1) / BK;
  const int row_tiles = (args.m + BM - 1) / BM, column_tiles = (args.n + BN - 1) / BN;
  const int tiles = row_tiles * column_tiles;
  const int first = static_cast<int>(blockIdx.x), step = static_cast<int>(gridDim.x);

  if (threadIdx.x == 0) {
    for (int s = 0; s < C::stages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], C::warps);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map_a) : "memory");
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map_b) : "memory");
  }
  __syncthreads();
  // what came before in the stream may still have been running until here; what comes next may get ready as this did
  wait_for_earlier_kernels();
  let_later_kernels_start();

  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      int stage = 0;
      std::uint32_t phase = 1;  // the first pass finds every stage free
      for (int t = first; t < tiles; t += step) {
        int row, column;
        locate(t, row_tiles, column_tiles, row, column);
        const int m0 = row * BM, n0 = column * BN;
        for (int kt = 0; kt < k_tiles; ++kt) {
          barrier_wait(&empty[stage], phase);
          barrier_expect(&full[stage], C::a_bytes + C::b_bytes);
          std::uint8_t* const a = stage_a + stage * C::a_bytes;
          std::uint8_t* const b = stage_b + stage * C::b_bytes;
          const int k0 = kt * BK;
          if constexpr (C::a_mn_major) {
#pragma unroll 1
            for (int i = 0; i < BM / 16; ++i) tma_load(a + i * 2048, &map_a, &full[stage], m0 + 16 * i, k0);
          } else {
            tma_load(a, &map_a, &full[stage], k0, m0);
          }
          if constexpr (C::b_mn_major) {
#pragma unroll 1
            for (int i = 0; i < BN / 16; ++i) tma_load(b + i * 2048, &map_b, &full[stage], n0 + 16 * i, k0);
          } else {
            tma_load(b, &map_b, &full[stage], k0, n0);
          }
          if (++stage == C::stages) {
            stage = 0;
            phase ^= 1;
          }
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int warp = static_cast<int>(threadIdx.x) / 32 - 4, lane = threadIdx.x % 32;
    const int g = lane / 4, t4 = lane % 4;
    const DoubleAddresses<C> addresses(warp, lane);
    const std::uint32_t first_a = shared_address(base), first_b = first_a + C::stages * C::a_bytes;
    const std::uint32_t first_full = first_b + C::stages * C::b_bytes, first_empty = first_full + C::stages * 8;
    constexpr int mi = C::rows / 16, nj = C::columns / 8;
    double c[mi][nj][4];
    double a[2][mi][4], b[nj][2];  // of A the fragments of half a stage and those of the next
    int stage = 0;
    std::uint32_t phase = 0;
    // The copies that follow an arrival are not ordered behind loads that are still under way, which other warps'
    // stores may hold up for long: the address depends on what was loaded last.
    const auto release = [&] {
      unsigned bits = 0;
#pragma unroll
      for (int i = 0; i < mi; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) bits |= static_cast<unsigned>(__double2loint(a[1][i][e]));
#pragma unroll
      for (int j = 0; j < nj; ++j)
        bits |= static_cast<unsigned>(__double2loint(b[j][0])) | static_cast<unsigned>(__double2loint(b[j][1]));
      arrive_for_warp(first_empty + stage * 8 + (bits & args.zero), lane);
      if (++stage == C::stages) {
        stage = 0;
        phase ^= 1;
      }
    };
    // Half a stage; the half that comes next is loaded meanwhile. All products come in the same order in both halves:
    // so the compiler waits for the product before by counting, not for all that are under way. It does so only as long
    // as the kernel has no other loop of products.
    const auto multiply = [&](auto half, auto more) {
      constexpr int h = decltype(half)::value;
      constexpr bool reload = decltype(more)::value;  // there is a half that comes next
      if constexpr (reload)
#pragma unroll
        for (int i = 0; i < mi; ++i) addresses.load_a(a[1 - h][i], first_a + stage * C::a_bytes, 1 - h, i);
#pragma unroll
      for (int j = 0; j < nj; ++j) {
        // moved on by an operation that the compiler cannot take out, so that the next half's may be loaded at once
        const double now[2] = {with_sign(b[j][0], args.zero), with_sign(b[j][1], args.zero)};
        if constexpr (reload) addresses.load_b(b[j], first_b + stage * C::b_bytes, 1 - h, j);
#pragma unroll
        for (int i = 0; i < mi; ++i) multiply_m16n8k8(c[i][j], a[h][i], now);
      }
    };
    for (int t = first; t < tiles; t += step) {
      int row, column;
      locate(t, row_tiles, column_tiles, row, column);
#pragma unroll
      for (int i = 0; i < mi; ++i)
#pragma unroll
        for (int j = 0; j < nj; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) c[i][j][e] = 0;
      barrier_wait(&full[stage], phase);
#pragma unroll
      for (int i = 0; i < mi; ++i) addresses.load_a(a[0][i], first_a + stage * C::a_bytes, 0, i);
#pragma unroll
      for (int j = 0; j < nj; ++j) addresses.load_b(b[j], first_b + stage * C::b_bytes, 0, j);
      using First = std::integral_constant<int, 0>;
      using Second = std::integral_constant<int, 1>;
      for (int left = k_tiles;;) {
        // asked early, so that both warps of a quarter of the multiprocessor do not wait for the answer at once
        const bool last_stage = stage == C::stages - 1;
        const bool ready = barrier_is_over(first_full + (last_stage ? 0 : stage + 1) * 8, phase ^ (last_stage ? 1 : 0));
        multiply(First(), std::true_type());
        release();
        if (--left == 0) break;
        if (!ready) barrier_wait(&full[stage], phase);
        multiply(Second(), std::true_type());
      }
      multiply(Second(), std::false_type());

      const double alpha = args.alpha_pointer ? *args.alpha_pointer : args.alpha;
      const double beta = args.beta_pointer ? *args.beta_pointer : args.beta;
      const int m0 = row * BM + warp % C::warps_m * C::rows, n0 = column * BN + warp / C::warps_m * C::columns;
      const auto value = [&](double x) { return alpha != 0.0 ? alpha * x : 0.0; };
      // two neighbours in D, the second of which may lie outside
      const auto store = [&](double* to, double x, double y, bool second) {
        x = value(x);
        y = value(y);
        if (args.pairs && second) {
          auto* const both = reinterpret_cast<double2*>(to);
          if (beta != 0.0) {
            const double2 old = *both;
            x += beta * old.x;
            y += beta * old.y;
          }
          *both = make_double2(x, y);
        } else {
          to[0] = beta != 0.0 ? x + beta * to[0] : x;
          if (second) to[1] = beta != 0.0 ? y + beta * to[1] : y;
        }
      };
#pragma unroll
      for (int i = 0; i < mi; ++i)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          if constexpr (C::transposed_d) {
            const int m = m0 + 16 * i + 2 * g;
            if (m < args.m)
#pragma unroll
              for (int j = 0; j < nj; ++j)
                if (const int n = n0 + 8 * j + 2 * t4 + h; n < args.n)
                  store(args.d + static_cast<long long>(n) * args.ldd + m, c[i][j][h], c[i][j][2 + h], m + 1 < args.m);
          } else {
            // an MN-major A's instructions take neighbouring rows
            const int m = m0 + 16 * i + (C::a_mn_major ? 2 * g + h : g + 8 * h);
            if (m < args.m)
#pragma unroll
              for (int j = 0; j < nj; ++j)
                if (const int n = n0 + 8 * j + 2 * t4; n < args.n)
                  store(args.d + static_cast<long long>(m) * args.ldd + n, c[i][j][2 * h], c[i][j][2 * h + 1],
                        n + 1 < args.n);
          }
        }
    }
  }
#endif
}

}  // namespace tessera::cuda::sm90a
