// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdio>
#include <string>

#include <tessera/random_fill.hpp>

namespace tessera::detail {
namespace {
std::string text(double value) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.9g", value);
  return digits;
}
}  // namespace

void check_random_bounds(double lower, double upper, bool finite, const std::source_location& where) {
  require(std::isfinite(lower) && std::isfinite(upper) && lower < upper && finite, [&] {
    return Error("tessera::random_fill", "lower is " + text(lower) + " and upper is " + text(upper),
                 "lower < upper, and both and their difference are finite", "Give other bounds", where);
  });
}
void check_random_bounds(std::int64_t lower, std::int64_t upper, const std::source_location& where) {
  require(lower < upper, [&] {
    return Error("tessera::random_fill", "lower is " + std::to_string(lower) + " and upper is " + std::to_string(upper),
                 "lower < upper; upper itself is not drawn", "Leave both out for all values of the type", where);
  });
}
void check_random_normal(double mean, double deviation, const std::source_location& where) {
  require(std::isfinite(mean) && std::isfinite(deviation) && deviation >= 0, [&] {
    return Error("tessera::random_normal", "mean is " + text(mean) + " and deviation is " + text(deviation),
                 "both are finite and deviation is 0 or more", "", where);
  });
}

}  // namespace tessera::detail
