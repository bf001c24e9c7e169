// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda/gemm/half_sm90a/half_sm90a.hpp>

/// \file
/// The plain interface of the bf16/fp16 GEMM by mma.sync, for chips from compute capability 8.0 on: any leading
/// dimensions and bases, and products so small that their launch is most of their time. Problems are those of
/// half_sm90a; no epilogue.

namespace tessera::cuda::sm80 {

using sm90a::Element;
using sm90a::HalfGemm;

/// Tiles of D are 64 x 64.
inline constexpr int tile_m = 64, tile_n = 64, tile_k = 64;
/// Blocks at most that share a tile's K and join their sums through a cluster.
inline constexpr int most_splits = 8;

/// Why the kernels cannot take the problem, or null.
const char* refusal(const HalfGemm& problem);

/// Blocks that share the K of each tile: as many as a device of `units` multiprocessors runs at once; 1 where the code
/// for exactly 9.0, which has clusters, does not run.
int choose_splits(const HalfGemm& problem, int units, bool on_hopper);

/// Whether the product is so small that the launch is most of its time: all blocks run at once and take at most four
/// steps of K. Measured on an H200 against cuBLAS by replayed graphs, without the time that a host needs to
/// launch: 1.10 times as fast in the geometric mean of 171 random shapes of this kind, 0.64 to 4.8; vectors 0.4 to 0.8,
/// longer sums 0.3 to 1.
bool is_small(const HalfGemm& problem, int splits, int units);

/// Enqueues the product on the stream (a cudaStream_t). Returns null, or what went wrong. Never allocates, never waits.
const char* launch(const HalfGemm& problem, int splits, bool on_hopper, void* stream);

}  // namespace tessera::cuda::sm80
