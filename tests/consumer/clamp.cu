// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#define CLAMP_KERNELS
#include "clamp.cuh"

#include <tessera/gemm/epilogue_kernels.cuh>

TESSERA_GEMM_EPILOGUE_KERNELS(Clamp, tessera::GemmTypes<tessera::bfloat16>);
