// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda/gemm/ladder_sm80/ladder_sm80.hpp>

/// \file
/// The plain interface of the teaching ladder's steps for Hopper (exactly 9.0). No vendor header.

namespace tessera::cuda::sm90a::ladder {

using sm80::ladder::Product;

/// Each enqueues the product on the stream (a cudaStream_t) and returns null, or what went wrong.
const char* wgmma_tma(const Product& product, void* stream);
const char* warp_specialised(const Product& product, void* stream);
const char* clusters(const Product& product, void* stream);

}  // namespace tessera::cuda::sm90a::ladder
