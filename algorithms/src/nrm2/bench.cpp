// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>
#include <cmath>

#include <tessera/backends/peers.hpp>
#include <tessera/nrm2.hpp>

namespace tessera::bench {
namespace {

/// The same sum by the plainest text, in fp64.
template <class T>
double plain_nrm2(const Space& exec, const T* x, [[maybe_unused]] const T* y, index_t n) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "tessera::bench::plain_nrm2", Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i, double& s) { s += static_cast<double>(x[i]) * static_cast<double>(x[i]); }, sum);
  return std::sqrt(sum);
}

template <class T>
void nrm2_case(index_t n, const char* size, bool quick) {
  Case c;
  c.name = std::string("nrm2 ") + type_name<T>() + " n=" + size;
  c.algorithm = "nrm2";
  c.bytes = 1.0 * sizeof(T) * static_cast<double>(n);
  c.flops = 2.0 * static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [n](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "nrm2[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T*>(exec, "x", n);
      const auto y = make_view<T*>(exec, "y", 1 == 2 ? n : 0);
      const auto ours = make_view<T>(exec, "ours");
      const auto theirs = make_view<T>(exec, "theirs");
      fill_random(exec, x, 1);
      fill_random(exec, y, 2);
      prepared.contenders.push_back(contenders([=] { nrm2(exec, x, ours); },
                                               peers::nrm2<T>(peers::queue_of(exec), n, x.data(), theirs.data()),
                                               std::tuple(x, y, theirs)));
      if (s == 0)
        prepared.worst_error = [=] {
          nrm2(exec, x, ours);
          const double expected = plain_nrm2<T>(exec, x.data(), y.data(), n);
          // sums of n products below 1 in fp64, then one rounding to T
          const double bound = std::numeric_limits<T>::epsilon() * std::abs(expected) + 1e-16 * static_cast<double>(n);
          return std::abs(static_cast<double>(fetch<T>(exec, ours)) - expected) / bound;
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  const index_t large = is_host_space<Space> ? 20'000'000 : 200'000'000;
  nrm2_case<double>(large, is_host_space<Space> ? "2e7" : "2e8", true);
  nrm2_case<float>(large, is_host_space<Space> ? "2e7" : "2e8", true);
  nrm2_case<double>(100'000, "1e5", false);
  nrm2_case<double>(1'000'000, "1e6", false);
});

}  // namespace
}  // namespace tessera::bench
