// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/refs.hpp>

/// \file
/// What the teaching ladder (apps/gemm_ladder) asks of steps that one backend alone has.

namespace tessera::backends {

/// A matrix of bf16 whose rows are contiguous and begin `stride` elements apart.
struct LadderMatrix {
  void* data = nullptr;
  index_t rows = 0, columns = 0, stride = 0;
};

/// C = A B, summed in fp32.
struct LadderProduct {
  LadderMatrix a, b, c;
};

}  // namespace tessera::backends
