// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bit>
#include <cg/checkpoint.hpp>
#include <cg/preconditioner.hpp>
#include <cg/rows.hpp>
#include <cg/solver.hpp>
#include <cmath>
#include <common/app.hpp>
#include <common/files.hpp>
#include <common/picture.hpp>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>

namespace {

using namespace tessera;
using app::App;
using app::Stopwatch;

struct Parameters {
  std::string matrix;
  index_t size = 64;
  std::string preconditioner = "jacobi";
  double tolerance = 1e-8;
  index_t max_iterations = 10000;
  std::string rhs;
  std::string sums = "compensated";
  std::string checkpoint;
  index_t checkpoint_every = 0;
  bool resume = false;
  std::string plot;
};

/// 1, 2, 5, 10, 20, 50, ...: enough of a history for a screen.
bool worth_a_line(index_t iteration) {
  index_t decade = 1;
  while (decade * 10 <= iteration) decade *= 10;
  return iteration == decade || iteration == 2 * decade || iteration == 5 * decade;
}

void print_history(const App& app, const std::vector<double>& history) {
  if (history.empty()) return;
  app.print("\n  iteration   ||r|| / ||b||\n");
  for (std::size_t i = 0; i < history.size(); ++i)
    if (i == 0 || i + 1 == history.size() || worth_a_line(static_cast<index_t>(i)))
      app.print("  {:9}   {:.3e}\n", i, history[i]);
}

void draw_history(const std::string& file, const std::vector<double>& history, const std::string& title) {
  app::Series series;
  series.name = "||r|| / ||b||";
  for (std::size_t i = 0; i < history.size(); ++i) {
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(history[i]);
  }
  app::PlotOptions options;
  options.title = title;
  options.x_label = "iteration";
  options.y_label = "relative residual";
  options.log_y = true;
  app::write_png_plot(file, std::span<const app::Series>(&series, 1), options);
}

/// Bytes that a rank's share takes on the device: the matrix, for symgs its coloured copy, eight vectors. Where that is
/// the host, the rows as they are made lie there too.
double device_bytes(double rows, double nnz, bool coloured) {
  const double made = is_host_space<cg::Space> ? 20 * nnz : 0;
  return (coloured ? 2 : 1) * (12 * nnz + 8 * rows) + 8 * 8 * rows + made;
}

bool run(App& app, const Parameters& p) {
  const cg::Space exec;
  const Communicator& world = app.world();
  const bool from_file = !p.matrix.empty();
  if (!p.plot.empty()) cg::on_root(world, [&] { app::check_writable(p.plot); });
  if (!p.checkpoint.empty()) cg::on_root(world, [&] { app::check_writable(p.checkpoint); });

  Stopwatch watch;
  cg::HostRows rows;
  std::string name, fault;
  std::uint64_t fingerprint = 0;  // of matrix and right-hand side
  if (from_file) {
    cg::FileMatrix file = cg::read_rows(p.matrix, world);
    rows = std::move(file.rows);
    fault = file.fault;
    name = std::filesystem::path(p.matrix).filename().string();
    app.parameter("size", nullptr);
    app.result("matrix", file.description);
  } else {
    const double share = 1.0 / world.size();
    const double n = static_cast<double>(p.size) * static_cast<double>(p.size) * static_cast<double>(p.size);
    app.require_memory(share * device_bytes(n, cg::stencil_nnz(p.size), p.preconditioner == "symgs"),
                       "Use a smaller --size, or more ranks on more nodes");
    rows = cg::stencil_rows(p.size, world);
    name = fmt::format("27-point operator {0} x {0} x {0}", p.size);
    app.parameter("matrix", nullptr);
    app.result("matrix", "27-point operator");
  }
  fingerprint = rows.fingerprint;
  const cg::GhostPlan plan = cg::plan_ghosts(rows, world);
  cg::DistributedMatrix a(exec, rows, plan, world);
  app.timing("assemble", watch.seconds());
  app.print("{}: {} rows, {:.0f} entries, {} rank{}\n", name, a.global_rows(), a.global_nnz(), world.size(),
            world.size() == 1 ? "" : "s");

  // b = A times ones unless it is given, x = 0
  const cg::Vector b = a.make_vector(exec, "b"), x = a.make_vector(exec, "x");
  if (p.rhs.empty()) {
    const cg::Vector ones = a.make_vector(exec, "ones");
    Kokkos::deep_copy(exec, ones, 1.0);
    a.apply(exec, ones, a.own(b));
  } else {
    const cg::RightHandSide rhs = cg::read_right_hand_side(p.rhs, a.global_rows(), world);
    fingerprint = std::rotl(fingerprint, 1) ^ rhs.fingerprint;
    using HostValues = Kokkos::View<const double*, Kokkos::HostSpace>;
    Kokkos::deep_copy(exec, a.own(b), HostValues(rhs.values.data(), rhs.values.size()));
    exec.fence("tessera::cg::rhs");
  }

  if (fault.empty() && p.preconditioner != "none") fault = cg::diagonal_fault(rows, world);
  app.result("rows", a.global_rows());
  app.result("nnz", static_cast<index_t>(a.global_nnz()));
  app.result("spmv_path", a.path());
  cg::Outcome outcome;
  double seconds = 0;
  if (fault.empty()) {
    watch.restart();
    const auto preconditioner = cg::make_preconditioner(p.preconditioner, exec, rows, plan, a);
    exec.fence("tessera::cg::preconditioner");
    app.timing("preconditioner", watch.seconds());
    rows = {};  // the host's copy is not needed any more
    app.print("preconditioner: {}\n", preconditioner->describe());
    if (preconditioner->colours() > 0) app.result("colours", preconditioner->colours());

    std::optional<cg::Checkpoint> checkpoint;
    std::optional<cg::State> resumed;
    if (!p.checkpoint.empty())
      checkpoint.emplace(p.checkpoint, cg::Problem{fingerprint, a.global_rows(), p.preconditioner}, world);
    if (p.resume && checkpoint) {
      std::string notice;
      resumed = checkpoint->load(exec, a, notice);
      if (!notice.empty()) app.print("{}\n", notice);
      app.print("resumed after {} iterations\n", resumed->iteration);
      app.result("resumed_at", resumed->iteration);
    }

    cg::SolveOptions options;
    options.tolerance = p.tolerance;
    options.max_iterations = p.max_iterations;
    options.sums = cg::sum_kind(p.sums);
    const index_t began = resumed ? resumed->iteration : 0;
    options.between = [&](const cg::State& state) {
      const double now = state.history.back(), start = state.history.front();
      if (now > 0 && start > 0)
        app.progress(std::clamp(std::log(now / start) / std::log(p.tolerance / start), 0.0, 1.0),
                     fmt::format("iteration {}, residual {:.2e}", state.iteration, now));
      const bool due = p.checkpoint_every > 0 && state.iteration > began && state.iteration % p.checkpoint_every == 0;
      // asking all ranks costs a message, so that several ask only now and then
      const bool stop = (world.size() == 1 || state.iteration % 8 == 0) && app.interrupted();
      if (checkpoint && (due || stop)) checkpoint->save(exec, state, a);
      return stop;
    };
    world.barrier();
    watch.restart();
    outcome = cg::solve(exec, a, *preconditioner, b, x, options, resumed ? &*resumed : nullptr);
    exec.fence("tessera::cg::solve");
    seconds = app.timing("solve", watch.seconds(), {.bytes = outcome.bytes, .flops = outcome.flops});
  } else {
    outcome.ending = cg::Ending::breakdown;
    outcome.message = fault;
  }

  print_history(app, outcome.history);
  const double check = cg::independent_residual(exec, a, b, x);
  if (!fault.empty()) outcome.relative_residual = check;  // of x = 0
  // two orders of summation may differ in the last digits of a residual
  const bool verified = outcome.converged() && check <= 1.05 * p.tolerance;
  app.result("iterations", outcome.iterations);
  app.result("relative_residual", outcome.relative_residual);
  app.result("converged", outcome.converged());
  app.result("verified_residual", check);
  app.result("rhs_norm", cg::norm(exec, a, b));
  app.result("residual_replacements", outcome.replacements);
  app.result("breakdown", outcome.ending == cg::Ending::breakdown ? app::Json(outcome.message) : app::Json(nullptr));
  app.result("message", outcome.message);
  app.result("residual_history", outcome.history);
  if (p.rhs.empty()) app.result("largest_error", cg::error_against_ones(exec, a, x));
  if (!p.plot.empty())
    cg::on_root(world,
                [&] { draw_history(p.plot, outcome.history, fmt::format("CG on {}, {}", name, p.preconditioner)); });

  if (outcome.ending == cg::Ending::stopped) {
    app.print("\ninterrupted after {} iterations at a relative residual of {:.3e}{}\n", outcome.iterations,
              outcome.relative_residual,
              p.checkpoint.empty()
                  ? std::string()
                  : fmt::format("; the state is in {0}, --checkpoint {0} --resume goes on", p.checkpoint));
    return false;
  }
  if (outcome.converged())
    app.print("\nconverged in {} iterations, ||b - Ax|| / ||b|| = {:.3e} (computed anew: {:.3e})\n", outcome.iterations,
              outcome.relative_residual, check);
  else
    app.print("\nNOT converged: {}\n  {} iterations, ||b - Ax|| / ||b|| = {:.3e}\n", outcome.message,
              outcome.iterations, outcome.relative_residual);
  if (p.rhs.empty() && outcome.converged())
    app.print("largest error against the exact solution of ones: {:.3e}\n", cg::error_against_ones(exec, a, x));
  if (seconds > 0 && outcome.flops > 0)
    app.print("{:.3f} s, {:.2f} GFLOP/s, {:.2f} GB/s\n", seconds, outcome.flops / seconds * 1e-9,
              outcome.bytes / seconds * 1e-9);
  return verified;
}

}  // namespace

int main(int argc, char** argv) {
  App app({.name = "cg",
           .summary = "Solves a symmetric positive definite system by preconditioned conjugate gradients, its rows "
                      "spread over the ranks. The right-hand side is A times ones unless one is given, the start is "
                      "zero.",
           .examples = "  cg --size 64 --preconditioner symgs      a 27-point system of 262144 rows\n"
                       "  cg --matrix bcsstk08.mtx --plot r.png    a Matrix Market file, its residuals as a picture\n"
                       "  cg --matrix k.mtx --checkpoint k.ck      Ctrl-C saves the state, ...\n"
                       "  cg --matrix k.mtx --checkpoint k.ck --resume   ... and this goes on from there\n"});
  Parameters p;
  const auto positive = CLI::Range(index_t{1}, std::numeric_limits<index_t>::max());
  CLI::Option* const matrix =
      app.option("--matrix", p.matrix, "Matrix Market file of a real symmetric matrix, instead of --size")
          ->type_name("FILE");
  app.option("--size", p.size, "Points along an edge of the cube of a 27-point system: N^3 rows")
      ->check(positive)
      ->type_name("N")
      ->excludes(matrix);
  app.option("--preconditioner", p.preconditioner,
             "none, jacobi (the diagonal) or symgs (symmetric Gauss-Seidel by one global colouring)")
      ->check(CLI::IsMember({"none", "jacobi", "symgs"}));
  app.option("--tolerance", p.tolerance, "Stop at this ||b - Ax|| / ||b|| (2-norms)")
      ->check(CLI::Range(std::numeric_limits<double>::min(), 1.0))
      ->type_name("T");
  app.option("--max-iterations", p.max_iterations, "Give up after so many iterations")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  app.option("--rhs", p.rhs, "Matrix Market file of the right-hand side, n x 1, instead of A times ones")
      ->type_name("FILE");
  app.option("--sums", p.sums,
             "compensated: dot products in twice the precision, so that the iterations are the same on any number of "
             "ranks; fast: in double")
      ->check(CLI::IsMember({"compensated", "fast"}));
  CLI::Option* const checkpoint =
      app.option("--checkpoint", p.checkpoint,
                 "Save the state to FILE when interrupted (and by --checkpoint-every); the one before is kept as "
                 "FILE.previous")
          ->type_name("FILE");
  app.option("--checkpoint-every", p.checkpoint_every, "Save the state after every so many iterations; 0: never")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N")
      ->needs(checkpoint);
  app.flag("--resume", p.resume, "Go on from the state in the --checkpoint file, on any number of ranks")
      ->needs(checkpoint);
  app.option("--plot", p.plot, "Draw the residual history as a PNG picture")->type_name("FILE");
  return app.run(argc, argv, [&] { return run(app, p); });
}
