// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ladder.hpp"
#include <string>
#include <vector>

namespace tessera::app {

struct LadderCase {
  index_t m = 1024, n = 1024, k = 1024;
  int rounds = 9;                  ///< samples of each step; 0: checked only
  std::vector<std::string> steps;  ///< only these, and nothing beside them; empty: all
};

/// Names that --step takes: the steps of this build in their order.
[[nodiscard]] std::vector<std::string> step_names();

/// Runs the steps, checks each against sums in fp64, and times them turn about.
Ladder measure_ladder(App& app, const LadderCase& c);

}  // namespace tessera::app
