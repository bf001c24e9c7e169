// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "case.hpp"
#include <string>
#include <vector>

namespace tessera::bench {

/// How long and how often: a sample is a batch of calls that lasts at least `batch_seconds`; contenders alternate
/// for `rounds` samples each.
struct Effort {
  int rounds = 9;
  double batch_seconds = 0.01;
  double limit_seconds = 20;  ///< a case stops taking rounds after this long
};

struct Timing {
  std::string name;
  double seconds = 0;  ///< median of one call
  double spread = 0;   ///< (upper quartile - lower quartile) / median
};

struct Outcome {
  const Case* definition = nullptr;
  std::string path;
  double worst_error = 0;  ///< in units of the bound
  bool verified = false;
  int sets = 1;
  std::vector<Timing> timings;  ///< the first is Tessera's
};

/// Allocates, verifies and times a case.
Outcome measure(const Space& exec, const Case& c, const Effort& effort, double cache_bytes);

/// GB/s (read + written) of the best plain copy on this device, measured now: the ceiling of memory-bound cases.
double copy_bandwidth(const Space& exec, const Effort& effort);

}  // namespace tessera::bench
