// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

namespace tessera::cuda::sm90a {

const char* tf32_launch_mn_split(const Tf32Gemm& p, const Tf32Tile& tile, int units, cudaStream_t stream) {
  return tf32_launch_split<true>(p, tile, units, stream);
}

}  // namespace tessera::cuda::sm90a
