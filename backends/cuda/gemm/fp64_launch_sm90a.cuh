// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>

namespace tessera::cuda::sm90a {

/// Launches a kernel of configuration C that may begin while the one before it in the stream still runs: it waits
/// itself.
template <class C, class Kernel, class Arguments>
const char* launch_fp64(Kernel kernel, const CUtensorMap& a, const CUtensorMap& b, const Arguments& args,
                        std::int64_t blocks, cudaStream_t stream) {
  static const cudaError_t prepared =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (prepared != cudaSuccess) return cudaGetErrorString(prepared);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = C::threads;
  config.dynamicSmemBytes = C::shared_bytes;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  const cudaError_t status = cudaLaunchKernelEx(&config, kernel, a, b, args);
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace tessera::cuda::sm90a
