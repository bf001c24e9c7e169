// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "direct.cuh"

namespace tessera::cuda::sm80 {

const char* launch_direct_fp16(const DirectArguments& arguments, const DirectPlan& plan, dim3 blocks, bool for_hopper,
                               void* stream) {
  return launch_direct_kernel<__half>(arguments, plan, blocks, for_hopper, stream);
}

}  // namespace tessera::cuda::sm80
