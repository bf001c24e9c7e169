// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bench/case.hpp>
#include <iterator>
#include <vector>

#include <tessera/backends/peers.hpp>
#include <tessera/set_operations.hpp>

namespace tessera::bench {
namespace {

enum class Which { unite, intersect };

/// Rising numbers, of each three that follow two at random, and others with other ones for `first`: in the mean, of 16
/// elements of such a pair of ranges 11 are of the union and 5 of the intersection.
template <class T>
void fill_numbers(const Space& exec, index_t n, T* x, bool first) {
  Kokkos::parallel_for(
      "tessera::bench::fill", Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i) {
        const index_t by_chance = detail::uniform(first ? 1 : 2, static_cast<std::uint64_t>(i / 2)) > 0 ? 1 : 0;
        const index_t of_three = first ? (i % 2 == 0 ? 0 : 1 + by_chance) : (i % 2 == 0 ? by_chance : 2);
        x[i] = static_cast<T>(3 * (i / 2) + of_three);
      });
}

template <class T>
std::vector<T> on_host(const T* x, index_t n) {
  std::vector<T> host(static_cast<std::size_t>(n));
  Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace>(host.data(), host.size()),
                    Kokkos::View<const T*, Space>(x, host.size()));
  return host;
}

/// Elements that are not what the standard library gives.
template <class T>
double faults(Which which, const std::vector<T>& a, const std::vector<T>& b, const std::vector<T>& found) {
  std::vector<T> right;
  if (which == Which::unite)
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(right));
  else
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(right));
  return right == found ? 0.0 : 1e300;
}

template <class T>
void set_case(Which which, const char* type, index_t n, const char* size, bool quick) {
  Case c;
  c.name = std::string(which == Which::unite ? "set_union " : "set_intersection ") + type + " n=" + size;
  c.algorithm = "set_operations";
  const index_t a_count = n / 2, b_count = n - a_count;
  c.bytes = sizeof(T) * static_cast<double>(n) * (which == Which::unite ? 1 + 11.0 / 16 : 1 + 5.0 / 16);
  c.footprint = 2.0 * sizeof(T) * static_cast<double>(n);
  c.quick = quick;
  c.prepare = [=](const Space& exec, int sets) {
    Prepared prepared;
    prepared.path = "set_operations[portable]";
    for (int s = 0; s < sets; ++s) {
      const auto a = make_view<T*>(exec, "a", a_count), b = make_view<T*>(exec, "b", b_count),
                 out = make_view<T*>(exec, "out", n), theirs = make_view<T*>(exec, "theirs", n);
      fill_numbers(exec, a_count, a.data(), true);
      fill_numbers(exec, b_count, b.data(), false);
      const auto queue = peers::queue_of(exec);
      // the peer waits for its count, so ours does as well
      const auto ours = [=] {
        return which == Which::unite ? set_union(exec, a, b, out) : set_intersection(exec, a, b, out);
      };
      prepared.contenders.push_back(
          contenders([=] { (void)ours(); },
                     which == Which::unite
                         ? peers::set_union<T>(queue, a_count, a.data(), b_count, b.data(), theirs.data())
                         : peers::set_intersection<T>(queue, a_count, a.data(), b_count, b.data(), theirs.data()),
                     std::tuple(a, b, theirs)));
      if (s == 0)
        prepared.worst_error = [=] {
          const index_t count = ours();
          return faults(which, on_host(a.data(), a_count), on_host(b.data(), b_count), on_host(out.data(), count));
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  constexpr bool host = is_host_space<Space>;
  const index_t large = host ? 20'000'000 : index_t{1} << 26;
  const char* const size = host ? "2e7" : "2^26";
  set_case<std::int32_t>(Which::unite, "int32", large, size, true);
  set_case<double>(Which::unite, "fp64", large, size, false);
  set_case<std::int32_t>(Which::intersect, "int32", large, size, false);
  set_case<double>(Which::intersect, "fp64", large, size, false);
  set_case<std::int32_t>(Which::unite, "int32", 1'000'000, "1e6", false);
});

}  // namespace
}  // namespace tessera::bench
