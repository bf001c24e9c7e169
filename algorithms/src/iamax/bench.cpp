// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/iamax.hpp>

namespace tessera::bench {
namespace {

/// 0 where no element has a magnitude above that of the one found, nor an earlier one the same.
template <class T>
double faults(const Space& exec, const T* x, index_t n, index_t found) {
  if (found < 0 || found >= n) return 1;
  double wrong = 0;
  Kokkos::parallel_reduce(
      "tessera::bench::larger", Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i, double& w) {
        const T here = Kokkos::fabs(x[i]), most = Kokkos::fabs(x[found]);
        if (here > most || (here == most && i < found)) w += 1;
      },
      wrong);
  return wrong;
}

template <class T>
void iamax_case(index_t n, const char* size, bool quick) {
  Case c;
  c.name = std::string("iamax ") + type_name<T>() + " n=" + size;
  c.algorithm = "iamax";
  c.bytes = 1.0 * sizeof(T) * static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [n](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "iamax[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T*>(exec, "x", n);
      const auto ours = make_view<index_t>(exec, "ours");
      const auto theirs = make_view<std::int64_t>(exec, "theirs");
      fill_random(exec, x, 1);
      prepared.contenders.push_back(contenders([=] { iamax(exec, x, ours); },
                                               peers::iamax<T>(peers::queue_of(exec), n, x.data(), theirs.data()),
                                               std::tuple(x, theirs)));
      if (s == 0)
        prepared.worst_error = [=] {
          iamax(exec, x, ours);
          return faults<T>(exec, x.data(), n, fetch<index_t>(exec, ours)) > 0 ? 1e300 : 0.0;
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  const index_t large = is_host_space<Space> ? 20'000'000 : 200'000'000;
  const char* const size = is_host_space<Space> ? "2e7" : "2e8";
  iamax_case<double>(large, size, true);
  iamax_case<float>(large, size, false);
  iamax_case<double>(100'000, "1e5", false);
  iamax_case<double>(1'000'000, "1e6", false);
});

}  // namespace
}  // namespace tessera::bench
