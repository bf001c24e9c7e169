// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/refs.hpp>
#include <tessera/merge/problem.hpp>

namespace tessera {

/// Which elements of two sorted ranges stay. Equal elements are paired off, the first of a with the first of b, the
/// second with the second, and so on; those of the longer run that are left are alone.
struct SetRule {
  bool paired_a, lone_a, lone_b;  ///< an element of b that is paired never stays
};

/// out_0, out_1, ... = the elements that stay, in the order of `before`, of equal ones those of a first. What does not
/// fit is left out.
template <class Key, class Before>
struct SetProblem {
  VectorRef<const Key> a, b;
  VectorRef<Key> out;
  Before before;
  SetRule rule;
  index_t* count = nullptr;     ///< how many stay, in memory that the kernel writes; null: not wanted
  index_t* returned = nullptr;  ///< the same on the host, for which the caller waits; null: not wanted
};

}  // namespace tessera
