// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

/// \file
/// The plain interface of the Hopper tf32 GEMM: raw pointers, sizes, strides, stream. No Kokkos, no vendor header.

namespace tessera::cuda::sm90a {

/// D = alpha A B + beta D of fp32 numbers, of which the products take 10 bits behind the leading one. D is m x n, its
/// rows contiguous, or its columns where `d_column_major`. A is m x k, B is k x n; each has unit stride in one
/// dimension: `a_mn_major` says that A's unit stride is along m (else along k), `b_mn_major` that B's is along n (else
/// along k).
struct Tf32Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::int64_t lda = 0;
  bool a_mn_major = false;
  const float* b = nullptr;
  std::int64_t ldb = 0;
  bool b_mn_major = false;
  float* d = nullptr;
  std::int64_t ldd = 0;
  bool d_column_major = false;
  float alpha = 1, beta = 0;
  const float* alpha_pointer = nullptr;  ///< device memory; used instead of alpha where not null
  const float* beta_pointer = nullptr;
};

/// The same product as the kernels take it, perhaps transposed: B's unit stride is along k unless both operands' are
/// along m and n.
Tf32Gemm tf32_oriented(const Tf32Gemm& problem);

/// Why the kernels cannot take the problem, as tf32_oriented() gives it, or null. Architecture is the caller's check:
/// exactly 9.0.
const char* tf32_refusal(const Tf32Gemm& problem);

/// Bytes for copies of operands that the kernels cannot read: whose base or leading dimension is no multiple of 16
/// bytes, and B where its unit stride is along n. 0 where they can. The problem is oriented.
std::size_t tf32_copy_bytes(const Tf32Gemm& problem);
/// The problem as it is once its operands are copied; what is copied is null.
Tf32Gemm tf32_after_copy(Tf32Gemm problem);
/// Enqueues the copies and has the problem read them. Returns null, or what went wrong.
const char* tf32_copy(Tf32Gemm& problem, void* workspace, void* stream);

/// Tile shapes by index; the text is for paths: "128x256x32 s4 multicast 2".
int tf32_configurations();
const char* tf32_configuration_name(int configuration);
/// Whether the configuration can take the problem: those that split K want as many tiles of K as blocks.
bool tf32_configuration_fits(const Tf32Gemm& problem, int configuration);
/// The configuration expected to be fastest on `units` multiprocessors.
int choose_tf32_configuration(const Tf32Gemm& problem, int units);

/// Enqueues the product on the stream (a cudaStream_t). Returns null, or what went wrong. Never allocates, never waits.
const char* tf32_launch(const Tf32Gemm& problem, int configuration, int units, void* stream);

}  // namespace tessera::cuda::sm90a
