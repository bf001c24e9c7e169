// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Operands of any strides inside poisoned buffers, a reference in long double, and one call that compares.

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <support/values.hpp>
#include <type_traits>
#include <vector>

#include <tessera/backends/enabled.hpp>
#include <tessera/gemm.hpp>
#include <tessera/gemm/config.hpp>

using Space = TESSERA_TEST_SPACE;
using tessera::index_t;

namespace gemm_checks {

using test_values::wide;
using test_values::Wide;

template <class T>
T narrow(const Wide& v) {
  if constexpr (tessera::is_complex_v<T>) {
    using R = typename T::value_type;
    return T(static_cast<R>(v.real()), static_cast<R>(v.imag()));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(v.real()));
  } else {
    return static_cast<T>(v.real());
  }
}

/// NaN, or for integers a number that no product here gives.
template <class T>
T poison() {
  if constexpr (tessera::is_complex_v<T>) {
    using R = typename T::value_type;
    return T(std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::quiet_NaN());
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::numeric_limits<T>::max() - 77);
  } else if constexpr (tessera::is_stored_float_v<T>) {
    return T(std::numeric_limits<float>::quiet_NaN());
  } else {
    return std::numeric_limits<T>::quiet_NaN();
  }
}

/// Unit roundoff of a type's reals; 0 for integers.
template <class T>
long double roundoff() {
  using R = tessera::real_t<T>;
  if constexpr (std::is_same_v<R, double>) return 0x1p-53L;
  if constexpr (std::is_same_v<R, float>) return 0x1p-24L;
  if constexpr (std::is_same_v<R, tessera::half>) return 0x1p-11L;
  if constexpr (std::is_same_v<R, tessera::bfloat16>) return 0x1p-8L;
  return 0;
}

/// How a matrix lies in memory.
enum class Storage { left, right, left_padded, right_padded, strided };
inline constexpr Storage all_storages[] = {Storage::left, Storage::right, Storage::left_padded, Storage::right_padded,
                                           Storage::strided};

enum class Values { integers, random, poison };

/// A rows x columns matrix with guard bands, on the host and in the space's memory.
template <class T>
struct Matrix {
  using View = Kokkos::View<T**, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  index_t rows = 0, columns = 0, row_stride = 1, column_stride = 1, start = 0;
  std::vector<T> host;
  Kokkos::View<T*, Space> device;

  Matrix(index_t r, index_t c, Storage storage, Values values, unsigned seed, index_t offset = 5)
      : rows(r), columns(c) {
    switch (storage) {
      case Storage::left:
        row_stride = 1, column_stride = r;
        break;
      case Storage::right:
        row_stride = c, column_stride = 1;
        break;
      case Storage::left_padded:
        row_stride = 1, column_stride = r + 3;
        break;
      case Storage::right_padded:
        row_stride = c + 5, column_stride = 1;
        break;
      case Storage::strided:
        row_stride = 3, column_stride = 3 * r + 2;
        break;
    }
    if (row_stride < 1) row_stride = 1;
    if (column_stride < 1) column_stride = 1;
    start = offset;
    const index_t span = r > 0 && c > 0 ? (r - 1) * row_stride + (c - 1) * column_stride + 1 : 0;
    host.assign(static_cast<std::size_t>(start + span + 7), poison<T>());
    std::mt19937 gen(seed);
    std::uniform_int_distribution<int> whole(-3, 3);
    std::uniform_real_distribution<double> real(-1, 1);
    for (index_t j = 0; j < c; ++j)
      for (index_t i = 0; i < r; ++i) {
        Wide v;
        if (values == Values::integers || std::is_integral_v<T>)
          v = {static_cast<long double>(whole(gen)), static_cast<long double>(whole(gen))};
        else
          v = {static_cast<long double>(real(gen)), static_cast<long double>(real(gen))};
        if (values != Values::poison) at(i, j) = narrow<T>(v);
      }
    device = Kokkos::View<T*, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "operand"), host.size());
    upload();
  }

  T& at(index_t i, index_t j) { return host[static_cast<std::size_t>(start + i * row_stride + j * column_stride)]; }
  const T& at(index_t i, index_t j) const {
    return host[static_cast<std::size_t>(start + i * row_stride + j * column_stride)];
  }
  void upload() {
    const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> h(host.data(),
                                                                                               host.size());
    Kokkos::deep_copy(device, h);
  }
  std::vector<T> download() const {
    std::vector<T> copy(host.size());
    const Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> h(copy.data(), copy.size());
    Kokkos::deep_copy(h, device);
    return copy;
  }
  View view() const {
    const auto u = [](index_t n) { return static_cast<std::size_t>(n); };
    return View(device.data() + start, Kokkos::LayoutStride(u(rows), u(row_stride), u(columns), u(column_stride)));
  }
};

/// What is applied to an operand before it is multiplied.
enum class Op { none, transpose, conjugate, adjoint };
inline constexpr Op all_ops[] = {Op::none, Op::transpose, Op::conjugate, Op::adjoint};
inline bool transposes(Op op) { return op == Op::transpose || op == Op::adjoint; }
inline bool conjugates(Op op) { return op == Op::conjugate || op == Op::adjoint; }

template <class T>
Matrix<T> operand(Op op, index_t rows, index_t columns, Storage storage, Values values, unsigned seed) {
  return transposes(op) ? Matrix<T>(columns, rows, storage, values, seed)
                        : Matrix<T>(rows, columns, storage, values, seed);
}
/// What a product sums in here: long double, complex only where it must be (it is slow).
template <class T>
using Exact = std::conditional_t<tessera::is_complex_v<T>, Wide, long double>;
template <class T>
Exact<T> exact(const Wide& v) {
  if constexpr (tessera::is_complex_v<T>)
    return v;
  else
    return v.real();
}

/// The rows of op(x), or its columns, one after the other.
template <class T>
std::vector<Exact<T>> lines(const Matrix<T>& x, Op op, bool columns) {
  const index_t rows = transposes(op) ? x.columns : x.rows, across = transposes(op) ? x.rows : x.columns;
  std::vector<Exact<T>> all;
  for (index_t i = 0; i < (columns ? across : rows); ++i)
    for (index_t l = 0; l < (columns ? rows : across); ++l) {
      const index_t row = columns ? l : i, column = columns ? i : l;
      const Wide v = transposes(op) ? wide(x.at(column, row)) : wide(x.at(row, column));
      all.push_back(exact<T>(conjugates(op) ? std::conj(v) : v));
    }
  return all;
}

/// a b without the treatment of infinities that std::complex pays for.
inline long double times(long double a, long double b) { return a * b; }
inline Wide times(const Wide& a, const Wide& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
/// At least |v|, at most sqrt(2) |v|.
inline long double magnitude(long double v) { return std::abs(v); }
inline long double magnitude(const Wide& v) { return std::abs(v.real()) + std::abs(v.imag()); }

template <class V, class F>
void with_op(Op op, const V& v, const F& f) {
  switch (op) {
    case Op::none:
      return f(v);
    case Op::transpose:
      return f(tessera::transposed(v));
    case Op::conjugate:
      return f(tessera::conjugated(v));
    case Op::adjoint:
      return f(tessera::adjoint(v));
  }
}

struct Setup {
  index_t m = 0, n = 0, k = 0;
  Op op_a = Op::none, op_b = Op::none;
  Storage a = Storage::left, b = Storage::left, c = Storage::left;
  Values values = Values::integers;
  int alpha = 1, beta = 0;
  bool scalars_on_device = false;
  std::string path{};

  [[nodiscard]] std::string text() const {
    std::string s = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " ops ";
    s += std::to_string(static_cast<int>(op_a)) + std::to_string(static_cast<int>(op_b)) + " storage ";
    for (const Storage x : {a, b, c}) s += std::to_string(static_cast<int>(x));
    return s + " alpha " + std::to_string(alpha) + " beta " + std::to_string(beta) + " path " + path;
  }
};

/// Runs gemm and compares every element, exactly for integer values, else within 4 sqrt(K) eps (|A||B|) of the
/// accumulator and one rounding of the result; memory outside C must keep its bits. Returns "" or what is wrong.
template <class In, class Out>
std::string wrong(const Setup& s) {
  using Accumulator = tessera::accumulator_t<In>;
  const Values inputs = s.alpha == 0 ? Values::poison : s.values;
  const Matrix<In> a = operand<In>(s.op_a, s.m, s.k, s.a, inputs, 11),
                   b = operand<In>(s.op_b, s.k, s.n, s.b, inputs, 12);
  const Matrix<Out> c(s.m, s.n, s.c, s.beta == 0 ? Values::poison : s.values, 13);
  const Space exec;
  const Accumulator alpha(static_cast<tessera::real_t<Accumulator>>(s.alpha)),
      beta(static_cast<tessera::real_t<Accumulator>>(s.beta));
  Kokkos::View<Accumulator, Space> device_alpha("alpha"), device_beta("beta");
  Kokkos::deep_copy(exec, device_alpha, alpha);
  Kokkos::deep_copy(exec, device_beta, beta);
  tessera::GemmOptions options;
  options.path = s.path;
  with_op(s.op_a, a.view(), [&](const auto& av) {
    with_op(s.op_b, b.view(), [&](const auto& bv) {
      if (s.scalars_on_device)
        tessera::gemm(exec, device_alpha, av, bv, device_beta, c.view(), options);
      else
        tessera::gemm(exec, alpha, av, bv, beta, c.view(), options);
    });
  });
  exec.fence();
  std::vector<Out> expected = c.host;
  const std::vector<Out> result = c.download();
  const auto rows_of_a = lines(a, s.op_a, false), columns_of_b = lines(b, s.op_b, true);
  std::vector<bool> inside(result.size(), false);
  const long double unit = roundoff<Accumulator>(), out_unit = roundoff<Out>();
  for (index_t j = 0; j < s.n; ++j)
    for (index_t i = 0; i < s.m; ++i) {
      const auto at = static_cast<std::size_t>(c.start + i * c.row_stride + j * c.column_stride);
      inside[at] = true;
      Wide sum{};
      long double size = 0;
      if (s.alpha != 0) {
        Exact<In> products{};
        for (index_t l = 0; l < s.k; ++l) {
          const Exact<In> p = times(rows_of_a[static_cast<std::size_t>(i * s.k + l)],
                                    columns_of_b[static_cast<std::size_t>(j * s.k + l)]);
          products += p;
          size += magnitude(p);
        }
        sum = static_cast<long double>(s.alpha) * Wide(products);
        size *= std::abs(static_cast<long double>(s.alpha));
      }
      if (s.beta != 0) {
        sum += static_cast<long double>(s.beta) * wide(c.at(i, j));
        size += std::abs(static_cast<long double>(s.beta) * wide(c.at(i, j)));
      }
      const auto place = [&] { return " at (" + std::to_string(i) + ", " + std::to_string(j) + ") of " + s.text(); };
      if (s.values == Values::integers || unit == 0) {
        const Out exact = narrow<Out>(sum);
        if (!(wide(result[at]) == wide(exact)))
          return "got " + std::to_string(static_cast<double>(wide(result[at]).real())) + " instead of " +
                 std::to_string(static_cast<double>(sum.real())) + place();
      } else {
        const long double root = std::sqrt(static_cast<long double>(s.k) + 2);
        const long double bound = 4 * root * unit * size + out_unit * std::abs(sum) * 1.01L;
        const long double error = std::abs(wide(result[at]) - sum);
        if (!(error <= bound))
          return "error " + std::to_string(static_cast<double>(error)) + " above " +
                 std::to_string(static_cast<double>(bound)) + place();
      }
    }
  for (std::size_t at = 0; at < result.size(); ++at)
    if (!inside[at] && std::memcmp(&result[at], &expected[at], sizeof(Out)) != 0)
      return "wrote outside C, " + std::to_string(at) + " elements after the buffer's start, for " + s.text();
  return {};
}

template <class In, class Out>
using HostOrDeviceConfig = tessera::detail::GemmConfig<tessera::GemmTypes<In, Out>, tessera::machine<Space>>;

/// Sizes round the edges of the kernel's own tiles (CASES A5), each with small other extents.
template <class In, class Out>
std::vector<Setup> edge_setups() {
  using Config = HostOrDeviceConfig<In, Out>;
  std::vector<Setup> all;
  const auto round = [](int t) { return std::vector<index_t>{t - 1, t, t + 1, 2 * t + 1}; };
  for (const index_t m : round(Config::resident ? Config::tile_m : Config::mr))
    for (const index_t n : round(Config::resident ? Config::tile_n : Config::nr))
      for (const index_t k : {1, 9, 16}) all.push_back({.m = m, .n = n, .k = k});
  for (const index_t k : round(Config::bk)) all.push_back({.m = 17, .n = 29, .k = k});
  for (const index_t m : round(Config::mc)) all.push_back({.m = m, .n = 5, .k = 7});
  // more than a second-level cache holds: packed on hosts, whatever the strides
  all.push_back({.m = Config::mc + 1, .n = 2 * Config::nr + 1, .k = Config::bk + 1});
  all.push_back({.m = 5, .n = 2, .k = 1});
  all.push_back({.m = 1, .n = 1, .k = 1});
  all.push_back({.m = 1, .n = 301, .k = 33});
  all.push_back({.m = 301, .n = 1, .k = 33});
  all.push_back({.m = 1, .n = 1, .k = 3001});
  return all;
}

/// What every pair of types must pass.
template <class In, class Out>
void check_all() {
  for (Setup s : edge_setups<In, Out>()) {
    INFO("edges");
    CHECK(wrong<In, Out>(s) == "");
    s.c = Storage::right_padded;
    s.a = Storage::right;
    s.beta = 1;
    CHECK(wrong<In, Out>(s) == "");
  }
  int turn = 0;
  for (const Op op_a : all_ops)
    for (const Op op_b : all_ops)
      for (const Storage a : all_storages)
        for (const Storage b : all_storages) {
          Setup s{.m = 37, .n = 53, .k = 41, .op_a = op_a, .op_b = op_b, .a = a, .b = b};
          s.c = all_storages[turn++ % 5];
          s.alpha = turn % 3 - 1 == 0 ? 2 : turn % 3 - 1;
          s.beta = turn % 4 - 1;
          s.scalars_on_device = turn % 7 == 0;
          CHECK(wrong<In, Out>(s) == "");
        }
  for (const int alpha : {0, 1, -2})
    for (const int beta : {0, 1, -2})
      for (const index_t k : {0, 1, 40})
        for (const bool device : {false, true}) {
          Setup s{.m = 33, .n = 18, .k = k, .alpha = alpha, .beta = beta, .scalars_on_device = device};
          s.c = Storage::strided;
          CHECK(wrong<In, Out>(s) == "");
        }
  for (const Storage c : all_storages)
    for (const index_t k : {7, 160, 1100}) {
      Setup s{
          .m = 45, .n = 61, .k = k, .op_b = Op::transpose, .c = c, .values = Values::random, .alpha = -3, .beta = 2};
      CHECK(wrong<In, Out>(s) == "");
    }
  for (const auto& [m, n, k] : {std::array<index_t, 3>{0, 4, 3}, {4, 0, 3}, {0, 0, 0}, {3, 2, 0}})
    CHECK(wrong<In, Out>({.m = m, .n = n, .k = k, .beta = k == 0 ? 2 : 0}) == "");
}

}  // namespace gemm_checks
