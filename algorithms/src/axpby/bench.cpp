// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/axpby.hpp>
#include <tessera/backends/peers.hpp>

namespace tessera::bench {
namespace {

template <class T>
void axpy_case(index_t n, const char *size, bool quick) {
  Case c;
  c.name = std::string("axpy ") + type_name<T>() + " n=" + size;
  c.algorithm = "axpby";
  c.bytes = 3.0 * sizeof(T) * static_cast<double>(n);
  c.flops = 2.0 * static_cast<double>(n);
  c.footprint = 2.0 * sizeof(T) * static_cast<double>(n);
  c.quick = quick;
  c.prepare = [n](const Space &exec, int sets) {
    Prepared prepared;
    prepared.path = "axpby[portable]";
    const T alpha = static_cast<T>(1e-6);
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T *>(exec, "x", n);
      const auto y = make_view<T *>(exec, "y", n);
      fill_random(exec, x, 1);
      fill_random(exec, y, 2);
      prepared.contenders.push_back(contenders([=] { axpby(exec, alpha, x, T(1), y); },
                                               peers::axpy<T>(peers::queue_of(exec), n, alpha, x.data(), y.data()),
                                               std::pair(x, y)));
    }
    prepared.worst_error = [=] {
      const auto x = make_view<T *>(exec, "x", n);
      const auto y = make_view<T *>(exec, "y", n);
      const auto expected = make_view<T *>(exec, "expected", n);
      fill_random(exec, x, 1);
      fill_random(exec, y, 2);
      T *const e = expected.data(), *const a = x.data(), *const b = y.data();
      Kokkos::parallel_for(
          "tessera::bench::axpy_text", Range<Space>(exec, 0, n),
          KOKKOS_LAMBDA(index_t i) { e[i] = T(3) * a[i] + b[i]; });
      axpby(exec, T(3), x, T(1), y);
      constexpr double eps = std::numeric_limits<T>::epsilon();
      return worst_difference(exec, y.data(), expected.data(), n, 2 * eps, 4 * eps);
    };
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  const index_t large = is_host_space<Space> ? 20'000'000 : 200'000'000;
  axpy_case<double>(large, is_host_space<Space> ? "2e7" : "2e8", true);
  axpy_case<float>(large, is_host_space<Space> ? "2e7" : "2e8", true);
  axpy_case<double>(100'000, "1e5", false);
  axpy_case<double>(1'000'000, "1e6", false);
  axpy_case<float>(100'000, "1e5", false);
});

}  // namespace
}  // namespace tessera::bench
