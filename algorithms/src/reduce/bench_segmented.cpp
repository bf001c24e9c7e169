// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/segments.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/reduce.hpp>

namespace tessera::bench {
namespace {

template <class T>
void segmented_case(index_t n, const char* size, index_t mean, const char* length, bool quick) {
  Case c;
  c.name = std::string("segmented_reduce ") + type_name<T>() + " n=" + size + " segments of " + length;
  c.algorithm = "segmented_reduce";
  const double segments = static_cast<double>((n + mean - 1) / mean);
  c.bytes = sizeof(T) * (static_cast<double>(n) + segments) + 4 * (segments + 1);
  c.flops = static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [n, mean](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "segmented_reduce[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T*>(exec, "x", n);
      const Segments cut = random_segments(exec, n, mean);
      const auto ours = make_view<T*>(exec, "ours", cut.count), theirs = make_view<T*>(exec, "theirs", cut.count);
      fill_random(exec, x, 1);
      const auto run = [=] { segmented_reduce(exec, x, cut.offsets, Sum{}, ours); };
      prepared.contenders.push_back(contenders(
          run, peers::segmented_sum<T>(peers::queue_of(exec), x.data(), cut.count, cut.offsets.data(), theirs.data()),
          std::tuple(x, cut, theirs)));
      if (s == 0)
        prepared.worst_error = [=] {
          run();
          const T *const in = x.data(), *const out = ours.data();
          const std::int32_t* const offsets = cut.offsets.data();
          // against the plainest text in fp64: both sums err by m u times that of magnitudes, then one rounding to T
          constexpr double eps = std::numeric_limits<T>::epsilon(), eps64 = std::numeric_limits<double>::epsilon();
          double worst = 0;
          Kokkos::parallel_reduce(
              "tessera::bench::segments_differ", Range<Space>(exec, 0, cut.count),
              KOKKOS_LAMBDA(index_t i, double& w) {
                double sum = 0, magnitudes = 0;
                for (index_t j = offsets[i]; j < offsets[i + 1]; ++j) {
                  sum += static_cast<double>(in[j]);
                  magnitudes += Kokkos::fabs(static_cast<double>(in[j]));
                }
                const auto terms = static_cast<double>(offsets[i + 1] - offsets[i]);
                const double allowed = eps / 2 * Kokkos::fabs(sum) + terms * eps64 * magnitudes + 1e-300;
                const double e = Kokkos::fabs(static_cast<double>(out[i]) - sum) / allowed;
                if (!(e <= w)) w = e == e ? e : 1e300;
              },
              Kokkos::Max<double>(worst));
          return worst;
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  constexpr bool host = is_host_space<Space>;
  const index_t large = host ? 20'000'000 : index_t{1} << 28;
  const char* const size = host ? "2e7" : "2^28";
  segmented_case<float>(large, size, 30, "30", false);
  segmented_case<float>(large, size, 1000, "1000", true);
  segmented_case<float>(large, size, 1'000'000, "1e6", false);
  segmented_case<double>(large / 2, host ? "1e7" : "2^27", 30, "30", false);
  segmented_case<double>(large / 2, host ? "1e7" : "2^27", 1000, "1000", false);
  segmented_case<double>(1'000'000, "1e6", 100, "100", false);
});

}  // namespace
}  // namespace tessera::bench
