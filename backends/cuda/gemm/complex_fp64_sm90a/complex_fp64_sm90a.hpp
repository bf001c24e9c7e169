// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

/// \file
/// The plain interface of the Hopper GEMM of complex fp64: raw pointers, sizes, strides, stream. No Kokkos, no vendor
/// header.

namespace tessera::cuda::sm90a {

struct ComplexDouble {
  double re = 0, im = 0;
};

/// D = alpha A B + beta D, D row-major m x n. A is m x k, B is k x n; each has unit stride in one dimension:
/// `a_mn_major` says that A's unit stride is along m (else along k), `b_mn_major` that B's is along n (else along k).
/// `a_conj` and `b_conj`: of the operand, the conjugate is multiplied. Leading dimensions count complex numbers.
struct ComplexDoubleGemm {
  std::int64_t m = 0, n = 0, k = 0;
  const ComplexDouble* a = nullptr;
  std::int64_t lda = 0;
  bool a_mn_major = false, a_conj = false;
  const ComplexDouble* b = nullptr;
  std::int64_t ldb = 0;
  bool b_mn_major = false, b_conj = false;
  ComplexDouble* d = nullptr;
  std::int64_t ldd = 0;
  ComplexDouble alpha{1, 0}, beta{};
  const ComplexDouble* alpha_pointer = nullptr;  ///< device memory; used instead of alpha where not null
  const ComplexDouble* beta_pointer = nullptr;
};

/// Why the kernels cannot take the problem (alignment, sizes), or null. Architecture is the caller's check:
/// exactly 9.0.
const char* complex_double_refusal(const ComplexDoubleGemm& problem);
/// Tile shapes by index; the text is for paths.
int complex_double_configurations();
const char* complex_double_configuration_name(int configuration);
/// The share of the tensor pipe's rate that the product is expected to reach on so many multiprocessors.
double complex_double_expected_share(const ComplexDoubleGemm& problem, int configuration, int units);
int choose_complex_double_configuration(const ComplexDoubleGemm& problem, int units);
/// Enqueues the product on the stream (a cudaStream_t). Returns null, or what went wrong. Never allocates, never waits.
const char* complex_double_launch(const ComplexDoubleGemm& problem, int configuration, int units, void* stream);

}  // namespace tessera::cuda::sm90a
