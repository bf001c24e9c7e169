// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bench/case.hpp>
#include <cstdint>

/// \file
/// Operands of cases that work on segments.

namespace tessera::bench {

/// Segments of n elements.
struct Segments {
  Kokkos::View<std::int32_t*, Kokkos::LayoutLeft, Space> offsets;  ///< one more than segments, from 0 to n
  index_t count = 0;
};

/// Random lengths, half to one and a half times the mean.
[[nodiscard]] inline Segments random_segments(const Space& exec, index_t n, index_t mean) {
  Segments segments;
  segments.count = (n + mean - 1) / mean;
  const index_t count = segments.count;
  segments.offsets = make_view<std::int32_t*>(exec, "offsets", count + 1);
  std::int32_t* const offsets = segments.offsets.data();
  Kokkos::parallel_for(
      "tessera::bench::segments", Range<Space>(exec, 0, count + 1), KOKKOS_LAMBDA(index_t s) {
        const double moved = 0.25 * static_cast<double>(mean) * detail::uniform(5, static_cast<std::uint64_t>(s));
        const index_t at = s * mean + static_cast<index_t>(moved);
        offsets[s] = static_cast<std::int32_t>(s == 0 ? 0 : s == count || at > n ? n : at);
      });
  return segments;
}

/// The segment of element i: the last that begins at or before it.
TESSERA_INLINE_FUNCTION index_t segment_of(const std::int32_t* offsets, index_t count, index_t i) {
  index_t low = 0, high = count;
  while (high - low > 1) {
    const index_t middle = low + (high - low) / 2;
    if (offsets[middle] <= i)
      low = middle;
    else
      high = middle;
  }
  return low;
}

}  // namespace tessera::bench
