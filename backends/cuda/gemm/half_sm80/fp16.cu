// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

namespace tessera::cuda::sm80 {

const char* launch_fp16(const Arguments& arguments, bool a_m_major, bool b_n_major, unsigned blocks, unsigned batches,
                        bool for_hopper, void* stream) {
  return launch_kernel<__half>(arguments, a_m_major, b_n_major, blocks, batches, for_hopper, stream);
}

}  // namespace tessera::cuda::sm80
