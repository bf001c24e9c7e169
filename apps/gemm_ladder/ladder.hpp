// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <common/app.hpp>
#include <common/picture.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/core/refs.hpp>

/// \file
/// What a run of the ladder found, as plain data: measuring fills it, tables and pictures are made from it, also later.

namespace tessera::app {

enum class Kind {
  step,    ///< of the ladder
  house,   ///< tessera::gemm beside it
  library  ///< what a user would call instead
};

struct Rung {
  int number = 0;  ///< of the step; 0 for what stands beside the ladder
  std::string name{};
  std::string type{};  ///< "fp32", "bf16": of the elements; sums are in fp32
  Kind kind = Kind::step;
  std::string path{};     ///< that tessera::gemm took; empty where it is none of it
  std::string refusal{};  ///< why it did not run
  double seconds = 0;     ///< median of one product; 0: not timed
  double spread = 0;      ///< (upper quartile - lower quartile) / median
  double error = 0;       ///< largest |C - reference| / bound over the entries looked at
  bool verified = false;

  [[nodiscard]] bool ran() const { return refusal.empty(); }
};

struct Ladder {
  std::string device{};
  index_t m = 0, n = 0, k = 0;
  std::vector<std::string> steps{};  ///< that were asked for; empty: all
  std::vector<Rung> rungs{};         ///< by type, steps in their order, then what stands beside them
  /// Why rungs are missing that the run was to have, where some are: it was interrupted, say.
  std::string unfinished{};

  [[nodiscard]] double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  /// Nothing is missing, and every step that ran is right, tessera::gemm too; libraries are not judged.
  [[nodiscard]] bool verified() const;
};

/// How many times faster a rung is than others of the ladder; 0 where there is nothing to compare.
struct Shares {
  double before = 0;   ///< over the step before it, of either type
  double house = 0;    ///< over tessera::gemm on the same elements
  double library = 0;  ///< over the fastest library on the same elements
};
[[nodiscard]] Shares shares_of(const Ladder& ladder, std::size_t rung);

[[nodiscard]] Json to_json(const Ladder& ladder);
/// What to_json() wrote, within a document of App, from a file's text. Whatever the text is, it is checked: a rung's
/// verdict must be that of its error, its numbers possible; steps that are missing are told in `unfinished`.
/// \param source  named in errors
/// \throws Error that says where and what
[[nodiscard]] Ladder parse_ladder(std::string_view text, const std::string& source);
/// \param file  "-" is standard input
[[nodiscard]] Ladder read_ladder(const std::string& file);

[[nodiscard]] Table table_of(const Ladder& ladder);
[[nodiscard]] std::string markdown(const Ladder& ladder);
/// Rates over the steps' numbers, a line a type, and one for each type's fastest library.
[[nodiscard]] std::vector<Series> series_of(const Ladder& ladder);
[[nodiscard]] PlotOptions plot_options(const Ladder& ladder);

}  // namespace tessera::app
