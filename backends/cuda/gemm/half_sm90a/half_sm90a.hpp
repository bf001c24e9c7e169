// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

/// \file
/// The plain interface of the Hopper bf16/fp16 GEMM: raw pointers, sizes, strides, stream. No Kokkos, no vendor header.

namespace tessera::cuda::sm90a {

enum class Element { bf16, fp16, fp32 };

/// D = alpha A B + beta D, D row-major m x n. A is m x k, B is k x n; each has unit stride in one dimension:
/// `a_mn_major` says that A's unit stride is along m (else along k), `b_mn_major` that B's is along n (else along k).
struct HalfGemm {
  Element in = Element::bf16;
  Element out = Element::bf16;  ///< equal to `in`, or fp32
  std::int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;
  std::int64_t lda = 0;
  bool a_mn_major = false;
  const void* b = nullptr;
  std::int64_t ldb = 0;
  bool b_mn_major = false;
  void* d = nullptr;
  std::int64_t ldd = 0;
  float alpha = 1, beta = 0;
  const float* alpha_pointer = nullptr;  ///< device memory; used instead of alpha where not null
  const float* beta_pointer = nullptr;
};

/// Why the kernels cannot take the problem (alignment, sizes), or null. Architecture is the caller's check:
/// exactly 9.0.
const char* refusal(const HalfGemm& problem);

/// Tile shapes by index; the text is for paths: "128x256x64 c2 s4".
int configurations();
const char* configuration_name(int configuration);
/// The configuration expected to be fastest on `units` multiprocessors.
int choose_configuration(const HalfGemm& problem, int units);

/// Enqueues the product on the stream (a cudaStream_t). Returns null, or what went wrong. Never allocates, never waits.
const char* launch(const HalfGemm& problem, int configuration, int units, void* stream);

}  // namespace tessera::cuda::sm90a
