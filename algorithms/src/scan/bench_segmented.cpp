// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/segments.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/scan.hpp>

namespace tessera::bench {
namespace {

template <class T>
void segmented_case(index_t n, const char* size, index_t mean, const char* length, bool quick) {
  Case c;
  c.name = std::string("segmented_scan ") + type_name<T>() + " n=" + size + " segments of " + length;
  c.algorithm = "segmented_scan";
  c.bytes = (2.0 * sizeof(T) + 1) * static_cast<double>(n);
  c.flops = static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [n, mean](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "segmented_scan[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T*>(exec, "x", n), y = make_view<T*>(exec, "y", n), z = make_view<T*>(exec, "z", n);
      const auto heads = make_view<std::uint8_t*>(exec, "heads", n);
      const Segments cut = random_segments(exec, n, mean);
      fill_random(exec, x, 1);
      Kokkos::deep_copy(exec, heads, std::uint8_t{0});
      std::uint8_t* const flags = heads.data();
      const std::int32_t* const offsets = cut.offsets.data();
      Kokkos::parallel_for(
          "tessera::bench::heads", Range<Space>(exec, 0, cut.count), KOKKOS_LAMBDA(index_t i) {
            if (offsets[i] < n) flags[offsets[i]] = 1;
          });
      const auto run = [=] { segmented_inclusive_scan(exec, x, heads, y); };
      prepared.contenders.push_back(
          contenders(run, peers::segmented_scan<T>(peers::queue_of(exec), n, x.data(), heads.data(), z.data()),
                     std::tuple(x, heads, cut, z)));
      if (s == 0)
        prepared.worst_error = [=] {
          run();
          const T *const in = x.data(), *const out = y.data();
          // against the plainest text in fp64: terms below 1, so the sum of magnitudes is below their number
          constexpr double allowed = (16.0 + (sizeof(T) == 8 ? 40 : 0)) * std::numeric_limits<T>::epsilon();
          double worst = 0;
          Kokkos::parallel_reduce(
              "tessera::bench::segments_differ", Range<Space>(exec, 0, cut.count),
              KOKKOS_LAMBDA(index_t i, double& w) {
                double sum = 0;
                for (index_t j = offsets[i]; j < offsets[i + 1]; ++j) {
                  sum += static_cast<double>(in[j]);
                  const double e = Kokkos::fabs(static_cast<double>(out[j]) - sum) /
                                   (allowed * static_cast<double>(j - offsets[i] + 1));
                  if (!(e <= w)) w = e == e ? e : 1e300;
                }
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
  segmented_case<float>(large, size, 100, "100", true);
  segmented_case<float>(large, size, 100'000, "1e5", false);
  segmented_case<double>(large / 2, host ? "1e7" : "2^27", 100, "100", false);
  segmented_case<float>(1'000'000, "1e6", 100, "100", false);
});

}  // namespace
}  // namespace tessera::bench
