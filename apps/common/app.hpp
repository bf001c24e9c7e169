// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <chrono>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tessera/core/communicator.hpp>
#include <tessera/core/error.hpp>

/// \file
/// What every mini-app shares: options with complete help, JSON, exit codes, interruption, timings. An app is
///   int main(int argc, char** argv) {
///     tessera::app::App app({.name = "heat", .summary = "...", .examples = "..."});
///     app.option("--size", size, "Cells along an edge [cells]");
///     return app.run(argc, argv, [&] { return solve(app, size); });  // true = verified
///   }

namespace tessera::app {

using Json = nlohmann::ordered_json;
/// The apps run where Kokkos runs by default: the GPU of a GPU build, the host's threads otherwise.
using Space = Kokkos::DefaultExecutionSpace;

/// What a process ends with. 130 and 143 follow the shell's custom of 128 + signal number.
enum ExitCode : int {
  exit_verified = 0,
  exit_failed = 1,
  exit_bad_input = 2,
  exit_interrupted = 130,
  exit_ended = 143
};

struct Description {
  std::string name;
  std::string summary;   ///< one or two sentences
  std::string examples;  ///< lines "  heat --size 64    what it shows"
};

/// Bytes moved and operations done by what was timed, over all ranks; 0 where they mean nothing.
struct Work {
  double bytes = 0;
  double flops = 0;
};

class App {
 public:
  explicit App(Description description);
  App(const App&) = delete;
  App& operator=(const App&) = delete;
  App(App&&) = delete;
  App& operator=(App&&) = delete;
  ~App();

  /// Adds "--name VALUE". Its value goes into the JSON's parameters under "name", with '-' as '_'. The help text
  /// ends with the unit in brackets where there is one; the default is appended. Returns CLI11's option, for checks.
  template <class T>
  CLI::Option* option(const std::string& name, T& value, const std::string& help) {
    CLI::Option* added = m_cli.add_option(name, value, help)->capture_default_str();
    m_parameters.emplace_back(parameter_name(name), [&value] { return Json(value); });
    return added;
  }
  CLI::Option* flag(const std::string& name, bool& value, const std::string& help);
  /// The same for a file that the app writes, text or a picture. Before anything is computed run() refuses files that
  /// could not be made, two results in one file, and more than one of them, --json included, on standard output ("-"),
  /// where a picture never goes.
  enum class Output { text, picture };
  CLI::Option* output(const std::string& name, std::string& file, Output kind, const std::string& help);
  /// The same for a file that the app reads; an output may not have its name. "" is refused.
  CLI::Option* input(const std::string& name, std::string& file, const std::string& help);
  /// Refuses `option` together with each of `others`, which would do nothing beside it.
  void exclude(const std::string& option, std::vector<std::string> others);
  /// For what option() does not cover.
  [[nodiscard]] CLI::App& cli() { return m_cli; }

  /// Starts MPI, reads the options, starts Kokkos, calls body on every rank and turns its answer (verified or not)
  /// or exception into the exit code and the JSON. Error and exhausted memory give exit_bad_input and end all ranks.
  int run(int argc, char** argv, const std::function<bool()>& body);

  // Within body ---------------------------------------------------------------------------------------------------

  [[nodiscard]] const Communicator& world() const { return m_world; }

  /// Text for people, from rank 0: to standard output, or to standard error where the JSON goes to standard output.
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) const {
    if (m_world.is_root()) write_text(fmt::format(format, std::forward<Args>(args)...));
  }
  void write_text(std::string_view text) const;

  /// Runs on rank 0; where it throws there, every rank throws the same text. For files. Collective.
  void on_root(const std::function<void()>& action) const;

  /// Into the JSON's results. Only rank 0's values count.
  void result(std::string_view name, Json value) { m_results[std::string(name)] = std::move(value); }
  /// Adds or changes a parameter, for defaults that are worked out.
  void parameter(std::string_view name, Json value) { m_extra_parameters[std::string(name)] = std::move(value); }
  /// Into the JSON's timings, with rates: the longest of all ranks. Returns that. Collective.
  double timing(std::string_view name, double seconds, Work work = {});

  /// A line on standard error, redrawn at most five times a second; where that is a terminal or --progress asks.
  void progress(double fraction, std::string_view text = {});

  /// True once SIGINT or SIGTERM came to any rank: the app should stop at a sensible place, say what it has, and
  /// return. The exit code is then 130 or 143. Collective, so call it at the same steps on every rank.
  [[nodiscard]] bool interrupted();

  /// Refuses a run that cannot fit, before anything is allocated.
  /// \param bytes   that this rank will allocate on the device of Space
  /// \param advice  "Use a smaller --size"
  /// Collective.
  void require_memory(double bytes, std::string_view advice) const;

 private:
  static std::string parameter_name(std::string_view option);
  int start_and_run(int argc, char** argv, const std::function<bool()>& body);
  int parse(std::vector<std::string> arguments);
  int fail(const std::string& message, int code);
  void check_exclusions() const;
  void check_files() const;
  void print_backend_info();
  void add_backend(Json& json) const;
  void write_json(const Json& json) const;
  [[nodiscard]] Json document(bool verified) const;
  void clear_progress();
  [[nodiscard]] bool json_on_stdout() const { return m_json_file == "-"; }

  Description m_description;
  CLI::App m_cli;
  Communicator m_world;
  std::vector<std::pair<std::string, std::function<Json()>>> m_parameters;
  Json m_extra_parameters = Json::object();
  Json m_results = Json::object();
  Json m_timings = Json::object();
  struct NamedFile {
    std::string option;
    const std::string* file;
    bool to_stdout;
  };
  std::vector<NamedFile> m_outputs, m_inputs;
  std::vector<std::pair<std::string, std::vector<std::string>>> m_exclusions;
  std::string m_json_file;
  bool m_backend_info = false;
  bool m_timings_table = false;
  bool m_show_progress = false;
  bool m_started = false;  // Kokkos runs
  int m_signal = 0;        // that interrupted() has told of
  std::chrono::steady_clock::time_point m_last_progress;
  bool m_progress_shown = false;
};

/// Wall time since it was made or restarted.
class Stopwatch {
 public:
  void restart() { m_start = std::chrono::steady_clock::now(); }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
  }

 private:
  std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

/// Least, middle and greatest of some measurements.
struct Spread {
  double min = 0;
  double median = 0;
  double max = 0;
};
[[nodiscard]] Spread spread(std::vector<double> values);

/// A table in aligned columns: the first column to the left, the others to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : m_rows{std::move(header)} {}
  void row(std::vector<std::string> cells) { m_rows.push_back(std::move(cells)); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> m_rows;
};

/// "1.5 GiB"
[[nodiscard]] std::string readable_bytes(double bytes);

}  // namespace tessera::app
