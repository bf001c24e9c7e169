// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <type_traits>

#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>

namespace tessera {

struct HistogramOptions {
  bool last_closed = false;  ///< a value that equals the top edge is counted in the last bin, not as above
};

/// What the ends of even bins are given in: 64-bit integers for integers, so that the end above the largest value of a
/// narrow type can be named; float for floats up to 32 bits, double for double.
template <class T>
using histogram_level_t =
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<std::is_unsigned_v<T> && sizeof(T) == 8, std::uint64_t, std::int64_t>,
                       std::conditional_t<std::is_same_v<T, double>, double, float>>;

/// Where counts go: integers of 32 or 64 bits, signed or not, which are added to as unsigned words.
struct HistogramCounts {
  void* pointer = nullptr;
  index_t extent = 0;
  index_t stride = 1;  ///< in elements
};

/// How many of x lie in each bin. Even bins: edge i of `bins` lies at lower + i (upper - lower) / bins, see the bins.
template <class T>
struct HistogramProblem {
  VectorRef<const T> x;
  index_t bins = 0;
  bool even = false;
  histogram_level_t<T> lower{}, upper{};  ///< where even
  VectorRef<const T> edges;               ///< else: bins + 1 of them, rising
  bool last_closed = false;
  bool wide = false;        ///< counts have 64 bits, else 32
  HistogramCounts counts;   ///< `bins` of them
  HistogramCounts outside;  ///< below, above, NaN; null pointer: not wanted
};

}  // namespace tessera
