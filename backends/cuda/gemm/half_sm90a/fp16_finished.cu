// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

// spills allowed: one register in some of the 256-column tiles, once a tile, around the main loop

namespace tessera::cuda::sm90a {

const char* launch_fp16_finished(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream) {
  return launch_finished<__half, __half>(p, tile, units, stream);
}

}  // namespace tessera::cuda::sm90a
