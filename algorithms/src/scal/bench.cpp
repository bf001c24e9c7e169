// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/scal.hpp>

namespace tessera::bench {
namespace {

template <class T>
void scal_case(index_t n, const char* size, bool quick) {
  Case c;
  c.name = std::string("scal ") + type_name<T>() + " n=" + size;
  c.algorithm = "scal";
  c.bytes = 2.0 * sizeof(T) * static_cast<double>(n);
  c.flops = static_cast<double>(n);
  c.footprint = sizeof(T) * static_cast<double>(n);
  c.quick = quick;
  c.prepare = [n](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "scal[portable]";
    const T alpha(-1);  // any number of calls leaves the magnitudes
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T*>(exec, "x", n);
      fill_random(exec, x, 1);
      prepared.contenders.push_back(contenders(
          [=] { scal(exec, alpha, x); }, peers::scal<T>(peers::queue_of(exec), n, alpha, x.data()), std::tuple(x)));
    }
    prepared.worst_error = [=] {
      const auto x = make_view<T*>(exec, "x", n), expected = make_view<T*>(exec, "expected", n);
      fill_random(exec, x, 1);
      const T* const in = x.data();
      T* const e = expected.data();
      Kokkos::parallel_for(
          "tessera::bench::scal_text", Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i) { e[i] = T(3) * in[i]; });
      exec.fence("tessera::bench::scal_text");
      scal(exec, T(3), x);
      constexpr double tiny = std::numeric_limits<T>::min();
      return worst_difference(exec, x.data(), expected.data(), n, std::numeric_limits<T>::epsilon(), tiny);
    };
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  const index_t large = is_host_space<Space> ? 20'000'000 : 200'000'000;
  const char* const size = is_host_space<Space> ? "2e7" : "2e8";
  scal_case<double>(large, size, true);
  scal_case<float>(large, size, false);
  scal_case<double>(100'000, "1e5", false);
  scal_case<double>(1'000'000, "1e6", false);
});

}  // namespace
}  // namespace tessera::bench
