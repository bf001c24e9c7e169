// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <support/message_of.hpp>
#include <support/tuning_folder.hpp>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <tessera/core/plan.hpp>
#include <tessera/core/tuning.hpp>

using Catch::Matchers::ContainsSubstring;
using tessera::TuningTable;
namespace fs = std::filesystem;

namespace {

tessera::DeviceInfo device(const char* key = "gpu0:A device:9.0") {
  tessera::DeviceInfo d;
  d.key = key;
  d.driver = "13.0";
  d.architecture_built = "9.0";
  return d;
}

std::vector<fs::path> files_in(const fs::path& folder, const char* ending) {
  std::vector<fs::path> found;
  if (fs::exists(folder))
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ending) found.push_back(entry.path());
  return found;
}

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a table comes back from its text", "[tuning]") {
  const std::string header = tessera::tuning_header("gemm", device());
  TuningTable table(header);
  table.put({"types", "00ff"}, {"portable", 1.5e-3});
  table.put({"types", "01"}, {"cuda:wgmma_half_sm90a 128x64x64 split 4", 0});
  table.put({"types", "00ff"}, {"cuda:cublas", 1e-6});
  const TuningTable again = TuningTable::parse(table.text(), header);
  REQUIRE(again.size() == 2);
  CHECK(again.find({"types", "00ff"})->path == "cuda:cublas");
  CHECK(again.find({"types", "00ff"})->seconds == 1e-6);
  CHECK(again.find({"types", "01"})->path == "cuda:wgmma_half_sm90a 128x64x64 split 4");
  CHECK(again.find({"types", "02"}) == nullptr);
  CHECK(again.text() == table.text());
  CHECK(TuningTable::parse("", header).size() == 0);
  // of another algorithm, device, driver or build it is empty, whatever follows
  auto newer = device();
  newer.driver = "13.1";
  for (const std::string& other :
       {tessera::tuning_header("sort", device()), tessera::tuning_header("gemm", device("gpu0:Another:9.0")),
        tessera::tuning_header("gemm", newer)}) {
    CHECK(other != header);
    CHECK(TuningTable::parse(table.text() + "rubbish\n", other).size() == 0);
  }
  // a device's name cannot break the lines
  CHECK(tessera::tuning_header("gemm", device("gpu0:a\nb\tc")).find('\n') == std::string::npos);
}

TEST_CASE("what is no table is refused with its line", "[tuning]") {
  const std::string header = tessera::tuning_header("gemm", device());
  const auto refused = [&](const std::string& text) {
    return message_of([&] { (void)TuningTable::parse(text, header); });
  };
  CHECK_THAT(refused("something else\n"), ContainsSubstring("line 1 does not begin with 'tessera-tuning 1'"));
  CHECK_THAT(refused(header), ContainsSubstring("the text was cut off"));
  const auto line = [&](const std::string& text) { return refused(header + "\nt\t00\tportable\t1\n" + text); };
  CHECK_THAT(line("t\t00\tportable\t1"),
             ContainsSubstring("line 3 has no end") && ContainsSubstring("Delete the file"));
  CHECK_THAT(line("\n"), ContainsSubstring("line 3 has not four fields"));
  CHECK_THAT(line("t\t00\tportable\n"), ContainsSubstring("has not four fields"));
  CHECK_THAT(line("t\t00\tportable\t1\t2\n"), ContainsSubstring("has not four fields"));
  CHECK_THAT(line("t\t0x\tportable\t1\n"), ContainsSubstring("not hexadecimal"));
  CHECK_THAT(line("t\t00\t\t1\n"), ContainsSubstring("empty, very long or no plain text"));
  CHECK_THAT(line("t\t00\tport\x01"
                  "able\t1\n"),
             ContainsSubstring("no plain text"));
  CHECK_THAT(line("t\t00\t" + std::string(5000, 'x') + "\t1\n"), ContainsSubstring("very long"));
  for (const char* seconds : {"-1", "nan", "inf", "1e300", "1x", "x"})
    CHECK_THAT(line(std::string("t\t00\tportable\t") + seconds + "\n"), ContainsSubstring("no number of seconds"));
  CHECK_THAT(refused(header + "\n" + std::string(TuningTable::most_bytes, 'x')), ContainsSubstring("16 MiB"));
}

TEST_CASE("what was measured is found by the next process, on the same device and driver", "[tuning]") {
  const TuningFolder folder;
  CHECK(tessera::tuned_path("gemm", device(), "t", "\x01\xff").empty());
  tessera::remember_tuned("gemm", device(), "t", "\x01\xff", "portable", 1e-3);
  CHECK(tessera::tuned_path("gemm", device(), "t", "\x01\xff") == "portable");
  tessera::detail::forget_tuning();
  CHECK(tessera::tuned_path("gemm", device(), "t", "\x01\xff") == "portable");
  CHECK(tessera::tuned_path("gemm", device(), "u", "\x01\xff").empty());
  CHECK(tessera::tuned_path("gemm", device(), "t", "\x01").empty());
  CHECK(tessera::tuned_path("sort", device(), "t", "\x01\xff").empty());
  CHECK(tessera::tuned_path("gemm", device("gpu1:A device:9.0"), "t", "\x01\xff").empty());
  // a newer driver does not believe it, and begins the file anew
  auto newer = device();
  newer.driver = "13.1";
  CHECK(tessera::tuned_path("gemm", newer, "t", "\x01\xff").empty());
  tessera::remember_tuned("gemm", newer, "t", "\x02", "portable", 1e-3);
  tessera::detail::forget_tuning();
  CHECK(tessera::tuned_path("gemm", newer, "t", "\x02") == "portable");
  CHECK(tessera::tuned_path("gemm", device(), "t", "\x01\xff").empty());
  REQUIRE(files_in(folder.path(), ".tsv").size() == 1);
  CHECK_THAT(text_of(files_in(folder.path(), ".tsv")[0]), ContainsSubstring("13.1") && !ContainsSubstring("01ff"));
}

TEST_CASE("many processes and threads write one file, and nothing is lost", "[tuning]") {
  const TuningFolder folder;
  constexpr int processes = 4, each = 20;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i < each; ++i)
        tessera::remember_tuned("gemm", device(), "p" + std::to_string(p), std::string(1, static_cast<char>(i + 1)),
                                "portable", 1e-3);
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < each; ++i)
        tessera::remember_tuned("gemm", device(), "t" + std::to_string(t), std::string(1, static_cast<char>(i + 1)),
                                "portable", 1e-3);
    });
  for (auto& t : threads) t.join();
  REQUIRE(files_in(folder.path(), ".tsv").size() == 1);
  const auto table =
      TuningTable::parse(text_of(files_in(folder.path(), ".tsv")[0]), tessera::tuning_header("gemm", device()));
  CHECK(table.size() == 2 * processes * each);
  CHECK(files_in(folder.path(), ".new").empty());
}

TEST_CASE("a broken file or folder stops nothing", "[tuning]") {
  {
    const TuningFolder folder;
    tessera::remember_tuned("gemm", device(), "t", "\x01", "portable", 1e-3);
    const fs::path file = files_in(folder.path(), ".tsv").at(0);
    std::ofstream(file) << "not a table\n";
    tessera::detail::forget_tuning();
    CHECK(tessera::tuned_path("gemm", device(), "t", "\x01").empty());
    tessera::remember_tuned("gemm", device(), "t", "\x02", "portable", 1e-3);  // made anew
    tessera::detail::forget_tuning();
    CHECK(tessera::tuned_path("gemm", device(), "t", "\x02") == "portable");
  }
  const TuningFolder folder("/proc/no such folder");
  tessera::remember_tuned("gemm", device(), "t", "\x03", "portable", 1e-3);
  CHECK(tessera::tuned_path("gemm", device(), "t", "\x03") == "portable");  // in this process
}

TEST_CASE("TESSERA_TUNE is read as it is documented", "[tuning]") {
  const TuningFolder folder;
  using tessera::Tuning;
  const auto with = [](const char* value) {
    REQUIRE(setenv("TESSERA_TUNE", value, 1) == 0);  // NOLINT(concurrency-mt-unsafe): no other thread runs
    return tessera::tuning();
  };
  CHECK(with("") == Tuning::look_up);
  CHECK(with("0") == Tuning::off);
  CHECK(with("1") == Tuning::measure);
  CHECK_THAT(message_of([&] { (void)with("yes"); }),
             ContainsSubstring("TESSERA_TUNE is 'yes'") && ContainsSubstring("1 ("));
}

namespace {

struct Problem {
  std::int64_t size;
  bool by_name = false;
  int configuration = -1;
};
struct Types {};

/// Has tiles of three sizes, of which the largest takes problems of 100 and more; measured slow on odd ones.
struct Tiled {
  static constexpr std::string_view name = "vendor:tiled";
  template <class, class>
  static constexpr bool supports = true;
  static tessera::Verdict can_run(const Problem& p, const tessera::DeviceInfo&) {
    if (p.size < 0) return tessera::Verdict::no("the size is negative");
    return p.by_name || p.size % 2 == 0 ? tessera::Verdict::yes() : tessera::Verdict::no("slower for odd sizes");
  }
  static std::vector<std::string> configurations(const Problem& p, const tessera::DeviceInfo&) {
    return {"8x8", "16x16", p.size < 100 ? "" : "32x32"};
  }
  static int choose(const Problem& p, const tessera::DeviceInfo&) { return p.size < 100 ? 1 : 2; }
  static std::string configuration(const Problem& p, const tessera::DeviceInfo& d) {
    return configurations(p, d).at(static_cast<std::size_t>(p.configuration));
  }
};
struct Portable {
  static constexpr std::string_view name = "portable";
  template <class, class>
  static constexpr bool supports = true;
  static tessera::Verdict can_run(const Problem&, const tessera::DeviceInfo&) { return tessera::Verdict::yes(); }
  static std::string configuration(const Problem&, const tessera::DeviceInfo&) { return {}; }
};

tessera::Selection select(const Problem& p, std::string_view forced = {}) {
  return tessera::select_provider<Types, int>("tuned", p, device(), "types", tessera::signature_bytes(p.size), forced,
                                              std::tuple<Tiled, Portable>{});
}
void remember(std::int64_t size, std::string_view path) {
  tessera::remember_tuned("tuned", device(), "types", tessera::signature_bytes(size), path, 1e-6);
}

}  // namespace

TEST_CASE("a path is forced with one of its configurations", "[tuning][plan]") {
  const TuningFolder folder;
  CHECK(select({8}).path == "tuned[vendor:tiled 16x16]");
  CHECK(select({8}).configuration == 1);
  CHECK_FALSE(select({8}).by_name);
  CHECK(select({7}).path == "tuned[portable]");
  CHECK(select({7}).configuration == -1);
  // what is only slower does not stand against a name
  CHECK(select({7}, "vendor:tiled").path == "tuned[vendor:tiled 16x16]");
  CHECK(select({7}, "vendor:tiled").by_name);
  CHECK(select({7}, "vendor:tiled 8x8").path == "tuned[vendor:tiled 8x8]");
  CHECK(select({7}, "vendor:tiled 8x8").configuration == 0);
  CHECK_THAT(message_of([] { select({-2}, "vendor:tiled 8x8"); }), ContainsSubstring("the size is negative"));
  CHECK_THAT(message_of([] { select({7}, "vendor:tiled 32x32"); }),
             ContainsSubstring("no configuration '32x32' for this problem; it has '8x8', '16x16'"));
  CHECK_THAT(message_of([] { select({7}, "portable 8x8"); }), ContainsSubstring("it has none to choose from"));
  CHECK_THAT(message_of([] { select({7}, "vendor:tiledandmore"); }), ContainsSubstring("there is no path"));
}

TEST_CASE("the tuning file comes before the order of providers, and after what is forced", "[tuning][plan]") {
  const TuningFolder folder;
  CHECK(select({200}).path == "tuned[vendor:tiled 32x32]");
  remember(200, "vendor:tiled 8x8");
  CHECK(select({200}).path == "tuned[vendor:tiled 8x8]");
  CHECK(select({200}).by_name);
  CHECK(select({200}, "portable").path == "tuned[portable]");
  CHECK_THAT(select({200}).refusals.at(0).reason, ContainsSubstring("the tuning file names another"));
  remember(200, "portable");
  CHECK(select({200}).path == "tuned[portable]");
  // a name of another version, or one that cannot run any more, is told and passed over
  remember(200, "vendor:tiled 64x64");
  CHECK(select({200}).path == "tuned[vendor:tiled 32x32]");
  CHECK_THAT(select({200}).refusals.at(0).reason,
             ContainsSubstring("the tuning file names it, but: it has no configuration '64x64'"));
  remember(200, "vendor:gone");
  CHECK(select({200}).path == "tuned[vendor:tiled 32x32]");
  CHECK_THAT(select({200}).refusals.at(0).reason, ContainsSubstring("this build has no such path"));
  REQUIRE(setenv("TESSERA_TUNE", "0", 1) == 0);  // NOLINT(concurrency-mt-unsafe): no other thread runs
  remember(201, "vendor:tiled 8x8");
  CHECK(select({201}).path == "tuned[portable]");
}
