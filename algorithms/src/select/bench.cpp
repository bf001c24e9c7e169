// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/select_if.hpp>

namespace tessera::bench {
namespace {

/// Which elements a case chooses.
enum class Which { flagged, above, parted };

template <class T>
struct Above {
  T limit;
  TESSERA_FUNCTION bool operator()(const T& value) const { return value > limit; }
};

/// Random numbers in [-1, 1), and as many flags, of which half are set.
template <class T>
void fill(const Space& exec, index_t n, T* x, std::uint8_t* flags) {
  Kokkos::parallel_for(
      "tessera::bench::fill", Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i) {
        x[i] = T(detail::uniform(1, static_cast<std::uint64_t>(i)));
        flags[i] = detail::uniform(2, static_cast<std::uint64_t>(i)) > 0 ? 1 : 0;
      });
}

/// Elements of y that are not what the plainest text gives, at most n; z is room for it.
template <class T>
double faults(const Space& exec, Which which, index_t n, const T* x, const std::uint8_t* flags, const T* y,
              const index_t* count, T* z) {
  index_t chosen = 0;
  Kokkos::parallel_scan(
      "tessera::bench::plain_select", Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i, index_t & sum, bool last) {
        const bool is_chosen = which == Which::above ? x[i] > T(0) : flags[i] != 0;
        if (last && is_chosen) z[sum] = x[i];
        sum += is_chosen ? 1 : 0;
      },
      chosen);
  if (which == Which::parted) {
    const index_t first = chosen;
    Kokkos::parallel_scan(
        "tessera::bench::plain_rest", Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i, index_t & sum, bool last) {
          if (last && flags[i] == 0) z[first + sum] = x[i];
          sum += flags[i] == 0 ? 1 : 0;
        });
  }
  const index_t right = chosen;
  double wrong = 0;
  Kokkos::parallel_reduce(
      "tessera::bench::compare", Range<Space>(exec, 0, which == Which::parted ? n : chosen),
      KOKKOS_LAMBDA(index_t i, double& w) { w += y[i] != z[i] || *count != right ? 1 : 0; }, wrong);
  return wrong;
}

template <class T>
void select_case(Which which, const char* type, index_t n, const char* size, bool quick) {
  Case c;
  c.name = std::string(which == Which::flagged ? "select "
                       : which == Which::above ? "select_if "
                                               : "partition ") +
           type + " n=" + size;
  c.algorithm = "select";
  const double flags_bytes = which == Which::above ? 0 : 1, kept = which == Which::parted ? 1 : 0.5;
  c.bytes = (sizeof(T) * (1 + kept) + flags_bytes) * static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [n, which](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = which == Which::parted ? "partition[portable]" : "select[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto x = make_view<T*>(exec, "x", n), y = make_view<T*>(exec, "y", n), z = make_view<T*>(exec, "z", n);
      const auto flags = make_view<std::uint8_t*>(exec, "flags", n);
      const auto count = make_view<index_t>(exec, "count"), their_count = make_view<index_t>(exec, "their count");
      fill(exec, n, x.data(), flags.data());
      const auto ours = [=] {
        if (which == Which::flagged) select(exec, x, flags, y, count);
        if (which == Which::above) select_if(exec, x, Above<T>{T(0)}, y, count);
        if (which == Which::parted) partition(exec, x, flags, y, count);
      };
      const auto queue = peers::queue_of(exec);
      const auto theirs =
          which == Which::flagged
              ? peers::select_flagged<T>(queue, n, x.data(), flags.data(), z.data(), their_count.data())
          : which == Which::above
              ? peers::select_above<T>(queue, n, x.data(), T(0), z.data(), their_count.data())
              : peers::partition_flagged<T>(queue, n, x.data(), flags.data(), z.data(), their_count.data());
      prepared.contenders.push_back(contenders(ours, theirs, std::tuple(x, y, z, flags, count, their_count)));
      if (s == 0)
        prepared.worst_error = [=] {
          ours();
          const auto room = make_view<T*>(exec, "room", n);
          return faults<T>(exec, which, n, x.data(), flags.data(), y.data(), count.data(), room.data()) > 0 ? 1e300
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
  select_case<float>(Which::flagged, "fp32", large, size, true);
  select_case<double>(Which::flagged, "fp64", large, size, false);
  select_case<float>(Which::above, "fp32", large, size, true);
  select_case<float>(Which::parted, "fp32", large, size, false);
  select_case<float>(Which::flagged, "fp32", 1'000, "1e3", false);
  select_case<float>(Which::flagged, "fp32", 100'000, "1e5", false);
  select_case<float>(Which::flagged, "fp32", 1'000'000, "1e6", false);
  select_case<float>(Which::above, "fp32", 1'000'000, "1e6", false);
});

}  // namespace
}  // namespace tessera::bench
