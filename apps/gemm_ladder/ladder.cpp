// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ladder.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

#include <tessera/core/error.hpp>

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
  return std::ranges::all_of(rungs, [](const Rung& r) { return r.kind == Kind::library || !r.ran() || r.verified; });
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
      one["error_over_bound"] = r.error;
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
  return {{"device", ladder.device}, {"m", ladder.m}, {"n", ladder.n}, {"k", ladder.k}, {"rungs", std::move(rungs)}};
}

Ladder read_ladder(const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& why) {
    return Error("gemm_ladder", "--from " + file.string() + ": " + why, "a file that gemm_ladder --json wrote",
                 "Run gemm_ladder --json FILE first");
  };
  std::ifstream in(file);
  if (!in) throw refuse("it could not be opened");
  try {
    const Json json = Json::parse(in);
    const Json& found = json.at("results").at("ladder");
    Ladder ladder;
    ladder.device = found.at("device").get<std::string>();
    ladder.m = found.at("m").get<index_t>();
    ladder.n = found.at("n").get<index_t>();
    ladder.k = found.at("k").get<index_t>();
    for (const Json& one : found.at("rungs")) {
      Rung r;
      r.number = one.at("number").get<int>();
      r.name = one.at("name").get<std::string>();
      r.type = one.at("type").get<std::string>();
      const auto kind =
          std::ranges::find(kinds, one.at("kind").get<std::string>(), [](const auto& k) { return k.second; });
      if (kind == std::end(kinds)) throw refuse("it holds a rung of no known kind");
      r.kind = kind->first;
      r.path = one.value("path", "");
      r.refusal = one.value("refused", "");
      r.verified = one.value("verified", false);
      r.error = one.value("error_over_bound", 0.0);
      r.seconds = one.value("seconds", 0.0);
      r.spread = one.value("spread", 0.0);
      ladder.rungs.push_back(std::move(r));
    }
    return ladder;
  } catch (const Json::exception& error) {
    throw refuse(error.what());
  }
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
  std::string out = fmt::format("{}, C = A B of {} x {} x {}.\n\n", ladder.device, ladder.m, ladder.n, ladder.k);
  out += line(header(unit)) + "|---|---|---|---|---|---|---|---|\n";
  for (std::size_t i = 0; i < ladder.rungs.size(); ++i) {
    if (!ladder.rungs[i].ran()) continue;
    std::vector<std::string> row = cells(ladder, i, unit);
    std::string name;
    for (const char c : row[0]) name += c == '_' ? std::string("\\_") : std::string(1, c);
    row[0] = name;
    out += line(row);
  }
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
