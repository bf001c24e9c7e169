// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Sorted ranges for the tests of what merges them.

#include <algorithm>
#include <cmath>
#include <limits>
#include <support/level1.hpp>
#include <vector>

namespace sorted_ranges {

using namespace level1;

/// The order of the contract, told without the kernels' text: NaN last, zeros equal.
template <class T>
int rank_of(const T& a, const T& b) {
  const auto nan = [](const T& x) { return std::isnan(static_cast<double>(x)); };
  if (nan(a) || nan(b)) return nan(a) == nan(b) ? 0 : nan(a) ? 1 : -1;
  return a < b ? -1 : b < a ? 1 : 0;
}

/// Few different keys or many; extremes, both zeros and NaN among them.
template <class T>
std::vector<T> sorted_keys(index_t n, int different, bool descending, std::mt19937_64& random) {
  using L = std::numeric_limits<T>;
  std::vector<T> keys;
  for (index_t i = 0; i < n; ++i) {
    const auto r = random();
    if (r % 50 == 0) {
      if constexpr (std::is_floating_point_v<T>) {
        const T some[] = {L::infinity(), -L::infinity(), L::quiet_NaN(), T(0), -T(0), L::denorm_min()};
        keys.push_back(some[r / 50 % 6]);
      } else {
        const T some[] = {L::min(), L::max(), T(0)};
        keys.push_back(some[r / 50 % 3]);
      }
    } else {
      keys.push_back(static_cast<T>(static_cast<std::int64_t>(r / 50 % static_cast<unsigned>(different)) -
                                    (std::is_signed_v<T> ? different / 2 : 0)));
    }
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [&](const T& a, const T& b) { return descending ? rank_of(b, a) < 0 : rank_of(a, b) < 0; });
  return keys;
}

template <class T>
Operand<T> filled(const Shape& shape, const std::vector<T>& values) {
  Operand<T> x(shape);
  fill(x, values);
  return x;
}

}  // namespace sorted_ranges
