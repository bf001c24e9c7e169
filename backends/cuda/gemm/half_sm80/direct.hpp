// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda/gemm/half_sm90a/half_sm90a.hpp>
#include <string>

/// \file
/// The plain interface of the bf16/fp16 products without tiles, for chips from compute capability 8.0 on: a matrix by
/// a few vectors, and sums so short that a tile would mostly be filled with zeros. Any leading dimensions and bases.
/// Problems are those of half_sm90a; no epilogue.

namespace tessera::cuda::sm80 {

using sm90a::Element;
using sm90a::HalfGemm;

/// How a launch shares the work. D or its transpose is seen as rows by columns.
struct DirectPlan {
  bool outer = false;       ///< the kernel of short K, whose threads have a few rows in registers; else that of sums
  int each = 1;             ///< of that kernel: rows of a thread
  bool pairs = false;       ///< and whether they are stored two at once
  double cost = 0;          ///< of sums, in round trips to memory, by which plans are ranked
  bool rows_first = false;  ///< threads that follow one another have rows of one k, else the k of one row
  int columns = 1;          ///< of a thread: 1, 2, 4 or 8; of short K those of a block
  int rows = 1, lanes = 1;  ///< of a block: rows, and threads that share the sum of a row; powers of 2
  int splits = 1;           ///< blocks of a cluster, which share K; 1 where the code for exactly 9.0 does not run
};
DirectPlan plan_direct(const HalfGemm& problem, int units, bool on_hopper);
/// A plan but for its cost as a number that is not negative, and back.
int packed(const DirectPlan& plan);
DirectPlan unpacked(int plan);
/// For paths: "8x4 by 64 lanes split 2", "outer 1024x32".
std::string direct_text(const DirectPlan& plan);

/// Why the kernels cannot take the problem, or null.
const char* direct_refusal(const HalfGemm& problem);

/// Whether these kernels were measured faster than tiles and than the vendor's library (H200, by replayed graphs).
bool is_direct(const HalfGemm& problem, const DirectPlan& plan);

/// Enqueues the product on the stream (a cudaStream_t). Returns null, or what went wrong. Never allocates, never waits.
const char* launch_direct(const HalfGemm& problem, const DirectPlan& plan, bool on_hopper, void* stream);

}  // namespace tessera::cuda::sm80
