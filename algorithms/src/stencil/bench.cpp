// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/stencil.hpp>

namespace tessera::bench {
namespace {

/// The text most people write: MDRange with the default tiling.
template <class T>
void plain_stencil7(const Space& exec, index_t n, T center, T side, const T* u, T* v) {
  Kokkos::parallel_for(
      "tessera::bench::plain_stencil7",
      Kokkos::MDRangePolicy<Space, Kokkos::Rank<3>, Kokkos::IndexType<index_t>>(exec, {1, 1, 1}, {n - 1, n - 1, n - 1}),
      KOKKOS_LAMBDA(index_t i, index_t j, index_t k) {
        const T* const p = u + (i * n + j) * n + k;
        v[(i * n + j) * n + k] = center * p[0] + side * (p[-1] + p[1] + p[-n] + p[n] + p[-n * n] + p[n * n]);
      });
}

template <class T>
void stencil7_case(index_t n, bool quick) {
  Case c;
  c.name = std::string("stencil7 ") + type_name<T>() + " " + std::to_string(n) + "^3";
  c.algorithm = "stencil";
  const double points = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  c.bytes = 2 * sizeof(T) * points;
  c.flops = 8 * points;
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [=](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "stencil7[portable]";
    const T center = T(0.4), side = T(0.1);
    const Stencil7Coefficients<T> coefficients{center, {side, side}, {side, side}, {side, side}};
    for (int s = 0; s < sets; ++s) {
      const auto u = make_view<T***, Kokkos::LayoutRight>(exec, "u", n, n, n);
      const auto v = make_view<T***, Kokkos::LayoutRight>(exec, "v", n, n, n);
      fill_random(exec, u, 1);
      fill_random(exec, v, 2);
      auto list = contenders([=] { stencil7(exec, coefficients, u, v); },
                             peers::stencil7<T>(peers::queue_of(exec), n, n, n, center, side, u.data(), v.data()),
                             std::tuple(u, v));
      for (auto& peer : peers::copy(peers::queue_of(exec), v.data(), u.data(), sizeof(T) * u.size()))
        list.push_back({"copy", [u, v, run = peer.enqueue] { run(); }});
      list.push_back({"plain MDRange", [=] { plain_stencil7<T>(exec, n, center, side, u.data(), v.data()); }});
      prepared.contenders.push_back(std::move(list));
      if (s == 0)
        prepared.worst_error = [=] {
          const auto w = make_view<T***, Kokkos::LayoutRight>(exec, "expected", n, n, n);
          Kokkos::deep_copy(exec, v, T(1));
          Kokkos::deep_copy(exec, w, T(1));
          stencil7(exec, coefficients, u, v);
          plain_stencil7<T>(exec, n, center, side, u.data(), w.data());
          constexpr double eps = std::numeric_limits<T>::epsilon();
          return worst_difference(exec, v.data(), w.data(), n * n * n, 8 * eps, 8 * eps);
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

/// By distance; the text to check against is a triple loop over the neighbours.
template <class T>
void stencil27_case(index_t n) {
  Case c;
  c.name = std::string("stencil27 ") + type_name<T>() + " " + std::to_string(n) + "^3";
  c.algorithm = "stencil";
  const double points = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  c.bytes = 2 * sizeof(T) * points;
  c.flops = 30 * points;
  c.footprint = c.bytes;
  c.prepare = [=](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "stencil27[portable]";
    const Stencil27Distances<T> d{T(0.4), T(0.1), T(0.02), T(0.01)};
    for (int s = 0; s < sets; ++s) {
      const auto u = make_view<T***, Kokkos::LayoutRight>(exec, "u", n, n, n);
      const auto v = make_view<T***, Kokkos::LayoutRight>(exec, "v", n, n, n);
      fill_random(exec, u, 1);
      fill_random(exec, v, 2);
      peers::Peers loops;
      if constexpr (is_host_space<Space>)
        loops =
            peers::stencil27<T>(peers::queue_of(exec), n, n, n, d.center, d.face, d.edge, d.corner, u.data(), v.data());
      auto list = contenders([=] { stencil27(exec, d, u, v); }, loops, std::tuple(u, v));
      for (auto& peer : peers::copy(peers::queue_of(exec), v.data(), u.data(), sizeof(T) * u.size()))
        list.push_back({"copy", [u, v, run = peer.enqueue] { run(); }});
      prepared.contenders.push_back(std::move(list));
      if (s == 0)
        prepared.worst_error = [=] {
          const auto w = make_view<T***, Kokkos::LayoutRight>(exec, "expected", n, n, n);
          Kokkos::deep_copy(exec, v, T(1));
          Kokkos::deep_copy(exec, w, T(1));
          stencil27(exec, d, u, v);
          Kokkos::parallel_for(
              "tessera::bench::plain_stencil27", Range<Space>(exec, 0, (n - 2) * (n - 2) * (n - 2)),
              KOKKOS_LAMBDA(index_t at) {
                const index_t k = 1 + at % (n - 2), j = 1 + at / (n - 2) % (n - 2), i = 1 + at / (n - 2) / (n - 2);
                const T by_distance[] = {d.center, d.face, d.edge, d.corner};
                T sum = 0;
                for (int x = -1; x <= 1; ++x)
                  for (int y = -1; y <= 1; ++y)
                    for (int z = -1; z <= 1; ++z) sum += by_distance[x * x + y * y + z * z] * u(i + x, j + y, k + z);
                w(i, j, k) = sum;
              });
          constexpr double eps = std::numeric_limits<T>::epsilon();
          return worst_difference(exec, v.data(), w.data(), n * n * n, 28 * eps, 28 * eps);
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  stencil7_case<double>(is_host_space<Space> ? 256 : 512, true);
  stencil7_case<float>(is_host_space<Space> ? 256 : 512, false);
  stencil7_case<double>(is_host_space<Space> ? 64 : 128, false);
  stencil27_case<double>(is_host_space<Space> ? 256 : 512);
  stencil27_case<float>(is_host_space<Space> ? 256 : 512);
});

}  // namespace
}  // namespace tessera::bench
