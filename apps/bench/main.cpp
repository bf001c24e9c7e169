// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/config.hpp>
#include <tessera/core/device.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/scope_guard.hpp>

namespace tessera::bench {

namespace {
std::vector<Case>& registry() {
  static std::vector<Case> all;
  return all;
}
}  // namespace

void add_case(Case c) { registry().push_back(std::move(c)); }
const std::vector<Case>& cases() { return registry(); }

namespace {

using nlohmann::json;

struct Options {
  std::string filter;
  std::string set = "quick";
  std::string json_file;
  std::string csv_file;
  std::string compare_file;
  bool list = false;
  int rounds = 9;
};

double rate(const Case& c, double seconds) { return (c.flops > 20 * c.bytes ? c.flops : c.bytes) / seconds / 1e9; }
const char* unit(const Case& c) { return c.flops > 20 * c.bytes ? "GFLOP/s" : "GB/s"; }

json to_json(const Outcome& o, double ceiling) {
  const Case& c = *o.definition;
  json j{{"case", c.name},         {"algorithm", c.algorithm},
         {"path", o.path},         {"bytes", c.bytes},
         {"flops", c.flops},       {"operand_sets", o.sets},
         {"verified", o.verified}, {"worst_error_in_bounds", o.worst_error}};
  for (const Timing& t : o.timings)
    j["timings"].push_back({{"name", t.name}, {"seconds", t.seconds}, {"spread", t.spread}});
  j["share_of_copy"] = c.bytes / o.timings[0].seconds / 1e9 / ceiling;
  for (std::size_t i = 1; i < o.timings.size(); ++i)
    j["ratios"][o.timings[i].name] = o.timings[i].seconds / o.timings[0].seconds;
  return j;
}

void print_header() {
  fmt::print("{:<34} {:>11} {:>8} {:>7} {:>7}  {}\n", "case", "ours", "unit", "spread", "of copy",
             "peer: ratio (above 1: ours is faster)");
}

void print_row(const Outcome& o, double ceiling) {
  const Case& c = *o.definition;
  const Timing& ours = o.timings[0];
  fmt::print("{:<34} {:>11.1f} {:>8} {:>6.1f}% {:>7.2f} ", c.name, rate(c, ours.seconds), unit(c), 100 * ours.spread,
             c.bytes / ours.seconds / 1e9 / ceiling);
  for (std::size_t i = 1; i < o.timings.size(); ++i)
    fmt::print(" {}: {:.2f}", o.timings[i].name, o.timings[i].seconds / ours.seconds);
  if (!o.verified) fmt::print("  WRONG: error {:.3g} bounds", o.worst_error);
  fmt::print("  {}\n", o.path);
  std::cout.flush();
}

/// Marks cases that moved by more than the spread of either run.
void compare(const json& now, const std::string& file) {
  std::ifstream in(file);
  if (!in) throw Error("tessera-bench", "cannot read " + file, "--compare takes a file that --json wrote");
  const json old = json::parse(in, nullptr, false);
  if (old.is_discarded() || !old.contains("results"))
    throw Error("tessera-bench", file + " is not a result of this program", "--compare takes a file that --json wrote");
  fmt::print("\nagainst {} (above 1: faster now)\n", file);
  for (const json& r : now["results"])
    for (const json& o : old["results"]) {
      if (o["case"] != r["case"]) continue;
      const json &a = o["timings"][0], &b = r["timings"][0];
      const double speedup = a["seconds"].get<double>() / b["seconds"].get<double>();
      const double noise = a["spread"].get<double>() + b["spread"].get<double>();
      const char* verdict = std::abs(speedup - 1) <= noise ? "" : (speedup > 1 ? "  faster" : "  SLOWER");
      fmt::print("{:<34} {:>6.3f}  (spread {:.1f} %){}\n", r["case"].get<std::string>(), speedup, 100 * noise, verdict);
    }
}

void write(const std::string& file, const std::string& text) {
  if (file == "-") {
    std::cout << text;
    return;
  }
  const std::string part = file + ".part";
  {
    std::ofstream out(part, std::ios::binary);
    out << text;
    if (!out.flush())
      throw Error("tessera-bench", "cannot write " + part, "the folder must exist and have room", "Name another file");
  }
  if (std::rename(part.c_str(), file.c_str()) != 0)
    throw Error("tessera-bench", "cannot rename " + part + " to " + file, "the folder must be writable");
}

std::string csv(const json& document) {
  std::string text = "case,algorithm,path,verified,contender,seconds,spread,ratio\n";
  for (const json& r : document["results"])
    for (const json& t : r["timings"])
      text += fmt::format("\"{}\",{},\"{}\",{},\"{}\",{:.9e},{:.4f},{:.4f}\n", r["case"].get<std::string>(),
                          r["algorithm"].get<std::string>(), r["path"].get<std::string>(), r["verified"].get<bool>(),
                          t["name"].get<std::string>(), t["seconds"].get<double>(), t["spread"].get<double>(),
                          t["seconds"].get<double>() / r["timings"][0]["seconds"].get<double>());
  return text;
}

int run(const Options& options) {
  std::vector<const Case*> chosen;
  for (const Case& c : cases())
    if ((options.filter.empty() || c.name.find(options.filter) != std::string::npos) &&
        (options.set == "full" || c.quick))
      chosen.push_back(&c);
  std::ranges::sort(chosen, {}, [](const Case* c) { return c->algorithm; });
  if (options.list) {
    for (const Case* c : chosen) fmt::print("{}\n", c->name);
    return 0;
  }
  if (chosen.empty())
    throw Error("tessera-bench", "no case matches --filter '" + options.filter + "' in the " + options.set + " set",
                "--list --set full shows every case");

  const Space exec;
  const DeviceInfo& device = device_of(exec);
  Effort effort;
  effort.rounds = options.rounds;
  if (is_host_space<Space>) effort.batch_seconds = 0.03;
  const double cache = device.l2_bytes > 0 ? static_cast<double>(device.l2_bytes) : 32.0 * (1 << 20);
  const double ceiling = copy_bandwidth(exec, effort);
  fmt::print("{} ({}), {} threads or units, copy {:.0f} GB/s\n", device.name, device.space,
             is_host_space<Space> ? exec.concurrency() : device.units, ceiling);
  print_header();
  json document{{"app", "bench"},          {"version", TESSERA_VERSION_STRING}, {"backend", device.space},
                {"device", device.name},   {"concurrency", exec.concurrency()}, {"copy_gb_per_s", ceiling},
                {"results", json::array()}};
  bool all_right = true;
  for (const Case* c : chosen) {
    const Outcome outcome = measure(exec, *c, effort, cache);
    print_row(outcome, ceiling);
    document["results"].push_back(to_json(outcome, ceiling));
    all_right = all_right && outcome.verified;
  }
  document["verified"] = all_right;
  if (!options.json_file.empty()) write(options.json_file, document.dump(1) + "\n");
  if (!options.csv_file.empty()) write(options.csv_file, csv(document));
  if (!options.compare_file.empty()) compare(document, options.compare_file);
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  tessera::bench::Options options;
  CLI::App app{
      "tessera-bench: times Tessera's algorithms against what else a user could pick, alternating in this process.\n"
      "Every case is verified before it is timed. Ratios are peer's time over ours: above 1, ours is faster.\n"
      "Exit: 0 all verified, 1 a case was wrong, 2 bad options."};
  app.add_option("--filter", options.filter, "only cases whose name holds this text");
  app.add_option("--set", options.set, "which cases")->check(CLI::IsMember({"quick", "full"}))->capture_default_str();
  app.add_option("--json", options.json_file, "write results to FILE (- is standard output)");
  app.add_option("--csv", options.csv_file, "write one line a contender to FILE (- is standard output)");
  app.add_option("--compare", options.compare_file, "compare with a file that --json wrote; marks what moved");
  app.add_option("--rounds", options.rounds, "samples a contender; the median is reported")
      ->check(CLI::Range(3, 1000))
      ->capture_default_str();
  app.add_flag("--list", options.list, "list the cases and stop");
  app.set_version_flag("--version", TESSERA_VERSION_STRING);
  app.allow_extras(false);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  try {
    int kokkos_argc = 1;
    const tessera::ScopeGuard guard(kokkos_argc, argv);
    return tessera::bench::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
