// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "output.hpp"
#include "solver.hpp"
#include <algorithm>
#include <cmath>
#include <common/app.hpp>
#include <common/files.hpp>
#include <limits>
#include <optional>

#include <tessera/core/trace.hpp>

namespace tessera::heat {
namespace {

struct Options {
  index_t size = 64;
  index_t steps = 200;
  std::string precision = "fp64";
  std::string output;
  std::string checkpoint;
  index_t checkpoint_every = 0;
  std::string resume;
  bool no_overlap = false;
  bool no_order_check = false;
};

std::filesystem::path checkpoint_path(const Options& o) {
  if (!o.checkpoint.empty()) return o.checkpoint;
  return std::filesystem::path(o.output) / "heat.checkpoint";
}

/// Error of the field against the equation's solution, relative to that and per unit time: c h^2, whatever the number
/// of steps, so that grids may be compared whose steps end at slightly different times.
template <class T>
double scaled_error(const Solver<T>& solver, const Errors& e) {
  const Problem& p = solver.problem();
  const double time = static_cast<double>(solver.step()) * p.dt();
  return e.to_equation / (time * p.decay_of_equation(solver.step()));
}

struct Order {
  std::optional<double> value;
  std::string why_not;
};

/// Solves the same problem on a grid of half as many points and compares errors.
template <class T>
Order convergence_order(app::App& app, const Options& o, const Solver<T>& fine, const Errors& errors) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  constexpr index_t least = 7;  // points: below, terms above the second order show
  if (o.no_order_check) return {{}, "not asked for"};
  Problem coarse;
  coarse.n = (fine.problem().n - 1) / 2;
  if (coarse.n < least) return {{}, fmt::format("needs --size {} or more", 2 * least + 1)};
  const double ratio = coarse.h() / fine.problem().h();
  coarse.steps = static_cast<index_t>(std::llround(static_cast<double>(fine.step()) / (ratio * ratio)));
  if (coarse.steps < 1) return {{}, "needs --steps 4 or more"};
  const auto visible = [&](const Problem& p, index_t steps) {
    return std::abs(p.decay_of_scheme(steps) - p.decay_of_equation(steps)) > 10 * p.rounding_bound(steps, eps);
  };
  if (!visible(fine.problem(), fine.step()))
    return {
        {},
        "at this size rounding may be larger than the error of the scheme; use --precision fp64 or a smaller --size"};
  try {
    (void)factor_3d(app.world().size(), {coarse.n, coarse.n, coarse.n});
  } catch (const Error&) {
    return {{}, "the grid of half the size has too few points for so many ranks"};
  }
  const Region region("tessera::heat::order_check");
  Solver<T> solver(fine.exec(), app.world(), coarse, !o.no_overlap);
  while (solver.step() < coarse.steps) solver.advance();
  const Errors coarse_errors = solver.errors();
  return {std::log(scaled_error(solver, coarse_errors) / scaled_error(fine, errors)) / std::log(ratio), {}};
}

template <class T>
bool solve(app::App& app, const Options& o, const std::optional<CheckpointInfo>& resumed) {
  constexpr double eps = std::numeric_limits<T>::epsilon();
  const Communicator& world = app.world();
  const app::Space exec;
  const Problem problem{o.size, o.steps};
  const CartesianBlock block(world.rank(), world.size(), {o.size, o.size, o.size});
  app.require_memory(Solver<T>::bytes_needed(block), "Use a smaller --size, --precision fp32, or more nodes");
  if (!o.output.empty()) app.on_root([&] { app::make_folder(o.output); });
  if (o.checkpoint_every > 0) app.on_root([&] { app::check_writable(checkpoint_path(o)); });

  Solver<T> solver(exec, world, problem, !o.no_overlap);
  if (resumed) read_checkpoint(app, solver, *resumed);
  const index_t first = solver.step();
  require(first <= o.steps, [&] {
    return Error("heat --resume", fmt::format("a checkpoint of step {}, and --steps {}", first, o.steps),
                 "--steps is the number of all steps, those before the checkpoint included",
                 fmt::format("Give --steps {} or more", first));
  });
  const auto grid = solver.block().grid();
  app.print("heat: {0} x {0} x {0} points, {1} steps, {2}, on {3} {4} of {5}, {6} x {7} x {8}{9}\n", o.size, o.steps,
            o.precision, world.size(), world.size() == 1 ? "rank" : "ranks", app::Space::name(), grid[0], grid[1],
            grid[2], world.size() > 1 ? fmt::format(", halos {}", solver.halo_path()) : "");
  if (first > 0) app.print("  going on from step {}\n", first);

  solver.wait();
  world.barrier();
  const app::Stopwatch watch;
  double excluded = 0;  // seconds in checkpoints
  bool interrupted = false;
  {
    const Region region("tessera::heat::steps");
    index_t next_look = first + 1;  // at signals and the clock: some five times a second
    const auto save = [&] {
      solver.wait();
      const app::Stopwatch saving;
      write_checkpoint(app, solver, checkpoint_path(o));
      excluded += saving.seconds();
    };
    while (solver.step() < o.steps) {
      solver.advance();
      if (o.checkpoint_every > 0 && solver.step() % o.checkpoint_every == 0) save();
      if (solver.step() < next_look) continue;
      solver.wait();
      app.progress(static_cast<double>(solver.step()) / static_cast<double>(o.steps),
                   fmt::format("step {} of {}", solver.step(), o.steps));
      if (solver.step() < o.steps && app.interrupted()) {
        save();
        interrupted = true;
        break;
      }
      const double pace =
          world.all_reduce(watch.seconds() - excluded, Reduction::max) / static_cast<double>(solver.step() - first);
      next_look = solver.step() + std::clamp<index_t>(static_cast<index_t>(0.2 / pace), 1, 100000);
    }
    solver.wait();
    if (!interrupted) app.progress(1, "done");
  }
  const index_t done = solver.step() - first;
  const double points = static_cast<double>(o.size) * static_cast<double>(o.size) * static_cast<double>(o.size);
  const double updates = points * static_cast<double>(done);
  const double seconds =
      app.timing("steps", watch.seconds() - excluded, {.bytes = 2 * sizeof(T) * updates, .flops = 13 * updates});
  app.result("steps_done", solver.step());
  app.result("field_hash", fmt::format("{:016x}", solver.hash()));
  app.result("rank_grid", app::Json(grid));
  if (interrupted) {
    app.print("  interrupted after step {} of {}; the field is in {}\n  go on with: heat --resume {} --steps {}\n",
              solver.step(), o.steps, checkpoint_path(o).string(), checkpoint_path(o).string(), o.steps);
    app.result("checkpoint", checkpoint_path(o).string());
    return false;
  }

  const Errors errors = solver.errors();
  const double rounding = problem.rounding_bound(o.steps, eps);
  const double scheme = std::abs(problem.decay_of_scheme(o.steps) - problem.decay_of_equation(o.steps));
  const Order order = convergence_order(app, o, solver, errors);
  const bool equals_scheme = errors.to_scheme <= rounding;
  const bool near_equation = errors.to_equation <= scheme + rounding;
  const bool second_order = !order.value || (*order.value > 1.8 && *order.value < 2.2);
  const double per_step = done > 0 ? seconds / static_cast<double>(done) : 0;

  app::Table table({"what", "value", "allowed"});
  table.row({"largest error to the exact solution", fmt::format("{:.4e}", errors.to_equation),
             fmt::format("{:.4e}", scheme + rounding)});
  table.row({"largest distance to the scheme's own solution", fmt::format("{:.4e}", errors.to_scheme),
             fmt::format("{:.4e}", rounding)});
  table.row(
      {"order of convergence in h", order.value ? fmt::format("{:.3f}", *order.value) : "not measured", "1.8 to 2.2"});
  app.write_text(table.text());
  if (!order.value) app.print("  (order of convergence: {})\n", order.why_not);
  if (done > 0)
    app.print("  {:.4g} s for {} steps: {:.4g} ms a step, {:.3f} GB/s of least traffic, {:.3f} GFLOP/s\n", seconds,
              done, 1e3 * per_step, 2 * sizeof(T) * updates / seconds * 1e-9, 13 * updates / seconds * 1e-9);
  app.result("time", static_cast<double>(o.steps) * problem.dt());
  app.result("error", errors.to_equation);
  app.result("error_allowed", scheme + rounding);
  app.result("distance_to_scheme", errors.to_scheme);
  app.result("distance_to_scheme_allowed", rounding);
  app.result("order", order.value ? app::Json(*order.value) : app::Json(nullptr));

  if (!o.output.empty()) {
    const app::Stopwatch writing;
    const std::filesystem::path folder(o.output);
    write_slice(app, solver, folder / "heat.png");
    write_vtk(app, solver, folder / "heat.vti");
    app.print("  wrote {} and {}\n", (folder / "heat.png").string(), (folder / "heat.vti").string());
    app.result("files", {(folder / "heat.png").string(), (folder / "heat.vti").string()});
    (void)app.timing("output", writing.seconds());
  }
  const bool verified = equals_scheme && near_equation && second_order;
  if (verified) app.print("  verified\n");
  return verified;
}

bool run(app::App& app, Options& o) {
  std::optional<CheckpointInfo> resumed;
  if (!o.resume.empty()) {
    resumed = find_checkpoint(app, o.resume);
    const std::string precision = resumed->element_bytes == 4 ? "fp32" : "fp64";
    const bool size_given = app.cli().count("--size") > 0, precision_given = app.cli().count("--precision") > 0;
    require((!size_given || o.size == resumed->n) && (!precision_given || o.precision == precision), [&] {
      return Error("heat --resume", fmt::format("a checkpoint of {0}^3 points in {1}", resumed->n, precision),
                   "--size and --precision must be the checkpoint's own where they are given", "Leave them out");
    });
    o.size = resumed->n;
    o.precision = precision;
  }
  return o.precision == "fp32" ? solve<float>(app, o, resumed) : solve<double>(app, o, resumed);
}

}  // namespace
}  // namespace tessera::heat

int main(int argc, char** argv) {
  using namespace tessera::heat;
  Options o;
  tessera::app::App app(
      {.name = "heat",
       .summary =
           "Solves the heat equation on the unit cube with explicit Euler steps of h^2/8 and a 7-point stencil, on "
           "any number of ranks, and checks the result against the exact solution.",
       .examples = "  heat                                     64^3 points, 200 steps\n"
                   "  heat --size 127 --steps 400 --output out  also out/heat.png and out/heat.vti (ParaView)\n"
                   "  mpirun -np 4 heat --size 128             the same field, bit by bit, on 4 ranks\n"
                   "  heat --resume out/heat.checkpoint --steps 800   after Ctrl-C, or with more steps\n"});
  app.option("--size", o.size, "Points inside the cube along each edge [points]")->check(CLI::Range(1, 1000000));
  app.option("--steps", o.steps, "Time steps in all [steps]")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1000000000000}));
  app.option("--precision", o.precision, "Type of the field: fp32 or fp64")->check(CLI::IsMember({"fp32", "fp64"}));
  app.option("--output", o.output, "Folder for heat.png (a slice) and heat.vti (all points); made if missing")
      ->type_name("DIR");
  app.option("--checkpoint", o.checkpoint,
             "File for checkpoints, also written on Ctrl-C; by default heat.checkpoint in DIR or here")
      ->type_name("FILE");
  app.option("--checkpoint-every", o.checkpoint_every,
             "Write a checkpoint every so many steps; 0: only on Ctrl-C [steps]")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1000000000000}));
  app.option("--resume", o.resume, "Go on from this checkpoint: the field has the bits of an unbroken run")
      ->type_name("FILE");
  app.flag("--no-overlap", o.no_overlap, "Wait for the halos before computing, rather than computing meanwhile");
  app.flag("--no-order-check", o.no_order_check,
           "Skip the run on half the grid that measures the order of convergence");
  return app.run(argc, argv, [&] { return run(app, o); });
}
