// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda/gemm/half_sm90a/wgmma.cuh>
#include <cuda/gemm/instructions_sm90a.cuh>
#include <cuda/gemm/ladder_sm80/store.cuh>
#include <cuda/gemm/ladder_sm90a/ladder_sm90a.hpp>
#include <cuda/gemm/tensor_map.cuh>
#include <cuda_runtime.h>

/// \file
/// What the Hopper steps share: how they are launched, and how a warpgroup stores its sums.

namespace tessera::cuda::sm90a::ladder {

using sm80::ladder::Output;
using Kernel = void (*)(CUtensorMap, CUtensorMap, Output, int);

/// Blocks of `threads` threads, one for each tile of Rows x Columns, in clusters of `cluster`.
template <int Rows, int Columns>
const char* launch(Kernel kernel, const Product& p, int threads, int shared_bytes, int cluster, void* stream) {
  if (p.m == 0 || p.n == 0) return nullptr;
  const auto in = static_cast<cudaStream_t>(stream);
  cudaError_t status = cudaSuccess;
  if (p.k == 0) {  // no map can be made of nothing
    status = cudaMemset2DAsync(p.c, static_cast<std::size_t>(p.ldc) * 2, 0, static_cast<std::size_t>(p.n) * 2,
                               static_cast<std::size_t>(p.m), in);
    return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
  }
  CUtensorMap a, b;
  if (!make_map(&a, {p.a, p.m, p.k, p.lda, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, Rows}) ||
      !make_map(&b, {p.b, p.k, p.n, p.ldb, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 64}))
    return "the driver refused a tensor map of an operand";
  status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  const std::int64_t rows = (p.m + Rows * cluster - 1) / (Rows * cluster) * cluster;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(rows * ((p.n + Columns - 1) / Columns));
  config.blockDim = static_cast<unsigned>(threads);
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = in;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  const Output out{static_cast<__nv_bfloat16*>(p.c), p.ldc, static_cast<int>(p.m), static_cast<int>(p.n)};
  status = cudaLaunchKernelEx(&config, kernel, a, b, out, static_cast<int>(p.k));
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

/// The first address from `raw` on that swizzled tiles may begin at.
__device__ __forceinline__ std::uint8_t* aligned_to_1024(std::uint8_t* raw) {
  return reinterpret_cast<std::uint8_t*>((reinterpret_cast<std::uintptr_t>(raw) + 1023) & ~std::uintptr_t{1023});
}

/// A panel of B, `Columns` columns of 64 deep: TMA brings 64 columns at a time.
template <int Columns>
__device__ __forceinline__ void load_b(std::uint8_t* to, const CUtensorMap* map, std::uint64_t* barrier, int n0,
                                       int k0) {
#pragma unroll
  for (int i = 0; i < Columns / 64; ++i) tma_load(to + i * 64 * 64 * 2, map, barrier, n0 + 64 * i, k0);
}

// [multiply]
/// d (64 x N) += A (64 x 64) B (64 x N) from scratch, begun but not waited for. A's rows lie along K, B's along N.
template <int N>
__device__ __forceinline__ void multiply_panel(float (&d)[N / 2], const std::uint8_t* a, const std::uint8_t* b) {
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < 64; k += 16)
    Wgmma<N, true, 0, 1>::run(d, descriptor(shared_address(a) + k * 2, 0, 1024),
                              descriptor(shared_address(b) + k * 128, 64 * 128, 1024), 1);
  wgmma_commit();
}
// [multiply]

/// The sums of a warpgroup: rows lane / 4 and lane / 4 + 8 of each warp's 16, columns 8 j + 2 (lane % 4) and the next.
template <int N>
__device__ __forceinline__ void store(const Output& out, const float (&d)[N / 2], int m0, int n0, int thread) {
  const int i = m0 + thread / 32 * 16 + thread % 32 / 4, first = n0 + thread % 4 * 2;
#pragma unroll
  for (int j = 0; j < N / 8; ++j) {
    out.pair(i, first + 8 * j, d[4 * j], d[4 * j + 1]);
    out.pair(i + 8, first + 8 * j, d[4 * j + 2], d[4 * j + 3]);
  }
}

}  // namespace tessera::cuda::sm90a::ladder
