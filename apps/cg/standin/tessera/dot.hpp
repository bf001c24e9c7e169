// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
// Stands in for the dot product of algorithms until that lands; then this folder goes.
#include <Kokkos_Core.hpp>
#include <tessera/core/execution.hpp>

namespace tessera {
template <class V>
struct StandInDot {
  V x, y;
  KOKKOS_FUNCTION void operator()(index_t i, double& sum) const { sum += x(i) * y(i); }
};
template <class Space, class V>
double dot(const Space& exec, const V& x, const V& y) {
  double sum = 0;
  Kokkos::parallel_reduce("tessera::dot::stand_in", Range<Space>(exec, 0, static_cast<index_t>(x.extent(0))),
                          StandInDot<V>{x, y}, sum);
  return sum;
}
template <class Space, class V, class R>
void dot(const Space& exec, const V& x, const V& y, const R& result) {
  Kokkos::parallel_reduce("tessera::dot::stand_in", Range<Space>(exec, 0, static_cast<index_t>(x.extent(0))),
                          StandInDot<V>{x, y}, result);
}
}  // namespace tessera
