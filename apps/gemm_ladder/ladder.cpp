// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ladder.hpp"

#include <algorithm>
#include <cmath>
#include <common/stored.hpp>
#include <utility>

namespace tessera::app {
namespace {

constexpr std::pair<Kind, const char*> kinds[] = {
    {Kind::step, "step"}, {Kind::house, "house"}, {Kind::library, "library"}};

bool timed(const Rung& r) { return r.ran() && r.seconds > 0; }

/// The fastest one on elements of a type; null where none was timed.
template <class Is>
const Rung* fastest(const Ladder& ladder, const std::string& type, const Is& is) {
  const Rung* best = nullptr;
  for (const Rung& r : ladder.rungs)
    if (is(r) && r.type == type && timed(r) && (best == nullptr || r.seconds < best->seconds)) best = &r;
  return best;
}
bool is_library(const Rung& r) { return r.kind == Kind::library; }
/// tessera::gemm itself, beside the ladder or as its last step.
bool is_house(const Rung& r) { return !r.path.empty(); }

/// "1 naive", "tessera::gemm"
std::string title(const Rung& r) { return r.number > 0 ? fmt::format("{} {}", r.number, r.name) : r.name; }

std::string seconds_text(double s) {
  return s < 1e-3 ? fmt::format("{:.1f} us", s * 1e6)
         : s < 1  ? fmt::format("{:.2f} ms", s * 1e3)
                  : fmt::format("{:.2f} s", s);
}

/// GFLOP/s where the fastest is below one TFLOP/s.
struct Unit {
  double flops;
  const char* name;
};
Unit unit_of(const Ladder& ladder) {
  double highest = 0;
  for (const Rung& r : ladder.rungs)
    if (timed(r)) highest = std::max(highest, ladder.flops() / r.seconds);
  return highest < 1e12 ? Unit{1e9, "GFLOP/s"} : Unit{1e12, "TFLOP/s"};
}
std::string rate_text(double value) {
  return value < 100 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

std::vector<std::string> header(const Unit& unit) {
  return {"step",       "elements",     "time", unit.name, "x the step before", "of tessera::gemm",
          "of library", "error / bound"};
}

std::vector<std::string> cells(const Ladder& ladder, std::size_t i, const Unit& unit) {
  const Rung& r = ladder.rungs[i];
  const auto share = [](double value) {
    if (value == 0) return std::string("-");
    return value < 0.1 ? fmt::format("{:.2g}", value) : fmt::format("{:.2f}", value);
  };
  const Shares s = shares_of(ladder, i);
  const bool has_time = timed(r);
  return {title(r),
          r.type,
          has_time ? seconds_text(r.seconds) : "-",
          has_time ? rate_text(ladder.flops() / r.seconds / unit.flops) : "-",
          share(s.before),
          share(s.house),
          share(s.library),
          r.kind == Kind::library ? "-" : fmt::format("{:.2g}{}", r.error, r.verified ? "" : " WRONG")};
}

}  // namespace

bool Ladder::verified() const {
  return unfinished.empty() &&
         std::ranges::all_of(rungs, [](const Rung& r) { return r.kind == Kind::library || !r.ran() || r.verified; });
}

Shares shares_of(const Ladder& ladder, std::size_t rung) {
  const Rung& r = ladder.rungs[rung];
  Shares s;
  if (!timed(r)) return s;
  if (r.kind == Kind::step) {
    // the same step on other elements stands before it, too: what the type alone brings
    const Rung* before = nullptr;
    for (std::size_t i = 0; i < rung; ++i) {
      const Rung& other = ladder.rungs[i];
      if (other.kind == Kind::step && timed(other) && other.number <= r.number && other.number + 1 >= r.number)
        before = &other;
    }
    if (before != nullptr) s.before = before->seconds / r.seconds;
  }
  if (const Rung* const house = fastest(ladder, r.type, is_house)) s.house = house->seconds / r.seconds;
  if (const Rung* const library = fastest(ladder, r.type, is_library)) s.library = library->seconds / r.seconds;
  return s;
}

Json to_json(const Ladder& ladder) {
  Json rungs = Json::array();
  for (std::size_t i = 0; i < ladder.rungs.size(); ++i) {
    const Rung& r = ladder.rungs[i];
    const auto kind = std::ranges::find(kinds, r.kind, [](const auto& k) { return k.first; });
    Json one = {{"number", r.number}, {"name", r.name}, {"type", r.type}, {"kind", kind->second}};
    if (!r.path.empty()) one["path"] = r.path;
    if (!r.ran()) {
      one["refused"] = r.refusal;
    } else {
      one["verified"] = r.verified;
      one["error_over_bound"] = std::isfinite(r.error) ? r.error : 1e300;  // JSON has neither infinities nor NaN
      if (r.seconds > 0) {
        const Shares s = shares_of(ladder, i);
        one["seconds"] = r.seconds;
        one["spread"] = r.spread;
        one["gflop_per_s"] = ladder.flops() / r.seconds * 1e-9;
        if (s.before > 0) one["over_step_before"] = s.before;
        if (s.house > 0) one["of_tessera_gemm"] = s.house;
        if (s.library > 0) one["of_library"] = s.library;
      }
    }
    rungs.push_back(std::move(one));
  }
  return {{"device", ladder.device},
          {"m", ladder.m},
          {"n", ladder.n},
          {"k", ladder.k},
          {"rungs_asked_for", ladder.rungs.size()},
          {"rungs", std::move(rungs)}};
}

namespace {

constexpr std::size_t most_rungs = 256;
constexpr int most_steps = 64;

using Stored = StoredReader::Json;

Rung read_rung(const StoredReader& in, const Stored& one, double flops, const std::string& where) {
  const auto at = [&](const char* key) { return where + "." + key; };
  Rung r;
  r.name = in.text(in.need(one, "name", where), at("name"));
  r.type = in.text(in.need(one, "type", where), at("type"));
  if (r.name.empty()) in.refuse(at("name") + " is empty");
  if (r.type != "fp32" && r.type != "bf16") in.refuse(at("type") + " is neither \"fp32\" nor \"bf16\"");
  const std::string named = in.text(in.need(one, "kind", where), at("kind"));
  const auto kind = std::ranges::find(kinds, named, [](const auto& k) { return k.second; });
  if (kind == std::end(kinds)) in.refuse(at("kind") + " is none of \"step\", \"house\" and \"library\"");
  r.kind = kind->first;
  const bool step = r.kind == Kind::step;
  r.number =
      static_cast<int>(in.whole(in.need(one, "number", where), step ? 1 : 0, step ? most_steps : 0, at("number")));
  if (const Stored* const path = in.find(one, "path")) r.path = in.text(*path, at("path"));
  if (const Stored* const refused = in.find(one, "refused")) {
    r.refusal = in.text(*refused, at("refused"));
    if (r.refusal.empty()) in.refuse(at("refused") + " is empty");
    return r;
  }
  r.verified = in.truth(in.need(one, "verified", where), at("verified"));
  r.error = in.number(in.need(one, "error_over_bound", where), 0, 1e300, at("error_over_bound"));
  if (r.kind != Kind::library && r.verified != (r.error <= 1))
    in.refuse(where + " is " + (r.verified ? "verified" : "wrong") + ", which its error_over_bound is not");
  if (const Stored* const seconds = in.find(one, "seconds")) {
    r.seconds = in.number(*seconds, 1e-9, 1e7, at("seconds"));
    r.spread = in.number(in.need(one, "spread", where), 0, 1e6, at("spread"));
    constexpr double most_flops = 1e18;  // a second: beyond any device that there is
    if (!(flops > 0 && flops / r.seconds <= most_flops)) in.refuse(at("seconds") + " makes a rate that nothing has");
  }
  return r;
}

/// What is missing of the steps that were asked for; empty where nothing is.
std::string missing_of(const Ladder& ladder) {
  for (const std::string& step : ladder.steps)
    if (std::ranges::find(ladder.rungs, step, &Rung::name) == ladder.rungs.end()) return "step " + step + " is missing";
  if (!ladder.steps.empty()) return {};
  // every step has its number; fp32's are 1 to the last portable one, bf16's go on from that
  int next = 1;
  for (const char* const type : {"fp32", "bf16"}) {
    bool any = false;
    for (const Rung& r : ladder.rungs) {
      if (r.kind != Kind::step || r.type != type) continue;
      if (r.number != next) return fmt::format("step {} of {} is missing", next, type);
      ++next;
      any = true;
    }
    if (!any) return fmt::format("the steps of {} are missing", type);
    --next;
  }
  return {};
}

}  // namespace

Ladder parse_ladder(std::string_view text, const std::string& source) {
  const StoredReader in("gemm_ladder --from", "gemm_ladder --json", source);
  const Stored document = in.parse(text, "gemm_ladder");
  if (in.find(document, "error") != nullptr) in.refuse("the run that wrote it ended with an error");
  const Stored& found = in.need(in.need(document, "results", "the document"), "ladder", "results");
  constexpr std::int64_t most_extent = std::int64_t{1} << 30;
  Ladder ladder;
  ladder.device = in.text(in.need(found, "device", "results.ladder"), "device");
  ladder.m = in.whole(in.need(found, "m", "results.ladder"), 0, most_extent, "m");
  ladder.n = in.whole(in.need(found, "n", "results.ladder"), 0, most_extent, "n");
  ladder.k = in.whole(in.need(found, "k", "results.ladder"), 0, most_extent, "k");
  std::size_t timed_ones = 0, ran = 0;
  for (const Stored& one : in.list(in.need(found, "rungs", "results.ladder"), most_rungs, "rungs")) {
    const std::string where = fmt::format("rungs[{}]", ladder.rungs.size());
    Rung r = read_rung(in, one, ladder.flops(), where);
    const auto same = [&](const Rung& o) { return o.kind == r.kind && o.name == r.name && o.type == r.type; };
    if (std::ranges::any_of(ladder.rungs, same)) in.refuse(where + " is the second of its name and type");
    timed_ones += timed(r) ? 1 : 0;
    ran += r.ran() ? 1 : 0;
    ladder.rungs.push_back(std::move(r));
  }
  const Stored& parameters = in.need(document, "parameters", "the document");
  for (const Stored& step : in.list(in.need(parameters, "step", "parameters"), most_rungs, "parameters.step"))
    ladder.steps.push_back(in.text(step, "parameters.step"));
  const Stored* const told = in.find(document, "interrupted");
  const bool interrupted = told != nullptr && in.truth(*told, "interrupted");
  ladder.unfinished = interrupted ? "the run was interrupted" : missing_of(ladder);
  if (const Stored* const asked = in.find(found, "rungs_asked_for"); asked != nullptr && ladder.unfinished.empty())
    if (const auto n = in.whole(*asked, 0, most_rungs, "rungs_asked_for");
        n != static_cast<std::int64_t>(ladder.rungs.size()))
      ladder.unfinished = fmt::format("{} rungs are there of {}", ladder.rungs.size(), n);
  if (ladder.unfinished.empty() && timed_ones > 0 && timed_ones < ran) ladder.unfinished = "some rungs were not timed";
  if (!in.truth(in.need(document, "verified", "the document"), "verified") && ladder.verified())
    ladder.unfinished = "the run did not end as verified";
  return ladder;
}

Ladder read_ladder(const std::string& file) {
  return parse_ladder(StoredReader("gemm_ladder --from", "gemm_ladder --json", file).contents(), file);
}

Table table_of(const Ladder& ladder) {
  const Unit unit = unit_of(ladder);
  Table table(header(unit));
  for (std::size_t i = 0; i < ladder.rungs.size(); ++i)
    if (ladder.rungs[i].ran()) table.row(cells(ladder, i, unit));
  return table;
}

std::string markdown(const Ladder& ladder) {
  const Unit unit = unit_of(ladder);
  const auto line = [](const std::vector<std::string>& row) {
    std::string text = "|";
    for (const std::string& cell : row) text += " " + cell + " |";
    return text + "\n";
  };
  std::string out =
      fmt::format("{}, C = A B of {} x {} x {}.\n\n", markdown_text(ladder.device), ladder.m, ladder.n, ladder.k);
  out += line(header(unit)) + "|---|---|---|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < ladder.rungs.size(); ++i) {
    if (!ladder.rungs[i].ran()) continue;
    std::vector<std::string> row = cells(ladder, i, unit);
    row[0] = markdown_text(row[0]);
    out += line(row);
  }
  if (!ladder.unfinished.empty()) out += "\nNot verified: " + markdown_text(ladder.unfinished) + ".\n";
  return out;
}

std::vector<Series> series_of(const Ladder& ladder) {
  std::vector<Series> all;
  const auto line_of = [&](const std::string& type) -> Series& {
    const std::string name = "steps, " + type;
    const auto found = std::ranges::find(all, name, &Series::name);
    return found != all.end() ? *found : all.emplace_back(Series{name});
  };
  for (const Rung& r : ladder.rungs)
    if (r.kind == Kind::step && timed(r)) {
      Series& s = line_of(r.type);
      s.x.push_back(r.number);
      s.y.push_back(ladder.flops() / r.seconds * 1e-12);
    }
  const std::size_t lines = all.size();
  for (std::size_t i = 0; i < lines; ++i)
    if (const Rung* const library = fastest(ladder, all[i].name.substr(7), is_library)) {
      const double rate = ladder.flops() / library->seconds * 1e-12;
      const double first = all[i].x.front(), last = all[i].x.back();
      all.push_back({library->name + ", " + library->type, {first, last}, {rate, rate}});
    }
  return all;
}

PlotOptions plot_options(const Ladder& ladder) {
  PlotOptions o;
  o.title = fmt::format("C = A B of {} x {} x {} on {}", ladder.m, ladder.n, ladder.k, ladder.device);
  o.x_label = "step";
  o.y_label = "TFLOP/s";
  o.log_y = true;
  o.markers = true;
  return o;
}

}  // namespace tessera::app
