// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/merge.hpp>

namespace tessera::bench {
namespace {

/// Rising, by random steps; runs of equal elements, too.
template <class T>
void fill_rising(const Space& exec, index_t n, T* x, std::uint64_t seed) {
  Kokkos::parallel_for(
      "tessera::bench::fill", Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i) {
        const double within = detail::uniform(seed, static_cast<std::uint64_t>(i / 8)) + 1;
        x[i] = static_cast<T>(1e-6 * (static_cast<double>(i / 8) + within / 2));
      });
}

template <class T>
void merge_case(const char* type, index_t n, const char* size, bool quick) {
  Case c;
  c.name = std::string("merge ") + type + " n=" + size;
  c.algorithm = "merge";
  c.bytes = 2.0 * sizeof(T) * static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [n](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "merge[portable]";
    const index_t a_count = n / 2, b_count = n - a_count;
    for (int s = 0; s < sets; ++s) {
      const auto a = make_view<T*>(exec, "a", a_count), b = make_view<T*>(exec, "b", b_count),
                 out = make_view<T*>(exec, "out", n), theirs = make_view<T*>(exec, "theirs", n);
      fill_rising(exec, a_count, a.data(), 1);
      fill_rising(exec, b_count, b.data(), 2);
      prepared.contenders.push_back(
          contenders([=] { merge(exec, a, b, out); },
                     peers::merge<T>(peers::queue_of(exec), a_count, a.data(), b_count, b.data(), theirs.data()),
                     std::tuple(a, b, theirs)));
      if (s == 0)
        prepared.worst_error = [=] {
          // rising, and of the same sum: single elements are compared by the tests
          merge(exec, a, b, out);
          const T* const m = out.data();
          double wrong = 0;
          Kokkos::parallel_reduce(
              "tessera::bench::order", Range<Space>(exec, 1, n),
              KOKKOS_LAMBDA(index_t i, double& w) { w += m[i - 1] > m[i] ? 1 : 0; }, wrong);
          const auto sum_of = [&](const T* x, index_t count) {
            double sum = 0;
            Kokkos::parallel_reduce(
                "tessera::bench::sum", Range<Space>(exec, 0, count),
                KOKKOS_LAMBDA(index_t i, double& t) { t += static_cast<double>(x[i]); }, sum);
            return sum;
          };
          const double given = sum_of(a.data(), a_count) + sum_of(b.data(), b_count), found = sum_of(m, n);
          return wrong > 0 || !(Kokkos::abs(found - given) <= 1e-12 * static_cast<double>(n) * Kokkos::abs(given))
                     ? 1e300
                     : 0.0;
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  constexpr bool host = is_host_space<Space>;
  const index_t large = host ? 20'000'000 : index_t{1} << 28;
  const char* const size = host ? "2e7" : "2^28";
  merge_case<float>("fp32", large, size, true);
  merge_case<double>("fp64", large, size, false);
  merge_case<float>("fp32", 1'000'000, "1e6", false);
});

}  // namespace
}  // namespace tessera::bench
