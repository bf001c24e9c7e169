// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cg/colouring.hpp>
#include <span>

#include <tessera/core/trace.hpp>

namespace tessera::cg {

Colouring colour_rows(const HostRows& rows, const GhostPlan& plan, const Communicator& communicator) {
  const Region region("tessera::cg::colour");
  const index_t own = rows.rows();
  const int me = communicator.rank();
  Colouring result;
  result.of.assign(static_cast<std::size_t>(own) + plan.ghosts.size(), -1);
  std::int32_t* const ghosts = result.of.data() + own;

  std::vector<std::vector<std::int32_t>> packed(plan.peers.size());
  const auto receive = [&](Exchange& exchange, const GhostPlan::Peer& peer) {
    if (peer.receives > 0)
      exchange.receive(
          peer.rank, 0,
          std::as_writable_bytes(std::span(ghosts + peer.first_receive, static_cast<std::size_t>(peer.receives))));
  };
  const auto send = [&](Exchange& exchange, std::size_t which) {
    const GhostPlan::Peer& peer = plan.peers[which];
    if (peer.sends.empty()) return;
    packed[which].clear();
    for (const std::int32_t row : peer.sends) packed[which].push_back(result.of[static_cast<std::size_t>(row)]);
    exchange.send(peer.rank, 0, std::as_bytes(std::span(packed[which])));
  };

  // the colours of every row before ours
  Exchange before(communicator);
  for (const auto& peer : plan.peers)
    if (peer.rank < me) receive(before, peer);
  before.wait();

  std::vector<index_t> taken_by;  // taken_by[c] = the row for which colour c was last seen to be taken
  std::int32_t colours = 0;
  for (index_t i = 0; i < own; ++i) {
    const index_t row = rows.range.begin + i;
    for (index_t k = rows.offsets(i); k < rows.offsets(i + 1) && rows.columns(k) < row; ++k) {
      const auto colour =
          static_cast<std::size_t>(result.of[static_cast<std::size_t>(plan.local(rows, rows.columns(k)))]);
      if (colour >= taken_by.size()) taken_by.resize(colour + 1, -1);
      taken_by[colour] = row;
    }
    std::size_t colour = 0;
    while (colour < taken_by.size() && taken_by[colour] == row) ++colour;
    result.of[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(colour);
    colours = std::max(colours, static_cast<std::int32_t>(colour) + 1);
  }

  // to those after us at once, since they wait; then what the others' rows became
  Exchange after(communicator);
  for (std::size_t i = 0; i < plan.peers.size(); ++i)
    if (plan.peers[i].rank > me) send(after, i);
  for (const auto& peer : plan.peers)
    if (peer.rank > me) receive(after, peer);
  for (std::size_t i = 0; i < plan.peers.size(); ++i)
    if (plan.peers[i].rank < me) send(after, i);
  after.wait();
  result.colours = static_cast<int>(communicator.all_reduce(index_t{colours}, Reduction::max));
  return result;
}

}  // namespace tessera::cg
