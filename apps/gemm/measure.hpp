// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <common/app.hpp>
#include <string>
#include <vector>

#include <tessera/core/refs.hpp>

namespace tessera::app {

struct GemmCase {
  index_t m = 512, n = 512, k = 512;
  std::string type = "fp64";  ///< fp64, fp32, fp16, bf16
  std::string op = "NN";      ///< of A and B: as stored or transposed
  std::string layout_a = "left", layout_b = "left", layout_c = "left";
  double alpha = 1, beta = 0;
  std::string path;  ///< forced; empty: Tessera's choice
  int repetitions = 10;
  double seconds = 1e300;  ///< measures no longer than about this
};

/// One way of computing the product.
struct PathResult {
  std::string name{};     ///< "portable", as --path takes it
  std::string path{};     ///< "gemm[portable 6x8x256]"; empty where it was refused
  std::string refusal{};  ///< why it cannot run, or was not chosen
  bool chosen = false;
  std::vector<double> seconds{};  ///< of each repetition, slowest rank
  double error = 0;               ///< largest |C - reference| / bound over the entries looked at
  double worst = 0;               ///< largest |C - reference|
  [[nodiscard]] bool ran() const { return !path.empty(); }
  [[nodiscard]] bool right() const { return error <= 1; }
};

struct GemmResult {
  std::vector<PathResult> paths;     ///< the chosen one first
  std::vector<std::string> reasons;  ///< "provider: why it was not taken", of the choice itself
  index_t entries_checked = 0;
  int repetitions = 0;
  [[nodiscard]] bool right() const;
};

/// Runs the product by every path that can, each checked against sums in higher precision, alternating. Collective.
GemmResult measure_gemm(App& app, const GemmCase& c);

/// Floating-point operations of one product.
[[nodiscard]] inline double gemm_flops(const GemmCase& c) {
  return 2.0 * static_cast<double>(c.m) * static_cast<double>(c.n) * static_cast<double>(c.k);
}

}  // namespace tessera::app
