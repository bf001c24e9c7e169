// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda/gemm/half_sm90a/functor.cuh>

#include <tessera/backends/cuda/narrow_float.hpp>

/// \file
/// For a file given to tessera_add_gemm_epilogue(): TESSERA_GEMM_EPILOGUE_KERNELS. See tessera/gemm/functor.hpp.
