// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tessera/backends/peers.hpp>

namespace tessera::peers {

template <class T>
Peers gather(const Queue& /*queue*/, index_t n, const T* x, const std::int32_t* index, T* y) {
  return {{"OpenMP loop", [=] {
#pragma omp parallel for schedule(static)
             for (index_t i = 0; i < n; ++i) y[i] = x[index[i]];
           }}};
}

template <class T>
Peers scatter_add(const Queue& /*queue*/, index_t n, const T* x, const std::int32_t* index, T* y) {
  return {{"OpenMP loop", [=] {
#pragma omp parallel for schedule(static)
             for (index_t i = 0; i < n; ++i) {
#pragma omp atomic
               y[index[i]] += x[i];
             }
           }}};
}

template Peers gather(const Queue&, index_t, const float*, const std::int32_t*, float*);
template Peers gather(const Queue&, index_t, const double*, const std::int32_t*, double*);
template Peers scatter_add(const Queue&, index_t, const float*, const std::int32_t*, float*);
template Peers scatter_add(const Queue&, index_t, const double*, const std::int32_t*, double*);

}  // namespace tessera::peers
