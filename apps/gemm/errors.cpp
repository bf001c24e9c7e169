// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "errors.hpp"

#include "errors_report.hpp"
#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/core/device.hpp>
#include <tessera/core/types.hpp>
#include <tessera/core/views.hpp>
#include <tessera/gemm.hpp>

namespace tessera::app {
namespace {

KOKKOS_INLINE_FUNCTION std::uint64_t scrambled(
    std::uint64_t z) {  // the finaliser of SplitMix64, G. Steele et al., 2014
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// Element (i, l) of A, or (l, j) of B with its index along C first.
template <class V>
struct FillInputs {
  V matrix;
  Inputs inputs;
  bool of_b;
  float largest;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    const auto rows = static_cast<index_t>(matrix.extent(0));
    const index_t i = e % rows, j = e / rows, along = of_b ? j : i, l = of_b ? i : j;
    const std::uint64_t r =
        scrambled((of_b ? 2u : 1u) * 0x9e3779b97f4a7c15u + 0xd1b54a32d192ed03u * static_cast<std::uint64_t>(along + 1) +
                  0x8cb92ba72f3d8dd7u * static_cast<std::uint64_t>(l + 1));
    double x = static_cast<double>(r >> 11) * 0x1p-52 - 1;
    switch (inputs) {
      case Inputs::uniform:
        break;
      case Inputs::non_negative:
        x = Kokkos::fabs(x);
        break;
      case Inputs::ill_scaled:
        x *= Kokkos::exp2(static_cast<double>(scrambled(r) % 41) - 20);
        break;
      case Inputs::subnormal:
        x *= of_b ? 0x1p30 : 0x1p-130;
        break;
      case Inputs::special:
        x = static_cast<double>(static_cast<int>(r % 9) - 4);
        if (of_b) {
          if (l == 2) x = 0.25;
          if (l == 11 && along % 16 == 5) x = -static_cast<double>(INFINITY);
        } else if (l == 5 && along % 16 == 3) {
          x = static_cast<double>(INFINITY);
        } else if (l == 9 && along % 16 == 7) {
          x = static_cast<double>(NAN);
        } else if (l == 2 && along % 16 == 11) {
          x = static_cast<double>(largest);
        }
        break;
    }
    matrix(i, j) = static_cast<value_t<V>>(static_cast<float>(x));
  }
};

/// Sums over the entries looked at, and worst ones.
struct Found {
  double worst_component = 0, worst_share = 0, error_squares = 0, squares = 0;
  index_t different = 0;
};

template <class A, class B, class C>
struct CompareEntry {
  A a;
  B b;
  C c;
  double coefficient, smallest, small_operands;  // of the bound: times both norms; alone; times their sum
  bool special;
  index_t samples;

  KOKKOS_FUNCTION void operator()(index_t e, double& component, double& share, double& error_squares, double& squares,
                                  index_t& different) const {
    const auto m = static_cast<index_t>(c.extent(0)), n = static_cast<index_t>(c.extent(1));
    const auto k = static_cast<index_t>(a.extent(1));
    const index_t i = (e % samples) * (m - 1) / (samples - 1), j = (e / samples) * (n - 1) / (samples - 1);
    const double got = static_cast<double>(c(i, j));
    if (special) {  // infinities, NaN and finite sums where plain fp32 has them
      float sum = 0;
      for (index_t l = 0; l < k; ++l) sum = Kokkos::fma(static_cast<float>(a(i, l)), static_cast<float>(b(l, j)), sum);
      const double plain = static_cast<double>(sum);
      const bool finite = Kokkos::fabs(plain) <= 3.402823466e38, is_nan = plain != plain;
      const bool same = finite ? Kokkos::fabs(got) <= 3.402823466e38 : is_nan ? got != got : got == plain;
      if (!same) ++different;
      return;
    }
    double high = 0, low = 0, size = 0, of_a = 0, of_b = 0;  // sums of exact products in two doubles (T. Dekker, 1971)
    for (index_t l = 0; l < k; ++l) {
      const double x = static_cast<double>(a(i, l)), y = static_cast<double>(b(l, j));
      const double p = x * y, s = high + p, t = s - high;
      low += (high - (s - t)) + (p - t) + Kokkos::fma(x, y, -p);
      high = s;
      size += Kokkos::fabs(p);
      of_a += x * x;
      of_b += y * y;
    }
    of_a = Kokkos::sqrt(of_a);
    of_b = Kokkos::sqrt(of_b);
    const double exact = high + low, error = Kokkos::fabs(got - exact);
    const double of_component = size > 0 ? error / size : 0;
    const double of_share = error / (coefficient * of_a * of_b + smallest + small_operands * (of_a + of_b));
    // a maximum need not keep NaN
    if (!(of_component <= component)) component = of_component == of_component ? of_component : 1e300;
    if (!(of_share <= share)) share = of_share == of_share ? of_share : 1e300;
    error_squares += error * error;
    squares += exact * exact;
  }
};

/// Operands of T, C of float.
template <class T>
class Product {
 public:
  Product(index_t m, index_t n, index_t k)
      : m_a(Kokkos::view_alloc(m_exec, Kokkos::WithoutInitializing, "tessera::gemm_app::a"), m, k),
        m_b(Kokkos::view_alloc(m_exec, Kokkos::WithoutInitializing, "tessera::gemm_app::b"), k, n),
        m_c(Kokkos::view_alloc(m_exec, Kokkos::WithoutInitializing, "tessera::gemm_app::c"), m, n) {}

  void fill(Inputs inputs) const {
    const float largest = std::is_same_v<T, float> ? std::numeric_limits<float>::max() : 4;
    using FillA = FillInputs<decltype(m_a)>;
    using FillB = FillInputs<decltype(m_b)>;
    Kokkos::parallel_for("tessera::gemm_app::fill", Range<Space>(m_exec, 0, static_cast<index_t>(m_a.size())),
                         FillA{m_a, inputs, false, largest});
    Kokkos::parallel_for("tessera::gemm_app::fill", Range<Space>(m_exec, 0, static_cast<index_t>(m_b.size())),
                         FillB{m_b, inputs, true, largest});
  }

  /// Returns the path that ran.
  std::string multiply(Precision precision) const {
    const auto plan = plan_gemm(m_exec, m_a, m_b, m_c, {.precision = precision});
    const Kokkos::View<char*, Space> workspace(
        Kokkos::view_alloc(m_exec, Kokkos::WithoutInitializing, "tessera::gemm_app::workspace"),
        plan.workspace_bytes());
    plan.run(m_exec, 1.0F, m_a, m_b, 0.0F, m_c, {workspace.data(), workspace.extent(0)});
    m_exec.fence("tessera::gemm_app::run");
    return plan.path();
  }

  [[nodiscard]] Found compare(double bound, Precision precision, bool special) const {
    const auto k = static_cast<index_t>(m_a.extent(1));
    const double underflow = detail::gemm_absolute_bound(precision, {0, 0}, k);
    const double with_small = detail::gemm_absolute_bound(precision, {1, 0}, k) - underflow;
    const CompareEntry<decltype(m_a), decltype(m_b), decltype(m_c)> entry{
        m_a, m_b, m_c, bound, underflow, with_small, special, compared_samples};
    Found f;
    Kokkos::parallel_reduce("tessera::gemm_app::compare", Range<Space>(m_exec, 0, compared_samples * compared_samples),
                            entry, Kokkos::Max<double>(f.worst_component), Kokkos::Max<double>(f.worst_share),
                            f.error_squares, f.squares, f.different);
    return f;
  }

 private:
  Space m_exec;
  Kokkos::View<T**, Kokkos::LayoutRight, Space> m_a;
  Kokkos::View<T**, Kokkos::LayoutLeft, Space> m_b;
  Kokkos::View<float**, Kokkos::LayoutLeft, Space> m_c;
};

template <class T>
void add_errors(App& app, Errors& errors, const char* operands) {
  constexpr bool is_float = std::is_same_v<T, float>;
  for (const index_t k : all_inner_extents) {
    const Product<T> product(errors.side, errors.side, k);
    for (const InputsNamed& inputs : all_inputs) {
      if (!is_measured(operands, inputs.inputs, Precision::full)) continue;
      product.fill(inputs.inputs);
      for (const PrecisionNamed& p : all_precisions) {
        if (!is_measured(operands, inputs.inputs, p.precision)) continue;
        if (app.interrupted()) return;
        app.progress(0, fmt::format("{} {} K = {}", p.name, inputs.name, k));
        ErrorRow row{.operands = operands, .inputs = inputs.name, .precision = p.name, .k = k};
        row.path = product.multiply(p.precision);
        // the tensor cores cut sums of 16-bit products, which are exact themselves
        row.bound = gemm_error_bound(p.precision, k) * (is_float ? 1 : 2);
        const Found f = product.compare(row.bound, p.precision, inputs.inputs == Inputs::special);
        row.different = f.different;
        row.normwise = f.squares > 0 ? std::sqrt(f.error_squares / f.squares) : 0;
        row.componentwise = f.worst_component;
        row.share_of_bound = f.worst_share;
        errors.rows.push_back(std::move(row));
      }
    }
  }
}

bool told(App& app, const Errors& errors) {
  app.write_text(tables_of(errors));
  const Json results = to_json(errors);
  for (const auto& [name, value] : results.items()) app.result(name, value);
  return errors.verified();
}

}  // namespace

bool measure_errors(App& app) {
  Errors errors;
  errors.device = device_of(Space()).name;
  // on devices so large that products of terms are worth their while
  errors.side = is_host_space<Space> ? 192 : 2048;
  const index_t longest = *std::ranges::max_element(all_inner_extents);
  app.require_memory(4.0 * static_cast<double>(errors.side * (errors.side + 2 * longest)) * 3,
                     "Use a device of more memory");
  add_errors<float>(app, errors, "fp32");
  add_errors<bfloat16>(app, errors, "bf16");
  add_errors<half>(app, errors, "fp16");
  return told(app, errors);
}

bool print_errors_from(App& app, const std::string& file) { return told(app, read_errors(file)); }

}  // namespace tessera::app
