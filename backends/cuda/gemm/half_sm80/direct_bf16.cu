// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "direct.cuh"

namespace tessera::cuda::sm80 {

const char* launch_direct_bf16(const DirectArguments& arguments, const DirectPlan& plan, dim3 blocks, bool for_hopper,
                               void* stream) {
  return launch_direct_kernel<__nv_bfloat16>(arguments, plan, blocks, for_hopper, stream);
}

}  // namespace tessera::cuda::sm80
