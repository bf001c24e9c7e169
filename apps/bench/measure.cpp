// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <tessera/backends/peers.hpp>

namespace tessera::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Wall time of `calls` calls that rotate through the operand sets, work included.
double batch(const Space& exec, const Prepared& prepared, std::size_t contender, long calls) {
  exec.fence("tessera::bench::before");
  const auto start = Clock::now();
  for (long i = 0; i < calls; ++i)
    prepared.contenders[static_cast<std::size_t>(i) % prepared.contenders.size()][contender].enqueue();
  exec.fence("tessera::bench::after");
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Calls in a batch of at least `seconds`, a multiple of the number of sets so that each is used alike.
long calibrate(const Space& exec, const Prepared& prepared, std::size_t contender, double seconds) {
  const auto sets = static_cast<long>(prepared.contenders.size());
  long calls = sets;
  for (int attempt = 0; attempt < 12; ++attempt) {
    const double took = batch(exec, prepared, contender, calls);
    if (took >= seconds) break;
    const double factor = std::clamp(1.2 * seconds / std::max(took, 1e-7), 1.5, 50.0);
    calls = static_cast<long>(std::ceil(static_cast<double>(calls) * factor / static_cast<double>(sets))) * sets;
  }
  return calls;
}

Timing summary(const std::string& name, std::vector<double>& samples) {
  std::ranges::sort(samples);
  const auto at = [&](double q) {
    return samples[static_cast<std::size_t>(std::lround(q * static_cast<double>(samples.size() - 1)))];
  };
  return {name, at(0.5), (at(0.75) - at(0.25)) / at(0.5)};
}

/// Empty where it was interrupted.
std::vector<Timing> alternate(const Space& exec, const Prepared& prepared, const Effort& effort) {
  const std::size_t n = prepared.contenders.front().size();
  std::vector<long> calls(n);
  std::vector<std::vector<double>> samples(n);
  for (std::size_t c = 0; c < n; ++c) {
    if (effort.interrupted()) return {};
    batch(exec, prepared, c, 1);
    calls[c] = calibrate(exec, prepared, c, effort.batch_seconds);
  }
  const auto start = Clock::now();
  for (int round = 0; round < effort.rounds; ++round) {
    for (std::size_t c = 0; c < n; ++c) {
      if (effort.interrupted()) return {};
      samples[c].push_back(batch(exec, prepared, c, calls[c]) / static_cast<double>(calls[c]));
    }
    if (round >= 2 && std::chrono::duration<double>(Clock::now() - start).count() > effort.limit_seconds) break;
  }
  std::vector<Timing> timings;
  timings.reserve(n);
  for (std::size_t c = 0; c < n; ++c) timings.push_back(summary(prepared.contenders.front()[c].name, samples[c]));
  return timings;
}

}  // namespace

double last_cache_bytes(const DeviceInfo& device) {
  // a host's l2 is one core's
  const double l2 = static_cast<double>(device.l2_bytes) * (is_host_space<Space> ? std::max(device.units, 1) : 1);
  const double largest = std::max(l2, static_cast<double>(device.l3_bytes));
  return largest > 0 ? largest : 32.0 * (1 << 20);
}

std::optional<CaseResult> measure(const Space& exec, const Case& c, const Effort& effort, double cache_bytes) {
  CaseResult result;
  result.name = c.name;
  result.algorithm = c.algorithm;
  result.bytes = c.bytes;
  result.flops = c.flops;
  // several small operands a set: beyond some hundred sets their allocations would take longer than the timing
  constexpr double most_sets = 512;
  const double footprint = std::max(c.footprint, 1.0);
  result.operand_sets = static_cast<int>(std::clamp(std::ceil(3 * cache_bytes / footprint), 1.0, most_sets));
  result.past_cache = result.operand_sets * footprint > cache_bytes;
  try {
    const Prepared prepared = c.prepare(exec, result.operand_sets);
    result.path = prepared.path;
    result.worst_error = prepared.worst_error();
    result.verified = result.worst_error <= 1;
    result.timings = alternate(exec, prepared, effort);
    if (result.timings.empty()) return std::nullopt;
  } catch (const std::exception& error) {
    result.verified = false;
    result.error = error.what();
    if (result.error.empty()) result.error = "unknown error";
  }
  return result;
}

std::optional<double> copy_bandwidth(const Space& exec, const Effort& effort) {
  const index_t n = is_host_space<Space> ? index_t{1} << 25 : index_t{1} << 28;
  const auto from = make_view<double*>(exec, "copy_from", n);
  const auto to = make_view<double*>(exec, "copy_to", n);
  fill_random(exec, from, 1);
  fill_random(exec, to, 2);
  Prepared prepared;
  prepared.contenders.emplace_back();
  for (auto& peer : peers::copy(peers::queue_of(exec), to.data(), from.data(), static_cast<std::size_t>(n) * 8))
    prepared.contenders[0].push_back({peer.name, peer.enqueue});
  const std::vector<Timing> timings = alternate(exec, prepared, effort);
  if (timings.empty()) return std::nullopt;
  double seconds = timings[0].seconds;
  for (const Timing& t : timings) seconds = std::min(seconds, t.seconds);
  return 16.0 * static_cast<double>(n) / seconds / 1e9;
}

}  // namespace tessera::bench
