// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bench/report.hpp>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <string_view>

namespace tessera::bench {

Comparison compare(const Result& before, const Result& now, const std::string& source) {
  Comparison comparison{source, {}, {}};
  if (before.device != now.device || before.backend != now.backend)
    comparison.notes.push_back(fmt::format("another machine or backend: {} ({}) then, {} ({}) now", before.device,
                                           before.backend, now.device, now.backend));
  if (before.concurrency != now.concurrency)
    comparison.notes.push_back(
        fmt::format("{} work items at a time then, {} now", before.concurrency, now.concurrency));
  std::map<std::string, const CaseResult*> old;
  for (const CaseResult& c : before.cases) old[c.name] = &c;
  std::size_t added = 0, rotated = 0, otherwise = 0;
  for (const CaseResult& c : now.cases) {
    const auto found = old.find(c.name);
    if (found == old.end()) {
      ++added;
      continue;
    }
    const CaseResult& o = *found->second;
    if (c.ran() && o.ran() && c.replayed != o.replayed) {
      ++otherwise;
    } else if (c.ran() && o.ran()) {
      if (c.operand_sets != o.operand_sets) ++rotated;
      comparison.moved.push_back(
          {c.name, o.seconds(), c.seconds(), o.seconds() / c.seconds(), o.timings[0].spread + c.timings[0].spread});
    } else {
      comparison.notes.push_back(c.name + " ran in one of the two only");
    }
    old.erase(found);
  }
  if (otherwise > 0)
    comparison.notes.push_back(fmt::format(
        "{} cases were timed by replays in one of the two and by calls, launches included, in the other, and "
        "are not compared: give both --replay, or neither",
        otherwise));
  if (rotated > 0)
    comparison.notes.push_back(
        fmt::format("{} cases have another number of operand sets: what lay in the cache then may not now", rotated));
  if (added > 0) comparison.notes.push_back(fmt::format("{} cases are new", added));
  if (!old.empty()) comparison.notes.push_back(fmt::format("{} cases of the older result are not here", old.size()));
  return comparison;
}

std::string text_header(const Result& result) {
  std::string out = fmt::format("{} ({}), copy {:.0f} GB/s", result.device, result.backend, result.copy_gb_per_s);
  for (const auto& [name, value] : result.machine) out += fmt::format(", {} {}", name, value);
  out += fmt::format("\n{:<38} {:>11} {:>8} {:>7} {:>8}  {}\n", "case", "ours", "unit", "spread", "ceiling",
                     "peer: ratio (above 1: ours is faster); path");
  return out;
}

std::string text_row(const Result& result, const CaseResult& c, const Peaks& peaks) {
  if (!c.ran()) return fmt::format("{:<38} DID NOT RUN: {}\n", c.name, c.error);
  const Share share = share_of_ceiling(result, c, peaks);
  std::string out = fmt::format("{:<38} {:>11.1f} {:>8} {:>6.1f}% {:>6.2f} {} ", c.name, rate(c, c.seconds()), unit(c),
                                100 * c.timings[0].spread, share.value, share.of == "copy" ? "c" : "p");
  for (std::size_t i = 1; i < c.timings.size(); ++i) out += fmt::format(" {}: {:.2f}", c.timings[i].name, c.ratio(i));
  if (!c.verified) out += fmt::format("  WRONG: error {:.3g} bounds", c.worst_error);
  out += "  " + c.path;
  if (const std::string_view mark = timing_mark(c); !mark.empty())
    out += fmt::format("  [{}{}{}]", mark, c.not_replayed.empty() ? "" : ": ", c.not_replayed);
  return out + "\n";
}

std::string text(const Result& result) {
  const Peaks peaks = peaks_of(result);
  std::string out = text_header(result);
  for (const CaseResult& c : result.cases) out += text_row(result, c, peaks);
  return out + text_summary(result);
}

std::string text_summary(const Result& result) {
  struct Sum {
    std::size_t cases = 0, close = 0;
    double logarithms = 0, least = 0;
    std::string of;
  };
  std::map<std::string, Sum> peers;
  for (const CaseResult& c : result.cases)
    for (std::size_t i = 1; c.ran() && i < c.timings.size(); ++i) {
      const double ratio = c.ratio(i);
      Sum& sum = peers[c.timings[i].name];
      if (sum.cases++ == 0 || ratio < sum.least) {
        sum.least = ratio;
        sum.of = c.name;
      }
      sum.close += ratio >= 0.95 ? 1 : 0;
      sum.logarithms += std::log(ratio);
    }
  std::string out;
  for (const auto& [name, sum] : peers)
    if (sum.cases > 1)
      out += fmt::format("{}: geometric mean {:.3f} of {} cases, {} at 0.95 and above; least {:.2f}, {}\n", name,
                         std::exp(sum.logarithms / static_cast<double>(sum.cases)), sum.cases, sum.close, sum.least,
                         sum.of);
  if (const auto calls =
          std::ranges::count_if(result.cases, [](const CaseResult& c) { return !c.not_replayed.empty(); });
      calls > 0)
    out += fmt::format("{} of {} cases could not be captured: timed by calls, launches included\n", calls,
                       result.cases.size());
  return out;
}

std::string text(const Comparison& comparison) {
  std::string out = fmt::format("\nagainst {} (above 1: faster now)\n", comparison.source);
  std::size_t faster = 0, slower = 0;
  for (const Movement& m : comparison.moved) {
    out += fmt::format("{:<38} {:>6.3f}  (spread {:.1f} %){}{}\n", m.name, m.speedup, 100 * m.spread,
                       m.beyond_spread() ? "  " : "", m.verdict());
    if (m.beyond_spread()) ++(m.speedup > 1 ? faster : slower);
  }
  for (const std::string& note : comparison.notes) out += "note: " + note + "\n";
  return out + fmt::format("{} cases: {} faster and {} slower beyond the spread of both runs\n",
                           comparison.moved.size(), faster, slower);
}

namespace {

std::string csv_field(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string csv(const Result& result) {
  const Peaks peaks = peaks_of(result);
  std::string out =
      "case,algorithm,path,verified,contender,seconds,spread,ratio,bytes,flops,operand_sets,share_of_ceiling,ceiling,"
      "timed\n";
  for (const CaseResult& c : result.cases)
    for (std::size_t i = 0; i < c.timings.size(); ++i) {
      const Timing& t = c.timings[i];
      out += fmt::format("{},{},{},{},{},{:.9e},{:.4f},{:.4f},{:.0f},{:.0f},{},", csv_field(c.name),
                         csv_field(c.algorithm), csv_field(c.path), c.verified, csv_field(t.name), t.seconds, t.spread,
                         c.ratio(i), c.bytes, c.flops, c.operand_sets);
      const Share share = share_of_ceiling(result, c, peaks);
      out += i == 0 ? fmt::format("{:.4f},{},", share.value, csv_field(share.of)) : ",,";
      out += c.replayed ? "replay\n" : "calls\n";
    }
  return out;
}

}  // namespace tessera::bench
