// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fp32_sm90a.hpp"
#include "kernel.cuh"
#include <cuda_runtime.h>

namespace tessera::cuda::sm90a {

/// The workspace: images of A's and B's terms, flags. Offsets in bytes; the pointer is first raised to 128 bytes.
struct SplitLayout {
  std::size_t b = 0, flags = 0, bytes = 0;
};

/// A matrix whose terms are to be written: `rows` x k, any strides.
struct SplitOperand {
  const float* from;
  std::int64_t rows, k, row_stride, k_stride;
  std::uint8_t* to;
  int block_rows;  ///< of one image
};

/// Writes the images of both operands.
const char* split_pack(const SplitOperand& a, const SplitOperand& b, int terms, bool tf32, cudaStream_t stream);
/// Multiplies the flagged strips of D in fp32.
const char* split_repair(const SplitGemm& problem, const std::uint8_t* flags, int columns, cudaStream_t stream);

template <class C>
const char* split_launch_configuration(const SplitGemm& p, const SplitLayout& layout, int units,
                                       std::uint8_t* workspace, cudaStream_t stream) {
  SplitArguments args{};
  args.a = workspace;
  args.b = workspace + layout.b;
  args.flags = workspace + layout.flags;
  args.d = p.d;
  args.ldd = p.ldd;
  args.m = static_cast<int>(p.m);
  args.n = static_cast<int>(p.n);
  args.k = static_cast<int>(p.k);
  args.alpha = p.alpha;
  args.beta = p.beta;
  args.alpha_pointer = p.alpha_pointer;
  args.beta_pointer = p.beta_pointer;
  args.pairs = reinterpret_cast<std::uintptr_t>(p.d) % 8 == 0 && p.ldd % 2 == 0;
  static const cudaError_t prepared =
      cudaFuncSetAttribute(split_gemm_kernel<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (prepared != cudaSuccess) return cudaGetErrorString(prepared);
  const std::int64_t tiles = ((p.m + C::BM * C::cluster - 1) / (C::BM * C::cluster)) * ((p.n + C::BN - 1) / C::BN);
  const std::int64_t clusters = tiles < units / C::cluster ? tiles : units / C::cluster;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(C::cluster * clusters);
  config.blockDim = C::threads;
  config.dynamicSmemBytes = C::shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(C::cluster), 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t status = cudaLaunchKernelEx(&config, split_gemm_kernel<C>, args);
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

/// The order is that of `shapes` in select.cu.
template <int Products, bool Tf32 = false>
const char* split_launch_products(const SplitGemm& p, int configuration, const SplitLayout& layout, int units,
                                  std::uint8_t* workspace, cudaStream_t stream) {
  // with few products a chunk, the additions outside the tensor cores would weigh; of tf32 terms two chunks are 32 of K
  constexpr int promote = Products == 3 ? 2 : 1;
  constexpr int terms = Products == 3 ? 2 : 3;
  if (configuration == 0)
    return split_launch_configuration<SplitConfiguration<Products, 192, terms == 2 ? 5 : 3, promote, Tf32>>(
        p, layout, units, workspace, stream);
  return split_launch_configuration<SplitConfiguration<Products, 128, terms == 2 ? 6 : 4, promote, Tf32>>(
      p, layout, units, workspace, stream);
}

// one translation unit each
const char* split_launch_3(const SplitGemm& p, int configuration, const SplitLayout& layout, int units,
                           std::uint8_t* workspace, cudaStream_t stream);
const char* split_launch_6(const SplitGemm& p, int configuration, const SplitLayout& layout, int units,
                           std::uint8_t* workspace, cudaStream_t stream);
const char* split_launch_9(const SplitGemm& p, int configuration, const SplitLayout& layout, int units,
                           std::uint8_t* workspace, cudaStream_t stream);
const char* split_launch_tf32(const SplitGemm& p, int configuration, const SplitLayout& layout, int units,
                              std::uint8_t* workspace, cudaStream_t stream);

}  // namespace tessera::cuda::sm90a
