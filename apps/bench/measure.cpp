// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <tessera/backends/peers.hpp>

namespace tessera::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Wall time of start(0), start(1), ..., work included.
template <class Start>
double batch(const Space& exec, const Start& start, long starts) {
  exec.fence("tessera::bench::before");
  const auto from = Clock::now();
  for (long i = 0; i < starts; ++i) start(i);
  exec.fence("tessera::bench::after");
  return std::chrono::duration<double>(Clock::now() - from).count();
}

/// Starts in a batch of at least `seconds`, a multiple of `step`.
template <class Start>
long calibrate(const Space& exec, const Start& start, long step, double seconds) {
  long starts = step;
  for (int attempt = 0; attempt < 12; ++attempt) {
    const double took = batch(exec, start, starts);
    if (took >= seconds) break;
    const double factor = std::clamp(1.2 * seconds / std::max(took, 1e-7), 1.5, 50.0);
    starts = static_cast<long>(std::ceil(static_cast<double>(starts) * factor / static_cast<double>(step))) * step;
  }
  return starts;
}

/// Calls of one graph: as a batch has, but no more than keep its making short. Each operand set is used alike.
long calls_of_graph(long calls, long sets) {
  constexpr long most = 256;
  return std::min(calls, std::max(sets, most / sets * sets));
}

/// Text of others, as a report can hold it: one line of bounded length.
std::string as_line(std::string text) {
  constexpr std::size_t most = 1000;
  if (text.size() > most) {
    std::size_t end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // not within a letter
    text.resize(end);
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool pair = byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (pair) text[i + 1] = ' ';  // a C1 control
    if (pair || byte < 0x20 || byte == 0x7f) text[i] = ' ';
  }
  return text;
}

Timing summary(const std::string& name, std::vector<double>& samples) {
  std::ranges::sort(samples);
  const auto at = [&](double q) {
    return samples[static_cast<std::size_t>(std::lround(q * static_cast<double>(samples.size() - 1)))];
  };
  return {name, at(0.5), (at(0.75) - at(0.25)) / at(0.5)};
}

/// The i-th call of a contender.
auto calls_of(const Prepared& prepared, std::size_t contender) {
  return [&prepared, contender](long i) {
    prepared.contenders[static_cast<std::size_t>(i) % prepared.contenders.size()][contender].enqueue();
  };
}

/// A graph of so many calls of one contender, and how often a sample replays it.
struct Graph {
  std::function<void()> launch;
  long calls = 0;
  long launches = 0;
};

/// A graph a contender, whose calls have run on every set before, so that handles, workspaces and kernels are there.
/// Fewer where one could not be captured; `refusal` then says which, and why.
std::vector<Graph> capture(const Space& exec, const Prepared& prepared, const Effort& effort,
                           const std::vector<long>& calls, std::string& refusal) {
  std::vector<Graph> graphs;
  for (std::size_t c = 0; c < calls.size() && !effort.interrupted(); ++c) {
    Graph graph;
    graph.calls = calls_of_graph(calls[c], static_cast<long>(prepared.contenders.size()));
    peers::Replay replay = peers::capture(peers::queue_of(exec), [&, call = calls_of(prepared, c)] {
      for (long i = 0; i < graph.calls; ++i) call(i);
    });
    if (replay.launch && replay.nodes < static_cast<std::size_t>(graph.calls))
      replay = {{}, 0, "a part of its calls went elsewhere"};
    if (!replay.launch) {
      refusal = as_line(prepared.contenders.front()[c].name + ": " + replay.refusal);
      break;
    }
    graph.launch = std::move(replay.launch);
    graph.launches = calibrate(exec, [&](long) { graph.launch(); }, 1, effort.batch_seconds);
    graphs.push_back(std::move(graph));
  }
  return graphs;
}

struct Alternated {
  std::vector<Timing> timings;  ///< empty where it was interrupted
  bool replayed = false;
  std::string not_replayed;  ///< why, where that was asked for
};

Alternated alternate(const Space& exec, const Prepared& prepared, const Effort& effort) {
  const std::size_t n = prepared.contenders.front().size();
  Alternated found;
  std::vector<long> calls(n);
  for (std::size_t c = 0; c < n; ++c) {
    if (effort.interrupted()) return {};
    batch(exec, calls_of(prepared, c), 1);
    calls[c] =
        calibrate(exec, calls_of(prepared, c), static_cast<long>(prepared.contenders.size()), effort.batch_seconds);
  }
  std::vector<Graph> graphs;
  if (effort.replay) {
    graphs = capture(exec, prepared, effort, calls, found.not_replayed);
    found.replayed = graphs.size() == n;
  }
  const auto seconds_of_call = [&](std::size_t c) {
    if (!found.replayed) return batch(exec, calls_of(prepared, c), calls[c]) / static_cast<double>(calls[c]);
    const Graph& g = graphs[c];
    return batch(exec, [&](long) { g.launch(); }, g.launches) / static_cast<double>(g.launches * g.calls);
  };
  std::vector<std::vector<double>> samples(n);
  const auto start = Clock::now();
  for (int round = 0; round < effort.rounds; ++round) {
    for (std::size_t c = 0; c < n; ++c) {
      if (effort.interrupted()) return {};
      samples[c].push_back(seconds_of_call(c));
    }
    if (round >= 2 && std::chrono::duration<double>(Clock::now() - start).count() > effort.limit_seconds) break;
  }
  for (std::size_t c = 0; c < n; ++c) found.timings.push_back(summary(prepared.contenders.front()[c].name, samples[c]));
  return found;
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
    Alternated found = alternate(exec, prepared, effort);
    if (found.timings.empty()) return std::nullopt;
    result.timings = std::move(found.timings);
    result.replayed = found.replayed;
    result.not_replayed = std::move(found.not_replayed);
  } catch (const std::exception& error) {
    result.verified = false;
    result.error = as_line(error.what());
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
  const std::vector<Timing> timings = alternate(exec, prepared, effort).timings;
  if (timings.empty()) return std::nullopt;
  double seconds = timings[0].seconds;
  for (const Timing& t : timings) seconds = std::min(seconds, t.seconds);
  return 16.0 * static_cast<double>(n) / seconds / 1e9;
}

}  // namespace tessera::bench
