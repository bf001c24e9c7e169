// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cuda/gemm/instructions_sm90a.cuh>
#include <cuda/gemm/ladder_sm80/ladder_sm80.hpp>
#include <cuda/gemm/ladder_sm80/store.cuh>
#include <cuda_runtime.h>

/// \file
/// Step 8: tensor cores by mma.sync. A block of 8 warps multiplies a tile of 128 x 128, each warp 64 x 32 of it.
/// cp.async brings panels of 32 along K into a ring of four stages, past the registers.

namespace tessera::cuda::sm80::ladder {
namespace {

constexpr int tile_m = 128, tile_n = 128, tile_k = 32, stages = 4, threads = 256;
constexpr int a_bytes = tile_m * tile_k * 2, b_bytes = tile_k * tile_n * 2, stage_bytes = a_bytes + b_bytes;

// [place]
/// Where 16-byte chunk `chunk` of a line lies: chunks change places from line to line, so that the eight that ldmatrix
/// reads at once, one below the other, lie in different banks.
__device__ int place_a(int row, int chunk) { return row * 64 + ((chunk ^ (row / 2 % 4)) * 16); }
__device__ int place_b(int k, int chunk) { return k * 256 + ((chunk ^ (k % 8)) * 16); }
// [place]

/// 16 bytes from memory to scratch, on their way while the thread goes on; only the first `bytes` are read, zeros
/// follow.
__device__ void copy_async(std::uint32_t to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
/// How much of a chunk of 8 elements from `at` on a line of `length` holds, in bytes.
__device__ int present(int at, int length) { return 2 * max(0, min(8, length - at)); }

__device__ void load_matrices(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
__device__ void load_matrices_transposed(std::uint32_t (&r)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
// [instruction]
/// c (16 x 8) += a (16 x 16) b (16 x 8), by a warp.
__device__ void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// [instruction]

__global__ void __launch_bounds__(threads, 2)
    ladder_mma_sync(const __nv_bfloat16* a, std::int64_t lda, const __nv_bfloat16* b, std::int64_t ldb, Output out,
                    int k) {
  extern __shared__ __align__(128) char memory[];
  const std::uint32_t shared = sm90a::shared_address(memory);
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  int row, column;
  sm90a::locate(static_cast<int>(blockIdx.x), (out.m + tile_m - 1) / tile_m, (out.n + tile_n - 1) / tile_n, row,
                column);
  const int m0 = row * tile_m, n0 = column * tile_n, steps = (k + tile_k - 1) / tile_k;

  // [load]
  // of every panel this thread brings the same four chunks: of A's rows t / 4 and 64 below, of B's lines t / 16 and 16
  // below; what does not change from step to step is worked out once
  const int row_a = t / 4, in_a = t % 4 * 8, line_b = t / 16, column_b = n0 + t % 16 * 8;
  const __nv_bfloat16* const from_a = a + (m0 + row_a) * lda + in_a;
  const __nv_bfloat16* const from_b = b + line_b * ldb + column_b;
  const int to_a = place_a(row_a, t % 4), to_b = a_bytes + place_b(line_b, t % 16);
  const int present_b = present(column_b, out.n);
  const auto load = [&](int step) {
    const std::uint32_t to = shared + step % stages * stage_bytes;
    const int k0 = step * tile_k, present_a = present(k0 + in_a, k);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      copy_async(to + to_a + h * 64 * 64, from_a + h * 64 * lda + k0, m0 + row_a + h * 64 < out.m ? present_a : 0);
      copy_async(to + to_b + h * 16 * 256, from_b + (k0 + h * 16) * ldb, k0 + line_b + h * 16 < k ? present_b : 0);
    }
  };
  // [load]

  float sums[4][4][4] = {};  // 16 i rows, 8 j columns into the warp's part
  const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  // [loop]
  for (int s = 0; s < stages - 1; ++s) {
    if (s < steps) load(s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
    __syncthreads();  // this step is there, and the one before it read: its stage is free
    if (step + stages - 1 < steps) load(step + stages - 1);
    asm volatile("cp.async.commit_group;" ::: "memory");
    const std::uint32_t tile_a = shared + step % stages * stage_bytes, tile_b = tile_a + a_bytes;
#pragma unroll
    for (int kk = 0; kk < tile_k; kk += 16) {
      std::uint32_t fa[4][4], fb[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        load_matrices(fa[i], tile_a + place_a(warp_row + 16 * i + lane % 16, kk / 8 + lane / 16));
#pragma unroll
      for (int j = 0; j < 2; ++j)
        load_matrices_transposed(fb[j], tile_b + place_b(kk + lane % 16, warp_column / 8 + 2 * j + lane / 16));
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) multiply(sums[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
    }
  }
  // [loop]
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h)
        out.pair(m0 + warp_row + 16 * i + lane / 4 + 8 * h, n0 + warp_column + 8 * j + lane % 4 * 2, sums[i][j][2 * h],
                 sums[i][j][2 * h + 1]);
}

}  // namespace

const char* mma_sync(const Product& p, void* stream) {
  static const cudaError_t prepared =
      cudaFuncSetAttribute(ladder_mma_sync, cudaFuncAttributeMaxDynamicSharedMemorySize, stages * stage_bytes);
  if (prepared != cudaSuccess) return cudaGetErrorString(prepared);
  const auto blocks = static_cast<unsigned>((p.m + tile_m - 1) / tile_m * ((p.n + tile_n - 1) / tile_n));
  if (blocks == 0) return nullptr;
  ladder_mma_sync<<<blocks, threads, stages * stage_bytes, static_cast<cudaStream_t>(stream)>>>(
      static_cast<const __nv_bfloat16*>(p.a), p.lda, static_cast<const __nv_bfloat16*>(p.b), p.ldb,
      {static_cast<__nv_bfloat16*>(p.c), p.ldc, static_cast<int>(p.m), static_cast<int>(p.n)}, static_cast<int>(p.k));
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace tessera::cuda::sm80::ladder
