// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>
#include <cmath>

#include <tessera/backends/peers.hpp>
#include <tessera/scan.hpp>

namespace tessera::bench {
namespace {

/// The text that most people write.
template <class T>
void plain_scan(const Space& exec, index_t n, const T* x, T* y) {
  Kokkos::parallel_scan(
      "tessera::bench::plain_scan", Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i, T & sum, bool last) {
        const T here = x[i];
        if (last) y[i] = sum;
        sum += here;
      });
}

/// Random numbers; small integers.
template <class T>
void fill(const Space& exec, index_t n, T* x) {
  Kokkos::parallel_for(
      "tessera::bench::fill", Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i) {
        x[i] = T((std::is_integral_v<T> ? 100 : 1) * detail::uniform(1, static_cast<std::uint64_t>(i)));
      });
}
template <class T>
void widen(const Space& exec, index_t n, const T* x, double* wide) {
  Kokkos::parallel_for("tessera::bench::widen", Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i) { wide[i] = x[i]; });
}

template <class T>
void scan_case(const char* type, index_t n, const char* size, bool quick) {
  Case c;
  c.name = std::string("scan ") + type + " n=" + size;
  c.algorithm = "scan";
  c.bytes = 2.0 * sizeof(T) * static_cast<double>(n);
  c.flops = static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [n](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "scan[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T*>(exec, "x", n);
      const auto y = make_view<T*>(exec, "y", n);
      const auto z = make_view<T*>(exec, "z", n);
      fill(exec, n, x.data());
      auto list =
          contenders([=] { exclusive_scan(exec, x, y, T(0)); },
                     peers::exclusive_scan<T>(peers::queue_of(exec), n, x.data(), z.data()), std::tuple(x, y, z));
      list.push_back({"Kokkos parallel_scan", [=] { plain_scan(exec, n, x.data(), z.data()); }});
      prepared.contenders.push_back(std::move(list));
      if (s == 0)
        prepared.worst_error = [=] {
          // against the same sums by the plainest text in fp64
          const auto wide = make_view<double*>(exec, "wide", n);
          const auto exact = make_view<double*>(exec, "exact", n);
          widen(exec, n, x.data(), wide.data());
          plain_scan(exec, n, wide.data(), exact.data());
          exclusive_scan(exec, x, y, T(0));
          const T* const ours = y.data();
          const double* const right = exact.data();
          // terms below 1: the sum of magnitudes is below n
          const double allowed =
              std::is_integral_v<T> ? 0.5 : (16.0 + (sizeof(T) == 8 ? 40 : 0)) * std::numeric_limits<T>::epsilon();
          double worst = 0;
          Kokkos::parallel_reduce(
              "tessera::bench::compare", Range<Space>(exec, 0, n),
              KOKKOS_LAMBDA(index_t i, double& w) {
                const double scale = std::is_integral_v<T> ? 1.0 : static_cast<double>(i + 1);
                const double e = Kokkos::fabs(static_cast<double>(ours[i]) - right[i]) / (allowed * scale);
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
  const bool host = is_host_space<Space>;
  const index_t large = host ? 20'000'000 : index_t{1} << 28;
  const char* const size = host ? "2e7" : "2^28";
  scan_case<float>("fp32", large, size, true);
  scan_case<double>("fp64", large, size, true);
  scan_case<std::int32_t>("int32", large, size, false);
  if (!host) scan_case<float>("fp32", index_t{1} << 30, "2^30", false);
  scan_case<float>("fp32", 1'000, "1e3", false);
  scan_case<float>("fp32", 100'000, "1e5", false);
  scan_case<float>("fp32", 1'000'000, "1e6", false);
  scan_case<double>("fp64", 1'000'000, "1e6", false);
});

}  // namespace
}  // namespace tessera::bench
