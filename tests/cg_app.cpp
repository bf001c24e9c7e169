// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cg app as its users run it: options, exit codes, JSON, several ranks, Ctrl-C.
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using Json = nlohmann::json;

namespace {

const std::string app = TESSERA_CG;
const std::string mpiexec = TESSERA_MPIEXEC;  // "mpirun -n", or empty in a build without MPI

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tessera cg app " + std::to_string(getpid()));  // blanks on purpose
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path / name).string(); }
};

struct Run {
  int code = -1;
  std::string text;  ///< standard output and error
  Json json;         ///< of --json, or null
};

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string quoted(const std::string& s) { return "'" + s + "'"; }

Run cg(const Folder& folder, const std::string& options, int ranks = 1) {
  const std::string json = folder / "out.json", text = folder / "out.txt";
  std::filesystem::remove(json);
  std::string command = ranks == 1 ? quoted(app) : mpiexec + " " + std::to_string(ranks) + " " + quoted(app);
  command += " " + options + " --json " + quoted(json) + " > " + quoted(text) + " 2>&1";
  Run run;
  run.code = WEXITSTATUS(std::system(command.c_str()));  // NOLINT(concurrency-mt-unsafe): one thread
  run.text = slurp(text);
  if (std::filesystem::exists(json)) run.json = Json::parse(slurp(json));
  return run;
}

std::string write(const Folder& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder / name, std::ios::binary) << text;
  return quoted(folder / name);
}

const std::string banner = "%%MatrixMarket matrix coordinate real symmetric\n";

}  // namespace

TEST_CASE("cg app: a made system is solved and verified", "[cg_app]") {
  const Folder folder;
  const std::string preconditioner = GENERATE("none", "jacobi", "symgs");
  const Run run = cg(folder, "--size 12 --tolerance 1e-10 --preconditioner " + preconditioner);
  INFO(run.text);
  REQUIRE(run.code == 0);
  CHECK(run.json["app"] == "cg");
  CHECK(run.json.contains("version"));
  CHECK(run.json.contains("backend"));
  CHECK(run.json["ranks"] == 1);
  CHECK(run.json["verified"] == true);
  CHECK(run.json["parameters"]["size"] == 12);
  CHECK(run.json["parameters"]["preconditioner"] == preconditioner);
  const Json& results = run.json["results"];
  CHECK(results["converged"] == true);
  CHECK(results["relative_residual"] <= 1e-10);
  CHECK(results["iterations"].is_number_integer());
  CHECK(results["residual_history"].size() == results["iterations"].get<std::size_t>() + 1);
  CHECK(results["rows"] == 1728);
  CHECK(results["nnz"] == 34 * 34 * 34);
  CHECK(results["largest_error"] < 1e-8);
  CHECK(results["breakdown"].is_null());
  CHECK(run.json["timings"]["solve"]["seconds"] > 0);
  CHECK(run.json["timings"]["solve"]["gflop_per_s"] > 0);
  CHECK(run.json["timings"]["solve"]["gb_per_s"] > 0);
  CHECK_THAT(run.text, ContainsSubstring("converged in") && ContainsSubstring("GFLOP/s"));
}

TEST_CASE("cg app: a right-hand side of one's own, and a picture", "[cg_app]") {
  const Folder folder;
  const std::string matrix = write(folder, "a.mtx", banner + "2 2 3\n1 1 2\n2 1 1\n2 2 3\n");
  const std::string rhs = write(folder, "b.mtx", "%%MatrixMarket matrix array real general\n2 1\n4\n7\n");
  const Run run = cg(folder, "--matrix " + matrix + " --rhs " + rhs + " --plot " + quoted(folder / "r.png"));
  INFO(run.text);
  CHECK(run.code == 0);
  CHECK_THAT(run.json["results"]["rhs_norm"].get<double>(), WithinRel(std::sqrt(65.0), 1e-12));
  CHECK_FALSE(run.json["results"].contains("largest_error"));
  CHECK(slurp(folder / "r.png").substr(1, 3) == "PNG");
}

TEST_CASE("cg app: 1 when it ran and did not converge", "[cg_app]") {
  const Folder folder;
  const auto fails = [&](const std::string& options, const std::string& word, bool breakdown) {
    const Run run = cg(folder, options);
    INFO(options << "\n" << run.text);
    CHECK(run.code == 1);
    CHECK_THAT(run.text, ContainsSubstring(word));
    CHECK(run.json["verified"] == false);
    CHECK(run.json["results"]["converged"] == false);
    CHECK(run.json["results"]["breakdown"].is_string() == breakdown);
    CHECK(run.json["results"]["relative_residual"].is_number());
    CHECK(run.json["results"]["iterations"].is_number_integer());
  };
  fails("--size 10 --max-iterations 3", "not converged in 3 iterations", false);
  fails("--size 10 --tolerance 1e-40", "cannot be reduced further", false);
  const std::string indefinite = write(folder, "i.mtx", banner + "2 2 3\n1 1 1\n2 1 2\n2 2 -1\n");
  fails("--matrix " + indefinite + " --preconditioner none", "not positive definite", true);
  fails("--matrix " + indefinite + " --preconditioner jacobi", "diagonal entry (2, 2) is -1", true);
  const std::string general = "%%MatrixMarket matrix coordinate real general\n";
  const std::string unsymmetric = write(folder, "u.mtx", general + "2 2 3\n1 1 1\n1 2 2\n2 2 5\n");
  fails("--matrix " + unsymmetric, "not symmetric: a(1, 2) = 2, but a(2, 1) = 0", true);
}

TEST_CASE("cg app: 2 for bad options and input", "[cg_app]") {
  const Folder folder;
  const auto refuses = [&](const std::string& options, const std::string& word) {
    const Run run = cg(folder, options);
    INFO(options << "\n" << run.text);
    CHECK(run.code == 2);
    CHECK_THAT(run.text, ContainsSubstring(word));
  };
  refuses("--size 0", "--size");
  refuses("--size x", "--size");
  refuses("--size 1000000", "smaller --size");
  refuses("--tolerance 0", "--tolerance");
  refuses("--tolerance -1", "--tolerance");
  refuses("--max-iterations -1", "--max-iterations");
  refuses("--preconditioner ilu", "ilu");
  refuses("--presonditioner none", "--preconditioner");
  refuses("--size 4 --resume", "--checkpoint");
  refuses("--size 4 --plot /nowhere/at/all.png", "/nowhere/at");
  refuses("--size 4 --checkpoint /nowhere/at/all", "/nowhere/at");
  refuses("--size 4 --checkpoint " + quoted(folder / "none") + " --resume", "cannot be read");
  refuses("--matrix /nowhere.mtx", "No such file");
  const std::string good = write(folder, "g.mtx", banner + "2 2 2\n1 1 1\n2 2 1\n");
  refuses("--matrix " + good + " --size 4", "--size");
  refuses("--matrix " + write(folder, "b.mtx", banner + "2 2 2\n1 1 1\n2 x 1\n"), "line 4");
  refuses("--matrix " + write(folder, "r.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n"),
          "2 x 3");
  refuses("--matrix " + write(folder, "c.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n"),
          "complex");
  refuses("--matrix " + good + " --rhs " +
              write(folder, "s.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n"),
          "2 x 1");
}

TEST_CASE("cg app: help names every option", "[cg_app]") {
  const Folder folder;
  const Run run = cg(folder, "--help");
  CHECK(run.code == 0);
  for (const char* option : {"--matrix", "--size", "--preconditioner", "--tolerance", "--max-iterations", "--rhs",
                             "--json", "--backend-info", "--checkpoint", "--resume", "--plot"})
    CHECK_THAT(run.text, ContainsSubstring(option));
}

TEST_CASE("A26: more ranks than rows", "[cg_app][A26]") {
  if (mpiexec.empty()) SKIP("this build has no MPI");
  const Folder folder;
  const std::string matrix = write(folder, "five.mtx",
                                   banner +
                                       "5 5 9\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n5 5 2\n"
                                       "2 1 -1\n3 2 -1\n4 3 -1\n5 4 -1\n");
  const std::string preconditioner = GENERATE("none", "jacobi", "symgs");
  const Run one = cg(folder, "--matrix " + matrix + " --preconditioner " + preconditioner);
  const auto start = std::chrono::steady_clock::now();
  const Run eight = cg(folder, "--matrix " + matrix + " --preconditioner " + preconditioner, 8);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  INFO(eight.text);
  CHECK(eight.code == 0);
  CHECK(eight.json["ranks"] == 8);
  CHECK(eight.json["results"]["iterations"] == one.json["results"]["iterations"]);
  CHECK(seconds < 10);
}

TEST_CASE("cg app: a fault on several ranks ends all of them, told once", "[cg_app]") {
  if (mpiexec.empty()) SKIP("this build has no MPI");
  const Folder folder;
  const Run run = cg(folder, "--matrix " + write(folder, "b.mtx", banner + "2 2 2\n1 1 1\n0 2 1\n"), 3);
  INFO(run.text);
  CHECK(run.code == 2);
  CHECK_THAT(run.text, ContainsSubstring("line 4: row index 0"));
  const std::size_t first = run.text.find("row index 0");
  CHECK(run.text.find("row index 0", first + 1) == std::string::npos);
}

TEST_CASE("cg app: iteration counts of real matrices", "[cg_app][data]") {
  struct Known {
    const char* file;
    int jacobi;   // SciPy's count
    double norm;  // ||A 1||_2 to ten digits
  };
  const std::filesystem::path folder_of_data = TESSERA_DATA_FOLDER;
  if (!std::filesystem::exists(folder_of_data / "494_bus.mtx"))
    SKIP("the matrices of ../shared/data are absent: " << folder_of_data.string());
  const Folder folder;
  const Known known = GENERATE(Known{"494_bus.mtx", 393, 2198.665256}, Known{"1138_bus.mtx", 934, 1460.031208},
                               Known{"bcsstk08.mtx", 130, 8.73989002e10});
  const std::string matrix = "--matrix " + quoted((folder_of_data / known.file).string());
  const auto count = [&](const std::string& preconditioner, int ranks) {
    const Run run = cg(folder, matrix + " --preconditioner " + preconditioner, ranks);
    INFO(preconditioner << " on " << ranks << " ranks\n" << run.text);
    CHECK(run.code == 0);
    CHECK(run.json["results"]["relative_residual"] <= 1e-8);
    CHECK_THAT(run.json["results"]["rhs_norm"].get<double>(), WithinRel(known.norm, 1e-9));
    return run.json["results"]["iterations"].get<int>();
  };
  INFO(known.file);
  const int jacobi = count("jacobi", 1), symgs = count("symgs", 1), none = count("none", 1);
  CHECK(std::abs(jacobi - known.jacobi) <= 0.03 * known.jacobi);
  CHECK(symgs < jacobi);
  CHECK(jacobi < none);
  if (mpiexec.empty()) return;
  for (const int ranks : {2, 3, 4, 8}) {
    CHECK(std::abs(count("jacobi", ranks) - jacobi) <= 2);
    CHECK(std::abs(count("symgs", ranks) - symgs) <= 2);
  }
  CHECK(std::abs(count("none", 5) - none) <= 2);
}

TEST_CASE("cg app: an indefinite pattern is reported honestly", "[cg_app][data]") {
  const std::filesystem::path file = std::filesystem::path(TESSERA_DATA_FOLDER) / "bcspwr06.mtx";
  if (!std::filesystem::exists(file)) SKIP("the matrices of ../shared/data are absent: " << file.string());
  const Folder folder;
  const std::string preconditioner = GENERATE("none", "jacobi", "symgs");
  const Run run = cg(folder, "--matrix " + quoted(file.string()) + " --preconditioner " + preconditioner);
  INFO(run.text);
  CHECK(run.code == 1);
  CHECK_THAT(run.json["results"]["rhs_norm"].get<double>(), WithinRel(151.3274595, 1e-9));
  CHECK(run.json["results"]["nnz"] == 5300);
  CHECK(run.json["results"]["converged"] == false);
  CHECK_THAT(run.json["results"]["breakdown"].get<std::string>(), ContainsSubstring("not positive definite"));
  CHECK(std::isfinite(run.json["results"]["relative_residual"].get<double>()));
}

TEST_CASE("cg app: Ctrl-C saves the state, and --resume goes on from it", "[cg_app][checkpoint]") {
  const Folder folder;
  const std::string checkpoint = folder / "state";
  const std::string options = "--size 40 --preconditioner none --tolerance 1e-12 --checkpoint " + quoted(checkpoint);
  const Run straight = cg(folder, "--size 40 --preconditioner none --tolerance 1e-12");
  REQUIRE(straight.code == 0);

  // a state after every iteration makes the run slow enough to be met in the middle
  const std::string json = folder / "interrupted.json", text = folder / "interrupted.txt";
  const std::string command = "exec " + quoted(app) + " " + options + " --checkpoint-every 1 --json " + quoted(json) +
                              " > " + quoted(text) + " 2>&1";
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  for (int tries = 0; tries < 30000 && !std::filesystem::exists(checkpoint); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  INFO(slurp(text));
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 130);
  CHECK_THAT(slurp(text), ContainsSubstring("interrupted after") && ContainsSubstring("--resume"));
  const Json interrupted = Json::parse(slurp(json));
  CHECK(interrupted["verified"] == false);
  CHECK(interrupted["interrupted"] == true);
  const auto done = interrupted["results"]["iterations"].get<int>();
  CHECK(done < straight.json["results"]["iterations"].get<int>());

  const Run resumed = cg(folder, options + " --resume");
  INFO(resumed.text);
  CHECK(resumed.code == 0);
  CHECK(resumed.json["results"]["resumed_at"] == done);
  CHECK(resumed.json["results"]["iterations"] == straight.json["results"]["iterations"]);
  CHECK(resumed.json["results"]["residual_history"] == straight.json["results"]["residual_history"]);

  // cut off, it is not believed, and the one before it is
  const std::string whole = slurp(checkpoint);
  std::ofstream(checkpoint, std::ios::binary) << whole.substr(0, whole.size() / 2);
  const Run again = cg(folder, options + " --resume", mpiexec.empty() ? 1 : 3);
  INFO(again.text);
  CHECK(again.code == 0);
  CHECK_THAT(again.text, ContainsSubstring("cut off or damaged") && ContainsSubstring("state.previous"));
  CHECK(again.json["results"]["iterations"] == straight.json["results"]["iterations"]);
}
