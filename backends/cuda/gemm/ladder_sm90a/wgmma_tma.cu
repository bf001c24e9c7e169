// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cuda/gemm/ladder_sm90a/launch.cuh>

/// \file
/// Step 9: wgmma, which reads both operands from scratch, fed by TMA. A block of two warpgroups multiplies a tile of
/// 128 x 128; its first thread asks for whole panels, 64 deep, and multiplies as all others do.

namespace tessera::cuda::sm90a::ladder {
namespace {

constexpr int tile_m = 128, tile_n = 128, tile_k = 64, stages = 3, threads = 256;
constexpr int a_bytes = tile_m * tile_k * 2, b_bytes = tile_k * tile_n * 2, stage_bytes = a_bytes + b_bytes;

__global__ void __launch_bounds__(threads, 2)
    ladder_wgmma_tma(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                     const Output out, int k) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::uint8_t raw[];
  __shared__ std::uint64_t full[stages];
  std::uint8_t* const base = aligned_to_1024(raw);
  const int warpgroup = static_cast<int>(threadIdx.x) / 128;
  int row, column;
  locate(static_cast<int>(blockIdx.x), (out.m + tile_m - 1) / tile_m, (out.n + tile_n - 1) / tile_n, row, column);
  const int m0 = row * tile_m, n0 = column * tile_n, steps = (k + tile_k - 1) / tile_k;

  // [load]
  const auto load = [&](int step) {
    std::uint64_t* const barrier = &full[step % stages];
    std::uint8_t* const a = base + step % stages * stage_bytes;
    barrier_expect(barrier, stage_bytes);
    tma_load(a, &map_a, barrier, step * tile_k, m0);
    load_b<tile_n>(a + a_bytes, &map_b, barrier, n0, step * tile_k);
  };
  // [load]

  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) barrier_init(&full[s], 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    for (int s = 0; s < stages && s < steps; ++s) load(s);
  }
  __syncthreads();
  float d[tile_n / 2] = {};
  // [loop]
  for (int step = 0; step < steps; ++step) {
    const std::uint8_t* const a = base + step % stages * stage_bytes;
    barrier_wait(&full[step % stages], step / stages % 2);
    multiply_panel<tile_n>(d, a + warpgroup * 64 * 128, a + a_bytes);
    wgmma_wait<0>();
    __syncthreads();  // both warpgroups have read the stage
    if (threadIdx.x == 0 && step + stages < steps) load(step + stages);
  }
  // [loop]
  store<tile_n>(out, d, m0 + warpgroup * 64, n0, static_cast<int>(threadIdx.x) % 128);
#endif
}

}  // namespace

const char* wgmma_tma(const Product& p, void* stream) {
  return launch<tile_m, tile_n>(ladder_wgmma_tma, p, threads, stages * stage_bytes + 1024, 1, stream);
}

}  // namespace tessera::cuda::sm90a::ladder
