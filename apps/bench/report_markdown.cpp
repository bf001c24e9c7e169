// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bench/report.hpp>
#include <cmath>
#include <common/stored.hpp>
#include <fmt/format.h>

namespace tessera::bench {
namespace {

using app::markdown_text;

/// Cases that differ in the element type alone, timed alike.
struct Group {
  std::string name;  ///< without the type
  std::vector<std::string> types;
  std::vector<const CaseResult*> cases;
  std::vector<std::string> peers;  ///< in order of appearance
};

std::vector<Group> groups_of(const Result& result) {
  std::vector<Group> groups;
  for (const CaseResult& c : result.cases) {
    if (!c.ran()) continue;
    const std::string type = type_of(c);
    std::string name = c.name;
    if (!type.empty())
      if (const auto at = name.find(" " + type); at != std::string::npos) name.erase(at, type.size() + 1);
    if (const std::string mark = timing_mark(c); !mark.empty()) name += " (" + mark + ")";
    auto group = std::ranges::find_if(
        groups, [&](const Group& g) { return g.name == name && counts_flops(*g.cases.front()) == counts_flops(c); });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{name, {}, {}, {}});
    group->types.push_back(type);
    group->cases.push_back(&c);
    for (std::size_t i = 1; i < c.timings.size(); ++i)
      if (std::ranges::find(group->peers, c.timings[i].name) == group->peers.end())
        group->peers.push_back(c.timings[i].name);
  }
  return groups;
}

/// The values of a group's cases, "1.04 / 0.99".
template <class Value>
std::string joined(const Group& group, Value value) {
  std::string out;
  for (const CaseResult* c : group.cases) out += (out.empty() ? "" : " / ") + value(*c);
  return out;
}

std::string ratio_to(const CaseResult& c, const std::string& peer) {
  for (std::size_t i = 1; i < c.timings.size(); ++i)
    if (c.timings[i].name == peer) return fmt::format("{:.2f}", c.ratio(i));
  return "-";
}

}  // namespace

std::string markdown(const Result& given) {
  const Result result = in_order(given);
  const Peaks peaks = peaks_of(result);
  std::string out = fmt::format("{} ({}), copy {:.0f} GB/s", markdown_text(result.device),
                                markdown_text(result.backend), result.copy_gb_per_s);
  for (const auto& [type, peak] : peaks)
    out += fmt::format(", fastest {}product {:.1f} TFLOP/s", type.empty() ? "" : type + " ", peak / 1e3);
  out += ".";
  if (std::ranges::any_of(result.cases, [](const CaseResult& c) { return *timing_mark(c) != '\0'; }))
    out +=
        " Times of (replay) are of a captured graph of calls on the device, without the host's launches; (calls) could "
        "not "
        "be captured.";
  out += "\n\n| case | element types | ours | of ceiling | peer: ratio |\n|---|---|---|---|---|\n";
  for (const Group& g : groups_of(result)) {
    const bool flops = counts_flops(*g.cases.front());
    std::string ratios;
    for (const std::string& peer : g.peers)
      ratios += (ratios.empty() ? "" : "; ") + markdown_text(peer) + ": " +
                joined(g, [&](const CaseResult& c) { return ratio_to(c, peer); });
    out += fmt::format(
        "| {} | {} | {} {} | {} | {} |\n", markdown_text(g.name), markdown_text(joined(g, type_of)),
        joined(g,
               [&](const CaseResult& c) {
                 const double value = rate(c, c.seconds());
                 return (flops        ? fmt::format("{:.1f}", value / 1e3)
                         : value < 10 ? fmt::format("{:.2g}", value)
                                      : fmt::format("{:.0f}", value)) +
                        (c.verified ? "" : " **WRONG**");
               }),
        flops ? "TFLOP/s" : "GB/s",
        joined(g, [&](const CaseResult& c) { return fmt::format("{:.2f}", share_of_ceiling(result, c, peaks).value); }),
        ratios);
  }
  for (const CaseResult& c : result.cases)
    if (!c.ran()) out += fmt::format("| {} | | did not run: {} | | |\n", markdown_text(c.name), markdown_text(c.error));
  return out;
}

}  // namespace tessera::bench
