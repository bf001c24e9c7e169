// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <common/app.hpp>
#include <limits>

namespace tessera::app {
namespace {

struct Options {
  index_t size = index_t{1} << 25;
  int repetitions = 20;
  std::string precision = "fp64";
};

enum Kernel : std::size_t { k_copy, k_mul, k_add, k_triad, k_dot, kernels };
constexpr std::array<const char*, kernels> kernel_names = {"copy", "mul", "add", "triad", "dot"};
constexpr std::array<double, kernels> arrays_moved = {2, 2, 3, 3, 2};

/// Largest relative distance of an array's elements from one value.
template <class T>
struct Distance {
  const T* data;
  double value;
  KOKKOS_FUNCTION void operator()(index_t i, double& worst) const {
    const double d = Kokkos::fabs(static_cast<double>(data[i]) - value) / value;
    if (!(d <= worst)) worst = d == d ? d : 1e300;  // a maximum need not keep NaN
  }
};

template <class T>
double distance(const Space& exec, const Kokkos::View<T*, Space>& array, double value) {
  double worst = 0;
  Kokkos::parallel_reduce("tessera::stream::verify", Range<Space>(exec, 0, static_cast<index_t>(array.extent(0))),
                          Distance<T>{array.data(), value}, Kokkos::Max<double>(worst));
  return worst;
}

using Times = std::array<std::vector<double>, kernels>;

/// The kernels once, in BabelStream's order; appends the seconds of the slowest rank to `times` where it is given.
template <class T, class Stream>
double iterate(const App& app, const Stream& stream, Times* times) {
  double result = 0;
  for (std::size_t k = 0; k < kernels; ++k) {
    stream.exec.fence("tessera::stream::before");
    if (app.world().size() > 1) app.world().barrier();
    const Stopwatch watch;
    switch (k) {
      case k_copy:
        stream.copy();
        break;
      case k_mul:
        stream.mul();
        break;
      case k_add:
        stream.add();
        break;
      case k_triad:
        stream.triad();
        break;
      default:
        result = stream.dot();
        break;
    }
    stream.exec.fence("tessera::stream::after");
    const double seconds = app.world().all_reduce(watch.seconds(), Reduction::max);
    if (times != nullptr) (*times)[k].push_back(seconds);
  }
  return result;
}

template <class T>
bool stream(App& app, const Options& o) {
  // BabelStream's start values
  constexpr double a0 = 0.1, b0 = 0.2, c0 = 0.0, scalar = 0.4;
  const index_t n = o.size;
  const double array_bytes = static_cast<double>(n) * sizeof(T);
  app.require_memory(3 * array_bytes, "Use a smaller --size");
  const Space exec;
  const auto make = [&](const std::string& label) {
    return Kokkos::View<T*, Space>(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), n);
  };
  const auto a = make("tessera::stream::a"), b = make("tessera::stream::b"), c = make("tessera::stream::c");
  Kokkos::deep_copy(exec, a, static_cast<T>(a0));
  Kokkos::deep_copy(exec, b, static_cast<T>(b0));
  Kokkos::deep_copy(exec, c, static_cast<T>(c0));
  const OurStream<T, Space> ours{exec, a, b, c, static_cast<T>(scalar)};
  const PeerStream<T, Space> peer{exec, a, b, c, static_cast<T>(scalar)};

  app.print("stream: {} arrays of {} {} values ({} each) on {}, {} repetitions, against {}\n", 3, n, o.precision,
            readable_bytes(array_bytes), Space::name(), o.repetitions, peer.name());
  Times our_times, peer_times;
  double our_dot = 0, peer_dot = 0;
  int done = 0;
  iterate<T>(app, ours, nullptr);  // not timed: pages, caches, code
  iterate<T>(app, peer, nullptr);
  for (; done < o.repetitions && !app.interrupted(); ++done) {
    // turn about who goes first, so that neither always finds what the other left in the cache
    if (done % 2 == 0) our_dot = iterate<T>(app, ours, &our_times);
    peer_dot = iterate<T>(app, peer, &peer_times);
    if (done % 2 == 1) our_dot = iterate<T>(app, ours, &our_times);
    app.progress(static_cast<double>(done + 1) / o.repetitions);
  }

  // Every kernel ran 2 * (repetitions + 1) times. Each operation rounds once, so a, b and c are off by at most one
  // eps for each of the five roundings of an iteration, and the dot by that and the rounding of its sum.
  using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;
  const int iterations = 2 * (done + 1);
  Wide ga = static_cast<T>(a0), gb = static_cast<T>(b0), gc = static_cast<T>(c0);
  Wide ga_at_our_dot = ga, gb_at_our_dot = gb;
  const int our_last = done > 0 && (done - 1) % 2 == 0 ? iterations - 2 : iterations - 1;  // iteration of our last dot
  for (int i = 0; i < iterations; ++i) {
    gc = ga;
    gb = static_cast<Wide>(static_cast<T>(scalar)) * gc;
    gc = ga + gb;
    ga = gb + static_cast<Wide>(static_cast<T>(scalar)) * gc;
    if (i == our_last) ga_at_our_dot = ga, gb_at_our_dot = gb;
  }
  const double eps = std::numeric_limits<T>::epsilon();
  const double bound = 5.0 * iterations * eps;
  const double worst = std::max({distance(exec, a, static_cast<double>(ga)), distance(exec, b, static_cast<double>(gb)),
                                 distance(exec, c, static_cast<double>(gc))});
  const double exact_dot = static_cast<double>(ga_at_our_dot * gb_at_our_dot * static_cast<Wide>(n));
  const double dot_error = n == 0 || done == 0 ? 0 : std::abs(our_dot - exact_dot) / exact_dot;
  const double dot_bound = 2 * bound + eps + static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  const bool right = app.world().all_agree(worst <= bound && dot_error <= dot_bound);

  Table table({"kernel", "min GB/s", "median GB/s", "max GB/s", std::string(peer.name()) + " median", "ratio"});
  Json rows = Json::array();
  for (std::size_t k = 0; k < kernels && done > 0; ++k) {
    const double bytes = arrays_moved[k] * array_bytes * app.world().size();
    const auto rates = [&](const std::vector<double>& seconds) {
      const Spread s = spread(seconds);
      return Spread{bytes / s.max * 1e-9, bytes / s.median * 1e-9, bytes / s.min * 1e-9};
    };
    const Spread mine = rates(our_times[k]), theirs = rates(peer_times[k]);
    std::vector<double> ratios;
    ratios.reserve(our_times[k].size());
    for (std::size_t r = 0; r < our_times[k].size(); ++r) ratios.push_back(peer_times[k][r] / our_times[k][r]);
    const double ratio = spread(ratios).median;
    table.row({kernel_names[k], fmt::format("{:.2f}", mine.min), fmt::format("{:.2f}", mine.median),
               fmt::format("{:.2f}", mine.max), fmt::format("{:.2f}", theirs.median), fmt::format("{:.3f}", ratio)});
    rows.push_back({{"kernel", kernel_names[k]},
                    {"gb_per_s_min", mine.min},
                    {"gb_per_s_median", mine.median},
                    {"gb_per_s_max", mine.max},
                    {"peer_gb_per_s_median", theirs.median},
                    {"ratio", ratio}});
    app.timing(kernel_names[k], spread(our_times[k]).median, {.bytes = bytes});
  }
  app.write_text(table.text());
  app.print("  ratio: the peer's time over ours in the same repetition, median; above 1 we are faster\n");
  app.print("  largest relative error {:.2e} (bound {:.2e}), of the dot {:.2e} (bound {:.2e}): {}\n", worst, bound,
            dot_error, dot_bound, right ? "verified" : "WRONG");
  if (done < o.repetitions) app.print("  interrupted after {} of {} repetitions\n", done, o.repetitions);
  app.result("kernels", std::move(rows));
  app.result("peer", peer.name());
  app.result("repetitions", done);
  app.result("max_relative_error", worst);
  app.result("max_relative_error_bound", bound);
  app.result("dot_relative_error", dot_error);
  app.result("dot_relative_error_bound", dot_bound);
  app.result("peer_dot", peer_dot);
  return right;
}

}  // namespace
}  // namespace tessera::app

int main(int argc, char** argv) {
  using namespace tessera::app;
  Options o;
  App app({.name = "stream",
           .summary =
               "Measures memory bandwidth with BabelStream's five kernels (copy, mul, add, triad, dot), verifies "
               "the arrays, and compares each kernel with a hand-written loop in the same run.",
           .examples = "  stream                                   three arrays of 2^25 doubles\n"
                       "  stream --size 1000000 --precision fp32   a size that fits in caches\n"});
  app.option("--size", o.size, "Elements of each of the three arrays, on each rank [elements]")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 50));
  app.option("--repetitions", o.repetitions, "Timed runs of each kernel")->check(CLI::Range(1, 1000000));
  app.option("--precision", o.precision, "Type of the elements: fp32 or fp64")->check(CLI::IsMember({"fp32", "fp64"}));
  return app.run(argc, argv, [&] { return o.precision == "fp32" ? stream<float>(app, o) : stream<double>(app, o); });
}
