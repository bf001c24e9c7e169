// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "half_sm90a.hpp"
#include "kernel.cuh"
#include <cuda.h>
#include <cuda/gemm/tensor_map.cuh>
#include <cuda_runtime.h>

namespace tessera::cuda::sm90a {

template <class C>
const char* launch_configuration(const HalfGemm& p, int units, cudaStream_t stream) {
  constexpr auto type = std::is_same_v<typename C::TIn, __nv_bfloat16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                                       : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  CUtensorMap a, b, d{};
  const bool a_made = C::a_mn_major ? make_map(&a, type, 2, p.a, p.k, p.m, p.lda, C::BK)
                                    : make_map(&a, type, 2, p.a, p.m, p.k, p.lda, C::BM);
  const bool b_made = C::b_mn_major ? make_map(&b, type, 2, p.b, p.k, p.n, p.ldb, C::BK)
                                    : make_map(&b, type, 2, p.b, p.n, p.k, p.ldb, C::BN / C::cluster);
  if (!a_made || !b_made) return "the driver refused a tensor map of an operand";
  Arguments args{};
  args.d = p.d;
  args.ldd = p.ldd;
  args.m = static_cast<int>(p.m);
  args.n = static_cast<int>(p.n);
  args.k = static_cast<int>(p.k);
  args.alpha = p.alpha;
  args.beta = p.beta;
  args.alpha_pointer = p.alpha_pointer;
  args.beta_pointer = p.beta_pointer;
  if constexpr (sizeof(typename C::TOut) == 2) {
    args.store_by_tma = reinterpret_cast<std::uintptr_t>(p.d) % 16 == 0 && p.ldd % 8 == 0 && p.n % 8 == 0;
    if (args.store_by_tma && !make_map(&d, type, 2, p.d, p.m, p.n, p.ldd, 64)) args.store_by_tma = 0;
  }
  static const cudaError_t prepared =
      cudaFuncSetAttribute(gemm_kernel<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (prepared != cudaSuccess) return cudaGetErrorString(prepared);

  const std::int64_t row_tiles = (p.m + C::BM * C::cluster - 1) / (C::BM * C::cluster);
  const std::int64_t tiles = row_tiles * ((p.n + C::BN - 1) / C::BN);
  cudaLaunchConfig_t config{};
  const std::int64_t clusters = tiles < units / C::cluster ? tiles : units / C::cluster;
  config.gridDim = static_cast<unsigned>(C::cluster * clusters);
  config.blockDim = C::threads;
  config.dynamicSmemBytes = C::shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(C::cluster), 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t status = cudaLaunchKernelEx(&config, gemm_kernel<C>, a, b, d, args);
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

/// All transposes of one tile shape.
template <class TIn, class TOut, int BM, int BN, int Stages, int Cluster>
const char* launch_shape(const HalfGemm& p, int units, cudaStream_t stream) {
  const auto with = [&]<bool A, bool B>() {
    return launch_configuration<Configuration<TIn, TOut, BM, BN, Stages, Cluster, A, B>>(p, units, stream);
  };
  if (p.a_mn_major)
    return p.b_mn_major ? with.template operator()<true, true>() : with.template operator()<true, false>();
  return p.b_mn_major ? with.template operator()<false, true>() : with.template operator()<false, false>();
}

/// The order is that of `shapes` in select.cu.
template <class TIn, class TOut>
const char* launch_typed(const HalfGemm& p, int configuration, int units, cudaStream_t stream) {
  switch (configuration) {
    case 0:
      return launch_shape<TIn, TOut, 128, 256, 4, 2>(p, units, stream);
    case 1:
      return launch_shape<TIn, TOut, 128, 256, 4, 1>(p, units, stream);
    case 2:
      return launch_shape<TIn, TOut, 128, 128, 5, 1>(p, units, stream);
    case 3:
      return launch_shape<TIn, TOut, 128, 64, 7, 1>(p, units, stream);
    default:
      return "no such configuration";
  }
}

// one translation unit each
const char* launch_bf16(const HalfGemm& p, int configuration, int units, cudaStream_t stream);
const char* launch_bf16_fp32(const HalfGemm& p, int configuration, int units, cudaStream_t stream);
const char* launch_fp16(const HalfGemm& p, int configuration, int units, cudaStream_t stream);
const char* launch_fp16_fp32(const HalfGemm& p, int configuration, int units, cudaStream_t stream);

}  // namespace tessera::cuda::sm90a
