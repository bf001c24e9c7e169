// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <string>

#include <tessera/core/log.hpp>
#include <tessera/core/plan.hpp>
#include <tessera/core/tuning.hpp>
#include <tessera/gemm/problem.hpp>

/// \file
/// Measuring which path is fastest for a problem, on the device and with the operands that it has.

namespace tessera::detail {

/// A C of the problem's strides and alignment in memory of its own, so that the user's stays as it is; of a batch all.
template <class Types, class Space>
class GemmStandIn {
 public:
  GemmStandIn(const Space& exec, const GemmProblem<Types>& problem) {
    const MatrixRef<typename Types::out>& c = problem.c;
    index_t first = 0, last = 0;  // elements that C reaches, from its pointer
    (problem.c_batch < 0 ? first : last) += (problem.batches - 1) * problem.c_batch;
    for (int d = 0; d < 2; ++d) {
      const index_t step = (c.extents[d] - 1) * c.strides[d];
      (step < 0 ? first : last) += step;
    }
    const auto behind = reinterpret_cast<std::uintptr_t>(c.pointer + first) % alignment;
    m_memory = Kokkos::View<char*, typename Space::memory_space>(
        Kokkos::view_alloc(exec, "tessera::gemm::tuning"),
        2 * alignment + static_cast<std::size_t>(last - first + 1) * sizeof(typename Types::out));
    const auto start = reinterpret_cast<std::uintptr_t>(m_memory.data());
    m_offset = (alignment - start % alignment) % alignment + behind;
    m_c = c;
    m_c.pointer = reinterpret_cast<typename Types::out*>(m_memory.data() + m_offset) - first;
  }
  [[nodiscard]] const MatrixRef<typename Types::out>& c() const { return m_c; }

 private:
  static constexpr std::uintptr_t alignment = 256;
  Kokkos::View<char*, typename Space::memory_space> m_memory;
  std::size_t m_offset = 0;
  MatrixRef<typename Types::out> m_c;
};

/// Seconds of one run where many follow one another: the best of three rounds. A first run that takes over four times
/// `best` is taken for the answer.
template <class Space, class Run>
double seconds_of(const Space& exec, double best, const Run& run) {
  const auto round = [&](int runs) {
    exec.fence("tessera::gemm::tuning");
    const Kokkos::Timer timer;
    for (int i = 0; i < runs; ++i) run();
    exec.fence("tessera::gemm::tuning");
    return timer.seconds() / runs;
  };
  round(1);  // what a first run loads
  double least = round(1);
  if (least > 4 * best) return least;
  const int runs = static_cast<int>(std::clamp(1e-3 / (least + 1e-9), 1.0, 100.0));
  for (int i = 0; i < 3; ++i) least = std::min(least, round(runs));
  return least;
}

/// Runs every path and configuration that can take the problem, C elsewhere, and remembers the fastest.
template <class Types, class Space, class... Providers>
void tune_gemm(const Space& exec, GemmProblem<Types> problem, const DeviceInfo& device, std::string_view types,
               std::string_view signature, const std::tuple<Providers...>& providers) {
  if (problem.c.size() == 0 || problem.batches == 0) return;
  const GemmStandIn<Types, Space> stand_in(exec, problem);
  problem.c = stand_in.c();
  problem.alpha = {};
  problem.alpha.value = typename Types::accumulator(1);
  problem.beta = {};
  std::string fastest;
  double best = 1e9;
  std::size_t number = 0;
  for (const Candidate& candidate : candidates_of<Types, Space>(problem, device, providers)) {
    const std::size_t provider = number++;
    if (!candidate.compiled || !candidate.can_run({true, -1})) continue;
    const auto names = candidate.configurations ? candidate.configurations() : std::vector<std::string>{""};
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (candidate.configurations && names[k].empty()) continue;
      const std::string path = std::string(candidate.name) + (names[k].empty() ? "" : " " + names[k]);
      // what is kept with a choice is not to be found anew in every run
      const int configuration = candidate.configurations ? static_cast<int>(k)
                                : candidate.choose       ? candidate.choose({true, -1})
                                                         : -1;
      const auto p = asked_for(problem, {true, configuration});
      with_provider<Types, Space>(provider, providers, [&]<class Provider>() {
        const std::size_t bytes = Provider::workspace_bytes(p);
        const Kokkos::View<char*, typename Space::memory_space> workspace(
            Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "tessera::gemm::tuning"), bytes);
        const double seconds =
            seconds_of(exec, best, [&] { Provider::run(exec, p, GemmWorkspace{workspace.data(), bytes}); });
        log_line("tuning", path + ": " + std::to_string(seconds * 1e6) + " us");
        if (seconds < best) {
          best = seconds;
          fastest = path;
        }
      });
    }
  }
  remember_tuned("gemm", device, types, signature, fastest, best);
}

}  // namespace tessera::detail
