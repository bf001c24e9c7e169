// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

/// \file
/// The plain interface of the Hopper bf16/fp16 GEMM: raw pointers, sizes, strides, stream. No Kokkos, no vendor header.

namespace tessera {
struct GemmFunctorKernels;
}

namespace tessera::cuda::sm90a {

enum class Element { bf16, fp16, fp32 };

enum class Activation { none, relu, gelu, gelu_tanh, silu };

/// D = scale f(alpha A B + beta D + bias) + residual, where `any`.
struct Epilogue {
  bool any = false;
  Activation activation = Activation::none;
  float scale = 1;
  const void* bias = nullptr;  ///< of D's element type, or fp32
  bool bias_is_fp32 = false;
  bool bias_along_rows = false;  ///< an element for each row of D, else for each column
  bool transposed = false;       ///< D's rows are the caller's columns, which a functor is told
  std::int64_t bias_stride = 0;
  const void* residual = nullptr;  ///< of D's element type
  std::int64_t residual_strides[2] = {};

  /// Of D^T.
  void transpose() {
    transposed = !transposed;
    bias_along_rows = !bias_along_rows;
    const std::int64_t down = residual_strides[0];
    residual_strides[0] = residual_strides[1];
    residual_strides[1] = down;
  }
};

/// D = alpha A B + beta D and an epilogue, D m x n, its rows contiguous, or its columns where `d_column_major`. A is m
/// x k, B is k x n; each has unit stride in one dimension: `a_mn_major` says that A's unit stride is along m (else
/// along k), `b_mn_major` that B's is along n (else along k).
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
  bool d_column_major = false;  ///< only configurations that can split K store so
  float alpha = 1, beta = 0;
  const float* alpha_pointer = nullptr;  ///< device memory; used instead of alpha where not null
  const float* beta_pointer = nullptr;
  std::int64_t batches = 1;                            ///< of the products of a batch the operands are the first's
  std::int64_t a_batch = 0, b_batch = 0, d_batch = 0;  ///< from one product's operand to the next's; 0: one for all
  bool has_workspace = false;                          ///< configurations may ask for one (stream_bytes())
  void* workspace = nullptr;
  Epilogue epilogue;
  const void* functor = nullptr;  ///< on the host: D = functor(alpha A B + beta D, row, column), and no epilogue
};

/// Why the kernels cannot take the problem (alignment, sizes), or null. Architecture is the caller's check:
/// exactly 9.0.
const char* refusal(const HalfGemm& problem);

/// Bytes for copies of A and B whose base and leading dimension are multiples of 16 bytes; 0 where they are already.
std::size_t realign_bytes(const HalfGemm& problem);
/// The problem as it is once its operands are copied; what is copied is null.
HalfGemm after_realign(HalfGemm problem);
/// Enqueues the copies and has the problem read them. Returns null, or what went wrong.
const char* realign(HalfGemm& problem, void* workspace, void* stream);

/// Bytes of workspace that a configuration needs on a device of any size: those through which K streams, for sums of
/// tiles that lie in the parts of two blocks or more.
std::size_t stream_bytes(const HalfGemm& problem, int configuration);

/// Tile shapes by index; the text is for paths: "128x256x64 s4 multicast 2".
int configurations();
const char* configuration_name(int configuration);
/// Whether the configuration can take the problem: those that split K want as many tiles of K as blocks; the others,
/// where there is an epilogue or a functor, a residual and an old D (where beta is not 0) whose rows are pairs of
/// aligned elements. Functors are compiled into some configurations only; a batch has no residual.
bool configuration_fits(const HalfGemm& problem, int configuration);
/// How long a configuration is expected to take on `units` multiprocessors, and the best of all tiles that the chip has
/// registers and shared memory for, which a library may have; both but for what is the same for all.
double expected_cycles(const HalfGemm& problem, int configuration, int units);
double expected_cycles_of_any_tile(const HalfGemm& problem, int units);
/// The configuration expected to be fastest on `units` multiprocessors.
int choose_configuration(const HalfGemm& problem, int units);

/// Enqueues the product on the stream (a cudaStream_t). Returns null, or what went wrong. Never allocates, never waits.
const char* launch(const HalfGemm& problem, int configuration, int units, void* stream);

}  // namespace tessera::cuda::sm90a

/// The launches of kernels that a user's functor was compiled into; null where its element types were not named.
struct tessera::GemmFunctorKernels {
  using Launch = const char* (*)(const cuda::sm90a::HalfGemm& problem, int configuration, int units, void* stream);
  Launch launches[2][2] = {};  ///< [bf16 instead of fp16][into fp32 instead of themselves]

  [[nodiscard]] Launch of(cuda::sm90a::Element in, cuda::sm90a::Element out) const {
    return launches[in == cuda::sm90a::Element::bf16 ? 1 : 0][out == cuda::sm90a::Element::fp32 ? 1 : 0];
  }
};
