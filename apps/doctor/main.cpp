// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advice.hpp"
#include "checks.hpp"
#include <common/app.hpp>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <unistd.h>

#include <tessera/backends/enabled.hpp>
#include <tessera/backends/inventory.hpp>
#include <tessera/core/halo.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/core/version.hpp>

namespace tessera::doctor {
namespace {

using app::App;
using app::Json;
using app::Space;

std::string from_environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());  // NOLINT(concurrency-mt-unsafe): only read
  return value ? value : "";
}

std::string bytes(std::int64_t n) { return app::readable_bytes(static_cast<double>(n)); }

/// A line of the report and its place in the JSON.
class Report {
 public:
  explicit Report(App& app) : m_app(app) {}

  void section(const std::string& title, const std::string& key) {
    flush();
    m_key = key;
    m_app.print("\n{}\n", title);
  }
  void line(const std::string& name, const Json& value) {
    m_json[name] = value;
    m_app.print("  {:<26} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  void flush() {
    if (!m_key.empty()) m_app.result(m_key, m_json);
    m_json = Json::object();
    m_key.clear();
  }

 private:
  App& m_app;
  std::string m_key;
  Json m_json = Json::object();
};

void tell_build(Report& report) {
  report.section("Build", "build");
  report.line("tessera", build_description());
  report.line("kokkos found", kokkos_version_found().text());
  report.line("apps run on", std::string(Space::name()));
  report.line("host space", std::string(Kokkos::DefaultHostExecutionSpace::name()));
#ifdef NDEBUG
  report.line("assertions", "off");
#else
  report.line("assertions", "on (Debug build)");
#endif
  for (const LibraryInfo& library : libraries())
    report.line(library.name, library.version + (library.detail.empty() ? "" : " (" + library.detail + ")"));
}

void tell_devices(Report& report) {
  report.section("Devices", "devices");
  for (const DeviceInfo& d : devices()) {
    report.line(d.name, d.space + ", architecture " + d.architecture + " (built for " + d.architecture_built + "), " +
                            bytes(d.memory_bytes) + " of memory" +
                            (d.memory_free_bytes > 0 ? ", " + bytes(d.memory_free_bytes) + " free" : ""));
    if (d.threads > 0)
      report.line(
          "  cores",
          fmt::format("{} cores, {} hardware threads, {} NUMA domain{}, {:.2f} GHz, vectors of {} bytes", d.units,
                      d.threads, d.numa_domains, d.numa_domains == 1 ? "" : "s", d.clock_ghz, d.simd_width_bytes));
    else
      report.line("  units",
                  fmt::format("{} units of {} lanes, {:.2f} GHz, {}", d.units, d.warp_width, d.clock_ghz, d.links));
    std::string caches = d.l1_bytes > 0 ? "L1 " + bytes(d.l1_bytes) + ", " : "";
    caches += "L2 " + bytes(d.l2_bytes);
    if (d.l3_bytes > 0) caches += ", L3 " + bytes(d.l3_bytes);
    report.line("  caches", caches);
  }
  const Space exec;
  const Teams<Space> team(exec, 1, machine<Space>::team_threads);
  report.section("Limits of a team", "limits");
  report.line("concurrency", exec.concurrency());
  report.line("scratch, level 0", bytes(team.scratch_size_max(0)));
  report.line("scratch, level 1", bytes(team.scratch_size_max(1)));
  report.line("scratch that kernels use", bytes(static_cast<std::int64_t>(machine<Space>::scratch_bytes)));
}

void tell_ranks(Report& report, const App& app) {
  report.section("Ranks", "ranks");
  report.line("MPI", app.world().description());
  report.line("ranks", app.world().size());
  if constexpr (!is_host_space<Space>) {
    if (!detail::gpu_aware_asked())
      report.line("device memory in MPI", "not tried: set TESSERA_MPI_GPU_AWARE=1 to have it tried and used");
    else
      report.line("device memory in MPI", detail::gpu_aware_works(Space(), app.world()) ? "works" : "does NOT work");
  } else {
    report.line("device memory in MPI", "not needed: data lie on the host");
  }
}

/// Ranks that share this node, by its name.
int ranks_on_node(const Communicator& world) {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  const auto mine = static_cast<index_t>(std::hash<std::string>{}(name) >> 1);
  int count = 0;
  for (const index_t other : world.all_gather(mine)) count += other == mine;
  return count;
}

bool tell_all(App& app) {
  Report report(app);
  app.print("Tessera {}\n", TESSERA_VERSION_STRING);
  tell_build(report);
  tell_devices(report);
  tell_ranks(report, app);

  report.section("Environment", "environment");
  bool any = false;
  for (const std::string& name : known_variables())
    if (const std::string value = from_environment(name); !value.empty()) {
      report.line(name, value);
      any = true;
    }
  if (!any) app.print("  nothing is set that changes how programs run\n");
  report.flush();

  app.print("\nAlgorithms, each on a small problem with a known answer\n");
  bool right = true;
  Json checks = Json::array();
  for (const Check& check : check_algorithms()) {
    right = right && check.right;
    app.print("  {:<12} {:<8} {}{}\n", check.algorithm, check.right ? "right" : "WRONG", check.path,
              check.text.empty() ? "" : "\n    " + check.text);
    checks.push_back(
        {{"algorithm", check.algorithm}, {"right", check.right}, {"path", check.path}, {"text", check.text}});
  }
  app.result("algorithms", checks);

  const DeviceInfo host = devices().front();
  Host facts;
  facts.cores = host.units;
  facts.threads = host.threads;
  facts.numa_domains = host.numa_domains;
  facts.pool = Kokkos::DefaultHostExecutionSpace().concurrency();
  facts.ranks_on_node = ranks_on_node(app.world());
  facts.optimised = host.architecture_built != "none";
  facts.device = !is_host_space<Space>;
#ifndef NDEBUG
  facts.debug_build = true;
#endif
  std::vector<std::string> advice = advise(facts, from_environment);
  for (const LibraryInfo& library : libraries())
    if (!library.advice.empty()) advice.push_back(library.advice);
  if (!right)
    advice.insert(advice.begin(),
                  "An algorithm gave a wrong answer: do not trust results of this build. Run ./dev test, "
                  "and report what it and this page say");
  app.print("\nAdvice\n");
  for (const std::string& text : advice) app.print("  - {}\n", text);
  if (advice.empty()) app.print("  none: this looks right\n");
  app.result("advice", advice);
  return app.world().all_agree(right);
}

}  // namespace
}  // namespace tessera::doctor

int main(int argc, char** argv) {
  bool configuration = false;
  tessera::app::App app({.name = "doctor",
                         .summary =
                             "Tells what this machine and this build of Tessera have, tries every algorithm on a "
                             "small problem, and gives advice in plain words.",
                         .examples = "  doctor                  the whole report\n"
                                     "  doctor --json report    the same for programs, in the file 'report'\n"
                                     "  doctor --configuration  with Kokkos's own configuration\n"});
  app.flag("--configuration", configuration, "Also print Kokkos's own configuration");
  return app.run(argc, argv, [&] {
    const bool right = tessera::doctor::tell_all(app);
    if (configuration) {
      std::ostringstream text;
      Kokkos::print_configuration(text, true);
      app.print("\nKokkos's configuration\n{}", text.str());
    }
    return right;
  });
}
