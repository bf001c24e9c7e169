// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

namespace tessera::cuda::sm90a {

const char* double_launch_mk_transposed(const DoubleGemm& p, int configuration, int units, cudaStream_t stream) {
  return double_launch_transposes<true, false, true>(p, configuration, units, stream);
}

}  // namespace tessera::cuda::sm90a
