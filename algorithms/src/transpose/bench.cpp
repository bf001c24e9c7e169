// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/transpose.hpp>

namespace tessera::bench {
namespace {

template <class T>
void transpose_case(index_t m, index_t n, bool quick) {
  Case c;
  c.name = std::string("transpose ") + type_name<T>() + " " + std::to_string(m) + "x" + std::to_string(n);
  c.algorithm = "transpose";
  c.bytes = 2.0 * sizeof(T) * static_cast<double>(m) * static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [m, n](const Space &exec, int sets) {
    Prepared prepared;
    prepared.path = "transpose[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto a = make_view<T **>(exec, "a", m, n);
      const auto b = make_view<T **>(exec, "b", n, m);
      fill_random(exec, a, 1);
      prepared.contenders.push_back(
          contenders([=] { transpose(exec, a, b); },
                     peers::transpose<T>(peers::queue_of(exec), m, n, a.data(), m, b.data(), n), std::pair(a, b)));
      if (s == 0)
        prepared.worst_error = [=] {
          Kokkos::deep_copy(exec, b, T(7));
          transpose(exec, a, b);
          index_t wrong = 0;
          const T *const from = a.data(), *const to = b.data();
          Kokkos::parallel_reduce(
              "tessera::bench::compare", Range<Space>(exec, 0, m * n),
              KOKKOS_LAMBDA(index_t k, index_t & bad) {
                if (from[k] != to[k / m + (k % m) * n]) ++bad;
              },
              wrong);
          return wrong == 0 ? 0.0 : 1e300;
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  const index_t n = is_host_space<Space> ? 4096 : 16384;
  transpose_case<float>(n, n, true);
  transpose_case<double>(n, n, true);
  transpose_case<float>(1000, 1000, false);
  transpose_case<double>(n + 1, n / 2 - 1, false);
  if constexpr (is_host_space<Space>) {
    transpose_case<float>(7, 1'000'000, false);
    transpose_case<float>(1'000'000, 7, false);
    transpose_case<Kokkos::complex<double>>(n, n, false);
  }
});

}  // namespace
}  // namespace tessera::bench
