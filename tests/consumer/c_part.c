/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "parts.h"

#if defined(__NVCC__) || defined(KOKKOS_DEPENDENCE) || defined(_OPENMP) || defined(__cplusplus)
#error "a C target got another compiler or flags of Kokkos"
#endif

int c_part_size(void) { return 1001; }
