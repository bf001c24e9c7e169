// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"
#include <algorithm>
#include <bench/report.hpp>
#include <bench/run.hpp>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fmt/format.h>
#include <unistd.h>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/config.hpp>
#include <tessera/core/device.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/scope_guard.hpp>

namespace tessera::bench {

namespace {

std::vector<Case>& registry() {
  static std::vector<Case> all;
  return all;
}

volatile std::sig_atomic_t signal_received = 0;
extern "C" void remember_bench_signal(int number) { signal_received = number; }

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = remember_bench_signal;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

std::vector<const Case*> chosen_by(const Plan& plan) {
  std::vector<const Case*> chosen;
  for (const Case& c : cases())
    if (matches(c.name, plan.filters) &&
        (c.only.empty() ? plan.set == "full" || (plan.set == "quick" && c.quick) : plan.set == c.only))
      chosen.push_back(&c);
  std::ranges::stable_sort(chosen, {}, [](const Case* c) { return c->algorithm; });
  return chosen;
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&time, &parts);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

std::string readable(double bytes) {
  return bytes < (1 << 30) ? fmt::format("{:.1f} MiB", bytes / (1 << 20))
                           : fmt::format("{:.1f} GiB", bytes / (1 << 30));
}

std::vector<std::pair<std::string, std::string>> machine_of(const DeviceInfo& device, const Plan& plan, double cache) {
  std::vector<std::pair<std::string, std::string>> machine;
  machine.emplace_back(is_host_space<Space> ? "cores" : "units", std::to_string(device.units));
  if (!device.architecture.empty())
    machine.emplace_back("architecture", device.architecture + ", built for " + device.architecture_built);
  if (device.clock_ghz > 0) machine.emplace_back("clock", fmt::format("{:.2f} GHz", device.clock_ghz));
  if (device.memory_bytes > 0) machine.emplace_back("memory", readable(static_cast<double>(device.memory_bytes)));
  machine.emplace_back("cache", readable(cache));
  machine.emplace_back(
      "Kokkos", fmt::format("{}.{}.{}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100));
  machine.emplace_back("compiler", __VERSION__);
  machine.emplace_back("date", now());
  machine.emplace_back("set", plan.set);
  std::string filters;
  for (const std::string& filter : plan.filters) filters += (filters.empty() ? "" : "; ") + filter;
  if (!filters.empty()) machine.emplace_back("filter", filters.substr(0, 1000));
  machine.emplace_back("rounds", std::to_string(plan.rounds));
  if (plan.replay) machine.emplace_back("timed", "replays of captured graphs");
  return machine;
}

/// "3 of 90, 87 to go, about 4 min", drawn over itself on a terminal.
class Progress {
 public:
  Progress(bool wanted, std::size_t total) : m_terminal(isatty(STDERR_FILENO) != 0), m_total(total) {
    m_shown = m_terminal || wanted;
  }
  void at(std::size_t done, const std::string& name) const {
    if (!m_shown) return;
    std::string left;
    if (done > 0) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count() *
                             static_cast<double>(m_total - done) / static_cast<double>(done);
      left = seconds < 90 ? fmt::format(", about {:.0f} s", seconds) : fmt::format(", about {:.0f} min", seconds / 60);
    }
    fmt::print(stderr, "{}tessera-bench: {} of {}, {} to go{}: {}{}", m_terminal ? "\r" : "", done, m_total,
               m_total - done, left, name, m_terminal ? "\033[K" : "\n");
    std::fflush(stderr);
  }
  void clear() const {
    if (m_terminal) std::fputs("\r\033[K", stderr);
  }

 private:
  bool m_terminal;
  bool m_shown = false;
  std::size_t m_total;
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

}  // namespace

void add_case(Case c) { registry().push_back(std::move(c)); }
const std::vector<Case>& cases() { return registry(); }

std::string space_name() { return Space::name(); }
bool space_replays() { return !is_host_space<Space>; }

std::vector<std::string> names_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const Case* c : chosen_by(plan)) names.push_back(c->name);
  return names;
}

Ran run(const Plan& plan, char** argv, const std::function<void(const std::string&)>& show,
        const std::function<void(const Result&)>& keep) {
  const std::vector<const Case*> chosen = chosen_by(plan);
  if (chosen.empty())
    throw Error("tessera-bench", "no case of the " + plan.set + " set matches --filter",
                "--list with --set full, sweep or shapes shows every case", "Take other words");
  int kokkos_argc = 1;
  const ScopeGuard guard(kokkos_argc, argv);
  catch_signals();
  const Space exec;
  const DeviceInfo& device = device_of(exec);
  Effort effort;
  effort.rounds = plan.rounds;
  effort.interrupted = [] { return signal_received != 0; };
  if (is_host_space<Space>) effort.batch_seconds = 0.03;
  const double cache = last_cache_bytes(device);

  const Progress progress(plan.progress, chosen.size());
  Ran ran;
  Result& result = ran.result;
  result.version = TESSERA_VERSION_STRING;
  result.backend = device.space;
  result.device = device.name;
  result.concurrency = exec.concurrency();
  result.machine = machine_of(device, plan, cache);
  result.asked = chosen.size();
  result.interrupted = true;
  progress.at(0, "the copy that the ceiling is");
  const auto copy = copy_bandwidth(exec, effort);
  effort.replay = plan.replay;
  if (copy) {
    result.copy_gb_per_s = *copy;
    progress.clear();
    show(text_header(result));
    for (const Case* c : chosen) {
      progress.at(result.cases.size(), c->name);
      auto done = measure(exec, *c, effort, cache);
      progress.clear();
      if (!done) break;
      result.cases.push_back(std::move(*done));
      show(text_row(result, result.cases.back(), peaks_of(result)));
      keep(result);
      if (effort.interrupted()) break;
    }
    show(text_summary(result));
  }
  progress.clear();
  result.interrupted = result.cases.size() < chosen.size();
  if (result.interrupted) ran.signal = signal_received;
  return ran;
}

}  // namespace tessera::bench
