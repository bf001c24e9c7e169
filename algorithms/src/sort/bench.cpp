// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench_keys.hpp"

#include <tessera/backends/peers.hpp>
#include <tessera/sort.hpp>

namespace tessera::bench {
namespace {

/// 0, 1, ...
void fill_positions(const Space& exec, const Kokkos::View<std::uint32_t*, Kokkos::LayoutLeft, Space>& view) {
  std::uint32_t* const positions = view.data();
  Kokkos::parallel_for(
      "tessera::bench::positions", Range<Space>(exec, 0, static_cast<index_t>(view.size())),
      KOKKOS_LAMBDA(index_t i) { positions[i] = static_cast<std::uint32_t>(i); });
}

/// 0 where `out` rises and holds the keys of `in`, each with the value that says where it stood.
template <class T>
double faults(const Space& exec, const T* in, const T* out, const std::uint32_t* positions, index_t n) {
  double wrong = 0;
  Kokkos::parallel_reduce(
      "tessera::bench::order", Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i, double& w) {
        if (i > 0 && out[i - 1] > out[i]) w += 1;
        if (positions == nullptr) return;
        if (in[positions[i]] != out[i]) w += 1;
        if (i > 0 && out[i - 1] == out[i] && positions[i - 1] >= positions[i]) w += 1;
      },
      wrong);
  if (positions != nullptr) return wrong;
  const auto sum_of = [&](const T* keys) {
    std::uint64_t sum = 0;
    Kokkos::parallel_reduce(
        "tessera::bench::sum", Range<Space>(exec, 0, n),
        KOKKOS_LAMBDA(index_t i, std::uint64_t& s) {
          const auto key = static_cast<double>(keys[i]);
          s += (tessera::detail::bit_cast<std::uint64_t>(key) ^ 0x5bd1e995u) * 0x9e3779b97f4a7c15u >> 7;
        },
        sum);
    return sum;
  };
  return wrong + (sum_of(in) == sum_of(out) ? 0 : 1);
}

template <class T>
void sort_case(index_t n, const char* size, bool pairs, bool quick) {
  Case c;
  c.name = std::string("sort ") + key_name<T>() + (pairs ? "+u32" : "") + " n=" + size;
  c.algorithm = "sort";
  c.bytes = 2.0 * static_cast<double>(sizeof(T) + (pairs ? 4 : 0)) * static_cast<double>(n);
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [n, pairs](const Space& exec, int sets) {
    Prepared prepared;
    for (int s = 0; s < sets; ++s) {
      const auto in = make_view<T*>(exec, "in", n), out = make_view<T*>(exec, "out", n),
                 theirs = make_view<T*>(exec, "theirs", n);
      const index_t values = pairs ? n : 0;
      const auto v_in = make_view<std::uint32_t*>(exec, "values", values),
                 v_out = make_view<std::uint32_t*>(exec, "values out", values),
                 v_theirs = make_view<std::uint32_t*>(exec, "their values", values);
      fill_keys(exec, in);
      fill_positions(exec, v_in);
      const auto ours = [=] {
        if (pairs)
          sort_by_key(exec, in, v_in, out, v_out);
        else
          sort(exec, in, out);
      };
      prepared.contenders.push_back(contenders(ours,
                                               peers::sort<T>(peers::queue_of(exec), n, in.data(), theirs.data(),
                                                              pairs ? v_in.data() : nullptr, v_theirs.data()),
                                               std::tuple(in, theirs, v_in, v_theirs)));
      if (s == 0) {
        prepared.path = pairs ? plan_sort_by_key(exec, in, v_in).path() : plan_sort(exec, in, out).path();
        prepared.worst_error = [=] {
          ours();
          return faults<T>(exec, in.data(), out.data(), pairs ? v_out.data() : nullptr, n) > 0 ? 1e300 : 0.0;
        };
      }
    }
    return prepared;
  };
  add_case(std::move(c));
}

/// Against a sort of pairs with the positions, which are there already.
template <class T>
void argsort_case(index_t n, const char* size, bool quick) {
  Case c;
  c.name = std::string("argsort ") + key_name<T>() + " n=" + size;
  c.algorithm = "argsort";
  c.bytes = static_cast<double>(sizeof(T) + 4) * static_cast<double>(n);
  c.footprint = 2 * c.bytes;
  c.quick = quick;
  c.prepare = [n](const Space& exec, int sets) {
    Prepared prepared;
    for (int s = 0; s < sets; ++s) {
      const auto in = make_view<T*>(exec, "in", n), theirs = make_view<T*>(exec, "theirs", n);
      const auto positions = make_view<std::uint32_t*>(exec, "positions", n),
                 ours = make_view<std::uint32_t*>(exec, "ours", n),
                 v_theirs = make_view<std::uint32_t*>(exec, "their positions", n);
      fill_keys(exec, in);
      fill_positions(exec, positions);
      const auto run = [=] { argsort(exec, in, ours); };
      prepared.contenders.push_back(contenders(
          run, peers::sort<T>(peers::queue_of(exec), n, in.data(), theirs.data(), positions.data(), v_theirs.data()),
          std::tuple(in, theirs, positions, v_theirs)));
      if (s == 0) {
        prepared.path = plan_argsort(exec, in, ours).path();
        prepared.worst_error = [=] {
          run();
          const T* const keys = in.data();
          T* const sorted = theirs.data();
          const std::uint32_t* const at = ours.data();
          Kokkos::parallel_for(
              "tessera::bench::sorted", Range<Space>(exec, 0, n),
              KOKKOS_LAMBDA(index_t i) { sorted[i] = keys[at[i]]; });
          return faults<T>(exec, keys, sorted, at, n) > 0 ? 1e300 : 0.0;
        };
      }
    }
    return prepared;
  };
  add_case(std::move(c));
}

const Registration registration([] {
  constexpr bool host = is_host_space<Space>;
  const index_t large = host ? 10'000'000 : index_t{1} << 28;
  const char* const size = host ? "1e7" : "2^28";
  sort_case<std::uint32_t>(large, size, false, true);
  sort_case<std::uint64_t>(large, size, false, true);
  sort_case<float>(large, size, false, true);
  sort_case<std::uint32_t>(large, size, true, true);
  sort_case<double>(large, size, false, false);
  argsort_case<float>(large, size, true);
  argsort_case<double>(large, size, false);
  argsort_case<std::uint32_t>(1'000'000, "1e6", false);
  sort_case<std::uint32_t>(1'000, "1e3", false, false);
  sort_case<std::uint32_t>(100'000, "1e5", false, false);
  sort_case<std::uint32_t>(1'000'000, "1e6", false, false);
  sort_case<std::uint32_t>(index_t{1} << 22, "2^22", false, false);
  sort_case<std::uint32_t>(index_t{1} << 22, "2^22", true, false);
  sort_case<std::uint32_t>(index_t{1} << 25, "2^25", false, false);
});

}  // namespace
}  // namespace tessera::bench
