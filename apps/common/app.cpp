// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <common/app.hpp>
#include <common/files.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <numeric>
#include <optional>
#include <sched.h>
#include <sstream>
#include <unistd.h>

#include <tessera/backends/enabled.hpp>
#include <tessera/backends/inventory.hpp>
#include <tessera/core/config.hpp>
#include <tessera/core/device.hpp>
#include <tessera/core/scope_guard.hpp>
#include <tessera/core/trace.hpp>

namespace tessera::app {
namespace {

constexpr auto patience = std::chrono::seconds(2);  // for the other ranks, when one fails

volatile std::sig_atomic_t signal_received = 0;

extern "C" void remember_signal(int number) { signal_received = number; }

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = remember_signal;
  action.sa_flags = SA_RESETHAND | SA_RESTART;  // a second Ctrl-C ends the process at once
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

CLI::Validator named() {
  return {[](const std::string& file) { return file.empty() ? std::string("give a file name") : std::string(); }, ""};
}

/// Single-character changes that turn a into b (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

/// The option whose name is nearest to what was typed; empty where none is near.
std::string nearest_option(const CLI::App& cli, const std::string& typed) {
  const std::string name = typed.substr(0, typed.find('='));
  std::string best;
  std::size_t least = 3;
  for (const CLI::Option* option : cli.get_options()) {
    const std::string candidate = option->get_name();
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < least || (candidate.size() > name.size() && name.size() > 4 && candidate.starts_with(name))) {
      least = std::min(least, distance);
      best = candidate;
    }
  }
  return best;
}

/// Bytes that this process group may use at most, where the system limits it below the machine's memory.
// (a device compiler's own pass sees no use of it)
[[maybe_unused]] std::optional<double> group_memory_limit() {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  double limit = 0;
  if (file >> limit) return limit;
  return std::nullopt;
}

std::int64_t host_name_hash() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return static_cast<std::int64_t>(std::hash<std::string_view>{}(name));
}

/// What Kokkos does not work out by itself where several ranks share a node: threads that do not outnumber the cores
/// (unless the user said how many), and warnings once instead of once a rank. Collective.
std::vector<std::string> kokkos_arguments(const Communicator& world, const std::vector<char*>& given) {
  std::vector<std::string> added;
  if (world.size() == 1) return added;
  if (!world.is_root()) added.emplace_back("--kokkos-disable-warnings");
  const std::vector<index_t> hosts = world.all_gather(host_name_hash());
  const auto here = std::count(hosts.begin(), hosts.end(), hosts[static_cast<std::size_t>(world.rank())]);
  const bool told = std::getenv("OMP_NUM_THREADS") != nullptr ||     // NOLINT(concurrency-mt-unsafe): only read
                    std::getenv("KOKKOS_NUM_THREADS") != nullptr ||  // NOLINT(concurrency-mt-unsafe)
                    std::any_of(given.begin(), given.end(), [](const char* argument) {
                      return std::string_view(argument).starts_with("--kokkos-num-threads");
                    });
  cpu_set_t allowed;
  if (told || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return added;
  const long mine = CPU_COUNT(&allowed), all = sysconf(_SC_NPROCESSORS_ONLN);
  const long threads = mine < all ? mine : std::max(1L, all / static_cast<long>(here));  // fewer: bound by mpirun
  added.push_back("--kokkos-num-threads=" + std::to_string(threads));
  return added;
}

std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
         std::to_string(KOKKOS_VERSION % 100);
}

Json device_json(const DeviceInfo& d) {
  Json json;
  json["name"] = d.name;
  json["space"] = d.space;
  json["architecture"] = d.architecture;
  json["architecture_built"] = d.architecture_built;
  json["units"] = d.units;
  json["memory_bytes"] = d.memory_bytes;
  return json;
}

/// Text of an exception that means "no memory left"; empty for others. Kokkos reports it by a runtime_error.
std::string memory_message(const std::exception& error) {
  const std::string_view text = error.what();
  if (text.find("failed to allocate") != std::string_view::npos) {
    std::string shorter(text.substr(0, text.find('\n')));
    if (shorter.starts_with("Kokkos ERROR: ")) shorter.erase(0, 14);
    return "out of memory: " + shorter;
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "out of memory on the host";
  return {};
}

}  // namespace

App::App(Description description)
    : m_description(std::move(description)),
      m_cli(m_description.summary, m_description.name),
      m_world(Communicator::self()) {
  m_cli.get_formatter()->column_width(34);
  m_cli.set_help_flag("-h,--help", "Print this help and exit");
  m_cli.set_version_flag("--version", m_description.name + " (Tessera " TESSERA_VERSION_STRING ")",
                         "Print the version and exit");
  const std::string group = "Options of every app";
  m_cli
      .add_option("--json", m_json_file,
                  "Write app, version, backend, ranks, parameters, verified, results and timings as JSON to FILE; "
                  "with '-' to standard output, and the text for people to standard error")
      ->type_name("FILE|-")
      ->check(named())
      ->group(group);
  m_cli.add_flag("--backend-info", m_backend_info, "Print the devices, versions and MPI of this build, and exit")
      ->group(group);
  m_cli.add_flag("--timings", m_timings_table, "Print a table of the wall time in each region of the run [s]")
      ->group(group);
  m_cli.add_flag("--progress", m_show_progress, "Print progress to standard error even where that is not a terminal")
      ->group(group);
  m_cli.footer("Examples:\n" + m_description.examples + "\nSeveral ranks (builds with MPI):\n  mpirun -np 4 " +
               m_description.name +
               " ...\n"
               "\nExit codes:\n"
               "  0    the run's results were verified\n"
               "  1    it ran, and its results failed verification\n"
               "  2    bad options or input, or too little memory; nothing was computed\n"
               "  130  interrupted by Ctrl-C (143: ended by SIGTERM); what was finished was said\n"
               "\nOptions that begin with --kokkos- go to Kokkos (--kokkos-num-threads=N, --kokkos-help).\n"
               "Environment: TESSERA_LOG=paths tells which kernels run, TESSERA_MPI_GPU_AWARE=1 lets MPI read device\n"
               "memory, OMP_NUM_THREADS sets the threads of each rank (by default the cores of a node, shared out).");
}

App::~App() = default;

CLI::Option* App::flag(const std::string& name, bool& value, const std::string& help) {
  CLI::Option* added = m_cli.add_flag(name, value, help);
  m_parameters.emplace_back(parameter_name(name), [&value] { return Json(value); });
  return added;
}

CLI::Option* App::output(const std::string& name, std::string& file, Output kind, const std::string& help) {
  m_outputs.push_back({name, &file, kind == Output::text});
  return option(name, file, help)->check(named())->type_name("FILE");
}

CLI::Option* App::input(const std::string& name, std::string& file, const std::string& help) {
  m_inputs.push_back({name, &file, true});
  return option(name, file, help)->check(named())->type_name("FILE");
}

void App::exclude(const std::string& option, std::vector<std::string> others) {
  m_exclusions.emplace_back(option, std::move(others));
}

void App::check_exclusions() const {
  const auto given = [&](const std::string& name) { return m_cli.get_option(name)->count() > 0; };
  for (const auto& [option, others] : m_exclusions)
    for (const std::string& other : others)
      if (given(option) && given(other))
        throw Error(m_description.name, other + " together with " + option, other + " does nothing beside " + option,
                    "Leave one of the two out");
}

void App::check_files() const {
  std::vector<NamedFile> outputs = m_outputs;
  outputs.push_back({"--json", &m_json_file, true});
  std::string on_stdout;
  std::vector<std::pair<std::filesystem::path, std::string>> places;
  const auto add_place = [&](const NamedFile& f) {
    const auto place = std::filesystem::weakly_canonical(std::filesystem::absolute(*f.file));
    const auto same = std::ranges::find(places, place, [](const auto& p) { return p.first; });
    if (same != places.end())
      throw Error(m_description.name, same->second + " and " + f.option + " name one file, \"" + *f.file + "\"",
                  "each has a file of its own", "Name another file for one of them");
    places.emplace_back(place, f.option);
  };
  for (const NamedFile& f : outputs) {
    if (f.file->empty()) continue;
    if (*f.file != "-") {
      add_place(f);
      check_writable(*f.file);
      continue;
    }
    if (!f.to_stdout)
      throw Error(m_description.name, f.option + " -", "a picture does not go to standard output",
                  "Name a file: " + f.option + " FILE.png");
    if (!on_stdout.empty())
      throw Error(m_description.name, on_stdout + " - and " + f.option + " -",
                  "standard output takes one of them, or nobody could tell them apart",
                  "Name a file for the other: " + f.option + " FILE");
    on_stdout = f.option;
  }
  for (const NamedFile& f : m_inputs)
    if (!f.file->empty() && *f.file != "-") add_place(f);
}

std::string App::parameter_name(std::string_view option) {
  if (const auto comma = option.rfind(','); comma != std::string_view::npos) option.remove_prefix(comma + 1);
  while (option.starts_with('-')) option.remove_prefix(1);
  std::string name(option);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

int App::run(int argc, char** argv, const std::function<bool()>& body) {
  catch_signals();  // before anything slow: one that comes now is noticed at the first look
  const bool mpi = detail::start_mpi(argc, argv);
  m_world = Communicator::world();
  const int code = start_and_run(argc, argv, body);
  std::fflush(stdout);
  m_world = Communicator::self();
  if (mpi) detail::stop_mpi();
  return code;
}

int App::start_and_run(int argc, char** argv, const std::function<bool()>& body) {
  std::vector<char*> for_kokkos;
  std::vector<std::string> for_us;
  if (argc > 0) for_kokkos.push_back(argv[0]);
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("--kokkos-"))
      for_kokkos.push_back(argv[i]);
    else
      for_us.emplace_back(argv[i]);
  }
  // Options first: help must work on a login node, where Kokkos finds no GPU to start on.
  if (const int code = parse(std::move(for_us)); code >= 0) return code;
  try {
    check_exclusions();
    on_root([&] { check_files(); });
    std::vector<std::string> added = kokkos_arguments(m_world, for_kokkos);
    for (std::string& argument : added) for_kokkos.push_back(argument.data());
    int count = static_cast<int>(for_kokkos.size());
    for_kokkos.push_back(nullptr);
    const ScopeGuard guard(count, for_kokkos.data());
    m_started = true;
    if (m_backend_info) {
      print_backend_info();
      return exit_verified;
    }
    catch_signals();  // again: what was started may have put its own handlers there
    if (m_timings_table) enable_timings(true);
    bool verified = false;
    try {
      const Region region("tessera::app::" + m_description.name);
      verified = body();
    } catch (const std::exception& error) {
      clear_progress();
      // the objects of body are gone; Kokkos still runs, and ends with guard
      if (const std::string text = memory_message(error); !text.empty())
        return fail(text + ". Use a smaller problem, or more ranks on more nodes", exit_bad_input);
      return fail(error.what(), exit_bad_input);
    }
    clear_progress();
    if (m_timings_table && m_world.is_root()) {
      std::ostringstream text;
      print_timings(text);
      write_text("\n" + text.str());
    }
    if (m_signal != 0) verified = false;
    on_root([&] { write_json(document(verified)); });
    if (m_signal != 0) return 128 + m_signal;
    if (!verified) print("{}: FAILED verification\n", m_description.name);
    return verified ? exit_verified : exit_failed;
  } catch (const std::exception& error) {
    return fail(error.what(), exit_bad_input);
  }
}

/// \return the exit code where the process should end now, -1 where it goes on
int App::parse(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    m_cli.parse(std::move(arguments));
    return -1;
  } catch (const CLI::CallForHelp&) {
    if (m_world.is_root()) std::fputs(m_cli.help().c_str(), stdout);
    return exit_verified;
  } catch (const CLI::CallForAllHelp&) {
    if (m_world.is_root()) std::fputs(m_cli.help("", CLI::AppFormatMode::All).c_str(), stdout);
    return exit_verified;
  } catch (const CLI::CallForVersion& version) {
    if (m_world.is_root()) std::fprintf(stdout, "%s\n", version.what());
    return exit_verified;
  } catch (const CLI::ParseError& error) {
    std::string text = error.what();
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
      const std::vector<std::string> extras = m_cli.remaining();
      text = "there is no option \"" + (extras.empty() ? std::string("?") : extras.front()) + "\"";
      if (!extras.empty())
        if (const std::string near = nearest_option(m_cli, extras.front()); !near.empty())
          text += "; did you mean " + near + "?";
    }
    if (m_world.is_root())
      std::fprintf(stderr, "%s: %s\nRun \"%s --help\" for all options.\n", m_description.name.c_str(), text.c_str(),
                   m_description.name.c_str());
    return exit_bad_input;
  }
}

/// Says once what went wrong, however many ranks it went wrong on, and sees to it that all of them end.
int App::fail(const std::string& message, int code) {
  const auto mine = static_cast<index_t>(std::hash<std::string>{}(message));
  const std::vector<index_t> all = m_world.all_gather_within(mine, patience);
  if (all.empty()) m_world.abort(m_description.name + ": " + message, code);
  const auto first = std::find(all.begin(), all.end(), mine) - all.begin();
  if (first == m_world.rank()) {
    const std::string who = std::all_of(all.begin(), all.end(), [&](index_t other) { return other == mine; })
                                ? std::string()
                                : " (rank " + std::to_string(m_world.rank()) + ")";
    std::fprintf(stderr, "%s%s: %s\n", m_description.name.c_str(), who.c_str(), message.c_str());
  }
  if (m_world.is_root() && m_started) {
    try {
      Json json = document(false);
      json["error"] = message;
      write_json(json);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", m_description.name.c_str(), error.what());
    }
  }
  return code;
}

void App::on_root(const std::function<void()>& action) const {
  std::string message;
  if (m_world.is_root()) {
    try {
      action();
    } catch (const std::exception& error) {
      message = error.what();
      if (message.empty()) message = "unknown error";
    }
  }
  message = m_world.broadcast(std::move(message));
  if (!message.empty()) throw std::runtime_error(message);
}

void App::write_text(std::string_view text) const {
  if (!m_world.is_root()) return;
  std::FILE* const to = json_on_stdout() ? stderr : stdout;
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

void App::add_backend(Json& json) const {
  const Space exec;
  json["backend"] = Space::name();
  Json device = device_json(device_of(exec));
  device["concurrency"] = exec.concurrency();
  device["kokkos"] = kokkos_version();
  device["mpi"] = m_world.description();
  json["device"] = std::move(device);
  json["ranks"] = m_world.size();
}

Json App::document(bool verified) const {
  Json json;
  json["app"] = m_description.name;
  json["version"] = TESSERA_VERSION_STRING;
  add_backend(json);
  Json parameters = Json::object();
  for (const auto& [name, value] : m_parameters) parameters[name] = value();
  parameters.update(m_extra_parameters);
  json["parameters"] = std::move(parameters);
  json["verified"] = verified;
  if (m_signal != 0) json["interrupted"] = true;
  json["results"] = m_results;
  json["timings"] = m_timings;
  return json;
}

void App::write_json(const Json& json) const {
  if (m_json_file.empty()) return;
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (json_on_stdout()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  } else {
    write_file_atomically(m_json_file, text);
  }
}

void App::print_backend_info() {
  if (!m_world.is_root()) return;
  Json json;
  json["app"] = m_description.name;
  json["version"] = TESSERA_VERSION_STRING;
  add_backend(json);
  json["devices"] = Json::array();
  std::string text = fmt::format("{} {} of Tessera\n  apps run on     {} ({} work items at a time)\n",
                                 m_description.name, TESSERA_VERSION_STRING, Space::name(), Space().concurrency());
  text += fmt::format("  Kokkos          {}\n  MPI             {}\n  ranks           {}\n", kokkos_version(),
                      m_world.description(), m_world.size());
  for (const DeviceInfo& d : devices()) {
    json["devices"].push_back(device_json(d));
    text += fmt::format(
        "  device          {}\n                  space {}, {} units, architecture {} (built for {}), {}", d.name,
        d.space, d.units, d.architecture, d.architecture_built, readable_bytes(static_cast<double>(d.memory_bytes)));
    if (d.clock_ghz > 0) text += fmt::format(", {:.2f} GHz", d.clock_ghz);
    if (!d.links.empty()) text += ", " + d.links;
    text += "\n";
  }
  write_text(text);
  write_json(json);
}

double App::timing(std::string_view name, double seconds, Work work) {
  seconds = m_world.all_reduce(seconds, Reduction::max);
  Json entry;
  entry["seconds"] = seconds;
  if (work.bytes > 0) entry["gb_per_s"] = work.bytes / seconds * 1e-9;
  if (work.flops > 0) entry["gflop_per_s"] = work.flops / seconds * 1e-9;
  m_timings[std::string(name)] = std::move(entry);
  return seconds;
}

void App::progress(double fraction, std::string_view text) {
  if (!m_world.is_root()) return;
  const bool terminal = isatty(STDERR_FILENO) != 0;
  if (!terminal && !m_show_progress) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - m_last_progress < std::chrono::milliseconds(terminal ? 200 : 2000) && fraction < 1) return;
  m_last_progress = now;
  fmt::print(stderr, "{}{}: {:3.0f} %  {}{}", terminal ? "\r" : "", m_description.name, 100 * fraction, text,
             terminal ? "\033[K" : "\n");
  std::fflush(stderr);
  m_progress_shown = terminal;
}

void App::clear_progress() {
  if (!m_progress_shown) return;
  std::fputs("\r\033[K", stderr);
  m_progress_shown = false;
}

bool App::interrupted() {
  if (m_signal == 0)
    m_signal = static_cast<int>(m_world.all_reduce(static_cast<index_t>(signal_received), Reduction::max));
  if (m_signal != 0) clear_progress();
  return m_signal != 0;
}

void App::require_memory(double bytes, std::string_view advice) const {
  const Space exec;
  const DeviceInfo& device = device_of(exec);
  double needed = bytes;
  double available = static_cast<double>(device.memory_bytes);
  std::string who = "this rank";
  if constexpr (is_host_space<Space>) {
    if (const auto limit = group_memory_limit()) available = std::min(available, *limit);
    const std::vector<index_t> hosts = m_world.all_gather(host_name_hash());
    const std::vector<double> needs = m_world.all_gather(bytes);
    needed = 0;
    for (std::size_t r = 0; r < hosts.size(); ++r)
      if (hosts[r] == hosts[static_cast<std::size_t>(m_world.rank())]) needed += needs[r];
    who = "the run on this node";
  }
  if (available <= 0 || needed <= available) return;
  throw Error("tessera::app::require_memory", who + " needs " + readable_bytes(needed) + " of memory",
              device.name + " has " + readable_bytes(available), advice);
}

Spread spread(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return {values.front(), n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]), values.back()};
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : m_rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string out;
  for (std::size_t r = 0; r < m_rows.size(); ++r) {
    std::string line = "  ";
    for (std::size_t c = 0; c < m_rows[r].size(); ++c)
      line +=
          c == 0 ? fmt::format("{:<{}}", m_rows[r][c], widths[c]) : fmt::format("  {:>{}}", m_rows[r][c], widths[c]);
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
    if (r == 0) {
      std::size_t total = 2 * (widths.size() - 1);
      for (const std::size_t w : widths) total += w;
      out += "  " + std::string(total, '-') + "\n";
    }
  }
  return out;
}

std::string readable_bytes(double bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 6) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} {}", bytes, units[unit]) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

}  // namespace tessera::app
