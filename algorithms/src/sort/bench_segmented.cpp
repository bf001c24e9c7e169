// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench_keys.hpp"
#include <bench/segments.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/sort.hpp>

namespace tessera::bench {
namespace {

/// 0 where `out` rises in each segment and holds the keys that `in` has there.
template <class T>
double faults(const Space& exec, const T* in, const T* out, const Segments& cut, index_t n) {
  const std::int32_t* const offsets = cut.offsets.data();
  const index_t count = cut.count;
  double wrong = 0;
  std::uint64_t difference = 0;
  Kokkos::parallel_reduce(
      "tessera::bench::order", Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i, double& w, std::uint64_t& d) {
        const index_t segment = segment_of(offsets, count, i);
        if (i > offsets[segment] && out[i - 1] > out[i]) w += 1;
        // a hash of key and segment, so that a key in a wrong segment is seen
        const auto hash = [&](T key) {
          const auto bits = tessera::detail::bit_cast<std::uint64_t>(static_cast<double>(key));
          std::uint64_t z = (bits ^ static_cast<std::uint64_t>(segment) * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
          z ^= z >> 31;
          return z * 0x94d049bb133111ebu;
        };
        d += hash(in[i]) - hash(out[i]);
      },
      wrong, difference);
  return wrong + (difference == 0 ? 0 : 1);
}

template <class T>
void segmented_case(index_t n, const char* size, index_t mean, const char* length, bool quick) {
  Case c;
  c.name = std::string("segmented_sort ") + key_name<T>() + " n=" + size + " segments of " + length;
  c.algorithm = "segmented_sort";
  c.bytes = 2.0 * sizeof(T) * static_cast<double>(n) + 4.0 * static_cast<double>((n + mean - 1) / mean + 1);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [n, mean](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "segmented_sort[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto in = make_view<T*>(exec, "in", n), out = make_view<T*>(exec, "out", n),
                 theirs = make_view<T*>(exec, "theirs", n);
      const Segments cut = random_segments(exec, n, mean);
      fill_keys(exec, in);
      const auto run = [=] { segmented_sort(exec, in, cut.offsets, out); };
      prepared.contenders.push_back(contenders(
          run,
          peers::segmented_sort<T>(peers::queue_of(exec), n, in.data(), cut.count, cut.offsets.data(), theirs.data()),
          std::tuple(in, cut, theirs)));
      if (s == 0)
        prepared.worst_error = [=] {
          run();
          return faults<T>(exec, in.data(), out.data(), cut, n) > 0 ? 1e300 : 0.0;
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  constexpr bool host = is_host_space<Space>;
  const index_t large = host ? 10'000'000 : index_t{1} << 26;
  const char* const size = host ? "1e7" : "2^26";
  segmented_case<std::uint32_t>(large, size, 30, "30", false);
  segmented_case<std::uint32_t>(large, size, 1000, "1000", true);
  segmented_case<std::uint32_t>(large, size, 100'000, "1e5", false);
  segmented_case<double>(large, size, 1000, "1000", false);
});

}  // namespace
}  // namespace tessera::bench
