// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// What can be told from a machine and an environment without running anything. Plain functions of their arguments, so
/// that tests can ask about machines that they do not have.

namespace tessera::doctor {

/// A variable's value, or "" where it is not set.
using Environment = std::function<std::string(std::string_view)>;

/// The variables that change how a program of ours runs, in the order in which they are shown.
const std::vector<std::string>& known_variables();

struct Host {
  int cores = 1;    ///< that this process may use
  int threads = 1;  ///< hardware threads of these
  int numa_domains = 1;
  int pool = 1;  ///< threads that Kokkos uses on the host
  int ranks_on_node = 1;
  bool optimised = true;     ///< compiled for this processor, not for a general one
  bool device = false;       ///< the default space is a GPU
  bool debug_build = false;  ///< assertions are on
};

/// What to change, in plain words; empty where nothing needs to be.
std::vector<std::string> advise(const Host& host, const Environment& environment);

}  // namespace tessera::doctor
