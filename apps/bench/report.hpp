// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bench/result.hpp>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// What is made of a result. Each function gives the whole text; who calls it writes it. Ratios are the peer's time
/// over ours: above 1, ours is faster.

namespace tessera::bench {

/// How a case of two results moved.
struct Movement {
  std::string name;
  double before = 0;   ///< seconds of a call
  double now = 0;      ///< seconds of a call
  double speedup = 0;  ///< before / now
  double spread = 0;   ///< of both runs together
  [[nodiscard]] bool beyond_spread() const { return speedup > 1 + spread || speedup < 1 - spread; }
  [[nodiscard]] const char* verdict() const { return !beyond_spread() ? "" : speedup > 1 ? "faster" : "SLOWER"; }
};
struct Comparison {
  std::string source;  ///< of the older result
  std::vector<Movement> moved;
  std::vector<std::string> notes;  ///< why the two may not be comparable, and what only one of them has
};
[[nodiscard]] Comparison compare(const Result& before, const Result& now, const std::string& source);

// For people at a terminal.
[[nodiscard]] std::string text_header(const Result& result);
[[nodiscard]] std::string text_row(const Result& result, const CaseResult& c, const Peaks& peaks);
[[nodiscard]] std::string text(const Result& result);
/// For each peer the geometric mean of the ratios, how many are at 0.95 and above, and the least; empty for one case.
[[nodiscard]] std::string text_summary(const Result& result);
[[nodiscard]] std::string text(const Comparison& comparison);

/// A line a contender (RFC 4180).
[[nodiscard]] std::string csv(const Result& result);
/// A table of ratios; cases that differ in the element type alone share a row.
[[nodiscard]] std::string markdown(const Result& result);
/// A page without references to anything outside it: the machine, a roofline, the ratios, and every number.
/// \param comparison  may be null
[[nodiscard]] std::string html(const Result& result, const Comparison* comparison = nullptr);

}  // namespace tessera::bench
