// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

namespace tessera::cuda::sm90a {

const char* split_launch_tf32(const SplitGemm& p, int configuration, const SplitLayout& layout, int units,
                              std::uint8_t* workspace, cudaStream_t stream) {
  return split_launch_products<3, true>(p, configuration, layout, units, workspace, stream);
}

}  // namespace tessera::cuda::sm90a
