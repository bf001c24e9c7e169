// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/gemm_functors.cuh>

#include <tessera/gemm/epilogue_kernels.cuh>

// half into float is left out, so that a test meets it
TESSERA_GEMM_EPILOGUE_KERNELS(gemm_functors::Weigh<float>, tessera::GemmTypes<tessera::bfloat16>,
                              tessera::GemmTypes<tessera::bfloat16, float>, tessera::GemmTypes<tessera::half>);
TESSERA_GEMM_EPILOGUE_KERNELS(gemm_functors::ClampRows, tessera::GemmTypes<tessera::bfloat16>);
