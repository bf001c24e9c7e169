// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bench/plot.hpp>
#include <bench/report.hpp>
#include <fmt/format.h>

namespace tessera::bench {
namespace {

constexpr const char* page_style = R"(
:root { color-scheme: light dark; --page: #ffffff; --ink: #1a1a1a; --dim: #5a5a5a; --line: #dcdcdc; --band: #f4f6f8; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171a; --ink: #e8e8e8; --dim: #a8adb3; --line: #363b41; --band: #1d2126; }
}
body { background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 0 auto;
       max-width: 1440px; padding: 1rem 1.25rem 3rem; }
h1 { font-size: 1.5rem; margin: 0.5rem 0; } h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1.25rem; margin: 0.75rem 0; }
dt { color: var(--dim); } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 0; overflow-x: auto; } figcaption, .note { color: var(--dim); max-width: 60rem; }
svg { display: block; max-width: 100%; min-width: 640px; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--dim); padding-bottom: 0.4rem; }
td { white-space: nowrap; }
th, td { padding: 0.15rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
thead th { border-bottom: 2px solid var(--dim); vertical-align: bottom; }
th[scope=row], .left { text-align: left; } th[scope=row] { font-weight: 500; white-space: nowrap; }
.path { white-space: normal; overflow-wrap: anywhere; min-width: 13rem; }
.wrong { font-weight: 700; background: #b00020; color: #ffffff; padding: 0 0.3rem; }
)";

std::string duration(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.2f} \u00b5s", seconds * 1e6);
}

std::string rate_text(const CaseResult& c, double seconds) {
  const double value = rate(c, seconds);
  if (value >= 1e4) return fmt::format("{:.2f} T{}", value / 1e3, unit(c) + 1);
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : 1, unit(c));
}

std::string machine(const Result& result) {
  std::string out = "<dl>\n";
  const auto row = [&](std::string_view name, const std::string& value) {
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
  };
  row("device", result.device);
  row("backend", fmt::format("{}, {:.0f} work items at a time", result.backend, result.concurrency));
  row("copy",
      fmt::format("{:.0f} GB/s read and written, the best plain copy, measured in this run", result.copy_gb_per_s));
  std::string products;
  for (const auto& [type, peak] : peaks_of(result))
    products +=
        fmt::format("{}{}{:.1f} TFLOP/s", products.empty() ? "" : ", ", type.empty() ? "" : type + " ", peak / 1e3);
  if (!products.empty()) row("fastest products", products + " (of any contender in this run)");
  row("Tessera", result.version);
  for (const auto& [name, value] : result.machine) row(name, value);
  return out + "</dl>\n";
}

std::string summary(const Result& result) {
  std::size_t wrong = 0, failed = 0, pairs = 0, faster = 0, slower = 0;
  for (const CaseResult& c : result.cases) {
    if (!c.ran())
      ++failed;
    else if (!c.verified)
      ++wrong;
    for (std::size_t i = 1; i < c.timings.size(); ++i) {
      ++pairs;
      if (const int side = standing(c, i); side != 0) ++(side > 0 ? faster : slower);
    }
  }
  std::string out = "<p>";
  if (result.interrupted)
    out += fmt::format("<strong class=\"wrong\">interrupted</strong> after {}{} cases. ", result.cases.size(),
                       result.asked > 0 ? fmt::format(" of {}", result.asked) : "");
  out += fmt::format("{} cases, ", result.cases.size());
  if (wrong + failed == 0)
    out += "each verified before it was timed. ";
  else
    out += fmt::format("<strong class=\"wrong\">{} wrong, {} did not run</strong>. ", wrong, failed);
  return out + fmt::format(
                   "Of {} pairs of a case and a peer, Tessera is faster in {} and slower in {}, beyond the "
                   "quartiles of both; {} are even.</p>\n",
                   pairs, faster, slower, pairs - faster - slower);
}

std::string figure(const std::string& title, const std::string& svg, std::string_view caption) {
  if (svg.empty()) return {};
  return fmt::format("<h2>{}</h2>\n<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n", title, svg, caption);
}

/// Beside a case's name, where replays were asked for.
std::string timed(const CaseResult& c) {
  const std::string_view mark = timing_mark(c);
  if (mark.empty()) return {};
  const std::string why = c.not_replayed.empty() ? "" : fmt::format(" title=\"{}\"", escaped(c.not_replayed));
  return fmt::format(" <span class=\"note\"{}>({})</span>", why, mark);
}

std::string table(const Result& result) {
  std::string out =
      "<h2>All cases</h2>\n<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"All cases\">\n<table>\n"
      "<caption>Times are medians of one call; a spread is the distance of the quartiles over the median; the error is "
      "in units of its bound. A ceiling is the copy, or the fastest product of that type in this run. Operands marked "
      "* stay in the last-level cache between calls.";
  if (std::ranges::any_of(result.cases, [](const CaseResult& c) { return *timing_mark(c) != '\0'; }))
    out +=
        " Cases marked (replay) were timed by replays of a captured graph of calls, without the host's launches; those "
        "marked (calls) could not be captured, and their times hold the launches.";
  out += "</caption>\n<thead><tr>";
  for (const char* const head : {"case", "ours", "time", "spread", "of the ceiling", "error"})
    out += fmt::format("<th scope=\"col\"{}>{}</th>", std::string_view(head) == "case" ? " class=\"left\"" : "", head);
  for (const char* const head : {"peer", "ratio", "its rate", "its time", "its spread", "path of ours"})
    out += fmt::format("<th scope=\"col\"{}>{}</th>", std::string_view(head).starts_with("p") ? " class=\"left\"" : "",
                       head);
  out += "</tr></thead>\n<tbody>\n";
  const Peaks peaks = peaks_of(result);
  for (const CaseResult& c : result.cases) {
    const std::size_t peers = c.timings.size() > 1 ? c.timings.size() - 1 : 1;
    const std::string span = peers > 1 ? fmt::format(" rowspan=\"{}\"", peers) : "";
    out += fmt::format("<tr><th scope=\"row\"{}>{}{}{}</th>", span, escaped(c.name),
                       c.past_cache.value_or(true) ? "" : "<span title=\"stays in the cache\">*</span>", timed(c));
    if (!c.ran()) {
      out += fmt::format("<td class=\"left\" colspan=\"11\"><span class=\"wrong\">did not run</span> {}</td></tr>\n",
                         escaped(c.error));
      continue;
    }
    const Share share = share_of_ceiling(result, c, peaks);
    out += fmt::format("<td{0}>{1}</td><td{0}>{2}</td><td{0}>{3:.1f} %</td><td{0}>{4:.2f} {5}</td>", span,
                       rate_text(c, c.seconds()), duration(c.seconds()), 100 * c.timings[0].spread, share.value,
                       escaped(share.of));
    out += c.verified ? fmt::format("<td{}>{:.2g}</td>", span, c.worst_error)
                      : fmt::format("<td{}><span class=\"wrong\">WRONG {:.2g}</span></td>", span, c.worst_error);
    const auto path = fmt::format("<td class=\"left path\"{}>{}</td>", span, escaped(c.path));
    if (c.timings.size() == 1) out += "<td class=\"left\">none</td><td></td><td></td><td></td><td></td>" + path;
    for (std::size_t i = 1; i < c.timings.size(); ++i) {
      const Timing& t = c.timings[i];
      if (i > 1) out += "</tr>\n<tr>";
      out += fmt::format("<td class=\"left\">{}</td><td>{:.2f}</td><td>{}</td><td>{}</td><td>{:.1f} %</td>",
                         escaped(t.name), c.ratio(i), rate_text(c, t.seconds), duration(t.seconds), 100 * t.spread);
      if (i == 1) out += path;
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n</div>\n";
}

std::string table(const Comparison& comparison) {
  std::string out = fmt::format("<h2>Against {}</h2>\n", escaped(comparison.source));
  for (const std::string& note : comparison.notes) out += "<p class=\"note\">" + escaped(note) + "</p>\n";
  out +=
      "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Comparison\">\n<table>\n<caption>Above 1: "
      "faster "
      "now. What moved by more than the spreads of both runs together is marked.</caption>\n<thead><tr>"
      "<th scope=\"col\" class=\"left\">case</th><th scope=\"col\">then</th><th scope=\"col\">now</th>"
      "<th scope=\"col\">then / now</th><th scope=\"col\">spread</th><th scope=\"col\" class=\"left\">moved</th>"
      "</tr></thead>\n<tbody>\n";
  for (const Movement& m : comparison.moved)
    out += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{:.3f}</td><td>{:.1f} %</td>"
        "<td class=\"left\">{}</td></tr>\n",
        escaped(m.name), duration(m.before), duration(m.now), m.speedup, 100 * m.spread, m.verdict());
  return out + "</tbody>\n</table>\n</div>\n";
}

}  // namespace

std::string html(const Result& given, const Comparison* comparison) {
  const Result result = in_order(given);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>tessera-bench on {}</title>\n",
      escaped(result.device));
  out += std::string("<style>") + page_style + plot_style + "</style>\n</head>\n<body>\n<main>\n";
  out += fmt::format("<h1>tessera-bench on {}</h1>\n", escaped(result.device));
  out += summary(result) + machine(result);
  out += figure("Roofline", roofline(result),
                "Each case at the operations that it declares for each byte that must move. The slope is the copy of "
                "this run; a dashed plateau is the fastest product of that type by any contender of this run, which "
                "need not be the device's peak. Cases without operations (sorts, transposes) are in the table alone.");
  out +=
      figure("Ratios", ratio_plot(result),
             "The peer's time over ours, both alternating in one process: right of the line at 1, Tessera is faster. "
             "Whiskers are the quartiles of both.");
  if (comparison != nullptr) out += table(*comparison);
  return out + table(result) + "</main>\n</body>\n</html>\n";
}

}  // namespace tessera::bench
