// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <tuple>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/types.hpp>
#include <tessera/core/views.hpp>
#include <tessera/gemm.hpp>

namespace tessera::app {
namespace {

template <class T>
using Matrix = Kokkos::View<T**, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// A number in -1..1 for each place, the same on every backend (the finaliser of SplitMix64, G. Steele et al., 2014).
KOKKOS_INLINE_FUNCTION double number_at(std::uint64_t seed, index_t i, index_t j) {
  std::uint64_t z = seed + 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(i + 1) +
                    0xd1b54a32d192ed03u * static_cast<std::uint64_t>(j + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z = z ^ (z >> 31);
  return static_cast<double>(z >> 11) * 0x1p-52 - 1;
}

template <class T>
struct Fill {
  Matrix<T> matrix;
  std::uint64_t seed;
  bool poison;  // NaN, which a product with beta = 0 must not read
  KOKKOS_FUNCTION void operator()(index_t e) const {
    const index_t rows = static_cast<index_t>(matrix.extent(0)), i = e % rows, j = e / rows;
    matrix(i, j) = poison ? static_cast<T>(static_cast<float>(NAN)) : static_cast<T>(number_at(seed, i, j));
  }
};

/// Compares entries of C with sums of exact products carried in two doubles (T. Dekker, 1971).
template <class T>
struct Compare {
  Matrix<T> a, b, c;
  double alpha, beta;
  double eps, out_eps, tiny;  // of the accumulator, of C's type; C's smallest step
  std::uint64_t seed_c;
  index_t rows, columns;  // entries looked at: rows x columns of them, spread over C with its edges

  KOKKOS_FUNCTION static index_t spread_out(index_t s, index_t samples, index_t extent) {
    return samples <= 1 ? 0 : s * (extent - 1) / (samples - 1);
  }
  KOKKOS_FUNCTION void operator()(index_t e, double& worst_ratio, double& worst) const {
    const index_t i = spread_out(e % rows, rows, static_cast<index_t>(c.extent(0)));
    const index_t j = spread_out(e / rows, columns, static_cast<index_t>(c.extent(1)));
    const index_t k = static_cast<index_t>(a.extent(1));
    double high = 0, low = 0, magnitude = 0;
    for (index_t l = 0; l < k; ++l) {
      const double x = static_cast<double>(a(i, l)), y = static_cast<double>(b(l, j));
      const double p = x * y, p_low = Kokkos::fma(x, y, -p);
      const double s = high + p, t = s - high;
      low += ((high - (s - t)) + (p - t)) + p_low;
      high = s;
      magnitude += Kokkos::fabs(p);
    }
    double expected = alpha * (high + low);
    double bound = 2 * (static_cast<double>(k) + 2) * eps * Kokkos::fabs(alpha) * magnitude;
    if (beta != 0) {
      const double old = static_cast<double>(static_cast<T>(number_at(seed_c, i, j)));
      expected += beta * old;
      bound += 4 * eps * Kokkos::fabs(beta * old);
    }
    bound += out_eps * Kokkos::fabs(expected) + tiny;
    const double distance = Kokkos::fabs(static_cast<double>(c(i, j)) - expected);
    const double ratio = distance / bound;
    if (!(ratio <= worst_ratio)) worst_ratio = ratio == ratio ? ratio : 1e300;  // a maximum need not keep NaN
    if (!(distance <= worst)) worst = distance == distance ? distance : 1e300;
  }
};

/// rows x columns as stored, then seen transposed where asked.
template <class T>
struct Operand {
  Kokkos::View<T*, Space> memory;
  Matrix<T> view;

  Operand(const Space& exec, const std::string& label, index_t rows, index_t columns, const std::string& layout,
          bool transposed) {
    if (transposed) std::swap(rows, columns);
    memory = Kokkos::View<T*, Space>(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), rows * columns);
    std::array<index_t, 2> extents = {rows, columns};
    std::array<index_t, 2> strides = layout == "left" ? std::array<index_t, 2>{1, std::max<index_t>(rows, 1)}
                                                      : std::array<index_t, 2>{std::max<index_t>(columns, 1), 1};
    if (transposed) {
      std::swap(extents[0], extents[1]);
      std::swap(strides[0], strides[1]);
    }
    view = adopt(memory.data(), extents, strides, typename Space::memory_space{});
  }
};

/// Names that --path takes: providers of this build in the order in which they are tried.
template <class... Providers>
void add_names(std::vector<std::string>& names, const std::tuple<Providers...>*) {
  (names.emplace_back(Providers::name), ...);
}
std::vector<std::string> path_names() {
  std::vector<std::string> names;
  add_names(names, static_cast<backends::gemm_providers_before_portable<Space>*>(nullptr));
  names.emplace_back("portable");
  add_names(names, static_cast<backends::gemm_providers_after_portable<Space>*>(nullptr));
  return names;
}

constexpr std::uint64_t seed_a = 101, seed_b = 202, seed_c = 303;

template <class T>
GemmResult measure(App& app, const GemmCase& c) {
  using A = accumulator_t<T>;
  using Plan = GemmPlan<GemmTypes<T>, Space>;
  const double elements = static_cast<double>(c.m) * static_cast<double>(c.k) +
                          static_cast<double>(c.k) * static_cast<double>(c.n) +
                          static_cast<double>(c.m) * static_cast<double>(c.n);
  app.require_memory(elements * sizeof(T), "Use smaller extents");
  const Space exec;
  const Operand<T> a(exec, "tessera::gemm_app::a", c.m, c.k, c.layout_a, c.op[0] == 'T');
  const Operand<T> b(exec, "tessera::gemm_app::b", c.k, c.n, c.layout_b, c.op[1] == 'T');
  const Operand<T> out(exec, "tessera::gemm_app::c", c.m, c.n, c.layout_c, false);
  const auto fill = [&](const Matrix<T>& matrix, std::uint64_t seed, bool poison) {
    Kokkos::parallel_for("tessera::gemm_app::fill",
                         Range<Space>(exec, 0, static_cast<index_t>(matrix.extent(0) * matrix.extent(1))),
                         Fill<T>{matrix, seed, poison});
  };
  fill(a.view, seed_a, false);
  fill(b.view, seed_b, false);
  const A alpha = static_cast<A>(c.alpha), beta = static_cast<A>(c.beta);

  GemmResult result;
  std::vector<Plan> plans;
  std::vector<Kokkos::View<char*, Space>> workspaces;
  // The choice that a user gets first; then every other path by force.
  const auto add = [&](const Plan& plan, const std::string& name) {
    result.paths.push_back({.name = name, .path = plan.path()});
    plans.push_back(plan);
    workspaces.emplace_back(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "tessera::gemm_app::workspace"),
                            plan.workspace_bytes());
  };
  std::vector<PathResult> refused;
  add(plan_gemm(exec, a.view, b.view, out.view, {.path = c.path}), "");
  result.paths.front().chosen = true;
  for (const Refusal& r : plans.front().reasons()) result.reasons.push_back(r.provider + ": " + r.reason);
  for (const std::string& name : path_names()) {
    // "gemm[name ...]": the chosen one is not planned twice
    const std::string& chosen = result.paths.front().path;
    if (const std::string start = "gemm[" + name; chosen == start + "]" || chosen.starts_with(start + " ")) {
      result.paths.front().name = name;
      continue;
    }
    try {
      add(plan_gemm(exec, a.view, b.view, out.view, {.path = name}), name);
    } catch (const Error& error) {
      // "the path 'x' was forced and cannot run: why"
      const std::string& text = error.given();
      const auto colon = text.find(": ");
      refused.push_back({.name = name, .refusal = colon == std::string::npos ? text : text.substr(colon + 2)});
    }
  }

  const auto run = [&](std::size_t p) {
    plans[p].run(exec, alpha, a.view, b.view, beta, out.view, {workspaces[p].data(), workspaces[p].extent(0)});
  };
  // Each once, on fresh output, checked.
  const index_t rows = std::min<index_t>(c.m, 64), columns = std::min<index_t>(c.n, 64);
  result.entries_checked = rows * columns;
  for (std::size_t p = 0; p < plans.size(); ++p) {
    fill(out.view, seed_c, c.beta == 0);
    run(p);
    Compare<T> compare{a.view,
                       b.view,
                       out.view,
                       static_cast<double>(alpha),
                       static_cast<double>(beta),
                       static_cast<double>(std::numeric_limits<A>::epsilon()),
                       static_cast<double>(std::numeric_limits<T>::epsilon()),
                       static_cast<double>(std::numeric_limits<T>::denorm_min()),
                       seed_c,
                       rows,
                       columns};
    double ratio = 0, worst = 0;
    if (result.entries_checked == 0) continue;
    Kokkos::parallel_reduce("tessera::gemm_app::compare", Range<Space>(exec, 0, rows * columns), compare,
                            Kokkos::Max<double>(ratio), Kokkos::Max<double>(worst));
    result.paths[p].error = app.world().all_reduce(ratio, Reduction::max);
    result.paths[p].worst = app.world().all_reduce(worst, Reduction::max);
  }
  // Turn about, so that what else the machine does meets all alike. With beta other than 0, C would grow without end.
  fill(out.view, seed_c, false);
  const Stopwatch whole;
  for (; result.repetitions < c.repetitions; ++result.repetitions) {
    if (app.interrupted()) break;
    if (app.world().all_reduce(whole.seconds(), Reduction::max) > c.seconds && result.repetitions >= 3) break;
    for (std::size_t p = 0; p < plans.size(); ++p) {
      if (c.beta != 0) fill(out.view, seed_c, false);
      exec.fence("tessera::gemm_app::before");
      if (app.world().size() > 1) app.world().barrier();
      const Stopwatch watch;
      run(p);
      exec.fence("tessera::gemm_app::after");
      result.paths[p].seconds.push_back(app.world().all_reduce(watch.seconds(), Reduction::max));
    }
    app.progress(static_cast<double>(result.repetitions + 1) / c.repetitions);
  }
  result.paths.insert(result.paths.end(), refused.begin(), refused.end());
  return result;
}

}  // namespace

bool GemmResult::right() const {
  return std::all_of(paths.begin(), paths.end(), [](const PathResult& p) { return !p.ran() || p.right(); });
}

GemmResult measure_gemm(App& app, const GemmCase& c) {
  if (c.type == "fp64") return measure<double>(app, c);
  if (c.type == "fp32") return measure<float>(app, c);
  if (c.type == "fp16") return measure<half>(app, c);
  return measure<bfloat16>(app, c);
}

}  // namespace tessera::app
