// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/histogram.hpp>

namespace tessera::bench {
namespace {

/// spread: anywhere in the range. equal: all in one bin. whole: numbers of bins, so that every float is an edge.
enum class Values { spread, equal, whole };

template <class T>
constexpr const char* value_name() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return "u8";
  if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
  return type_name<T>();
}

template <class T>
void fill_values(const Space& exec, T* x, index_t n, Values kind, double lower, double range, int bins) {
  Kokkos::parallel_for(
      "tessera::bench::fill", Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i) {
        double part = (detail::uniform(1, static_cast<std::uint64_t>(i)) + 1) / 2;
        if (kind == Values::equal) part = 0.4;
        if (kind == Values::whole) part = Kokkos::floor(part * bins) / bins;
        x[i] = static_cast<T>(lower + part * range);
      });
}

/// How many counts differ from those of a plain loop. The cases' edges are whole multiples of powers of two, so that
/// double finds the same bins.
template <class T>
double faults(const Space& exec, const T* x, index_t n, int bins, double lower, double range,
              const std::int32_t* counts) {
  const auto plain = make_view<std::int32_t*>(exec, "plain", bins);
  std::int32_t* const p = plain.data();
  Kokkos::parallel_for("tessera::bench::clear", Range<Space>(exec, 0, bins), KOKKOS_LAMBDA(index_t i) { p[i] = 0; });
  Kokkos::parallel_for(
      "tessera::bench::count", Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i) {
        const double bin = Kokkos::floor((static_cast<double>(x[i]) - lower) * (bins / range));
        if (bin >= 0 && bin < bins) Kokkos::atomic_add(p + static_cast<int>(bin), 1);
      });
  double wrong = 0;
  Kokkos::parallel_reduce(
      "tessera::bench::compare", Range<Space>(exec, 0, bins),
      KOKKOS_LAMBDA(index_t i, double& w) { w += p[i] == counts[i] ? 0 : 1; }, wrong);
  return wrong;
}

template <class T, class Level>
void histogram_case(index_t n, const char* size, int bins, Values kind, Level lower, Level upper, bool quick) {
  const char* const kinds[] = {"", " equal", " whole"};
  Case c;
  c.name = std::string("histogram ") + value_name<T>() + " " + std::to_string(bins) + " bins" +
           kinds[static_cast<int>(kind)] + " n=" + size;
  c.algorithm = "histogram";
  c.bytes = static_cast<double>(sizeof(T)) * static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [=](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "histogram[portable]";
    const double from = static_cast<double>(lower), range = static_cast<double>(upper) - from;
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T*>(exec, "x", n);
      const auto counts = make_view<std::int32_t*>(exec, "counts", bins),
                 theirs = make_view<std::int32_t*>(exec, "their counts", bins);
      fill_values(exec, x.data(), n, kind, from, range, bins);
      const auto ours = [=] { histogram(exec, x, lower, upper, counts); };
      prepared.contenders.push_back(contenders(
          ours, peers::histogram<T, Level>(peers::queue_of(exec), n, x.data(), bins, lower, upper, theirs.data()),
          std::tuple(x, theirs)));
      if (s == 0)
        prepared.worst_error = [=] {
          ours();
          return faults(exec, x.data(), n, bins, from, range, counts.data()) > 0 ? 1e300 : 0.0;
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
  histogram_case<float>(large, size, 256, Values::spread, -1.0F, 1.0F, true);
  histogram_case<float>(large, size, 256, Values::equal, -1.0F, 1.0F, true);
  histogram_case<float>(large, size, 256, Values::whole, 0.0F, 256.0F, true);
  histogram_case<double>(large, size, 256, Values::spread, -1.0, 1.0, true);
  histogram_case<std::int32_t>(large, size, 256, Values::spread, -1048576, 1048576, false);
  histogram_case<std::uint8_t>(large, size, 256, Values::spread, 0, 256, true);
  histogram_case<float>(large, size, 4096, Values::spread, -1.0F, 1.0F, false);
  histogram_case<float>(large, size, 65536, Values::spread, -1.0F, 1.0F, false);
  histogram_case<float>(1'000'000, "1e6", 256, Values::spread, -1.0F, 1.0F, false);
});

}  // namespace
}  // namespace tessera::bench
