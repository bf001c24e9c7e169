// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"

#include <algorithm>
#include <array>
#include <bench/case.hpp>
#include <bench/measure.hpp>
#include <functional>
#include <gemm_ladder/steps/all.hpp>
#include <tuple>

#include <tessera/backends/enabled.hpp>
#include <tessera/backends/peers.hpp>
#include <tessera/core/device.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/types.hpp>
#include <tessera/core/views.hpp>
#include <tessera/gemm.hpp>

namespace tessera::app {
namespace {

/// Rows begin at multiples of 16 bytes for either type; NaN lies between them.
index_t stride_of(index_t columns) { return std::max<index_t>((columns + 7) / 8 * 8, 8); }

template <class T>
struct Fill {
  T* data;
  index_t columns, stride;
  std::uint64_t seed;
  bool poison;

  KOKKOS_FUNCTION void operator()(index_t e) const {
    const bool inside = e % stride < columns && !poison;
    data[e] = T(inside ? static_cast<float>(bench::detail::uniform(seed, static_cast<std::uint64_t>(e)))
                       : Kokkos::Experimental::quiet_NaN_v<float>);
  }
};

/// |C - A B| in units of 4 sqrt(K) eps (|A||B|) and one rounding of the result, for 64 rows from the first to the last:
/// what a gemm promises on random data whose mean is zero. An infinity counts as one beyond all bounds.
template <class T>
struct Compare {
  ladder::Product<T> p;
  index_t rows;
  double eps, out_eps, root;

  KOKKOS_FUNCTION void operator()(index_t e, double& worst) const {
    const index_t i = rows < 2 ? 0 : e % rows * (p.c.rows - 1) / (rows - 1), j = e / rows;
    double sum = 0, size = 0;
    for (index_t k = 0; k < p.a.columns; ++k) {
      const double product = static_cast<double>(p.a(i, k)) * static_cast<double>(p.b(k, j));
      sum += product;
      size += Kokkos::fabs(product);
    }
    const double bound = 4 * root * eps * size + out_eps * Kokkos::fabs(sum) + 1e-30;
    const double ratio = Kokkos::fabs(static_cast<double>(p.c(i, j)) - sum) / bound;
    if (!(ratio <= worst)) worst = ratio == ratio ? ratio : 1e300;  // a maximum need not keep NaN
  }
};

/// One operand set.
template <class T>
struct Operands {
  Kokkos::View<T*, Space> a, b, c;
  ladder::Product<T> p;

  Operands(const Space& exec, const LadderCase& s) {
    const auto make = [&](const char* name, index_t rows, index_t columns, std::uint64_t seed, bool poison) {
      const index_t stride = stride_of(columns);
      auto view = bench::make_view<T*>(exec, name, rows * stride);
      Kokkos::parallel_for("tessera::ladder::fill", Range<Space>(exec, 0, rows * stride),
                           Fill<T>{view.data(), columns, stride, seed, poison});
      return view;
    };
    a = make("a", s.m, s.k, 1, false);
    b = make("b", s.k, s.n, 2, false);
    c = make("c", s.m, s.n, 3, true);
    p = {{a.data(), s.m, s.k, stride_of(s.k)},
         {b.data(), s.k, s.n, stride_of(s.n)},
         {c.data(), s.m, s.n, stride_of(s.n)}};
  }
  void spoil(const Space& exec) const {
    Kokkos::parallel_for("tessera::ladder::fill", Range<Space>(exec, 0, static_cast<index_t>(c.extent(0))),
                         Fill<T>{c.data(), p.c.columns, p.c.stride, 3, true});
  }
  [[nodiscard]] double error(const Space& exec) const {
    const index_t rows = std::min<index_t>(p.c.rows, 64);
    double worst = 0;
    if (rows * p.c.columns == 0) return worst;
    const double out_eps = sizeof(T) == 2 ? 0x1p-8 : 0x1p-24;
    Kokkos::parallel_reduce("tessera::ladder::compare", Range<Space>(exec, 0, rows * p.c.columns),
                            Compare<T>{p, rows, 0x1p-23, out_eps, Kokkos::sqrt(static_cast<double>(p.a.columns))},
                            Kokkos::Max<double>(worst));
    return worst;
  }
};

/// A rung and what runs it, for one operand set.
template <class T>
struct Way {
  Rung rung;
  std::function<void()> run;
};

template <class T>
using Strided = Kokkos::View<T**, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// tessera::gemm on the operands; `path` forces one.
template <class T>
Way<T> house(const Space& exec, const Operands<T>& o, Rung rung, const std::string& path) {
  const auto view = [](const auto& memory, const auto& m) {
    return adopt(memory.data(), std::array<index_t, 2>{m.rows, m.columns}, std::array<index_t, 2>{m.stride, 1},
                 typename Space::memory_space{});
  };
  const Strided<T> a = view(o.a, o.p.a), b = view(o.b, o.p.b), c = view(o.c, o.p.c);
  const auto plan = plan_gemm(exec, a, b, c, {.path = path});
  rung.path = plan.path();
  const Kokkos::View<char*, Space> workspace(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "tessera::ladder::workspace"), plan.workspace_bytes());
  return {rung, [=] { plan.run(exec, 1.0F, a, b, 0.0F, c, {workspace.data(), workspace.extent(0)}); }};
}

template <class T>
constexpr const char* type_of = sizeof(T) == 2 ? "bf16" : "fp32";
constexpr const char* last_step = "overlapped_epilogue";

/// Of the kernel that is tried first; none is forced where there is none.
[[maybe_unused]] std::string first_name(const std::tuple<>*) { return {}; }
template <class First, class... Others>
std::string first_name(const std::tuple<First, Others...>*) {
  return std::string(First::name);
}

/// The steps that this backend alone has, after step 7, the last of the portable ones.
template <class... Steps>
void add_backend_steps(std::vector<Way<bfloat16>>& ways, const Space& exec, const Operands<bfloat16>& o,
                       const std::tuple<Steps...>*) {
  const backends::LadderProduct p = ladder::plain_product(o.p);
  int number = 7;
  [[maybe_unused]] const auto add = [&]<class Step>() {
    Rung rung{.number = ++number, .name = std::string(Step::name), .type = "bf16"};
    const Verdict verdict = Step::can_run(p, device_of(exec));
    rung.refusal = verdict.reason;
    ways.push_back({rung, [=] { Step::run(exec, p); }});
  };
  (add.template operator()<Steps>(), ...);
  // the last step is what all of them lead to; where that refuses the product, what runs instead, and its path says so
  if constexpr (sizeof...(Steps) > 0) {
    const Rung rung{.number = number + 1, .name = last_step, .type = "bf16"};
    try {
      ways.push_back(
          house(exec, o, rung, first_name(static_cast<backends::gemm_providers_before_portable<Space>*>(nullptr))));
    } catch (const Error&) {
      ways.push_back(house(exec, o, rung, ""));
    }
  }
}

using BackendSteps = backends::gemm_ladder_steps<Space>;

template <class T>
std::vector<Way<T>> ways_of(const Space& exec, const Operands<T>& o, const LadderCase& s) {
  std::vector<Way<T>> ways;
  int number = 0;
  for (const auto& step : ladder::portable_steps<Space, T>()) {
    ++number;
    // on narrower elements only the last one: the bridge from one scale to the other
    if (sizeof(T) == 2 && number < 7) continue;
    ways.push_back({{.number = number, .name = step.name, .type = type_of<T>}, [=] { step.run(exec, o.p); }});
  }
  if constexpr (sizeof(T) == 2) add_backend_steps(ways, exec, o, static_cast<BackendSteps*>(nullptr));
  if (!s.steps.empty()) {
    std::erase_if(ways, [&](const Way<T>& w) { return std::ranges::find(s.steps, w.rung.name) == s.steps.end(); });
    return ways;
  }
  if (sizeof(T) == 4)
    ways.push_back(
        house(exec, o, {.name = "tessera::gemm, portable", .type = "fp32", .kind = Kind::house}, "portable"));
  else if (std::tuple_size_v<BackendSteps> == 0)
    ways.push_back(house(exec, o, {.name = "tessera::gemm", .type = "bf16", .kind = Kind::house}, ""));
  if (s.m == 0 || s.n == 0 || s.k == 0) return ways;
  // row-major C is column-major C^T = B^T A^T
  for (const auto& peer : peers::gemm<T, T>(peers::queue_of(exec), false, false, s.n, s.m, s.k, T(1.0F), o.b.data(),
                                            o.p.b.stride, o.a.data(), o.p.a.stride, T(0.0F), o.c.data(), o.p.c.stride))
    ways.push_back({{.name = peer.name, .type = type_of<T>, .kind = Kind::library}, peer.enqueue});
  return ways;
}

template <class T>
void add_rungs(Ladder& found, App& app, const Space& exec, const LadderCase& s) {
  std::vector<Rung> rungs;
  bench::Case c;
  c.name = std::string("ladder ") + type_of<T>;
  c.flops = found.flops();
  const auto dm = static_cast<double>(s.m), dn = static_cast<double>(s.n), dk = static_cast<double>(s.k);
  c.bytes = c.footprint = sizeof(T) * (dm * dk + dk * dn + dm * dn);
  c.prepare = [&](const Space& where, int sets) {
    bench::Prepared prepared;
    for (int set = 0; set < sets; ++set) {
      const Operands<T> o(where, s);
      auto ways = ways_of(where, o, s);
      std::vector<bench::Contender> contenders;
      for (const Way<T>& way : ways)
        if (way.rung.ran()) contenders.push_back({way.rung.name, [keep = o, run = way.run] { run(); }});
      prepared.contenders.push_back(std::move(contenders));
      if (set > 0) continue;
      for (const Way<T>& way : ways) rungs.push_back(way.rung);
      prepared.worst_error = [&rungs, o, ways, where] {
        double worst = 0;
        for (std::size_t w = 0; w < ways.size(); ++w) {
          if (!rungs[w].ran() || rungs[w].kind == Kind::library) continue;
          o.spoil(where);
          ways[w].run();
          rungs[w].error = o.error(where);
          rungs[w].verified = rungs[w].error <= 1;
          worst = std::max(worst, rungs[w].error);
        }
        return worst;
      };
    }
    return prepared;
  };
  const bool timed = s.rounds > 0 && found.flops() > 0;
  if (!timed) {
    (void)c.prepare(exec, 1).worst_error();
  } else {
    bench::Effort effort{.rounds = s.rounds, .batch_seconds = is_host_space<Space> ? 0.03 : 0.01, .limit_seconds = 60};
    effort.interrupted = [&] { return app.interrupted(); };
    // four sets at most: the first steps are too slow to be sent through hundreds
    const double cache = std::min(bench::last_cache_bytes(device_of(exec)), 4 * c.footprint / 3);
    const auto result = bench::measure(exec, c, effort, cache);
    if (!result) return;
    if (!result->error.empty())
      throw Error("gemm_ladder", result->error, "steps that run to their end", "Use smaller extents");
    auto timing = result->timings.begin();
    for (Rung& r : rungs)
      if (r.ran()) {
        r.seconds = timing->seconds;
        r.spread = timing->spread;
        ++timing;
      }
  }
  found.rungs.insert(found.rungs.end(), rungs.begin(), rungs.end());
}

template <class... Steps>
void add_names(std::vector<std::string>& names, const std::tuple<Steps...>*) {
  (names.emplace_back(Steps::name), ...);
  if (sizeof...(Steps) > 0) names.emplace_back(last_step);
}

}  // namespace

std::vector<std::string> step_names() {
  std::vector<std::string> names;
  for (const auto& step : ladder::portable_steps<Space, float>()) names.emplace_back(step.name);
  add_names(names, static_cast<BackendSteps*>(nullptr));
  return names;
}

Ladder measure_ladder(App& app, const LadderCase& c) {
  const auto bytes = [&](double size) {
    const auto m = static_cast<double>(c.m), n = static_cast<double>(c.n), k = static_cast<double>(c.k);
    return size * (m * k + k * n + m * n);
  };
  app.require_memory(bytes(sizeof(float)), "Use smaller extents");
  const Space exec;
  Ladder found{.device = device_of(exec).name, .m = c.m, .n = c.n, .k = c.k, .steps = c.steps};
  add_rungs<float>(found, app, exec, c);
  if (!app.interrupted()) add_rungs<bfloat16>(found, app, exec, c);
  if (app.interrupted()) found.unfinished = "the run was interrupted";
  return found;
}

}  // namespace tessera::app
