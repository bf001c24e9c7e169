// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/gemv.hpp>

namespace tessera::bench {
namespace {

template <class T>
void gemv_case(bool transposed_a, index_t m, index_t n, bool quick) {
  Case c;
  c.name = std::string("gemv ") + type_name<T>() + (transposed_a ? " T " : " N ") + std::to_string(m) + "x" +
           std::to_string(n);
  c.algorithm = "gemv";
  c.bytes = sizeof(T) * (static_cast<double>(m) * static_cast<double>(n) + static_cast<double>(m + n));
  c.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [=](const Space &exec, int sets) {
    Prepared prepared;
    prepared.path = "gemv[portable]";
    const index_t in = transposed_a ? m : n, out = transposed_a ? n : m;
    for (int s = 0; s < sets; ++s) {
      const auto a = make_view<T **>(exec, "a", m, n);
      const auto x = make_view<T *>(exec, "x", in);
      const auto y = make_view<T *>(exec, "y", out);
      fill_random(exec, a, 1);
      fill_random(exec, x, 2);
      const auto ours = [=] {
        if (transposed_a)
          gemv(exec, T(1), transposed(a), x, T(0), y);
        else
          gemv(exec, T(1), a, x, T(0), y);
      };
      prepared.contenders.push_back(contenders(
          ours, peers::gemv<T>(peers::queue_of(exec), transposed_a, m, n, T(1), a.data(), m, x.data(), T(0), y.data()),
          std::tuple(a, x, y)));
      if (s == 0)
        prepared.worst_error = [=] {
          Kokkos::deep_copy(exec, y, T(1e30));
          ours();
          double worst = 0;
          const T *const pa = a.data(), *const px = x.data(), *const py = y.data();
          Kokkos::parallel_reduce(
              "tessera::bench::compare", Range<Space>(exec, 0, out),
              KOKKOS_LAMBDA(index_t i, double &w) {
                double sum = 0, size = 0;
                for (index_t k = 0; k < in; ++k) {
                  const double product = static_cast<double>(pa[transposed_a ? k + i * m : i + k * m]) * px[k];
                  sum += product;
                  size += Kokkos::fabs(product);
                }
                const double eps = sizeof(T) == 4 ? 1.2e-7 : 2.3e-16;
                const double e = Kokkos::fabs(py[i] - sum) / (8 * eps * size);
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
  const index_t n = is_host_space<Space> ? 4096 : 16384;
  for (const bool t : {false, true}) {
    gemv_case<double>(t, n, n, true);
    gemv_case<float>(t, n, n, true);
    gemv_case<double>(t, 64, is_host_space<Space> ? 200'000 : 2'000'000, false);
    gemv_case<double>(t, is_host_space<Space> ? 200'000 : 2'000'000, 64, false);
    gemv_case<double>(t, 1000, 1000, false);
    gemv_case<double>(t, 200, 200, false);
  }
});

}  // namespace
}  // namespace tessera::bench
