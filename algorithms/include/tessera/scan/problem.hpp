// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/determinism.hpp>
#include <tessera/core/refs.hpp>

namespace tessera {

struct ScanOptions {
  Determinism determinism = Determinism::fast;
};

/// y_i = x_0 op ... op x_i, or where `exclusive`, y_i = init op x_0 op ... op x_(i-1).
template <class TIn, class TOut, class Op>
struct ScanProblem {
  VectorRef<const TIn> x;
  VectorRef<TOut> y;
  Op op;
  bool exclusive = false;
  ScalarRef<TOut> init;      ///< read where exclusive
  TOut* total = nullptr;     ///< what an element after the last would get of an exclusive scan; null: not wanted
  TOut* returned = nullptr;  ///< the same on the host, for which the caller waits; null: not wanted
};

/// The inclusive sums of each segment: a new one begins at every i with heads_i != 0.
template <class T, class Flag>
struct SegmentedScanProblem {
  VectorRef<const T> x;
  VectorRef<const Flag> heads;
  VectorRef<T> y;
};

}  // namespace tessera
