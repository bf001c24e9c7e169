// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace tessera::doctor {

/// One algorithm, tried on a small problem whose answer is known exactly.
struct Check {
  std::string algorithm;
  std::string path;  ///< which kernel ran
  bool right = false;
  std::string text;  ///< what was expected and found, or the error, where it is wrong
};

/// Tries every algorithm on the default space. Never throws.
std::vector<Check> check_algorithms();

}  // namespace tessera::doctor
