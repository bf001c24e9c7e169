// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/scatter.hpp>

namespace tessera::bench {
namespace {

void fill_index(const Space& exec, std::int32_t* index, index_t n, index_t extent) {
  Kokkos::parallel_for(
      "tessera::bench::fill", Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i) {
        const double part = (detail::uniform(3, static_cast<std::uint64_t>(i)) + 1) / 2;
        const auto j = static_cast<index_t>(part * static_cast<double>(extent));
        index[i] = static_cast<std::int32_t>(j < extent ? j : extent - 1);
      });
}

/// Into `extent` sums; by atomic additions, or with the same bits everywhere.
template <class T>
void scatter_add_case(index_t n, const char* size, index_t extent, Determinism determinism, bool quick) {
  Case c;
  c.name = std::string("scatter_add ") + type_name<T>() + " to " + std::to_string(extent) +
           (determinism == Determinism::fast ? "" : " portable") + " n=" + size;
  c.algorithm = "scatter_add";
  c.bytes = static_cast<double>(sizeof(T) + 4) * static_cast<double>(n) + 2.0 * sizeof(T) * static_cast<double>(extent);
  c.flops = static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [=](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "scatter_add[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T*>(exec, "x", n), y = make_view<T*>(exec, "y", extent),
                 theirs = make_view<T*>(exec, "z", extent);
      const auto index = make_view<std::int32_t*>(exec, "index", n);
      Kokkos::deep_copy(exec, x, T(1));  // whole numbers: every order gives the same sum
      Kokkos::deep_copy(exec, y, T(0));
      Kokkos::deep_copy(exec, theirs, T(0));
      fill_index(exec, index.data(), n, extent);
      const auto ours = [=] { scatter_add(exec, x, index, y, {.determinism = determinism}); };
      const auto peers = peers::scatter_add<T>(peers::queue_of(exec), n, x.data(), index.data(), theirs.data());
      prepared.contenders.push_back(contenders(ours, peers, std::tuple(x, index, theirs)));
      if (s == 0)
        prepared.worst_error = [=] {
          if (peers.empty()) return 0.0;
          ours();
          peers.front().enqueue();
          return worst_difference(exec, y.data(), theirs.data(), extent, 1e-6, 1e-6);
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  const index_t large = is_host_space<Space> ? 10'000'000 : 100'000'000;
  const char* const size = is_host_space<Space> ? "1e7" : "1e8";
  scatter_add_case<double>(large, size, 1'000'000, Determinism::fast, true);
  scatter_add_case<float>(large, size, 1'000'000, Determinism::fast, false);
  scatter_add_case<double>(large, size, 1'000'000, Determinism::portable, false);
});

}  // namespace
}  // namespace tessera::bench
