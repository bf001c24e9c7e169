// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>
#include <cmath>

#include <tessera/backends/peers.hpp>
#include <tessera/reduce.hpp>

namespace tessera::bench {
namespace {

/// The same sum by the plainest text, in fp64.
template <class T>
double plain_sum(const Space& exec, const T* x, index_t n) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "tessera::bench::plain_sum", Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i, double& s) { s += static_cast<double>(x[i]); }, sum);
  return sum;
}
template <class T>
double plain_max(const Space& exec, const T* x, index_t n) {
  T most = 0;
  Kokkos::parallel_reduce(
      "tessera::bench::plain_max", Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i, T & m) { m = x[i] > m ? x[i] : m; }, Kokkos::Max<T>(most));
  return static_cast<double>(most);
}

/// The portable order is measured against the fast one as well.
template <class T, class Op>
void reduce_case(const char* what, Determinism determinism, index_t n, const char* size, bool quick) {
  constexpr bool sum = std::is_same_v<Op, Sum>;
  Case c;
  c.name = std::string("reduce ") + what + " " + type_name<T>() + " n=" + size;
  c.algorithm = "reduce";
  c.bytes = static_cast<double>(sizeof(T)) * static_cast<double>(n);
  c.flops = static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [n, determinism](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "reduce[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T*>(exec, "x", n);
      const auto ours = make_view<T>(exec, "ours");
      const auto theirs = make_view<T>(exec, "theirs");
      fill_random(exec, x, 1);
      auto all = sum ? peers::reduce_sum<T>(peers::queue_of(exec), n, x.data(), theirs.data())
                     : peers::reduce_max<T>(peers::queue_of(exec), n, x.data(), theirs.data());
      if (determinism == Determinism::portable)
        all.push_back({"tessera, fast", [=] { reduce(exec, x, Op{}, theirs); }});
      const auto run = [=] { reduce(exec, x, Op{}, ours, {.determinism = determinism}); };
      prepared.contenders.push_back(contenders(run, all, std::tuple(x, theirs)));
      if (s == 0)
        prepared.worst_error = [=] {
          run();
          const double expected = sum ? plain_sum<T>(exec, x.data(), n) : plain_max<T>(exec, x.data(), n);
          // sums of n terms below 1 in fp64, then one rounding to T
          const double bound = std::numeric_limits<T>::epsilon() * std::abs(expected) + 1e-16 * static_cast<double>(n);
          return std::abs(static_cast<double>(fetch<T>(exec, ours)) - expected) / bound;
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  const index_t large = is_host_space<Space> ? 20'000'000 : index_t{1} << 30;
  const char* const size = is_host_space<Space> ? "2e7" : "2^30";
  reduce_case<float, Sum>("sum", Determinism::fast, large, size, true);
  reduce_case<double, Sum>("sum", Determinism::fast, large / 2, is_host_space<Space> ? "1e7" : "2^29", true);
  reduce_case<float, Maximum>("max", Determinism::fast, large, size, false);
  reduce_case<float, Sum>("portable sum", Determinism::portable, large, size, true);
  reduce_case<double, Sum>("portable sum", Determinism::portable, large / 2, is_host_space<Space> ? "1e7" : "2^29",
                           false);
  reduce_case<float, Sum>("sum", Determinism::fast, 1'000, "1e3", false);
  reduce_case<float, Sum>("sum", Determinism::fast, 10'000, "1e4", false);
  reduce_case<float, Sum>("sum", Determinism::fast, 100'000, "1e5", false);
  reduce_case<float, Sum>("sum", Determinism::fast, 1'000'000, "1e6", false);
});

}  // namespace
}  // namespace tessera::bench
