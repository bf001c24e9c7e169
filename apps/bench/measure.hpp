// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "case.hpp"
#include <bench/result.hpp>
#include <functional>
#include <optional>

#include <tessera/core/device.hpp>

namespace tessera::bench {

/// How long and how often: a sample is a batch of calls that lasts at least `batch_seconds`; contenders alternate
/// for `rounds` samples each.
struct Effort {
  int rounds = 9;
  double batch_seconds = 0.01;
  double limit_seconds = 20;  ///< a case stops taking rounds after this long
  /// Samples are replays of a batch that was captured once into a graph on the device, so that the host's launches are
  /// not timed. A case with a contender that cannot be captured is timed by calls, all of it.
  bool replay = false;
  /// Asked between samples; once true, what is not done is given up.
  std::function<bool()> interrupted = [] { return false; };
};

/// Bytes of the cache that is nearest to the memory: what operands must leave between two uses.
[[nodiscard]] double last_cache_bytes(const DeviceInfo& device);

/// Allocates, verifies and times a case. What it throws is told in the result's `error`; nothing is given where it was
/// interrupted.
std::optional<CaseResult> measure(const Space& exec, const Case& c, const Effort& effort, double cache_bytes);

/// GB/s (read + written) of the best plain copy on this device, measured now: the ceiling of memory-bound cases.
/// Nothing where it was interrupted.
std::optional<double> copy_bandwidth(const Space& exec, const Effort& effort);

}  // namespace tessera::bench
