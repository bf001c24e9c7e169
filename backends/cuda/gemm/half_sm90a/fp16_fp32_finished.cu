// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

// spills allowed: up to 16 registers in the 256-column tiles, once a tile, around the main loop: sums, a residual and
// the addresses of fp32 outputs at the same time

namespace tessera::cuda::sm90a {

const char* launch_fp16_fp32_finished(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream) {
  return launch_finished<__half, float>(p, tile, units, stream);
}

}  // namespace tessera::cuda::sm90a
