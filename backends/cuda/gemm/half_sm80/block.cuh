// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

/// \file
/// What the kernels of this folder share: where a block meets its cluster and the launches beside it, D, and a launch.

namespace tessera::cuda::sm80 {
namespace {

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// An element in its place among the other loads, all of which are under way at once: a compiler that may move them
/// puts branches between. Not through the path of what never changes: the kernel before this one may have written it.
__device__ __forceinline__ std::uint16_t load_element(const std::uint16_t* p) {
  std::uint16_t v = 0;
  asm volatile("ld.global.u16 %0, [%1];" : "=h"(v) : "l"(p));
  return v;
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// What came before in the stream may still run until here.
__device__ __forceinline__ void wait_for_earlier_kernels() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
/// What comes next may get ready; told before the end, but not so early that it takes what this kernel runs on.
__device__ __forceinline__ void let_later_kernels_start() { asm volatile("griddepcontrol.launch_dependents;"); }
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/// What block `block` of the cluster has in its scratch where this one has `address`.
__device__ __forceinline__ float from_block(std::uint32_t address, int block) {
  std::uint32_t there = 0;
  float v = 0;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(there) : "memory");
  return v;
}
/// The sum over the first `blocks` of a cluster, in their order.
template <int most>
__device__ __forceinline__ float sum_of_blocks(std::uint32_t address, int blocks) {
  float part[most], sum = 0;
#pragma unroll
  for (int s = 0; s < most; ++s) part[s] = s < blocks ? from_block(address, s) : 0.0f;
#pragma unroll
  for (int s = 0; s < most; ++s) sum += part[s];
  return sum;
}
#endif

/// d = alpha sum + beta d, where d is not read if beta is 0; that it is 0 may be known (`adds` false).
template <bool adds, class Out>
__device__ __forceinline__ void finish(Out* d, float alpha, float beta, float sum) {
  float value = alpha * sum;
  if (adds && beta != 0) value += beta * static_cast<float>(*d);
  *d = static_cast<Out>(value);
}
/// Two of them side by side, of which the first is aligned to the size of both.
template <bool adds, class Out>
__device__ __forceinline__ void finish_pair(Out* d, float alpha, float beta, float first, float second) {
  struct alignas(2 * sizeof(Out)) Pair {
    Out e[2];
  };
  auto* const pair = reinterpret_cast<Pair*>(d);
  float values[2] = {alpha * first, alpha * second};
  if (adds && beta != 0) {
    const Pair old = *pair;
    values[0] += beta * static_cast<float>(old.e[0]);
    values[1] += beta * static_cast<float>(old.e[1]);
  }
  *pair = Pair{{static_cast<Out>(values[0]), static_cast<Out>(values[1])}};
}

/// Launches a kernel, `splits` blocks a cluster; on Hopper it may get ready while what came before still runs.
template <class Arguments>
const char* start(void (*kernel)(Arguments), const Arguments& arguments, dim3 blocks, int threads, int splits,
                  bool for_hopper, void* stream) {
  cudaLaunchConfig_t config = {};
  config.gridDim = blocks;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = static_cast<cudaStream_t>(stream);
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {static_cast<unsigned>(splits), 1, 1};
  config.attrs = attributes;
  config.numAttrs = !for_hopper ? 0 : splits > 1 ? 2 : 1;
  const cudaError_t status = cudaLaunchKernelEx(&config, kernel, arguments);
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace
}  // namespace tessera::cuda::sm80
