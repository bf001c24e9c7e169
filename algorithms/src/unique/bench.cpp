// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/unique.hpp>

namespace tessera::bench {
namespace {

/// Zeros and ones at random: runs of two elements on average.
template <class T>
void fill(const Space& exec, index_t n, T* x) {
  Kokkos::parallel_for(
      "tessera::bench::fill", Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i) { x[i] = detail::uniform(1, static_cast<std::uint64_t>(i)) > 0 ? T(1) : T(0); });
}

/// Runs that are not where the plainest text has them. `lengths` may be null; `begins` is room for n + 1 positions.
template <class T>
double faults(const Space& exec, index_t n, const T* x, const T* y, const std::int32_t* lengths, const index_t* count,
              index_t* begins) {
  index_t runs = 0;
  Kokkos::parallel_scan(
      "tessera::bench::plain_runs", Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i, index_t & sum, bool last) {
        const bool begin = i == 0 || x[i - 1] != x[i];
        if (last && begin) begins[sum] = i;
        sum += begin ? 1 : 0;
        if (last && i == n - 1) begins[sum] = n;
      },
      runs);
  const index_t right = runs;
  double wrong = 0;
  Kokkos::parallel_reduce(
      "tessera::bench::compare", Range<Space>(exec, 0, runs),
      KOKKOS_LAMBDA(index_t k, double& w) {
        if (y[k] != x[begins[k]] || *count != right) w += 1;
        if (lengths != nullptr && lengths[k] != begins[k + 1] - begins[k]) w += 1;
      },
      wrong);
  return wrong;
}

template <class T>
void unique_case(bool encodes, const char* type, index_t n, const char* size, bool quick) {
  Case c;
  c.name = std::string(encodes ? "run_length_encode " : "unique ") + type + " n=" + size;
  c.algorithm = "unique";
  c.bytes = (1.5 * sizeof(T) + (encodes ? 2 : 0)) * static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [n, encodes](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = encodes ? "run_length_encode[portable]" : "unique[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T*>(exec, "x", n), y = make_view<T*>(exec, "y", n), z = make_view<T*>(exec, "z", n);
      const auto lengths = make_view<std::int32_t*>(exec, "lengths", encodes ? n : 0),
                 their_lengths = make_view<std::int32_t*>(exec, "their lengths", encodes ? n : 0);
      const auto count = make_view<index_t>(exec, "count"), their_count = make_view<index_t>(exec, "their count");
      fill(exec, n, x.data());
      const auto ours = [=] {
        if (encodes)
          run_length_encode(exec, x, y, lengths, count);
        else
          unique(exec, x, y, count);
      };
      const auto queue = peers::queue_of(exec);
      const auto theirs =
          encodes ? peers::run_length_encode<T>(queue, n, x.data(), z.data(), their_lengths.data(), their_count.data())
                  : peers::unique<T>(queue, n, x.data(), z.data(), their_count.data());
      prepared.contenders.push_back(
          contenders(ours, theirs, std::tuple(x, y, z, lengths, their_lengths, count, their_count)));
      if (s == 0)
        prepared.worst_error = [=] {
          ours();
          const auto begins = make_view<index_t*>(exec, "begins", n + 1);
          return faults<T>(exec, n, x.data(), y.data(), encodes ? lengths.data() : nullptr, count.data(),
                           begins.data()) > 0
                     ? 1e300
                     : 0.0;
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
  unique_case<float>(false, "fp32", large, size, true);
  unique_case<double>(false, "fp64", large, size, false);
  unique_case<float>(true, "fp32", large, size, false);
  unique_case<float>(false, "fp32", 1'000, "1e3", false);
  unique_case<float>(false, "fp32", 1'000'000, "1e6", false);
});

}  // namespace
}  // namespace tessera::bench
