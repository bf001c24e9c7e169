// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/random_fill.hpp>

namespace tessera::bench {
namespace {

/// The distance of the mean and of the variance of n numbers from what they should be, in units of six standard
/// deviations of those of independent numbers; beyond 1 once in 5e8 times.
template <class T>
double moments_off(const Space& exec, const T* y, index_t n, bool normal) {
  double sum = 0, squares = 0;
  const double mean = normal ? 0 : 0.5;
  Kokkos::parallel_reduce(
      "tessera::bench::moments", Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i, double& s, double& q) {
        const double d = static_cast<double>(y[i]) - mean;
        s += d;
        q += d * d;
      },
      sum, squares);
  const double count = static_cast<double>(n), variance = normal ? 1 : 1.0 / 12;
  const double fourth = normal ? 3 : 1.0 / 80;  // moment about the mean
  const double mean_off = Kokkos::fabs(sum / count) / (6 * Kokkos::sqrt(variance / count));
  const double variance_off =
      Kokkos::fabs(squares / count - variance) / (6 * Kokkos::sqrt((fourth - variance * variance) / count));
  return mean_off < variance_off ? variance_off : mean_off;
}

template <class T>
void random_case(bool normal, index_t n, const char* size, bool quick) {
  Case c;
  c.name = std::string(normal ? "random_normal " : "random_fill ") + type_name<T>() + " n=" + size;
  c.algorithm = "random_fill";
  c.bytes = 1.0 * sizeof(T) * static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [=](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "random_fill[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto ours = make_view<T*>(exec, "ours", n), theirs = make_view<T*>(exec, "theirs", n);
      const RandomStream from{.seed = 7, .stream = static_cast<std::uint64_t>(s)};
      const auto run = [=] {
        if (normal)
          random_normal(exec, ours, from);
        else
          random_fill(exec, ours, from);
      };
      prepared.contenders.push_back(
          contenders(run, peers::random<T>(peers::queue_of(exec), normal, n, theirs.data()), std::pair(ours, theirs)));
      if (s == 0)
        prepared.worst_error = [=] {
          Kokkos::deep_copy(exec, ours, T(1e4));
          run();
          return moments_off(exec, ours.data(), n, normal);
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  const index_t large = is_host_space<Space> ? 20'000'000 : 200'000'000;
  const char* const size = is_host_space<Space> ? "2e7" : "2e8";
  for (const bool normal : {false, true}) {
    random_case<float>(normal, large, size, true);
    random_case<double>(normal, large, size, false);
    random_case<float>(normal, 1'000'000, "1e6", false);
  }
});

}  // namespace
}  // namespace tessera::bench
