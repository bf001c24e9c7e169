// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// unique, unique_by_key and run_length_encode for element types and equalities that the library does not bring
/// compiled: include this instead of tessera/unique.hpp.

#include <tessera/select/any_type.hpp>
#include <tessera/unique.hpp>

namespace tessera::detail {

template <class T, class Equality, class Space>
void run_unique(const Space& exec, const SelectProblem<T, FirstOfRuns<Equality>>& p) {
  static const std::string kernel_label = label("unique", "tiles");
  const Region region("tessera::unique[portable]");
  run_compaction<false>(exec, "unique", kernel_label, p);
}

template <class T, class W, class Equality, class Space>
void run_unique_by_key(const Space& exec, const SelectProblem<T, FirstOfRuns<Equality>, WithValues<W>>& p) {
  static const std::string kernel_label = label("unique_by_key", "tiles");
  const Region region("tessera::unique_by_key[portable]");
  run_compaction<false>(exec, "unique_by_key", kernel_label, p);
}

template <class T, class Length, class Equality, class Space>
void run_lengths(const Space& exec, const SelectProblem<T, FirstOfRuns<Equality>, WithLengths<Length>>& p) {
  static const std::string kernel_label = label("run_length_encode", "tiles");
  const Region region("tessera::run_length_encode[portable]");
  run_compaction<false>(exec, "run_length_encode", kernel_label, p);
}

}  // namespace tessera::detail
