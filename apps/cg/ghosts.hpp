// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cg/rows.hpp>
#include <cstdint>
#include <vector>

/// \file
/// Which elements of a distributed vector a rank needs from others, and which it owes them: both follow from the
/// columns of its rows.

namespace tessera::cg {

struct GhostPlan {
  struct Peer {
    int rank = 0;
    std::vector<std::int32_t> sends;  ///< own rows that this peer needs, ascending
    std::int32_t first_receive = 0;   ///< the peer's elements stand together among the ghosts
    std::int32_t receives = 0;
  };
  std::vector<index_t> ghosts;  ///< global numbers, ascending
  std::vector<Peer> peers;      ///< ascending ranks

  /// Position of a global column in a local vector: own rows first, then ghosts.
  [[nodiscard]] std::int32_t local(const HostRows& rows, index_t column) const;
};

/// \throws Error where a rank's rows and ghosts are more than 2^31 - 1. Collective.
[[nodiscard]] GhostPlan plan_ghosts(const HostRows& rows, const Communicator& communicator);

}  // namespace tessera::cg
