// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

namespace tessera::cuda::sm90a {

const char* launch_fp16(const HalfGemm& p, int configuration, int units, cudaStream_t stream) {
  return launch_typed<__half, __half>(p, configuration, units, stream);
}

}  // namespace tessera::cuda::sm90a
