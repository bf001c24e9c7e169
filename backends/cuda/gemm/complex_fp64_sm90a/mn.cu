// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

namespace tessera::cuda::sm90a {

const char* complex_double_launch_mn(const ComplexDoubleGemm& p, int configuration, int units, cudaStream_t stream) {
  return complex_double_launch_majors<true, true>(p, configuration, units, stream);
}

}  // namespace tessera::cuda::sm90a
