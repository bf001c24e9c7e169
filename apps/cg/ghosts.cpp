// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cg/ghosts.hpp>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>

#include <tessera/core/error.hpp>
#include <tessera/core/trace.hpp>

namespace tessera::cg {
namespace {

/// "rank `from` needs `count` elements of rank `owner`"
struct Need {
  index_t from, owner, count;
};

/// Every rank's needs, on every rank. There are as many as pairs of neighbours.
std::vector<Need> share_needs(const std::vector<Need>& mine, const Communicator& communicator) {
  const auto parts = communicator.gather(std::as_bytes(std::span(mine)));
  std::string packed;
  for (const auto& part : parts) packed.append(reinterpret_cast<const char*>(part.data()), part.size());
  packed = communicator.broadcast(std::move(packed));
  std::vector<Need> all(packed.size() / sizeof(Need));
  if (!all.empty()) std::memcpy(all.data(), packed.data(), all.size() * sizeof(Need));
  return all;
}

}  // namespace

std::int32_t GhostPlan::local(const HostRows& rows, index_t column) const {
  if (column >= rows.range.begin && column < rows.range.end)
    return static_cast<std::int32_t>(column - rows.range.begin);
  const auto at = std::lower_bound(ghosts.begin(), ghosts.end(), column);
  return static_cast<std::int32_t>(rows.rows() + (at - ghosts.begin()));
}

GhostPlan plan_ghosts(const HostRows& rows, const Communicator& communicator) {
  const Region region("tessera::cg::plan_ghosts");
  GhostPlan plan;
  const auto fold = [&] {
    std::sort(plan.ghosts.begin(), plan.ghosts.end());
    plan.ghosts.erase(std::unique(plan.ghosts.begin(), plan.ghosts.end()), plan.ghosts.end());
  };
  std::size_t fold_at = std::size_t{1} << 20;  // neighbouring rows name the same ghosts: fold before they pile up
  for (index_t k = 0; k < rows.nnz(); ++k) {
    const index_t column = rows.columns(k);
    if (column >= rows.range.begin && column < rows.range.end) continue;
    plan.ghosts.push_back(column);
    if (plan.ghosts.size() < fold_at) continue;
    fold();
    fold_at = std::max(fold_at, 2 * plan.ghosts.size());
  }
  fold();
  const index_t most = std::numeric_limits<std::int32_t>::max();
  const bool fits = rows.rows() + static_cast<index_t>(plan.ghosts.size()) <= most;
  require(communicator.all_agree(fits), [&] {
    return Error("tessera::cg::plan_ghosts", "more than " + std::to_string(most) + " rows and ghosts on a rank",
                 "a rank's vectors are indexed in 32 bits", "Use more ranks");
  });

  const int ranks = communicator.size(), me = communicator.rank();
  std::map<int, GhostPlan::Peer> peers;
  std::vector<Need> needs;
  for (std::size_t begin = 0; begin < plan.ghosts.size();) {
    const int owner = block_owner(rows.n, ranks, plan.ghosts[begin]);
    const index_t end_row = block_range(rows.n, ranks, owner).end;
    const auto end = static_cast<std::size_t>(
        std::lower_bound(plan.ghosts.begin() + static_cast<std::ptrdiff_t>(begin), plan.ghosts.end(), end_row) -
        plan.ghosts.begin());
    GhostPlan::Peer& peer = peers[owner];
    peer.first_receive = static_cast<std::int32_t>(begin);
    peer.receives = static_cast<std::int32_t>(end - begin);
    needs.push_back({me, owner, static_cast<index_t>(end - begin)});
    begin = end;
  }

  // ask the owners; what is asked of us, in their global numbers
  std::map<int, std::vector<index_t>> asked;
  Exchange exchange(communicator);
  for (const Need& need : share_needs(needs, communicator)) {
    if (need.owner != me) continue;
    std::vector<index_t>& list = asked[static_cast<int>(need.from)];
    list.resize(static_cast<std::size_t>(need.count));
  }
  for (auto& [rank, list] : asked) exchange.receive(rank, 0, std::as_writable_bytes(std::span(list)));
  for (const auto& [rank, peer] : peers)
    exchange.send(
        rank, 0,
        std::as_bytes(std::span(plan.ghosts.data() + peer.first_receive, static_cast<std::size_t>(peer.receives))));
  exchange.wait();
  for (const auto& [rank, list] : asked)
    for (const index_t row : list) peers[rank].sends.push_back(static_cast<std::int32_t>(row - rows.range.begin));
  for (auto& [rank, peer] : peers) {
    peer.rank = rank;
    plan.peers.push_back(std::move(peer));
  }
  return plan;
}

}  // namespace tessera::cg
