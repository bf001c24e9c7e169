// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

/// \file
/// The plain interface of the Hopper fp64 GEMM: raw pointers, sizes, strides, stream. No Kokkos, no vendor header.

namespace tessera::cuda::sm90a {

/// D = alpha A B + beta D, D row-major m x n. A is m x k, B is k x n; each has unit stride in one dimension:
/// `a_mn_major` says that A's unit stride is along m (else along k), `b_mn_major` that B's is along n (else along k).
struct DoubleGemm {
  std::int64_t m = 0, n = 0, k = 0;
  const double* a = nullptr;
  std::int64_t lda = 0;
  bool a_mn_major = false;
  const double* b = nullptr;
  std::int64_t ldb = 0;
  bool b_mn_major = false;
  double* d = nullptr;
  std::int64_t ldd = 0;
  double alpha = 1, beta = 0;
  const double* alpha_pointer = nullptr;  ///< device memory; used instead of alpha where not null
  const double* beta_pointer = nullptr;
};

/// Why the kernels cannot take the problem (alignment, sizes), or null. Architecture is the caller's check:
/// exactly 9.0.
const char* double_refusal(const DoubleGemm& problem);
/// Tile shapes by index; the text is for paths.
int double_configurations();
const char* double_configuration_name(int configuration);
/// The share of the tensor pipe's rate that the product is expected to reach on so many multiprocessors.
double double_expected_share(const DoubleGemm& problem, int configuration, int units);
int choose_double_configuration(const DoubleGemm& problem, int units);
/// Enqueues the product on the stream (a cudaStream_t). Returns null, or what went wrong. Never allocates, never waits.
const char* double_launch(const DoubleGemm& problem, int configuration, int units, void* stream);

}  // namespace tessera::cuda::sm90a
