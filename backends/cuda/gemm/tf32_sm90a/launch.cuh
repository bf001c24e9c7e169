// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernel.cuh"
#include "tf32_sm90a.hpp"
#include <cuda.h>
#include <cuda/gemm/tensor_map.cuh>
#include <cuda_runtime.h>

namespace tessera::cuda::sm90a {

/// The rows and columns of a tile, row tiles that share B, and blocks that split K (0: none can).
struct Tf32Tile {
  int rows, columns, multicast, split;
};

template <class C>
const char* tf32_launch_configuration(const Tf32Gemm& p, int split, int units, cudaStream_t stream) {
  constexpr auto type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;  // the copy engine rounds to tf32
  CUtensorMap a, b, d{};
  const bool a_made = make_map(
      &a, C::a_mn_major ? MapOf{p.a, p.k, p.m, p.lda, type, 4, C::BK} : MapOf{p.a, p.m, p.k, p.lda, type, 4, C::BM});
  const bool b_made = make_map(&b, MapOf{p.b, p.n, p.k, p.ldb, type, 4, C::BN / C::cluster});
  if (!a_made || !b_made) return "the driver refused a tensor map of an operand";
  Tf32Arguments args{};
  args.d = p.d;
  args.ldd = p.ldd;
  args.m = static_cast<int>(p.m);
  args.n = static_cast<int>(p.n);
  args.k = static_cast<int>(p.k);
  args.alpha = p.alpha;
  args.beta = p.beta;
  args.alpha_pointer = p.alpha_pointer;
  args.beta_pointer = p.beta_pointer;
  args.columns_contiguous = p.d_column_major;
  args.pairs = reinterpret_cast<std::uintptr_t>(p.d) % 8 == 0 && p.ldd % 2 == 0;
  if constexpr (!C::split) {
    // A column-major D is its transpose, in boxes of 32 numbers and 32 lines; kernels for A along K store such by plain
    // stores. Lines end in whole pieces of 16 bytes: the engine writes no less.
    const bool columns = p.d_column_major;
    constexpr auto plain = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    args.store_by_tma = reinterpret_cast<std::uintptr_t>(p.d) % 16 == 0 && p.ldd % 4 == 0 &&
                        (columns ? p.m : p.n) % 4 == 0 && (C::a_mn_major || !columns) &&
                        make_map(&d, columns ? MapOf{p.d, p.n, p.m, p.ldd, plain, 4, C::part_columns}
                                             : MapOf{p.d, p.m, p.n, p.ldd, plain, 4, 64});
  }
  static const cudaError_t prepared =
      cudaFuncSetAttribute(tf32_kernel<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (prepared != cudaSuccess) return cudaGetErrorString(prepared);

  const std::int64_t row_tiles = (p.m + C::BM * C::cluster - 1) / (C::BM * C::cluster);
  const std::int64_t tiles = row_tiles * ((p.n + C::BN - 1) / C::BN);
  cudaLaunchConfig_t config{};
  const int blocks = C::split ? split : C::cluster;
  const std::int64_t clusters = C::split || tiles < units / blocks ? tiles : units / blocks;
  config.gridDim = static_cast<unsigned>(blocks * clusters);
  config.blockDim = C::threads;
  config.dynamicSmemBytes = C::shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attributes;
  config.numAttrs = 2;
  const cudaError_t status = cudaLaunchKernelEx(&config, tf32_kernel<C>, a, b, d, args);
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

template <bool AMnMajor>
const char* tf32_launch_whole(const Tf32Gemm& p, const Tf32Tile& tile, int units, cudaStream_t stream) {
  if (tile.columns == 256 && tile.multicast == 2)
    return tf32_launch_configuration<Tf32Configuration<128, 256, 2, AMnMajor>>(p, 0, units, stream);
  if (tile.columns == 256)
    return tf32_launch_configuration<Tf32Configuration<128, 256, 1, AMnMajor>>(p, 0, units, stream);
  if (tile.columns == 128)
    return tf32_launch_configuration<Tf32Configuration<128, 128, 1, AMnMajor>>(p, 0, units, stream);
  if (tile.columns == 64)
    return tf32_launch_configuration<Tf32Configuration<128, 64, 1, AMnMajor>>(p, 0, units, stream);
  return "no such configuration";
}
template <bool AMnMajor>
const char* tf32_launch_split(const Tf32Gemm& p, const Tf32Tile& tile, int units, cudaStream_t stream) {
  const auto with = [&]<int BM>() -> const char* {
    if (tile.columns == 128)
      return tf32_launch_configuration<Tf32Configuration<BM, 128, 0, AMnMajor>>(p, tile.split, units, stream);
    if (tile.columns == 64)
      return tf32_launch_configuration<Tf32Configuration<BM, 64, 0, AMnMajor>>(p, tile.split, units, stream);
    if (tile.columns == 32)
      return tf32_launch_configuration<Tf32Configuration<BM, 32, 0, AMnMajor>>(p, tile.split, units, stream);
    if (tile.columns == 16)
      return tf32_launch_configuration<Tf32Configuration<BM, 16, 0, AMnMajor>>(p, tile.split, units, stream);
    return "no such configuration";
  };
  return tile.rows == 64 ? with.template operator()<64>() : with.template operator()<128>();
}

// one translation unit each
const char* tf32_launch_k(const Tf32Gemm& p, const Tf32Tile& tile, int units, cudaStream_t stream);
const char* tf32_launch_mn(const Tf32Gemm& p, const Tf32Tile& tile, int units, cudaStream_t stream);
const char* tf32_launch_k_split(const Tf32Gemm& p, const Tf32Tile& tile, int units, cudaStream_t stream);
const char* tf32_launch_mn_split(const Tf32Gemm& p, const Tf32Tile& tile, int units, cudaStream_t stream);

}  // namespace tessera::cuda::sm90a
