// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bench/result.hpp>
#include <functional>
#include <string>
#include <vector>

namespace tessera::bench {

/// Which cases to time, and how.
struct Plan {
  std::vector<std::string> filters;
  std::string set = "quick";  ///< or "full"; of gemm "sweep", random shapes, and "shapes", those of every transpose
  int rounds = 9;
  bool replay = false;    ///< time replays of captured graphs, where space_replays()
  bool progress = false;  ///< on standard error, though that is no terminal
};

/// Names of the cases that a plan chooses, in the order in which they run.
[[nodiscard]] std::vector<std::string> names_of(const Plan& plan);

/// The space whose kernels are timed: "OpenMP", "Cuda", ...
[[nodiscard]] std::string space_name();

/// Whether work is launched there, so that it can be captured and replayed: on devices, not on hosts.
[[nodiscard]] bool space_replays();

struct Ran {
  Result result;
  int signal = 0;  ///< that ended it early; the result then holds the cases that were done
};

/// Starts Kokkos, verifies and times the cases, and stops at the first SIGINT or SIGTERM; the second one ends the
/// process.
/// \param show  takes the header and each row as they come
/// \param keep  takes what is there after each case, still marked as interrupted
[[nodiscard]] Ran run(const Plan& plan, char** argv, const std::function<void(const std::string&)>& show,
                      const std::function<void(const Result&)>& keep);

}  // namespace tessera::bench
