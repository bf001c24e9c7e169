// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

// spills allowed: two or three numbers of the launch in the 256-column tiles, kept once and read once a tile or part

namespace tessera::cuda::sm90a {

const char* launch_bf16_fp32_streamed(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream) {
  return launch_streamed<__nv_bfloat16, float>(p, tile, units, stream);
}

}  // namespace tessera::cuda::sm90a
