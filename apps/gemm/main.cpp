// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "errors.hpp"
#include "measure.hpp"
#include <common/app.hpp>

namespace tessera::app {
namespace {

struct Options {
  GemmCase shape;
  bool table = false;
  bool errors = false;
  std::string errors_from;
};

double rate(const GemmCase& c, double seconds) { return gemm_flops(c) / seconds * 1e-9; }

/// The time of `path` over the chosen one's, in the same repetition; the median.
double ratio_to(const PathResult& chosen, const PathResult& path) {
  std::vector<double> ratios;
  ratios.reserve(chosen.seconds.size());
  for (std::size_t r = 0; r < chosen.seconds.size(); ++r) ratios.push_back(path.seconds[r] / chosen.seconds[r]);
  return spread(ratios).median;
}

bool one_product(App& app, const GemmCase& c) {
  app.print("gemm: C = {} A B + {} C, A {} x {} ({}, {}), B {} x {} ({}, {}), C {} x {} ({}), {} on {}\n", c.alpha,
            c.beta, c.m, c.k, c.layout_a, c.op[0], c.k, c.n, c.layout_b, c.op[1], c.m, c.n, c.layout_c, c.type,
            Space::name());
  const GemmResult result = measure_gemm(app, c);
  const PathResult& chosen = result.paths.front();
  app.print("  path: {}{}\n", chosen.path, c.path.empty() ? "" : " (forced)");
  for (const std::string& reason : result.reasons) app.print("  not taken: {}\n", reason);

  Table table({"path", "min GFLOP/s", "median GFLOP/s", "max GFLOP/s", "its time / chosen", "error / bound"});
  Json paths = Json::array();
  for (const PathResult& p : result.paths) {
    Json entry;
    entry["name"] = p.name;
    if (!p.ran()) {
      app.print("  cannot run: {}: {}\n", p.name, p.refusal);
      entry["refused"] = p.refusal;
      paths.push_back(std::move(entry));
      continue;
    }
    entry["path"] = p.path;
    entry["chosen"] = p.chosen;
    entry["verified"] = p.right();
    entry["error_over_bound"] = p.error;
    entry["max_error"] = p.worst;
    std::vector<std::string> row = {p.path, "-", "-",
                                    "-",    "-", fmt::format("{:.3g}{}", p.error, p.right() ? "" : " WRONG")};
    if (result.repetitions > 0 && gemm_flops(c) > 0) {
      const Spread s = spread(p.seconds);
      const double ratio = ratio_to(chosen, p);
      row[1] = fmt::format("{:.2f}", rate(c, s.max));
      row[2] = fmt::format("{:.2f}", rate(c, s.median));
      row[3] = fmt::format("{:.2f}", rate(c, s.min));
      row[4] = fmt::format("{:.3f}", ratio);
      entry["gflop_per_s_min"] = rate(c, s.max);
      entry["gflop_per_s_median"] = rate(c, s.median);
      entry["gflop_per_s_max"] = rate(c, s.min);
      entry["time_over_chosen"] = ratio;
      (void)app.timing(p.chosen ? "chosen" : p.name, s.median, {.flops = gemm_flops(c) * app.world().size()});
    }
    table.row(std::move(row));
    paths.push_back(std::move(entry));
  }
  app.write_text(table.text());
  const bool right = result.right();
  app.print("  {} entries against sums in higher precision: {}\n", result.entries_checked,
            right ? "verified" : "WRONG");
  if (result.repetitions < c.repetitions)
    app.print("  interrupted after {} of {} repetitions\n", result.repetitions, c.repetitions);
  app.result("path", chosen.path);
  app.result("reasons", Json(result.reasons));
  app.result("paths", std::move(paths));
  app.result("entries_checked", result.entries_checked);
  app.result("repetitions", result.repetitions);
  app.result("max_error", chosen.worst);
  app.result("error_over_bound", chosen.error);
  return right;
}

bool small_table(App& app, const GemmCase& base) {
  struct Row {
    const char* type;
    index_t m, n, k;
    const char* op;
  };
  constexpr Row rows[] = {
      {"fp64", 256, 256, 256, "NN"},    {"fp64", 512, 512, 512, "NN"},   {"fp64", 512, 512, 512, "TN"},
      {"fp64", 1024, 1024, 1024, "NN"}, {"fp64", 2000, 40, 300, "NT"},   {"fp32", 512, 512, 512, "NN"},
      {"fp32", 1024, 1024, 1024, "NN"}, {"fp32", 1001, 999, 1003, "TT"}, {"fp16", 512, 512, 512, "NN"},
      {"bf16", 512, 512, 512, "NN"},
  };
  app.print("gemm: C = A B on {}, by every path that can run, turn about\n", Space::name());
  Table table({"type", "m x n x k", "op", "path", "GFLOP/s", "against", "GFLOP/s", "ratio", "verified"});
  Json json = Json::array();
  bool right = true;
  int done = 0;
  for (const Row& row : rows) {
    if (app.interrupted()) break;
    app.progress(static_cast<double>(done++) / static_cast<double>(std::size(rows)), row.type);
    GemmCase c = base;
    c.type = row.type, c.m = row.m, c.n = row.n, c.k = row.k, c.op = row.op;
    c.seconds = 0.8;
    const GemmResult result = measure_gemm(app, c);
    if (result.repetitions == 0) break;
    const PathResult& chosen = result.paths.front();
    const double mine = rate(c, spread(chosen.seconds).median);
    const auto best =
        std::min_element(result.paths.begin() + 1, result.paths.end(), [](const PathResult& a, const PathResult& b) {
          const auto time = [](const PathResult& p) { return p.ran() ? spread(p.seconds).median : 1e300; };
          return time(a) < time(b);
        });
    Json entry = {{"type", c.type},
                  {"m", c.m},
                  {"n", c.n},
                  {"k", c.k},
                  {"op", c.op},
                  {"path", chosen.path},
                  {"gflop_per_s", mine},
                  {"verified", result.right()}};
    std::vector<std::string> cells = {c.type,
                                      fmt::format("{} x {} x {}", c.m, c.n, c.k),
                                      c.op,
                                      chosen.path,
                                      fmt::format("{:.2f}", mine),
                                      "-",
                                      "-",
                                      "-",
                                      result.right() ? "yes" : "NO"};
    if (best != result.paths.end() && best->ran()) {
      cells[5] = best->name;
      cells[6] = fmt::format("{:.2f}", rate(c, spread(best->seconds).median));
      cells[7] = fmt::format("{:.3f}", ratio_to(chosen, *best));
      entry["peer"] = best->name;
      entry["peer_gflop_per_s"] = rate(c, spread(best->seconds).median);
      entry["ratio"] = ratio_to(chosen, *best);
    }
    right = right && result.right();
    table.row(std::move(cells));
    json.push_back(std::move(entry));
  }
  app.write_text(table.text());
  app.print("  ratio: the other's time over ours in the same repetition, median; above 1 we are faster\n");
  app.print("  {}\n", right ? "verified" : "WRONG");
  app.result("table", std::move(json));
  return right;
}

}  // namespace
}  // namespace tessera::app

int main(int argc, char** argv) {
  using namespace tessera::app;
  Options o;
  GemmCase& c = o.shape;
  App app({.name = "gemm",
           .summary =
               "Multiplies matrices, C = alpha A B + beta C: checks entries against sums in higher precision, tells "
               "which path Tessera chose and why not others, and times it against every other path that can run.",
           .examples = "  gemm --m 1000 --n 1000 --k 1000 --type fp32\n"
                       "  gemm --m 300 --n 200 --k 4000 --op TN --layout-a right\n"
                       "  gemm --type bf16 --path portable\n"
                       "  gemm --table                             a table of ten products\n"
                       "  gemm --errors --json errors.json         every precision against sums in two doubles\n"
                       "  gemm --errors-from errors.json           the tables of docs/gemm-errors.md\n"});
  const auto extent = CLI::Range(std::int64_t{0}, std::int64_t{1} << 40);
  const auto layout = CLI::IsMember({"left", "right"});
  app.option("--m", c.m, "Rows of A and C [rows]")->check(extent);
  app.option("--n", c.n, "Columns of B and C [columns]")->check(extent);
  app.option("--k", c.k, "Columns of A, rows of B")->check(extent);
  app.option("--type", c.type, "Type of the elements; fp16 and bf16 are summed in fp32")
      ->check(CLI::IsMember({"fp64", "fp32", "fp16", "bf16"}));
  app.option("--op", c.op, "A and B as stored (N) or transposed (T)")->check(CLI::IsMember({"NN", "NT", "TN", "TT"}));
  app.option("--layout-a", c.layout_a, "How A is stored: left = by columns, right = by rows")->check(layout);
  app.option("--layout-b", c.layout_b, "How B is stored")->check(layout);
  app.option("--layout-c", c.layout_c, "How C is stored")->check(layout);
  app.option("--alpha", c.alpha, "Factor of the product");
  app.option("--beta", c.beta, "Factor of the old C; with 0 it is not read");
  app.option("--path", c.path,
             "Force a path: portable, or a provider's name as the output gives it; by default chosen");
  app.option("--repetitions", c.repetitions, "Timed runs of each path")->check(CLI::Range(1, 1000000));
  app.flag("--table", o.table, "Instead of one product, a small table of types, sizes and transposes");
  app.flag("--errors", o.errors,
           "Instead of one product, the errors of every precision beside its bound, for operands of several kinds");
  app.input("--errors-from", o.errors_from,
            "Print the tables of --errors from a file that --json wrote (- is standard input)");
  const std::vector<std::string> product = {"--m",        "--n",        "--k",     "--type", "--op",   "--layout-a",
                                            "--layout-b", "--layout-c", "--alpha", "--beta", "--path", "--repetitions"};
  app.exclude("--table", {"--m", "--n", "--k", "--type", "--op", "--errors", "--errors-from"});
  app.exclude("--errors", product);
  app.exclude("--errors-from", product);
  app.exclude("--errors-from", {"--errors"});
  return app.run(argc, argv, [&] {
    if (!o.errors_from.empty()) return print_errors_from(app, o.errors_from);
    if (o.errors) return measure_errors(app);
    return o.table ? small_table(app, c) : one_product(app, c);
  });
}
