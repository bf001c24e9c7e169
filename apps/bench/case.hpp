// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tessera/core/execution.hpp>
#include <tessera/core/types.hpp>

/// \file
/// What a benchmark case is. Adding one is one small file beside its algorithm, algorithms/src/<name>/bench.cpp,
/// that calls add_case() from a Registration; the bench collects them.

namespace tessera::bench {

using Space = Kokkos::DefaultExecutionSpace;

/// One way to do the work of a case; the first one of a case is Tessera's. `enqueue` starts the work on the
/// bench's instance and need not wait.
struct Contender {
  std::string name;
  std::function<void()> enqueue;
};

/// A case with its operands allocated and filled. `sets` operand sets are rotated through, so that small operands
/// do not stay in the last-level cache: contender `c` works on set `s` by contenders[s][c].
struct Prepared {
  std::vector<std::vector<Contender>> contenders;
  std::string path;  ///< the path that Tessera chose
  /// Runs Tessera on set 0 and gives the worst error of its result in units of its bound: <= 1 is right. Called once,
  /// before timing. Peers' results are not looked at.
  std::function<double()> worst_error;
};

struct Case {
  std::string name;       ///< "dot fp64 n=1e8": unique
  std::string algorithm;  ///< "dot"
  double bytes = 0;       ///< least traffic: each input read once, each output written once
  double flops = 0;
  double footprint = 0;  ///< bytes of one operand set
  bool quick = false;    ///< member of the quick set
  std::string only;      ///< the one set that it is a member of, "sweep" or "shapes"; empty: full, and what quick says
  std::function<Prepared(const Space&, int sets)> prepare;
};

void add_case(Case c);
[[nodiscard]] const std::vector<Case>& cases();

/// Registers cases before main, in the file that defines them.
struct Registration {
  explicit Registration(void (*add)()) { add(); }
};

/// Uniform values in [-1, 1), the same for the same seed on every backend.
template <class View>
void fill_random(const Space& exec, const View& view, std::uint64_t seed);

namespace detail {
/// SplitMix64: enough for operands that must look random and be reproducible.
TESSERA_INLINE_FUNCTION double uniform(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * (2.0 / 9007199254740992.0) - 1.0;
}
}  // namespace detail

template <class View>
void fill_random(const Space& exec, const View& view, std::uint64_t seed) {
  using T = typename View::non_const_value_type;
  T* const p = view.data();
  Kokkos::parallel_for(
      "tessera::bench::fill", Range<Space>(exec, 0, static_cast<index_t>(view.span())),
      KOKKOS_LAMBDA(index_t i) { p[i] = T(detail::uniform(seed, static_cast<std::uint64_t>(i))); });
}

/// A fresh view without initialisation.
template <class Data, class Layout = Kokkos::LayoutLeft, class... N>
[[nodiscard]] auto make_view(const Space& exec, const char* name, N... n) {
  return Kokkos::View<Data, Layout, Space>(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string("tessera::bench::") + name),
      static_cast<std::size_t>(n)...);
}

/// Largest |a_i - b_i| / (absolute + relative * |b_i|) over n elements in the space's memory.
template <class T>
[[nodiscard]] double worst_difference(const Space& exec, const T* a, const T* b, index_t n, double relative,
                                      double absolute) {
  double worst = 0;
  Kokkos::parallel_reduce(
      "tessera::bench::compare", Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i, double& w) {
        const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
        const double e = Kokkos::fabs(x - y) / (absolute + relative * Kokkos::fabs(y));
        if (!(e <= w)) w = e == e ? e : 1e300;  // a NaN must not be lost by the reduction
      },
      Kokkos::Max<double>(worst));
  return worst;
}

/// Name of an element type in case names.
template <class T>
[[nodiscard]] constexpr const char* type_name() {
  if constexpr (std::is_same_v<T, double>) return "fp64";
  if constexpr (std::is_same_v<T, float>) return "fp32";
  if constexpr (std::is_same_v<T, half>) return "fp16";
  if constexpr (std::is_same_v<T, bfloat16>) return "bf16";
  if constexpr (std::is_same_v<T, Kokkos::complex<double>>) return "complex fp64";
  return "?";
}

/// Tessera first, then the peers; `keep` holds what the operands live in.
template <class Peers, class Keep>
[[nodiscard]] std::vector<Contender> contenders(std::function<void()> ours, const Peers& peers, const Keep& keep) {
  std::vector<Contender> list{{"tessera", std::move(ours)}};
  for (const auto& peer : peers) list.push_back({peer.name, [keep, run = peer.enqueue] { run(); }});
  return list;
}

/// One value from the space's memory.
template <class T>
[[nodiscard]] T fetch(const Space& exec, const Kokkos::View<T, Space>& view) {
  T value{};
  Kokkos::deep_copy(exec, value, view);
  exec.fence("tessera::bench::fetch");
  return value;
}

}  // namespace tessera::bench
