// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda/gemm/half_sm80/kernel.cuh>
#include <cuda_runtime_api.h>

namespace tessera::cuda::sm80 {

/// One for each type of A and B, in a source of its own.
const char* launch_bf16(const Arguments& arguments, bool a_m_major, bool b_n_major, unsigned blocks, unsigned batches,
                        bool for_hopper, void* stream);
const char* launch_fp16(const Arguments& arguments, bool a_m_major, bool b_n_major, unsigned blocks, unsigned batches,
                        bool for_hopper, void* stream);

namespace {
template <class In>
const char* launch_kernel(const Arguments& arguments, bool a_m_major, bool b_n_major, unsigned blocks, unsigned batches,
                          bool for_hopper, void* stream) {
  using Kernel = void (*)(Arguments);
  const auto of = [&]<bool a, bool b>(bool aligned) -> Kernel {
    if (batches > 1)
      return aligned ? gemm_half_sm80<In, a, b, true, true, 1> : gemm_half_sm80<In, a, b, false, true, 1>;
    if (arguments.k <= 64 * arguments.splits)
      return aligned ? gemm_half_sm80<In, a, b, true, false, 1> : gemm_half_sm80<In, a, b, false, false, 1>;
    return aligned ? gemm_half_sm80<In, a, b, true, false, 2> : gemm_half_sm80<In, a, b, false, false, 2>;
  };
  const auto whole = [](const void* p, std::int64_t leading, std::int64_t batch, std::int64_t length) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && leading % 8 == 0 && batch % 8 == 0 && length % 8 == 0;
  };
  const bool aligned = whole(arguments.a, arguments.lda, arguments.a_batch, a_m_major ? arguments.m : arguments.k) &&
                       whole(arguments.b, arguments.ldb, arguments.b_batch, b_n_major ? arguments.n : arguments.k);
  const Kernel kernel =
      a_m_major
          ? (b_n_major ? of.template operator()<true, true>(aligned) : of.template operator()<true, false>(aligned))
          : (b_n_major ? of.template operator()<false, true>(aligned) : of.template operator()<false, false>(aligned));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks, batches);
  config.blockDim = dim3(32 * (batches > 1 ? warps_of<true> : warps_of<false>));
  config.stream = static_cast<cudaStream_t>(stream);
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {static_cast<unsigned>(arguments.splits), 1, 1};
  config.attrs = attributes;
  config.numAttrs = !for_hopper ? 0 : arguments.splits > 1 ? 2 : 1;
  const cudaError_t status = cudaLaunchKernelEx(&config, kernel, arguments);
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}
}  // namespace

}  // namespace tessera::cuda::sm80
