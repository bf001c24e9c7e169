// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "checks.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <utility>

#include <tessera/asum.hpp>
#include <tessera/axpby.hpp>
#include <tessera/dot.hpp>
#include <tessera/gemm.hpp>
#include <tessera/gemv.hpp>
#include <tessera/iamax.hpp>
#include <tessera/nrm2.hpp>
#include <tessera/scal.hpp>
#include <tessera/spmv.hpp>
#include <tessera/stencil.hpp>
#include <tessera/transpose.hpp>

namespace tessera::doctor {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Vector = Kokkos::View<double*, Space>;
using Matrix = Kokkos::View<double**, Space>;

// Small whole numbers, so that every order of summation gives the same bits.
double element(index_t i) { return static_cast<double>(i % 7 - 3); }

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

Vector filled(index_t n) {
  Vector x("doctor: x", static_cast<std::size_t>(n));
  const auto host = Kokkos::create_mirror_view(x);
  for (index_t i = 0; i < n; ++i) host(i) = element(i);
  Kokkos::deep_copy(x, host);
  return x;
}

Matrix filled(index_t rows, index_t columns) {
  Matrix a("doctor: A", static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  const auto host = Kokkos::create_mirror_view(a);
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < columns; ++j) host(i, j) = element(3 * i + 5 * j);
  Kokkos::deep_copy(a, host);
  return a;
}

/// Collects the checks; an exception in one is its result.
class Checks {
 public:
  /// \param test  returns "" where the answer is right, else what is wrong; it may set the path
  template <class Test>
  void add(const char* algorithm, Test test) {
    Check check{algorithm, std::string(algorithm) + "[portable]", false, ""};
    try {
      check.text = test(check.path);
      check.right = check.text.empty();
    } catch (const std::exception& error) {
      check.text = error.what();
    }
    m_all.push_back(std::move(check));
  }
  std::vector<Check> take() { return std::move(m_all); }

 private:
  std::vector<Check> m_all;
};

std::string compare(double expected, double found, const std::string& where = "") {
  return expected == found ? std::string() : fmt::format("expected {} and found {}{}", expected, found, where);
}

template <class Host, class Expected>
std::string compare_all(const Host& host, Expected expected) {
  for (index_t i = 0; i < static_cast<index_t>(host.extent(0)); ++i)
    if (const auto wrong = compare(expected(i), host(i), fmt::format(" at {}", i)); !wrong.empty()) return wrong;
  return "";
}

void vectors(Checks& checks, const Space& exec) {
  constexpr index_t n = 10007;
  checks.add("axpby", [&](std::string&) {
    const Vector x = filled(n), y = filled(n);
    axpby(exec, 2.0, x, -5.0, y);
    return compare_all(on_host(y), [](index_t i) { return -3 * element(i); });
  });
  checks.add("scal", [&](std::string&) {
    const Vector x = filled(n);
    scal(exec, 4.0, x);
    return compare_all(on_host(x), [](index_t i) { return 4 * element(i); });
  });
  double squares = 0, absolute = 0;
  for (index_t i = 0; i < n; ++i) {
    squares += element(i) * element(i);
    absolute += std::abs(element(i));
  }
  checks.add("dot", [&](std::string&) {
    const Vector x = filled(n);
    return compare(squares, dot(exec, x, x));
  });
  checks.add("asum", [&](std::string&) { return compare(absolute, asum(exec, filled(n))); });
  checks.add("nrm2", [&](std::string&) {
    Vector x("doctor: x", 2);
    const auto host = Kokkos::create_mirror_view(x);
    host(0) = 3e200;  // its square is beyond double
    host(1) = 4e200;
    Kokkos::deep_copy(x, host);
    const double norm = nrm2(exec, x);
    return std::abs(norm - 5e200) <= 1e186 ? std::string() : compare(5e200, norm);
  });
  checks.add("iamax", [&](std::string&) {
    const Vector x = filled(n);
    return compare(0, static_cast<double>(iamax(exec, x)));  // |-3| is first at 0
  });
}

void matrices(Checks& checks, const Space& exec) {
  constexpr index_t m = 67, n = 45, k = 83;
  const auto at = [](index_t i, index_t j) { return element(3 * i + 5 * j); };
  checks.add("transpose", [&](std::string&) {
    const Matrix a = filled(m, n), b("doctor: B", n, m);
    transpose(exec, a, b);
    const auto host = on_host(b);
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < m; ++j)
        if (host(i, j) != at(j, i)) return compare(at(j, i), host(i, j), fmt::format(" at {}, {}", i, j));
    return std::string();
  });
  checks.add("gemv", [&](std::string&) {
    const Matrix a = filled(m, n);
    const Vector x = filled(n), y("doctor: y", m);
    gemv(exec, 1.0, a, x, 0.0, y);
    return compare_all(on_host(y), [&](index_t i) {
      double sum = 0;
      for (index_t j = 0; j < n; ++j) sum += at(i, j) * element(j);
      return sum;
    });
  });
  checks.add("gemm", [&](std::string& path) {
    const Matrix a = filled(m, k), b = filled(k, n), c("doctor: C", m, n);
    const auto plan = plan_gemm(exec, a, b, c);
    path = plan.path();
    gemm(exec, 1.0, a, b, 0.0, c);
    const auto host = on_host(c);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        double sum = 0;
        for (index_t l = 0; l < k; ++l) sum += at(i, l) * at(l, j);
        if (host(i, j) != sum) return compare(sum, host(i, j), fmt::format(" at {}, {}", i, j));
      }
    return std::string();
  });
}

void grids(Checks& checks, const Space& exec) {
  static constexpr index_t n = 300;
  checks.add("spmv", [&](std::string& path) {  // -1 2 -1 on a line
    using Csr = CsrMatrix<double>;
    Csr a;
    a.rows = a.cols = n;
    a.row_offsets = decltype(a.row_offsets)("doctor: offsets", n + 1);
    a.columns = decltype(a.columns)("doctor: columns", 3 * n - 2);
    a.values = decltype(a.values)("doctor: values", 3 * n - 2);
    const auto offsets = Kokkos::create_mirror_view(a.row_offsets);
    const auto columns = Kokkos::create_mirror_view(a.columns);
    const auto values = Kokkos::create_mirror_view(a.values);
    int next = 0;
    for (int i = 0; i < n; ++i) {
      offsets(i) = next;
      for (int j = std::max(i - 1, 0); j <= std::min<int>(i + 1, n - 1); ++j, ++next) {
        columns(next) = j;
        values(next) = i == j ? 2 : -1;
      }
    }
    offsets(n) = next;
    Kokkos::deep_copy(a.row_offsets, offsets);
    Kokkos::deep_copy(a.columns, columns);
    Kokkos::deep_copy(a.values, values);
    const Vector x = filled(n), y("doctor: y", n);
    const auto plan = plan_spmv(exec, a);
    path = plan.path();
    plan.run(exec, 1.0, a, x, 0.0, y);
    return compare_all(on_host(y), [](index_t i) {
      return 2 * element(i) - (i > 0 ? element(i - 1) : 0) - (i + 1 < n ? element(i + 1) : 0);
    });
  });
  const auto of_ones = [&](bool all, double expected) {
    constexpr index_t edge = 21;
    const Kokkos::View<double***, Space> u("doctor: u", edge, edge, edge), v("doctor: v", edge, edge, edge);
    Kokkos::deep_copy(u, 1.0);
    if (all)
      stencil27(exec, Stencil27Distances<double>{1, 2, 4, 8}, u, v);
    else
      stencil7(exec, Stencil7Coefficients<double>{1, {2, 4}, {8, 16}, {32, 64}}, u, v);
    const auto host = on_host(v);
    if (host(0, 3, 3) != 0) return std::string("a ghost was written");
    for (index_t i = 1; i + 1 < edge; ++i)
      for (index_t j = 1; j + 1 < edge; ++j)
        for (index_t l = 1; l + 1 < edge; ++l)
          if (host(i, j, l) != expected) return compare(expected, host(i, j, l));
    return std::string();
  };
  checks.add("stencil7", [&](std::string&) { return of_ones(false, 127); });
  checks.add("stencil27", [&](std::string&) { return of_ones(true, 1 + 6 * 2 + 12 * 4 + 8 * 8); });
}

}  // namespace

std::vector<Check> check_algorithms() {
  const Space exec;
  Checks checks;
  vectors(checks, exec);
  matrices(checks, exec);
  grids(checks, exec);
  return checks.take();
}

}  // namespace tessera::doctor
