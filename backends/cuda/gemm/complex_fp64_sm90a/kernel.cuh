// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "complex_fp64_sm90a.hpp"
#include <cstdint>
#include <cuda.h>
#include <cuda/gemm/fp64_instructions_sm90a.cuh>
#include <cuda/gemm/instructions_sm90a.cuh>
#include <cuda_runtime.h>
#include <type_traits>

/// \file
/// D = alpha op(A) op(B) + beta D in complex fp64 by the tensor cores of Hopper (mma.sync m16n8k8). One producer thread
/// feeds a ring of shared-memory stages by TMA, eight consumer warps multiply, blocks are persistent. A number and its
/// imaginary part are neighbours along an instruction's k: with A's fragments as they are loaded, (re, im), those of B
/// are (re, -im) for the real part of the product and (im, re) for the imaginary part; conjugation changes signs there.
/// A line of a tile is eight numbers, 128 bytes, swizzled, along K or along M or N: all that differs is where a thread
/// finds its numbers. Rows and columns of eight are taken in the order 0, 4, 1, 5, 2, 6, 3, 7: so no load from shared
/// memory meets a bank twice, and four threads store four neighbours of D.

namespace tessera::cuda::sm90a {

template <int BM_, int BN_, int Stages_, int WarpsM_, bool AMnMajor_, bool BMnMajor_>
struct ComplexDoubleConfiguration {
  static constexpr int BM = BM_, BN = BN_, BK = 8, stages = Stages_;
  static constexpr bool a_mn_major = AMnMajor_, b_mn_major = BMnMajor_;
  static constexpr int warps = 8, warps_m = WarpsM_, warps_n = warps / warps_m;
  static constexpr int threads = 128 + 32 * warps;
  static constexpr int rows = BM / warps_m, columns = BN / warps_n;  // of a warp
  static_assert(rows % 16 == 0 && columns % 8 == 0);
  static constexpr int a_bytes = BM * BK * 16, b_bytes = BN * BK * 16;
  static constexpr int shared_bytes = 1024 + stages * (a_bytes + b_bytes) + 2 * stages * 8;
  static_assert(shared_bytes <= 232448);
};

struct ComplexDoubleArguments {
  ComplexDouble* d;
  long long ldd;
  int m, n, k;
  int whole;                ///< D's base is a multiple of 16 bytes
  unsigned zero;            ///< 0, which the compiler does not know
  unsigned a_sign, b_sign;  ///< the sign bit where the operand is conjugated
  ComplexDouble alpha, beta;
  const ComplexDouble* alpha_pointer;
  const ComplexDouble* beta_pointer;
};

template <class C>
__global__ void __launch_bounds__(C::threads, 1)
    complex_double_gemm_kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                               const ComplexDoubleArguments args) {
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
          // the maps count doubles
          const auto bring = [&](std::uint8_t* to, const CUtensorMap* map, bool mn_major, int first_line, int lines) {
            if (!mn_major) return tma_load(to, map, &full[stage], 2 * kt * BK, first_line);
#pragma unroll 1
            for (int i = 0; i < lines / 8; ++i)
              tma_load(to + i * 1024, map, &full[stage], 2 * (first_line + 8 * i), kt * BK);
          };
          bring(stage_a + stage * C::a_bytes, &map_a, C::a_mn_major, m0, BM);
          bring(stage_b + stage * C::b_bytes, &map_b, C::b_mn_major, n0, BN);
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
    const int slot = g / 2 + g % 2 * 4;  // of eight rows or columns, this thread's
    const int first_row = warp % C::warps_m * C::rows, first_column = warp / C::warps_m * C::columns;
    // Of k = t4, that of k = t4 + 4 is at the xor. Even threads multiply real parts first, odd ones imaginary parts.
    const auto address = [&](bool mn_major, int first_line) {
      return static_cast<std::uint32_t>(first_line * 128 + (mn_major ? t4 : slot) * 128 + (t4 ^ slot) * 16 +
                                        t4 % 2 * 8);
    };
    const std::uint32_t at_a = address(C::a_mn_major, first_row), at_b = address(C::b_mn_major, first_column);
    constexpr std::uint32_t xor_a = C::a_mn_major ? 0x240 : 0x40, xor_b = C::b_mn_major ? 0x240 : 0x40;
    const std::uint32_t first_a = shared_address(base), first_b = first_a + C::stages * C::a_bytes;
    const std::uint32_t first_full = first_b + C::stages * C::b_bytes, first_empty = first_full + C::stages * 8;
    // Signs, of B's part that is multiplied first and of the other. Real part: those of re are kept, those of im
    // become -im; with conjugates im is im. Imaginary part: im meets re of A and re meets im of A.
    const bool odd = t4 % 2 != 0;
    const unsigned minus = args.a_sign ^ args.b_sign ^ 0x80000000u;
    const unsigned re_signs[2] = {odd ? minus : 0, odd ? 0 : minus};
    const unsigned im_signs[2] = {odd ? args.a_sign : args.b_sign, odd ? args.b_sign : args.a_sign};

    constexpr int mi = C::rows / 16, nj = C::columns / 8;
    double re[mi][nj][4], im[mi][nj][4];
    double a[2][mi][4], b[nj][2];  // of A the fragments of half a stage and those of the next
    int stage = 0;
    std::uint32_t phase = 0;
    const auto load_a = [&](int half) {
      const std::uint32_t in = first_a + stage * C::a_bytes, at = half ? at_a ^ xor_a : at_a;
#pragma unroll
      for (int i = 0; i < mi; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) load_one(a[half][i][e], in + (e / 2 ? at ^ 8 : at) + i * 2048 + e % 2 * 1024);
    };
    const auto load_b = [&](int half, int j) {
      const std::uint32_t in = first_b + stage * C::b_bytes, at = half ? at_b ^ xor_b : at_b;
      load_one(b[j][0], in + at + j * 1024);
      load_one(b[j][1], in + (at ^ 8) + j * 1024);
    };
    // Half a stage's k; the half that comes next is loaded meanwhile.
    const auto multiply = [&](auto reload, int half) {
      if constexpr (decltype(reload)::value) load_a(1 - half);
#pragma unroll
      for (int j = 0; j < nj; ++j) {
        const double for_re[2] = {with_sign(b[j][0], re_signs[0]), with_sign(b[j][1], re_signs[1])};
        const double for_im[2] = {with_sign(b[j][1], im_signs[0]), with_sign(b[j][0], im_signs[1])};
        if constexpr (decltype(reload)::value) load_b(1 - half, j);
#pragma unroll
        for (int i = 0; i < mi; ++i) multiply_m16n8k8(re[i][j], a[half][i], for_re);
#pragma unroll
        for (int i = 0; i < mi; ++i) multiply_m16n8k8(im[i][j], a[half][i], for_im);
      }
    };
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
    for (int t = first; t < tiles; t += step) {
      int row, column;
      locate(t, row_tiles, column_tiles, row, column);
#pragma unroll
      for (int i = 0; i < mi; ++i)
#pragma unroll
        for (int j = 0; j < nj; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) re[i][j][e] = im[i][j][e] = 0;
      barrier_wait(&full[stage], phase);
      load_a(0);
#pragma unroll
      for (int j = 0; j < nj; ++j) load_b(0, j);
      for (int left = k_tiles;;) {
        // asked early, so that both warps of a quarter of the multiprocessor do not wait for the answer at once
        const bool last_stage = stage == C::stages - 1;
        const bool ready = barrier_is_over(first_full + (last_stage ? 0 : stage + 1) * 8, phase ^ (last_stage ? 1 : 0));
        multiply(std::true_type{}, 0);
        release();
        if (--left == 0) break;
        if (!ready) barrier_wait(&full[stage], phase);
        multiply(std::true_type{}, 1);
      }
      multiply(std::false_type{}, 1);

      const auto scalar = [](const ComplexDouble& value, const ComplexDouble* pointer) {
        return pointer ? ComplexDouble{pointer->re, pointer->im} : value;
      };
      const ComplexDouble alpha = scalar(args.alpha, args.alpha_pointer), beta = scalar(args.beta, args.beta_pointer);
      const bool nothing = alpha.re == 0 && alpha.im == 0, plain = beta.re == 0 && beta.im == 0;
      const auto store = [&](ComplexDouble* to, double x, double y) {
        double u = nothing ? 0 : alpha.re * x - alpha.im * y, v = nothing ? 0 : alpha.re * y + alpha.im * x;
        if (args.whole) {
          auto* const both = reinterpret_cast<double2*>(to);
          if (!plain) {
            const double2 old = *both;
            u += beta.re * old.x - beta.im * old.y;
            v += beta.re * old.y + beta.im * old.x;
          }
          *both = make_double2(u, v);
        } else {
          if (!plain) {
            const double x_old = to->re, y_old = to->im;
            u += beta.re * x_old - beta.im * y_old;
            v += beta.re * y_old + beta.im * x_old;
          }
          to->re = u;
          to->im = v;
        }
      };
      const int m0 = row * BM + first_row + slot, n0 = column * BN + first_column + t4;
#pragma unroll
      for (int i = 0; i < mi; ++i)
#pragma unroll
        for (int h = 0; h < 2; ++h)
          if (const int m = m0 + 16 * i + 8 * h; m < args.m) {
            ComplexDouble* const line = args.d + static_cast<long long>(m) * args.ldd;
#pragma unroll
            for (int j = 0; j < nj; ++j)
#pragma unroll
              for (int e = 0; e < 2; ++e)
                if (const int n = n0 + 8 * j + 4 * e; n < args.n)
                  store(line + n, re[i][j][2 * h + e], im[i][j][2 * h + e]);
          }
    }
  }
#endif
}

}  // namespace tessera::cuda::sm90a
