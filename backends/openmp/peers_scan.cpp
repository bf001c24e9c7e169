// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "threads.hpp"
#include <vector>

#include <tessera/backends/peers.hpp>

/// \file
/// The scan that a careful user writes by hand: each thread sums its part, then scans it; both loops in vectors.

namespace tessera::peers {

template <class T>
Peers exclusive_scan(const Queue& /*queue*/, index_t n, const T* x, T* y) {
  return {{"OpenMP loops", [=] {
             std::vector<T> parts(static_cast<std::size_t>(max_threads()));
#pragma omp parallel
             {
               const int thread = thread_number(), threads = threads_here();
               const index_t begin = n * thread / threads, end = n * (thread + 1) / threads;
               T sum = 0;
               if (threads > 1) {
#pragma omp simd reduction(+ : sum)
                 for (index_t i = begin; i < end; ++i) sum += x[i];
                 parts[static_cast<std::size_t>(thread)] = sum;
#pragma omp barrier
                 sum = 0;
                 for (int t = 0; t < thread; ++t) sum += parts[static_cast<std::size_t>(t)];
               }
#pragma omp simd reduction(inscan, + : sum)
               for (index_t i = begin; i < end; ++i) {
                 y[i] = sum;
#pragma omp scan exclusive(sum)
                 sum += x[i];
               }
             }
           }}};
}
template Peers exclusive_scan(const Queue&, index_t, const float*, float*);
template Peers exclusive_scan(const Queue&, index_t, const double*, double*);
template Peers exclusive_scan(const Queue&, index_t, const std::int32_t*, std::int32_t*);

}  // namespace tessera::peers
