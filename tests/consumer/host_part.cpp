// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "parts.h"

#if (defined(__NVCC__) || defined(__CUDACC__) || defined(__HIPCC__) || defined(__HIP__)) && !defined(CXX_IS_FOR_DEVICES)
#error "a host-only target was compiled by a device compiler"
#endif
#if defined(KOKKOS_DEPENDENCE) || defined(_OPENMP)
#error "a host-only target got flags of Kokkos"
#endif

double host_part_value() { return 3.0; }
