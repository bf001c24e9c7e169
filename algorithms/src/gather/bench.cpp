// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/gather.hpp>

namespace tessera::bench {
namespace {

/// Indices into [0, extent): anywhere, or within 64 of where the extent is after i of n elements.
void fill_index(const Space& exec, std::int32_t* index, index_t n, index_t extent, bool near) {
  Kokkos::parallel_for(
      "tessera::bench::fill", Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i) {
        const double part = (detail::uniform(3, static_cast<std::uint64_t>(i)) + 1) / 2;
        const index_t here =
            static_cast<index_t>(static_cast<double>(extent) / static_cast<double>(n) * static_cast<double>(i));
        const index_t j =
            near ? here + static_cast<index_t>(part * 64) : static_cast<index_t>(part * static_cast<double>(extent));
        index[i] = static_cast<std::int32_t>(j < extent ? j : extent - 1);
      });
}

template <class T>
double faults(const Space& exec, const T* x, const std::int32_t* index, const T* y, index_t n) {
  double wrong = 0;
  Kokkos::parallel_reduce(
      "tessera::bench::compare", Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i, double& w) { w += y[i] == x[index[i]] ? 0 : 1; }, wrong);
  return wrong;
}

template <class T>
void gather_case(index_t n, const char* size, bool near, bool quick) {
  Case c;
  c.name = std::string("gather ") + type_name<T>() + (near ? " near n=" : " anywhere n=") + size;
  c.algorithm = "gather";
  c.bytes = static_cast<double>(2 * sizeof(T) + 4) * static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [=](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "gather[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T*>(exec, "x", n), y = make_view<T*>(exec, "y", n), theirs = make_view<T*>(exec, "z", n);
      const auto index = make_view<std::int32_t*>(exec, "index", n);
      fill_random(exec, x, 1);
      fill_index(exec, index.data(), n, n, near);
      const auto ours = [=] { gather(exec, x, index, y); };
      prepared.contenders.push_back(
          contenders(ours, peers::gather<T>(peers::queue_of(exec), n, x.data(), index.data(), theirs.data()),
                     std::tuple(x, index, theirs)));
      if (s == 0)
        prepared.worst_error = [=] {
          ours();
          return faults(exec, x.data(), index.data(), y.data(), n) > 0 ? 1e300 : 0.0;
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  const index_t large = is_host_space<Space> ? 10'000'000 : 100'000'000;
  const char* const size = is_host_space<Space> ? "1e7" : "1e8";
  gather_case<double>(large, size, true, true);
  gather_case<double>(large, size, false, false);
  gather_case<float>(large, size, true, false);
});

}  // namespace
}  // namespace tessera::bench
