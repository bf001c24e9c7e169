// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cuda/gemm/ladder_sm90a/launch.cuh>

/// \file
/// Steps 10 and 11: one thread does nothing but ask for panels, two warpgroups do nothing but multiply them, and
/// barriers in scratch are all that they share. Tiles are 128 x 256. With clusters of two, blocks of neighbouring rows
/// of tiles read the same part of B: each asks for half of it, for both.

namespace tessera::cuda::sm90a::ladder {
namespace {

constexpr int tile_m = 128, tile_n = 256, tile_k = 64, stages = 4, consumers = 2, threads = 128 * (1 + consumers);
constexpr int a_bytes = tile_m * tile_k * 2, b_bytes = tile_k * tile_n * 2, stage_bytes = a_bytes + b_bytes;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || !defined(__CUDA_ARCH__)
// [multicast]
/// A panel of B for both blocks of a cluster: each brings half of its columns to both.
__device__ __forceinline__ void load_b_for_both(std::uint8_t* to, const CUtensorMap* map, std::uint64_t* barrier,
                                                int n0, int k0, int rank) {
#pragma unroll
  for (int i = 0; i < tile_n / 128; ++i) {
    const int chunk = rank * (tile_n / 128) + i;  // of 64 columns
    tma_load_multicast(to + chunk * 64 * 64 * 2, map, barrier, n0 + 64 * chunk, k0, 0b11);
  }
}
// [multicast]
#endif

template <int cluster>
__global__ void __launch_bounds__(threads, 1)
    ladder_specialised(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                       const Output out, int k) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ std::uint8_t raw[];
  __shared__ std::uint64_t full[stages], empty[stages];
  std::uint8_t* const base = aligned_to_1024(raw);
  const int warpgroup = static_cast<int>(threadIdx.x) / 128, thread = static_cast<int>(threadIdx.x) % 128;
  const int rank = cluster > 1 ? cluster_rank() : 0;
  int row, column;
  locate(static_cast<int>(blockIdx.x) / cluster, (out.m + tile_m * cluster - 1) / (tile_m * cluster),
         (out.n + tile_n - 1) / tile_n, row, column);
  const int m0 = (row * cluster + rank) * tile_m, n0 = column * tile_n, steps = (k + tile_k - 1) / tile_k;

  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      barrier_init(&full[s], 1);
      barrier_init(&empty[s], consumers * cluster);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if constexpr (cluster > 1)
    cluster_sync();
  else
    __syncthreads();

  if (warpgroup == 0) {
    // [producer]
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (thread == 0)
      for (int step = 0; step < steps; ++step) {
        const int s = step % stages;
        std::uint8_t* const a = base + s * stage_bytes;
        barrier_wait(&empty[s], (step / stages + 1) % 2);  // the first pass finds every stage free
        barrier_expect(&full[s], stage_bytes);
        tma_load(a, &map_a, &full[s], step * tile_k, m0);
        if constexpr (cluster == 1)
          load_b<tile_n>(a + a_bytes, &map_b, &full[s], n0, step * tile_k);
        else
          load_b_for_both(a + a_bytes, &map_b, &full[s], n0, step * tile_k, rank);
      }
    // [producer]
  } else {
    // [consumer]
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const auto release = [&](int step) {
      if constexpr (cluster > 1) {
        if (thread < cluster) barrier_arrive_cluster(&empty[step % stages], thread);
      } else if (thread == 0) {
        barrier_arrive(&empty[step % stages]);
      }
    };
    float d[tile_n / 2] = {};
    for (int step = 0; step < steps; ++step) {
      const std::uint8_t* const a = base + step % stages * stage_bytes;
      barrier_wait(&full[step % stages], step / stages % 2);
      multiply_panel<tile_n>(d, a + (warpgroup - 1) * 64 * 128, a + a_bytes);
      wgmma_wait<1>();  // this product runs on; the one before it is over
      if (step > 0) release(step - 1);
    }
    wgmma_wait<0>();
    // [consumer]
    store<tile_n>(out, d, m0 + (warpgroup - 1) * 64, n0, thread);
  }
  if constexpr (cluster > 1) cluster_sync();  // no block leaves while the other still arrives on its barriers
#endif
}

template <int cluster>
const char* run(const Product& p, void* stream) {
  return launch<tile_m, tile_n>(ladder_specialised<cluster>, p, threads, stages * stage_bytes + 1024, cluster, stream);
}

}  // namespace

const char* warp_specialised(const Product& p, void* stream) { return run<1>(p, stream); }
const char* clusters(const Product& p, void* stream) { return run<2>(p, stream); }

}  // namespace tessera::cuda::sm90a::ladder
