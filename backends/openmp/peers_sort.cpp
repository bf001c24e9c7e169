// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdint>
#include <execution>
#include <memory>
#include <vector>

#include <tessera/backends/peers.hpp>

namespace tessera::peers {

/// The standard library's parallel sort on a copy of the keys; pairs as an array of structs, stably. Threads are the
/// standard library's own (TBB), as many as there are cores.
template <class T>
Peers sort(const Queue& /*queue*/, index_t n, const T* keys_in, T* keys_out, const std::uint32_t* values_in,
           std::uint32_t* values_out) {
  if (values_in == nullptr)
    return {{"std::sort par", [=] {
               std::copy(std::execution::par, keys_in, keys_in + n, keys_out);
               std::sort(std::execution::par, keys_out, keys_out + n);
             }}};
  struct Pair {
    T key;
    std::uint32_t value;
  };
  const auto pairs = std::make_shared<std::vector<Pair>>(static_cast<std::size_t>(n));
  return {{"std::stable_sort par", [=] {
             Pair* const p = pairs->data();
#pragma omp parallel for schedule(static)
             for (index_t i = 0; i < n; ++i) p[i] = {keys_in[i], values_in[i]};
             std::stable_sort(std::execution::par, p, p + n,
                              [](const Pair& a, const Pair& b) { return a.key < b.key; });
#pragma omp parallel for schedule(static)
             for (index_t i = 0; i < n; ++i) {
               keys_out[i] = p[i].key;
               values_out[i] = p[i].value;
             }
           }}};
}

template Peers sort(const Queue&, index_t, const std::uint32_t*, std::uint32_t*, const std::uint32_t*, std::uint32_t*);
template Peers sort(const Queue&, index_t, const std::uint64_t*, std::uint64_t*, const std::uint32_t*, std::uint32_t*);
template Peers sort(const Queue&, index_t, const float*, float*, const std::uint32_t*, std::uint32_t*);
template Peers sort(const Queue&, index_t, const double*, double*, const std::uint32_t*, std::uint32_t*);

}  // namespace tessera::peers
