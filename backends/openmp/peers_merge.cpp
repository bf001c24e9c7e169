// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <execution>

#include <tessera/backends/peers.hpp>

namespace tessera::peers {

/// The standard library's parallel merge. Threads are its own (TBB), as many as there are cores.
template <class T>
Peers merge(const Queue& /*queue*/, index_t a_count, const T* a, index_t b_count, const T* b, T* out) {
  return {{"std::merge par", [=] { std::merge(std::execution::par, a, a + a_count, b, b + b_count, out); }}};
}

template <class T>
Peers set_union(const Queue& /*queue*/, index_t a_count, const T* a, index_t b_count, const T* b, T* out) {
  return {{"std::set_union par", [=] { std::set_union(std::execution::par, a, a + a_count, b, b + b_count, out); }}};
}
template <class T>
Peers set_intersection(const Queue& /*queue*/, index_t a_count, const T* a, index_t b_count, const T* b, T* out) {
  return {{"std::set_intersection par",
           [=] { std::set_intersection(std::execution::par, a, a + a_count, b, b + b_count, out); }}};
}

template Peers merge(const Queue&, index_t, const float*, index_t, const float*, float*);
template Peers merge(const Queue&, index_t, const double*, index_t, const double*, double*);
template Peers set_union(const Queue&, index_t, const std::int32_t*, index_t, const std::int32_t*, std::int32_t*);
template Peers set_union(const Queue&, index_t, const double*, index_t, const double*, double*);
template Peers set_intersection(const Queue&, index_t, const std::int32_t*, index_t, const std::int32_t*,
                                std::int32_t*);
template Peers set_intersection(const Queue&, index_t, const double*, index_t, const double*, double*);

}  // namespace tessera::peers
