// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cg/ghosts.hpp>
#include <cstdint>
#include <vector>

namespace tessera::cg {

/// Colours of the rows, so that no two rows of a colour are neighbours: those of a rank's own rows, then its ghosts'.
struct Colouring {
  int colours = 0;  ///< of the whole matrix
  std::vector<std::int32_t> of;
};

/// The greedy colouring in global order: each row takes the least colour that no neighbour before it has. It is one
/// function of the whole matrix, whatever the partition, so that Gauss-Seidel by colours is the same operator on any
/// number of ranks. Ranks own ascending blocks, so each waits for the colours of those before it; this is done once.
/// The structure must be symmetric. Collective.
[[nodiscard]] Colouring colour_rows(const HostRows& rows, const GhostPlan& plan, const Communicator& communicator);

}  // namespace tessera::cg
