// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// \file
/// What a run of the bench found, as plain data: measuring fills it, reports are made from it, a JSON file holds it.
/// Nothing here needs Kokkos.

namespace tessera::bench {

struct Timing {
  std::string name;
  double seconds = 0;  ///< median of one call
  double spread = 0;   ///< (upper quartile - lower quartile) / median
};

struct CaseResult {
  std::string name;  ///< "dot fp64 n=1e8": unique in a result
  std::string algorithm;
  std::string path;
  double bytes = 0;  ///< least traffic
  double flops = 0;  ///< 0 where the case declares none
  int operand_sets = 1;
  /// Whether the operand sets together leave the last-level cache between two uses; older files do not tell.
  std::optional<bool> past_cache;
  bool verified = false;
  double worst_error = 0;       ///< in units of the bound; beyond 1e300: infinite
  std::string error;            ///< why it did not run; then there are no timings
  std::vector<Timing> timings;  ///< the first is Tessera's
  /// Whether replays of a captured graph were timed. Else calls were, launches included.
  bool replayed = false;
  std::string not_replayed;  ///< why they were not, where replays were asked for

  [[nodiscard]] bool ran() const { return !timings.empty(); }
  [[nodiscard]] double seconds() const { return timings.front().seconds; }
  /// How many times faster than contender `i` Tessera is.
  [[nodiscard]] double ratio(std::size_t i) const { return timings[i].seconds / seconds(); }
  /// The quartiles of both, half of their width to each side: ratio / (1 + r) .. ratio * (1 + r).
  [[nodiscard]] double ratio_spread(std::size_t i) const { return 0.5 * (timings[0].spread + timings[i].spread); }
};

/// GFLOP/s by element type.
using Peaks = std::map<std::string, double>;

struct Result {
  std::string version;
  std::string backend;
  std::string device;
  double concurrency = 0;
  double copy_gb_per_s = 0;  ///< read + written, of the best plain copy, measured in the same run
  /// More of the machine and the run, in the order in which it is shown: ("compiler", "g++ 14").
  std::vector<std::pair<std::string, std::string>> machine;
  Peaks products;            ///< those of the whole run, where `cases` are a selection of it
  std::size_t asked = 0;     ///< cases that the run was to do; 0: not recorded
  bool interrupted = false;  ///< it ended before all of them were done
  std::vector<CaseResult> cases;

  [[nodiscard]] bool verified() const;
};

/// How a case was timed, to be read beside its name where others may have been timed otherwise: "replay" or "calls";
/// empty where no replays were asked for.
[[nodiscard]] const char* timing_mark(const CaseResult& c);

/// The element type that a case's name holds ("fp64"); empty where it holds none.
[[nodiscard]] std::string type_of(const CaseResult& c);

/// The highest rates of matrix products in this run, of any contender: the peaks that are known to be reachable on the
/// device.
[[nodiscard]] Peaks peaks_of(const Result& result);

struct Share {
  double value = 0;
  std::string of;  ///< "copy" or "fp64 product"
};
/// Of the lower of two ceilings measured in the same run: a copy, and the fastest product of the case's type.
[[nodiscard]] Share share_of_ceiling(const Result& result, const CaseResult& c, const Peaks& peaks);

/// Whether the case's rate is told in operations instead of bytes.
[[nodiscard]] bool counts_flops(const CaseResult& c);
/// GB/s or GFLOP/s.
[[nodiscard]] double rate(const CaseResult& c, double seconds);
[[nodiscard]] const char* unit(const CaseResult& c);

/// Whether `name` holds every word of one of the filters; no filter keeps all.
[[nodiscard]] bool matches(const std::string& name, const std::vector<std::string>& filters);
/// The cases that match; the ceilings stay those of the whole run.
[[nodiscard]] Result selection(Result result, const std::vector<std::string>& filters);

/// By algorithm and name, for reports.
[[nodiscard]] Result in_order(Result result);

[[nodiscard]] nlohmann::json to_json(const Result& result);

/// A result from the text of a JSON file. Whatever the text is, it is checked: size, depth, counts, types, ranges.
/// \param source  named in errors
/// \throws Error that says where and what
[[nodiscard]] Result parse_result(std::string_view text, const std::string& source);
/// \param file  "-" is standard input
[[nodiscard]] Result read_result(const std::string& file);

}  // namespace tessera::bench
