// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <typeinfo>

#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>

namespace tessera {

/// How far products may be rounded. What is named is a permission: a path that computes more exactly may serve it,
/// one that computes less exactly never does.
enum class Precision : std::uint8_t {
  full,  ///< as the element types say: fp32 products of fp32 operands, summed in fp32
  tf32,  ///< fp32 operands may be rounded or cut to 10 mantissa bits before they are multiplied
  bf16,  ///< fp32 operands may be rounded to bfloat16 before they are multiplied
  /// fp32 operands may be multiplied as sums of two bfloat16 terms each (16 bits), three products of which are summed
  fp32_bf16x3,
  /// as sums of three bfloat16 terms (24 bits), six products of which are summed: errors like fp32's. Numbers below
  /// 2^-110 in magnitude may lose the bits below 2^-134.
  fp32_bf16x6,
  fp32_bf16x9,  ///< all nine products of those terms
  /// as sums of two tf32 terms (22 bits and a sign), three products of which are summed: errors like fp32's. Numbers
  /// below 2^-112 in magnitude may lose the bits below 2^-136.
  fp32_tf32x3,
};

/// A function of one number. NaN stays NaN; of -infinity it is the limit.
enum class Activation : std::uint8_t {
  none,
  relu,       ///< max(x, 0)
  gelu,       ///< x Phi(x), where Phi is the normal distribution's
  gelu_tanh,  ///< x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2: the usual approximation of gelu, and cheaper
  silu,       ///< x / (1 + e^-x)
};

enum class BiasAlong : std::uint8_t {
  rows,     ///< element i is added to row i of C
  columns,  ///< element j is added to column j of C
};

/// A view's memory without its element type; made by operand(view).
struct EpilogueOperand {
  const void* pointer = nullptr;
  const std::type_info* type = nullptr;  ///< of its elements; null: there is no operand
  index_t extents[2] = {};
  index_t strides[2] = {};
  index_t batches = 0, batch_stride = 0;          ///< 0: no index counts batches, all share it; -1: of no product
  bool host_reads = false, device_reads = false;  ///< kernels of the space

  [[nodiscard]] bool given() const { return type != nullptr; }
};

/// What happens to the elements of a product before they are rounded to C's type:
///   C = scale f(alpha A B + beta C + bias) + residual
/// for real floating-point C. All products of a batch share the bias; a residual of rank 2 is shared too. Bias and
/// residual are C's element type or the accumulator's (bias), and C's (residual); they share no element with C and live
/// until the work is done, of a plan as long as it is run. Paths that do not form it with the product are followed by a
/// second pass over C; path() tells. Then C's type rounds once more.
struct GemmEpilogue {
  Activation activation = Activation::none;
  BiasAlong bias_along = BiasAlong::columns;
  double scale = 1;
  EpilogueOperand bias{};      ///< rank 1, as many elements as C has rows or columns
  EpilogueOperand residual{};  ///< of C's extents or, for a batch, of one C's; any strides

  [[nodiscard]] bool any() const {
    return activation != Activation::none || scale != 1 || bias.given() || residual.given();
  }
};

/// Options of gemm() and plan_gemm(); name the fields: {.path = "portable"}.
struct GemmOptions {
  Precision precision = Precision::full;
  /// Above 0: has the precision chosen, of fp32 products: the one whose products are fastest where tensor cores have
  /// it, and whose bound (gemm_error_bound) keeps every element of A B, before alpha and the epilogue, within so much
  /// of the exact one, absolutely. Norms of A's rows and of B's columns enter the bound: they are measured, so that A
  /// and B are read and waited for, and a plan keeps its promise for operands no longer than those. With an infinity or
  /// NaN anywhere it is full, and nothing is promised.
  double max_error = 0;
  GemmEpilogue epilogue{};
  /// Forces a path by name ("portable", "openmp:cblas"), of those that have several also with a configuration
  /// ("cuda:wgmma_half_sm90a 128x64x64 split 4"); empty: TESSERA_GEMM, else chosen.
  std::string_view path{};
  /// Of plan_gemm(): every path that can run is timed first, on these A and B and a C of its own, unless the tuning
  /// file (core/tuning.hpp) knows the problem; the fastest is kept there. Also by TESSERA_TUNE=1. Waits, and allocates.
  /// Plans with a functor are not tuned: it would have to be called.
  bool tune = false;
};

/// Memory in the instance's space for a run that needs some (GemmPlan::workspace_bytes()).
struct GemmWorkspace {
  void* pointer = nullptr;
  std::size_t bytes = 0;
};

/// The element types of a product: A and B of In, C of Out, sums in `accumulator`.
template <class In, class Out = In>
struct GemmTypes {
  using in = In;
  using out = Out;
  using accumulator = accumulator_t<In>;
};

/// A GemmEpilogue whose operands have their types back.
template <class Types>
struct GemmEpilogueRef {
  using Out = typename Types::out;
  using Accumulator = typename Types::accumulator;

  Activation activation = Activation::none;
  BiasAlong bias_along = BiasAlong::columns;
  Accumulator scale = Accumulator(1);
  const Out* bias = nullptr;               ///< null where there is none or it is wide
  const Accumulator* wide_bias = nullptr;  ///< of the accumulator's type
  index_t bias_stride = 0;
  MatrixRef<const Out> residual;  ///< its pointer is null where there is none
  index_t residual_batch = 0;     ///< from one product's residual to the next's
  bool any = false;
};

/// The kernels that a user's functor was compiled into; what it holds is its backend's own.
struct GemmFunctorKernels;

/// A user's functor without its type.
struct GemmFunctorRef {
  const void* pointer = nullptr;  ///< on the host, for the time of the call; null: there is none
  const GemmFunctorKernels* kernels = nullptr;

  [[nodiscard]] bool given() const { return pointer != nullptr; }
};

/// C = alpha A B + beta C. A is M x K, B is K x N, C is M x N; transposes are strides, conjugation is a flag. Of a
/// batch the references are those of its first product.
template <class Types>
struct GemmProblem {
  using types = Types;
  using In = typename Types::in;
  using Out = typename Types::out;
  using Accumulator = typename Types::accumulator;

  ScalarRef<Accumulator> alpha;
  MatrixRef<const In> a;
  MatrixRef<const In> b;
  ScalarRef<Accumulator> beta;
  MatrixRef<Out> c;
  index_t batches = 1;
  index_t a_batch = 0, b_batch = 0, c_batch = 0;  ///< from one product's operand to the next's; 0: one for all
  GemmEpilogueRef<Types> epilogue;
  GemmFunctorRef functor;  ///< comes after the epilogue
  Precision precision = Precision::full;
  bool planned = false;    ///< a plan runs it, so that it may ask for a workspace without being forced
  bool by_name = false;    ///< the provider was forced, or measured to be the fastest: see Selection
  int configuration = -1;  ///< of that provider
  int concurrency = 0;     ///< threads of the instance where the space is a host's, else 0

  [[nodiscard]] index_t m() const { return c.extents[0]; }
  [[nodiscard]] index_t n() const { return c.extents[1]; }
  [[nodiscard]] index_t k() const { return a.extents[1]; }
};

/// All of a problem that a choice of path may depend on, as plain words.
struct GemmSignature {
  index_t m = 0, n = 0, k = 0, batches = 1;
  index_t strides[6] = {};  ///< of A, B and C; 0 where the extent is at most 1
  index_t batch_strides[3] = {};
  std::uint64_t alignments = 0;  ///< log2 of the operands' alignment in bytes, at most 4; a byte each
  std::uint64_t flags =
      0;  ///< conjugation of A and B, scalars on the host, planned, precision, epilogue, functor, threads
  std::uint64_t functor = 0;  ///< the address of its kernels

  bool operator==(const GemmSignature&) const = default;
};

/// The signature under which measurements are kept: of products that differ in where their scalars lie or in whether a
/// plan runs them, one.
[[nodiscard]] inline GemmSignature measured_as(GemmSignature s) {
  s.flags &= ~std::uint64_t{4u | 8u | 16u};
  return s;
}

/// No where there is more than one product.
template <class Types>
[[nodiscard]] constexpr const char* batch_refusal(const GemmProblem<Types>& p) {
  return p.batches == 1 ? nullptr : "the kernels form one product and this is a batch of them";
}

template <class Types>
[[nodiscard]] GemmSignature signature_of(const GemmProblem<Types>& p) {
  GemmSignature s;
  s.m = p.m();
  s.n = p.n();
  s.k = p.k();
  const auto stride = [](const auto& r, int d) { return r.extents[d] > 1 ? r.strides[d] : 0; };
  for (int d = 0; d < 2; ++d) {
    s.strides[d] = stride(p.a, d);
    s.strides[2 + d] = stride(p.b, d);
    s.strides[4 + d] = stride(p.c, d);
  }
  s.batches = p.batches;
  s.batch_strides[0] = p.a_batch;
  s.batch_strides[1] = p.b_batch;
  s.batch_strides[2] = p.c_batch;
  // 16 bytes are the widest access of any path; more would only tell two good addresses apart
  const auto alignment = [](const void* pointer) -> std::uint64_t {
    const auto bits = reinterpret_cast<std::uintptr_t>(pointer);
    return bits % 16 == 0 ? 4 : static_cast<std::uint64_t>(__builtin_ctzll(bits));
  };
  s.alignments = alignment(p.a.pointer) | alignment(p.b.pointer) << 8 | alignment(p.c.pointer) << 16;
  s.flags = (p.a.conj ? 1u : 0u) | (p.b.conj ? 2u : 0u) | (p.alpha.on_host() ? 4u : 0u) | (p.beta.on_host() ? 8u : 0u) |
            (p.planned ? 16u : 0u) | (p.epilogue.any ? 32u : 0u) | (p.functor.given() ? 64u : 0u) |
            static_cast<std::uint64_t>(p.precision) << 8 | static_cast<std::uint64_t>(p.concurrency) << 32;
  s.functor = reinterpret_cast<std::uintptr_t>(p.functor.kernels);
  return s;
}

}  // namespace tessera
