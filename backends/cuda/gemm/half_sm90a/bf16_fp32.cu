// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

namespace tessera::cuda::sm90a {

const char* launch_bf16_fp32(const HalfGemm& p, int configuration, int units, cudaStream_t stream) {
  return launch_typed<__nv_bfloat16, float>(p, configuration, units, stream);
}

}  // namespace tessera::cuda::sm90a
