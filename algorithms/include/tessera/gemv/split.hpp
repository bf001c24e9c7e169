// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/device.hpp>
#include <tessera/gemv/problem.hpp>

namespace tessera::detail {

/// How the work of a gemv is cut.
struct GemvSplit {
  int lanes = 1;           ///< vector lanes of a thread
  int threads = 1;         ///< threads of a team
  int per_row = 1;         ///< threads of a team that share a row (rows) or a column group (columns)
  index_t rows = 1;        ///< rows of a team
  index_t row_blocks = 1;  ///< teams side by side along the rows
  index_t segments = 1;    ///< parts of the sums that different teams add to y
  index_t part = 1;        ///< columns of one part; per_row * segments parts in all (rows), segments (columns)

  [[nodiscard]] int league() const {
    constexpr index_t most = index_t{1} << 30;
    const index_t teams = row_blocks * segments;
    return static_cast<int>(teams < most ? teams : most);
  }
};

/// Whether A is more than the caches hold.
template <class Space, class T>
bool gemv_far(const Space& exec, const GemvProblem<T>& p) {
  return past_caches(exec, sizeof(T) * static_cast<double>(p.a.extents[0] * p.a.extents[1]));
}

TESSERA_FUNCTION constexpr index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }
TESSERA_FUNCTION constexpr index_t at_least(index_t a, index_t b) { return a > b ? a : b; }
TESSERA_FUNCTION constexpr index_t at_most(index_t a, index_t b) { return a < b ? a : b; }
/// Largest power of two not above n, at least 1.
TESSERA_FUNCTION constexpr index_t power_of_two_below(index_t n) {
  index_t p = 1;
  while (2 * p <= n) p *= 2;
  return p;
}

}  // namespace tessera::detail
