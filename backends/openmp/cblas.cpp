// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cblas.h>
#include <limits>
#include <omp.h>
#include <optional>

#include <tessera/backends/openmp/gemm_cblas.hpp>

// OpenBLAS tells how it is threaded; other libraries do not have these.
extern "C" {
__attribute__((weak)) int openblas_get_parallel(void);
__attribute__((weak)) int openblas_get_num_threads(void);
}

namespace tessera::backends {
namespace {

using Matrix = CblasProduct::Matrix;

/// An operand as CBLAS names it.
struct Operand {
  CBLAS_TRANSPOSE op;
  index_t leading;
};

bool one(index_t extent) { return extent <= 1; }

/// A matrix that is stored with `row_major` order, as itself or as its transpose; none where neither fits.
std::optional<Operand> operand(const Matrix& x, bool row_major) {
  // inner: the dimension that is unit-strided in this order when nothing is transposed
  const int inner = row_major ? 1 : 0, outer = 1 - inner;
  const auto leading = [&](int in, int out) -> index_t {
    if (!one(x.extents[in]) && x.strides[in] != 1) return 0;
    const index_t least = std::max<index_t>(1, x.extents[in]);
    if (one(x.extents[out])) return least;
    return x.strides[out] >= least ? x.strides[out] : 0;
  };
  if (!x.conj)
    if (const index_t ld = leading(inner, outer)) return Operand{CblasNoTrans, ld};
  if (const index_t ld = leading(outer, inner)) return Operand{x.conj ? CblasConjTrans : CblasTrans, ld};
  return std::nullopt;
}

struct Call {
  CBLAS_ORDER order;
  Operand a, b;
  index_t leading_c;
};

/// The order in which C is not transposed and A and B can be named; none, with the reason, where there is none.
std::optional<Call> call_for(const CblasProduct& p, std::string& reason) {
  reason = "C has no unit stride, or its rows or columns lie inside each other";
  for (const bool row_major : {false, true}) {
    const auto c = operand(p.c, row_major);
    if (!c || c->op != CblasNoTrans) continue;
    const auto a = operand(p.a, row_major), b = operand(p.b, row_major);
    if (a && b) return Call{row_major ? CblasRowMajor : CblasColMajor, *a, *b, c->leading};
    const char* which = a ? "B" : "A";
    reason = (a ? p.b : p.a).conj
                 ? std::string(which) + " is conjugated and not transposed with respect to C, or has no unit stride"
                 : std::string(which) + " has no unit stride, or its rows or columns lie inside each other";
  }
  return std::nullopt;
}

bool is_zero(CblasProduct::Element element, const void* scalar) {
  const auto both = [&]<class T>(T, int parts) {
    const T* const s = static_cast<const T*>(scalar);
    return s[0] == 0 && (parts == 1 || s[1] == 0);
  };
  switch (element) {
    case CblasProduct::Element::real32:
      return both(float{}, 1);
    case CblasProduct::Element::complex32:
      return both(float{}, 2);
    case CblasProduct::Element::real64:
      return both(double{}, 1);
    case CblasProduct::Element::complex64:
      return both(double{}, 2);
  }
  return false;
}

}  // namespace

int cblas_threads() {
  if (omp_in_parallel()) return 1;
  const bool other_pool = openblas_get_parallel && openblas_get_num_threads && openblas_get_parallel() != 2;
  return other_pool ? openblas_get_num_threads() : omp_get_max_threads();
}

Verdict cblas_can_run(const CblasProduct& p) {
  if (p.a.extents[1] == 0) return Verdict::no("K is 0: nothing to multiply");
  if (p.concurrency != cblas_threads())
    return Verdict::no("the instance has " + std::to_string(p.concurrency) +
                       " threads and the BLAS library would use " + std::to_string(cblas_threads()));
  std::string reason;
  const auto call = call_for(p, reason);
  if (!call) return Verdict::no(reason);
  constexpr index_t largest = std::numeric_limits<std::int32_t>::max();
  const index_t all[] = {p.c.extents[0],  p.c.extents[1],  p.a.extents[1],
                         call->a.leading, call->b.leading, call->leading_c};
  if (std::ranges::max(all) > largest)
    return Verdict::no("an extent or leading dimension exceeds 2147483647, which is all that CBLAS counts");
  return Verdict::yes();
}

void cblas_run(const CblasProduct& p, const void* alpha, const void* beta) {
  std::string reason;
  const auto call = call_for(p, reason);
  if (!call) return;  // a plan's operands have the strides that can_run accepted
  // where alpha is 0, A and B are not read: some libraries multiply them all the same, NaN included, but not over K = 0
  const auto m = static_cast<int>(p.c.extents[0]), n = static_cast<int>(p.c.extents[1]),
             k = is_zero(p.element, alpha) ? 0 : static_cast<int>(p.a.extents[1]);
  const auto lda = static_cast<int>(call->a.leading), ldb = static_cast<int>(call->b.leading),
             ldc = static_cast<int>(call->leading_c);
  void* const first_c = const_cast<void*>(p.c.pointer);  // C was mutable before its type was dropped
  const auto each = [&](auto tag, const auto& multiply) {
    using T = decltype(tag);
    const auto *a = static_cast<const T*>(p.a.pointer), *b = static_cast<const T*>(p.b.pointer);
    auto* c = static_cast<T*>(first_c);
    for (index_t i = 0; i < p.batches; ++i)
      multiply(a + i * p.batch_strides[0], b + i * p.batch_strides[1], c + i * p.batch_strides[2]);
  };
  const auto real = [&](auto gemm, auto tag) {
    using T = decltype(tag);
    each(tag, [&](const T* a, const T* b, T* c) {
      gemm(call->order, call->a.op, call->b.op, m, n, k, *static_cast<const T*>(alpha), a, lda, b, ldb,
           *static_cast<const T*>(beta), c, ldc);
    });
  };
  const auto complex = [&](auto gemm, auto tag) {
    using T = decltype(tag);
    each(tag, [&](const T* a, const T* b, T* c) {
      gemm(call->order, call->a.op, call->b.op, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    });
  };
  switch (p.element) {
    case CblasProduct::Element::real32:
      return real(&cblas_sgemm, float{});
    case CblasProduct::Element::real64:
      return real(&cblas_dgemm, double{});
    case CblasProduct::Element::complex32:
      return complex(&cblas_cgemm, Kokkos::complex<float>{});
    case CblasProduct::Element::complex64:
      return complex(&cblas_zgemm, Kokkos::complex<double>{});
  }
}

}  // namespace tessera::backends
