// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"
#include <common/app.hpp>
#include <common/files.hpp>

namespace tessera::app {
namespace {

struct Options {
  LadderCase run;
  std::string from, markdown, plot;
};

void write(const std::string& file, const std::string& text) {
  if (file != "-") return write_file_atomically(file, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (std::fflush(stdout) != 0)
    throw Error("gemm_ladder", "standard output could not be written", "it must be open and have room");
}

bool ladder(App& app, const Options& o) {
  if (app.world().size() > 1)
    throw Error("gemm_ladder", std::to_string(app.world().size()) + " ranks", "it measures one device from one rank",
                "Start it without mpirun");
  const bool stored = !o.from.empty();
  const Ladder found = stored ? read_ladder(o.from) : measure_ladder(app, o.run);
  if (o.markdown != "-") {
    app.print("gemm_ladder: C = A B, rows contiguous, {} x {} x {} on {}; sums in fp32\n", found.m, found.n, found.k,
              found.device);
    for (const Rung& r : found.rungs) {
      if (!r.ran()) app.print("  cannot run: {}: {}\n", r.name, r.refusal);
      if (!r.path.empty()) app.print("  {} ({}) takes the path {}\n", r.name, r.type, r.path);
    }
    app.write_text(table_of(found).text());
    app.print("  {}\n", found.verified()           ? "verified"
                        : found.unfinished.empty() ? "WRONG"
                                                   : "NOT VERIFIED: " + found.unfinished);
  }
  if (!o.markdown.empty()) write(o.markdown, markdown(found));
  if (!o.plot.empty()) write_png_plot(o.plot, series_of(found), plot_options(found));
  if (stored) {  // of the run that is told of
    app.parameter("m", found.m);
    app.parameter("n", found.n);
    app.parameter("k", found.k);
    app.parameter("step", found.steps);
  }
  app.result("ladder", to_json(found));
  return found.verified();
}

}  // namespace
}  // namespace tessera::app

int main(int argc, char** argv) {
  using namespace tessera::app;
  Options o;
  App app({.name = "gemm_ladder",
           .summary =
               "Multiplies matrices by every step from one thread an element of C to the kernel that Tessera runs: "
               "checks each against sums in fp64 and times them turn about. docs/gemm-ladder.md explains the steps.",
           .examples = "  gemm_ladder --m 4096 --n 4096 --k 4096\n"
                       "  gemm_ladder --step scratch_tiles --step padding     two of them, nothing beside them\n"
                       "  gemm_ladder --rounds 0 --m 131 --n 67 --k 45        are they right\n"
                       "  gemm_ladder --from ladder.json --markdown - --plot ladder.png\n"});
  const auto extent = CLI::Range(std::int64_t{0}, std::int64_t{1} << 30);
  app.option("--m", o.run.m, "Rows of A and C [rows]")->check(extent);
  app.option("--n", o.run.n, "Columns of B and C [columns]")->check(extent);
  app.option("--k", o.run.k, "Columns of A, rows of B")->check(extent);
  app.option("--rounds", o.run.rounds, "Samples of each step, the median is told; 0: check, time nothing")
      ->check(CLI::Range(0, 1000) & CLI::Validator(
                                        [](const std::string& text) {
                                          return text == "1" || text == "2" ? std::string("a median wants 3 rounds")
                                                                            : std::string();
                                        },
                                        ""));
  app.option("--step", o.run.steps, "Only this step, nothing beside it; may be given again")
      ->check(CLI::IsMember(step_names()));
  app.input("--from", o.from, "Run nothing: take the result that --json wrote to this file (- is standard input)");
  app.output("--markdown", o.markdown, App::Output::text, "Write the table to this file (- is standard output)");
  app.output("--plot", o.plot, App::Output::picture, "Draw the rates into this file, a PNG");
  app.exclude("--from", {"--m", "--n", "--k", "--rounds", "--step"});
  return app.run(argc, argv, [&] { return ladder(app, o); });
}
