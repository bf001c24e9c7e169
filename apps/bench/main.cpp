// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <CLI/CLI.hpp>
#include <algorithm>
#include <bench/report.hpp>
#include <bench/run.hpp>
#include <common/files.hpp>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <tessera/core/config.hpp>
#include <tessera/core/error.hpp>

namespace tessera::bench {
namespace {

struct Options {
  Plan plan;
  std::string from, json, csv, html, markdown, compare, space = space_name();
  bool list = false;

  [[nodiscard]] std::vector<std::string> outputs() const {
    std::vector<std::string> files;
    for (const std::string& file : {json, csv, html, markdown})
      if (!file.empty()) files.push_back(file);
    return files;
  }
};

void write(const std::string& file, const std::string& text) {
  if (file.empty()) return;
  if (file != "-") return app::write_file_atomically(file, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0)
    throw Error("tessera-bench", "standard output could not be written", "it must be open and have room");
}

std::string json_text(const Result& result) {
  return to_json(result).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// What can be refused before any work.
void check(const Options& options) {
  if (options.space != space_name())
    throw Error("tessera-bench", "--space " + options.space,
                "this program times " + space_name() + ", the default space of its build",
                "Take the preset of the other space: ./dev bench --preset openmp");
  if (options.plan.replay && !space_replays())
    throw Error(
        "tessera-bench", "--replay with " + space_name(),
        "calls are captured and replayed on devices; on hosts they run as they are made, and no launch is timed",
        "Leave it out, or take a device's preset: ./dev bench --preset cuda-hopper --replay");
  std::size_t on_stdout = 0;
  for (const std::string& file : options.outputs()) {
    if (file == "-")
      ++on_stdout;
    else
      app::check_writable(file);
  }
  std::vector<std::filesystem::path> places;
  for (const std::string& file : options.outputs())
    if (file != "-") places.push_back(std::filesystem::weakly_canonical(std::filesystem::absolute(file)));
  if (!options.from.empty() && options.from != "-")
    places.push_back(std::filesystem::weakly_canonical(std::filesystem::absolute(options.from)));
  std::ranges::sort(places);
  if (const auto twice = std::ranges::adjacent_find(places); twice != places.end())
    throw Error("tessera-bench", "file \"" + twice->string() + "\" is named twice, the last to be written would stay",
                "each output has a name of its own, and none is --from's", "Name another file");
  if (on_stdout > 1)
    throw Error("tessera-bench", "several outputs to standard output", "one of them can go there",
                "Name files for the others");
}

int go(const Options& options, char** argv) {
  const bool stored = !options.from.empty();
  const auto say =
      [to = std::ranges::count(options.outputs(), std::string("-")) > 0 ? stderr : stdout](const std::string& text) {
        std::fputs(text.c_str(), to);
        std::fflush(to);
      };
  std::optional<Result> older;
  if (!options.compare.empty()) older = read_result(options.compare);
  Ran ran;
  if (stored) ran.result = selection(read_result(options.from), options.plan.filters);
  if (options.list) {
    if (stored)
      for (const CaseResult& c : ran.result.cases) fmt::print("{}\n", c.name);
    else
      for (const std::string& name : names_of(options.plan)) fmt::print("{}\n", name);
    return 0;
  }
  if (stored && ran.result.cases.empty())
    throw Error("tessera-bench", "no case of \"" + options.from + "\" matches --filter", "--list shows its cases",
                "Take other words");
  check(options);
  if (!stored)
    ran = run(options.plan, argv, say, [&](const Result& partial) {
      if (options.json != "-") write(options.json, json_text(partial));
    });
  else if (options.outputs().empty() && !older)
    say(text(ran.result));
  const Result& result = ran.result;
  if (ran.signal != 0)
    fmt::print(stderr, "tessera-bench: interrupted after {} of {} cases\n", result.cases.size(), result.asked);
  if (!result.cases.empty()) {
    std::optional<Comparison> comparison;
    if (older) comparison = compare(*older, result, options.compare);
    if (comparison) say(text(*comparison));
    write(options.json, json_text(result));
    write(options.csv, csv(result));
    if (!options.markdown.empty()) write(options.markdown, markdown(result));
    if (!options.html.empty()) write(options.html, html(result, comparison ? &*comparison : nullptr));
  }
  if (ran.signal != 0) return 128 + ran.signal;
  return result.verified() ? 0 : 1;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  tessera::bench::Options options;
  const CLI::Validator named(
      [](const std::string& file) { return std::string(file.empty() ? "give a file name" : ""); }, "FILE");
  CLI::App app{
      "tessera-bench: times Tessera's algorithms against what else a user could pick, alternating in this process.\n"
      "Every case is verified before it is timed. Ratios are the peer's time over ours: above 1, ours is faster. The\n"
      "ceiling is a copy (c) or the fastest product of the case's type (p), measured in the same run.",
      "tessera-bench"};
  app.add_option("--filter", options.plan.filters,
                 "only cases whose name holds all of these words; given again: or all of those")
      ->allow_extra_args(false);
  auto* const set =
      app.add_option("--set", options.plan.set,
                     "which cases; of gemm alone, sweep: 300 random shapes; shapes: 13 with every transpose")
          ->check(CLI::IsMember({"quick", "full", "sweep", "shapes"}))
          ->capture_default_str();
  auto* const rounds = app.add_option("--rounds", options.plan.rounds, "samples a contender; the median is reported")
                           ->check(CLI::Range(3, 1000))
                           ->capture_default_str();
  auto* const replay =
      app.add_flag("--replay", options.plan.replay,
                   "on a device, capture a batch of calls of each contender into a graph and time its replays: the "
                   "device's time, without the host's launches. Cases that cannot be captured (they wait, allocate, or "
                   "copy from or to the host) are timed by calls, and marked. Not for hosts");
  app.add_option("--space", options.space, "execution space to time; a build times its default space")
      ->capture_default_str();
  app.add_flag("--list", options.list, "list the cases and stop");
  app.add_flag("--progress", options.plan.progress, "tell the progress on standard error though that is no terminal");
  app.add_option("--from", options.from, "run nothing: take the result that --json wrote to FILE (- is standard input)")
      ->excludes(set)
      ->excludes(rounds)
      ->excludes(replay)
      ->check(named);
  app.add_option("--json", options.json, "write the result to FILE, also after each case (- is standard output)")
      ->check(named);
  app.add_option("--csv", options.csv, "write a line a contender to FILE (- is standard output)")->check(named);
  app.add_option("--html", options.html, "write a report for a browser to FILE (- is standard output)")->check(named);
  app.add_option("--markdown", options.markdown, "write a table of ratios to FILE (- is standard output)")
      ->check(named);
  app.add_option("--compare", options.compare,
                 "mark what moved beyond the spread since FILE, which --json wrote; cases timed by replays in one "
                 "of the two alone are left out")
      ->check(named);
  app.set_version_flag("--version", TESSERA_VERSION_STRING);
  app.footer(
      "Examples:\n"
      "  tessera-bench --set full --json now.json --html now.html    everything, and a report of it\n"
      "  tessera-bench --filter \"gemm fp64\" --filter dot             some of it\n"
      "  tessera-bench --set shapes --replay --json replay.json      small products, of the device alone\n"
      "  tessera-bench --from now.json --compare before.json         what moved, without running anything\n"
      "  tessera-bench --from now.json --filter 2e8 --markdown -     a table for a README\n"
      "Ctrl-C ends a run and keeps the cases that are done; a second one ends it at once.\n"
      "Exit codes: 0 all verified, 1 a case was wrong or did not run, 2 bad input or options, 130 interrupted, 143 "
      "ended.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  try {
    return tessera::bench::go(options, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
