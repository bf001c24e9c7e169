// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Random CSR matrices, their dense reference in long double, and every way of calling spmv on them.

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <random>
#include <string>
#include <support/values.hpp>
#include <type_traits>
#include <vector>

#include <tessera/spmv.hpp>

using Space = TESSERA_TEST_SPACE;
using tessera::index_t;
using tessera::Op;
using tessera::SpmvOptions;
using tessera::SpmvShape;

namespace csr_checks {

using namespace test_values;

/// A random matrix whose row r has lengths[r] entries, at random columns (which may repeat).
template <class T>
struct HostCsr {
  index_t rows = 0, cols = 0;
  std::vector<index_t> offsets, columns;
  std::vector<T> values;
};
template <class T>
HostCsr<T> random_csr(const std::vector<index_t>& lengths, index_t cols, unsigned seed) {
  std::mt19937 gen(seed);
  HostCsr<T> a;
  a.rows = static_cast<index_t>(lengths.size());
  a.cols = cols;
  a.offsets.push_back(0);
  for (const index_t n : lengths) {
    for (index_t k = 0; k < n; ++k) {
      a.columns.push_back(std::uniform_int_distribution<index_t>(0, cols - 1)(gen));
      a.values.push_back(random_value<T>(gen));
    }
    a.offsets.push_back(static_cast<index_t>(a.columns.size()));
  }
  return a;
}

template <class T, class V>
void fill(const Space& exec, const V& view, const std::vector<T>& from) {
  auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), view);
  for (std::size_t i = 0; i < from.size(); ++i) host(i) = static_cast<typename V::non_const_value_type>(from[i]);
  Kokkos::deep_copy(exec, view, host);
  exec.fence();
}

template <class Ordinal, class Offset, class T>
tessera::CsrMatrix<T, Ordinal, Offset, typename Space::memory_space> upload(const Space& exec, const HostCsr<T>& a) {
  Kokkos::View<Offset*, typename Space::memory_space> offsets("offsets", a.offsets.size());
  Kokkos::View<Ordinal*, typename Space::memory_space> columns("columns", a.columns.size());
  Kokkos::View<T*, typename Space::memory_space> values("values", a.values.size());
  fill(exec, offsets, a.offsets);
  fill(exec, columns, a.columns);
  fill(exec, values, a.values);
  return tessera::make_csr_matrix(exec, a.rows, a.cols, offsets, columns, values);
}

/// The dense reference in long double, and the bound on what a sum in T may differ from it.
template <class T>
struct Reference {
  std::vector<Wide> value;
  std::vector<long double> bound;
};
template <class T>
Reference<T> reference(const HostCsr<T>& a, Op op, T alpha, const std::vector<T>& x, bool conj_x, T beta,
                       const std::vector<T>& y) {
  const bool transposed = op == Op::transpose || op == Op::adjoint, conj = op == Op::conjugate || op == Op::adjoint;
  const index_t out = transposed ? a.cols : a.rows;
  Reference<T> r;
  r.value.assign(static_cast<std::size_t>(out), Wide{});
  std::vector<long double> magnitude(static_cast<std::size_t>(out), 0.0L), terms(static_cast<std::size_t>(out), 0.0L);
  for (index_t i = 0; i < a.rows; ++i)
    for (index_t k = a.offsets[static_cast<std::size_t>(i)]; k < a.offsets[static_cast<std::size_t>(i) + 1]; ++k) {
      const auto c = static_cast<std::size_t>(a.columns[static_cast<std::size_t>(k)]);
      const Wide v =
          conj ? std::conj(wide(a.values[static_cast<std::size_t>(k)])) : wide(a.values[static_cast<std::size_t>(k)]);
      const std::size_t to = transposed ? c : static_cast<std::size_t>(i),
                        from = transposed ? static_cast<std::size_t>(i) : c;
      const Wide xv = conj_x ? std::conj(wide(x[from])) : wide(x[from]);
      r.value[to] += v * xv;
      magnitude[to] += std::abs(v) * std::abs(xv);
      terms[to] += 1;
    }
  // Every term passes through at most terms + 3 roundings of real arithmetic (product, sum, alpha, beta); a complex
  // product adds two more and a factor below 2.
  long double eps = 0;
  if constexpr (!std::is_integral_v<T>) eps = std::numeric_limits<tessera::real_t<T>>::epsilon();
  for (std::size_t i = 0; i < r.value.size(); ++i) {
    const long double a_sum = alpha == T{} ? 0.0L : magnitude[i];
    r.value[i] = alpha == T{} ? Wide{} : wide(alpha) * r.value[i];
    long double old = 0;
    if (beta != T{}) {
      r.value[i] += wide(beta) * wide(y[i]);
      old = std::abs(wide(beta)) * std::abs(wide(y[i]));
    }
    r.bound.push_back(2 * (terms[i] + 5) * eps * (std::abs(wide(alpha)) * a_sum + old));
  }
  return r;
}

template <class T>
void check_vector(const std::vector<T>& got, const Reference<T>& want) {
  REQUIRE(got.size() == want.value.size());
  std::size_t worst = 0;
  long double excess = -1;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const long double error = std::abs(wide(got[i]) - want.value[i]);
    const long double e = error <= want.bound[i] ? 0.0L : (error == error ? error - want.bound[i] : 1e30L);
    if (e > excess) {
      excess = e;
      worst = i;
    }
  }
  if (excess > 0) {
    CAPTURE(worst, static_cast<double>(excess), static_cast<double>(want.value[worst].real()),
            static_cast<double>(wide(got[worst]).real()));
    FAIL("outside of the bound");
  }
}

/// A vector of n elements at every `stride`-th place of a padded array whose other places must stay as they are.
template <class T>
struct Guarded {
  index_t n, stride;
  static constexpr index_t margin = 3;
  Kokkos::View<T*, Space> all;
  T guard = random_guard();

  static T random_guard() { return T(77); }
  Guarded(const Space& exec, const std::vector<T>& from, index_t s)
      : n(static_cast<index_t>(from.size())), stride(s), all("guarded", static_cast<std::size_t>(n * s + 2 * margin)) {
    auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), all);
    for (std::size_t i = 0; i < host.extent(0); ++i) host(i) = guard;
    for (index_t i = 0; i < n; ++i)
      host(static_cast<std::size_t>(margin + i * stride)) = from[static_cast<std::size_t>(i)];
    Kokkos::deep_copy(exec, all, host);
    exec.fence();
  }
  auto view() const {
    return Kokkos::View<T*, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        all.data() + margin, Kokkos::LayoutStride(static_cast<std::size_t>(n), static_cast<std::size_t>(stride)));
  }
  /// The elements; checks the places between and around them.
  std::vector<T> read(const Space& exec) const {
    auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), all);
    Kokkos::deep_copy(exec, host, all);
    exec.fence();
    std::vector<T> v;
    bool intact = true;
    for (index_t p = 0; p < static_cast<index_t>(host.extent(0)); ++p) {
      const index_t q = p - margin;
      if (q >= 0 && q < n * stride && q % stride == 0)
        v.push_back(host(static_cast<std::size_t>(p)));
      else
        intact = intact && same_bits(host(static_cast<std::size_t>(p)), guard);
    }
    REQUIRE(intact);
    return v;
  }
};

template <class T>
std::vector<T> random_vector(index_t n, unsigned seed) {
  std::mt19937 gen(seed);
  std::vector<T> v;
  for (index_t i = 0; i < n; ++i) v.push_back(random_value<T>(gen));
  return v;
}

inline std::vector<SpmvShape> shapes() {
  std::vector<SpmvShape> list(1);
  for (const auto kernel : {SpmvShape::Kernel::vector, SpmvShape::Kernel::stream})
    for (const int lanes : {1, 4, 32}) {
      SpmvShape s;
      s.kernel = kernel;
      s.lanes = lanes;
      list.push_back(s);
    }
  SpmvShape cut;  // long rows begin early, so that small tests reach them
  cut.long_row_length = 40;
  list.push_back(cut);
  cut.kernel = SpmvShape::Kernel::stream;
  cut.lanes = 2;
  list.push_back(cut);
  return list;
}

inline constexpr Op all_ops[] = {Op::none, Op::transpose, Op::conjugate, Op::adjoint};

template <class T, class Ordinal, class Offset>
void check_all(const HostCsr<T>& a, unsigned seed) {
  const Space exec;
  const auto matrix = upload<Ordinal, Offset>(exec, a);
  std::mt19937 gen(seed);
  const T factors[] = {T(0), T(1), T(-1), random_value<T>(gen)};
  int turn = 0;
  for (const Op op : all_ops) {
    const bool transposed = op == Op::transpose || op == Op::adjoint;
    const auto x = random_vector<T>(transposed ? a.rows : a.cols, seed + 1);
    const auto y = random_vector<T>(transposed ? a.cols : a.rows, seed + 2);
    for (const SpmvShape& shape : shapes()) {
      // every pair of factors comes up, not for every shape
      const T alpha = factors[turn % 4], beta = factors[(turn / 4) % 4];
      ++turn;
      auto x_used = x;
      if (alpha == T(0)) x_used.assign(x.size(), poison<T>());  // must not be read
      const Guarded<T> gx(exec, x_used, 1 + turn % 2);
      const Guarded<T> gy(exec, beta == T(0) ? std::vector<T>(y.size(), poison<T>()) : y, 1 + turn % 3);
      const bool conj_x = turn % 2 == 0;
      const SpmvOptions options{.op = op, .shape = shape};
      if (conj_x)
        tessera::spmv(exec, alpha, matrix, tessera::conjugated(gx.view()), beta, gy.view(), options);
      else
        tessera::spmv(exec, alpha, matrix, gx.view(), beta, gy.view(), options);
      CAPTURE(static_cast<int>(op), shape.text(), shape.long_row_length, turn);
      check_vector(gy.read(exec), reference(a, op, alpha, x, conj_x, beta, y));
    }
    // through a plan, with alpha and beta in memory of the space
    const Kokkos::View<T, Space> alpha("alpha"), beta("beta");
    for (const T b : {T(0), T(1)}) {
      Kokkos::deep_copy(exec, alpha, T(2));
      Kokkos::deep_copy(exec, beta, b);
      const Guarded<T> gx(exec, x, 1);
      const Guarded<T> gy(exec, b == T(0) ? std::vector<T>(y.size(), poison<T>()) : y, 1);
      const auto plan = tessera::plan_spmv(exec, matrix, op);
      plan.run(exec, alpha, matrix, gx.view(), beta, gy.view());
      CAPTURE(static_cast<int>(op), plan.path());
      check_vector(gy.read(exec), reference(a, op, T(2), x, false, b, y));
    }
    Kokkos::deep_copy(exec, alpha, T(0));
    Kokkos::deep_copy(exec, beta, T(-1));
    const Guarded<T> gx(exec, std::vector<T>(x.size(), poison<T>()), 1);
    const Guarded<T> gy(exec, y, 1);
    tessera::spmv(exec, alpha, matrix, gx.view(), beta, gy.view(), {.op = op});
    check_vector(gy.read(exec), reference(a, op, T(0), x, false, T(-1), y));
  }
}

inline std::vector<index_t> mixed_lengths(index_t rows, index_t longest, unsigned seed) {
  std::mt19937 gen(seed);
  std::vector<index_t> lengths;
  for (index_t r = 0; r < rows; ++r) {
    const int kind = std::uniform_int_distribution<int>(0, 5)(gen);
    lengths.push_back(kind == 0 ? 0 : kind == 5 ? std::uniform_int_distribution<index_t>(0, longest)(gen) : kind);
  }
  return lengths;
}

}  // namespace csr_checks
