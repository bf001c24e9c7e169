// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdio>
#include <string>

#include <tessera/histogram.hpp>

namespace tessera::detail {
namespace {

constexpr const char* function = "tessera::histogram";

std::string text(std::int64_t value) { return std::to_string(value); }
std::string text(std::uint64_t value) { return std::to_string(value); }
std::string text(double value) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.9g", value);
  return digits;
}

template <class Level>
void check_order(Level lower, Level upper, const std::source_location& where) {
  require(lower < upper, [&] {
    return Error(function, "lower is " + text(lower) + " and upper is " + text(upper), "lower must be below upper",
                 "Exchange them, or move one", where);
  });
}

void check_range(std::uint64_t range, int bytes, const std::source_location& where) {
  constexpr std::uint64_t most = std::uint64_t{1} << 32;
  require(bytes > 4 || range <= most, [&] {
    return Error(function, "upper - lower is " + std::to_string(range),
                 "at most 2^32 for integers of " + std::to_string(8 * bytes) + " bits",
                 "Move the ends to what such integers can hold", where);
  });
}

}  // namespace

void check_histogram_counts(index_t n, index_t bins, index_t outside, std::uint64_t largest_count,
                            const std::source_location& where) {
  constexpr index_t most = (index_t{1} << 31) - 8;
  require(bins <= most, [&] {
    return Error(function, std::to_string(bins) + " bins", "at most " + std::to_string(most) + " are accepted",
                 "Count in coarser bins, or in parts of the range", where);
  });
  require(outside == -1 || outside == 3, [&] {
    return Error(function, "outside has " + std::to_string(outside) + " elements",
                 "three are written: how many values lie below, above, and are NaN", "", where);
  });
  require(static_cast<std::uint64_t>(n) <= largest_count, [&] {
    return Error(function, "x has " + std::to_string(n) + " elements",
                 "a count of this type reaches " + std::to_string(largest_count), "Use 64-bit counts", where);
  });
}

void check_histogram_edge_count(index_t edges, index_t bins, const std::source_location& where) {
  require(edges == bins + 1, [&] {
    return Error(function, "edges has " + std::to_string(edges) + " elements and counts has " + std::to_string(bins),
                 "bins lie between edges: one more edge than counts", "", where);
  });
}

void check_histogram_edge(bool rises, index_t i, const std::source_location& where) {
  require(rises, [&] {
    return Error(function, "edges " + std::to_string(i) + " and " + std::to_string(i + 1) + " fall, or one is NaN",
                 "edges rise", "Sort them first", where);
  });
}

void refuse_histogram_level(bool negative, std::uint64_t value, const std::source_location& where) {
  throw Error(function,
              "an end of the bins is " + (negative ? std::to_string(static_cast<std::int64_t>(value)) : text(value)),
              negative ? "unsigned 64-bit integers begin at 0" : "signed integers end at 2^63 - 1",
              "Give an end that the type reaches", where);
}

void check_histogram_ends(double lower, double upper, int bytes, const std::source_location& where) {
  require(std::isfinite(lower) && std::isfinite(upper) && std::isfinite(upper - lower), [&] {
    return Error(function, "lower is " + text(lower) + " and upper is " + text(upper),
                 bytes == 4 ? "both must be finite, as floats" : "both and their difference must be finite",
                 "Give finite ends; what lies beyond is told by `outside`", where);
  });
  check_order(lower, upper, where);
}
void check_histogram_ends(std::int64_t lower, std::int64_t upper, int bytes, const std::source_location& where) {
  check_order(lower, upper, where);
  check_range(static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower), bytes, where);
}
void check_histogram_ends(std::uint64_t lower, std::uint64_t upper, int bytes, const std::source_location& where) {
  check_order(lower, upper, where);
  check_range(upper - lower, bytes, where);
}

}  // namespace tessera::detail
