// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

/// \file
/// The plain interface of Hopper's fp32 GEMM on bf16 or tf32 tensor cores: raw pointers, sizes, strides, stream,
/// workspace. No Kokkos, no vendor header.

namespace tessera::cuda::sm90a {

/// D = alpha A B + beta D in fp32. A is m x k and B is k x n with any strides, D's rows are contiguous. Each operand
/// is written as a sum of bf16 or tf32 numbers and `products` of the pairs of terms are summed.
struct SplitGemm {
  int products = 6;   ///< 3 (two terms), 6 or 9 (three terms)
  bool tf32 = false;  ///< terms of 11 bits in place of 8; with 3 products alone
  std::int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::int64_t a_row = 0, a_column = 0;  ///< strides in elements
  const float* b = nullptr;
  std::int64_t b_row = 0, b_column = 0;
  float* d = nullptr;
  std::int64_t ldd = 0;
  float alpha = 1, beta = 0;
  const float* alpha_pointer = nullptr;  ///< device memory; used instead of alpha where not null
  const float* beta_pointer = nullptr;
};

/// Why the kernels cannot take the problem, or null. Architecture is the caller's check: exactly 9.0.
const char* split_refusal(const SplitGemm& problem);
/// Tile shapes by index; the text is for paths.
int split_configurations();
const char* split_configuration_name(int configuration, bool tf32);
int choose_split_configuration(const SplitGemm& problem, int units);
/// Whether the product is expected to take less time than an fp32 product of the vendor's library.
bool split_pays(const SplitGemm& problem, int units);
/// Bytes for the terms and for flags; enough for every configuration and alignment.
std::size_t split_workspace_bytes(const SplitGemm& problem);
/// Enqueues the product on the stream (a cudaStream_t). Returns null, or what went wrong. Never allocates, never waits.
const char* split_launch(const SplitGemm& problem, int configuration, int units, void* workspace, void* stream);

}  // namespace tessera::cuda::sm90a
