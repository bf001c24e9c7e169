// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "threads.hpp"
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <tessera/backends/peers.hpp>

/// \file
/// Random numbers as they are written by hand: the standard library's Mersenne twister, one a thread.

namespace tessera::peers {

template <class T>
Peers random(const Queue& /*queue*/, bool normal, index_t n, T* y) {
  const auto engines = std::make_shared<std::vector<std::mt19937_64>>();
  for (int t = 0; t < max_threads(); ++t) engines->emplace_back(static_cast<std::uint64_t>(7 + t));
  return {{"OpenMP, std::mt19937_64", [=] {
#pragma omp parallel
             {
               std::mt19937_64& engine = (*engines)[static_cast<std::size_t>(thread_number())];
               if (normal) {
                 std::normal_distribution<T> distribution;
#pragma omp for schedule(static)
                 for (index_t i = 0; i < n; ++i) y[i] = distribution(engine);
               } else {
                 constexpr int bits = sizeof(T) == 4 ? 24 : 53;
#pragma omp for schedule(static)
                 for (index_t i = 0; i < n; ++i)
                   y[i] = static_cast<T>(engine() >> (64 - bits)) * (T(1) / static_cast<T>(std::uint64_t{1} << bits));
               }
             }
           }}};
}

template Peers random(const Queue&, bool, index_t, float*);
template Peers random(const Queue&, bool, index_t, double*);

}  // namespace tessera::peers
