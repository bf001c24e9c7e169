// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <type_traits>
#include <vector>

#include <tessera/backends/peers.hpp>

/// \file
/// The histogram that a careful user writes by hand: a table for each thread, a product for the bin (integers: a
/// division, since a product rounds).

namespace tessera::peers {

template <class T, class Level>
Peers histogram(const Queue& /*queue*/, index_t n, const T* x, int bins, Level lower, Level upper,
                std::int32_t* counts) {
  return {{"OpenMP loop", [=] {
             std::fill(counts, counts + bins, 0);
#pragma omp parallel
             {
               std::vector<std::int32_t> mine(static_cast<std::size_t>(bins));
               std::int32_t* const table = mine.data();
               if constexpr (std::is_integral_v<T>) {
                 const auto range = static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower);
#pragma omp for schedule(static)
                 for (index_t i = 0; i < n; ++i)
                   if (static_cast<Level>(x[i]) >= lower && static_cast<Level>(x[i]) < upper)
                     ++table[static_cast<std::uint64_t>(static_cast<std::int64_t>(x[i]) - lower) *
                             static_cast<std::uint64_t>(bins) / range];
               } else {
                 const T scale = static_cast<T>(bins) / (upper - lower);
#pragma omp for schedule(static)
                 for (index_t i = 0; i < n; ++i)
                   if (x[i] >= lower && x[i] < upper) ++table[static_cast<int>((x[i] - lower) * scale)];
               }
#pragma omp critical
               for (int b = 0; b < bins; ++b) counts[b] += table[b];
             }
           }}};
}

template Peers histogram(const Queue&, index_t, const float*, int, float, float, std::int32_t*);
template Peers histogram(const Queue&, index_t, const double*, int, double, double, std::int32_t*);
template Peers histogram(const Queue&, index_t, const std::int32_t*, int, std::int32_t, std::int32_t, std::int32_t*);
template Peers histogram(const Queue&, index_t, const std::uint8_t*, int, std::int32_t, std::int32_t, std::int32_t*);

}  // namespace tessera::peers
