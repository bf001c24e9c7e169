// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// [kernels]
#include "clamp_rows.cuh"  // clamp_rows.cu

#include <tessera/gemm/epilogue_kernels.cuh>

TESSERA_GEMM_EPILOGUE_KERNELS(ClampRows, tessera::GemmTypes<tessera::bfloat16>);
// [kernels]
