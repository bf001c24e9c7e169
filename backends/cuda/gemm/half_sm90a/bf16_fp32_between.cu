// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

// spills allowed: one register in one of the 192 x 192 tiles, while a tile is stored

namespace tessera::cuda::sm90a {

const char* launch_bf16_fp32_between(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream) {
  return launch_between<__nv_bfloat16, float>(p, tile, units, stream);
}

}  // namespace tessera::cuda::sm90a
