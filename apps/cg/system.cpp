// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cg/system.hpp>
#include <utility>

namespace tessera::cg {
namespace {

using Positions = Kokkos::View<std::int32_t*, Memory>;

struct Pack {
  Vector buffer;
  Vector x;
  Positions from;
  KOKKOS_FUNCTION void operator()(index_t i) const { buffer(i) = x(from(i)); }
};
struct Unpack {
  Vector buffer;
  Vector x;
  Positions to;
  KOKKOS_FUNCTION void operator()(index_t i) const { x(to(i)) = buffer(i); }
};

std::vector<GhostExchange::Message> all_ghosts(const HostRows& rows, const GhostPlan& plan) {
  std::vector<GhostExchange::Message> messages;
  for (const GhostPlan::Peer& peer : plan.peers) {
    GhostExchange::Message message{peer.rank, peer.sends, {}};
    for (std::int32_t k = 0; k < peer.receives; ++k)
      message.receives.push_back(static_cast<std::int32_t>(rows.rows()) + peer.first_receive + k);
    messages.push_back(std::move(message));
  }
  return messages;
}

Matrix upload_matrix(const Space& exec, const HostRows& rows, const GhostPlan& plan) {
  using Kokkos::view_alloc;
  using Kokkos::WithoutInitializing;
  Kokkos::View<std::int64_t*, Memory> offsets(view_alloc(exec, WithoutInitializing, "tessera::cg::row_offsets"),
                                              rows.rows() + 1);
  Kokkos::View<std::int32_t*, Memory> columns(view_alloc(exec, WithoutInitializing, "tessera::cg::columns"),
                                              rows.nnz());
  Vector values(view_alloc(exec, WithoutInitializing, "tessera::cg::values"), rows.nnz());
  // entries keep their global order: a row's sum is formed alike on any number of ranks
  HostArray<std::int32_t> local(view_alloc(WithoutInitializing, "tessera::cg::host_local"), rows.nnz());
  for (index_t k = 0; k < rows.nnz(); ++k) local(k) = plan.local(rows, rows.columns(k));
  Kokkos::deep_copy(exec, offsets, rows.offsets);
  Kokkos::deep_copy(exec, columns, local);
  Kokkos::deep_copy(exec, values, rows.values);
  exec.fence("tessera::cg::upload");
  const auto cols = rows.rows() + static_cast<index_t>(plan.ghosts.size());
  return make_csr_matrix(exec, rows.rows(), cols, offsets, columns, values);
}

}  // namespace

GhostExchange::GhostExchange(const Space& exec, const Communicator& communicator,
                             const std::vector<Message>& messages) {
  if (communicator.size() == 1) return;
  std::vector<HaloExchange<double, Space>::Neighbour> neighbours;
  std::vector<std::int32_t> sends, receives;
  for (const Message& m : messages) {
    if (m.sends.empty() && m.receives.empty()) continue;
    HaloExchange<double, Space>::Neighbour n;
    n.rank = m.rank;
    n.sends = static_cast<index_t>(m.sends.size());
    n.receives = static_cast<index_t>(m.receives.size());
    neighbours.push_back(n);
    sends.insert(sends.end(), m.sends.begin(), m.sends.end());
    receives.insert(receives.end(), m.receives.begin(), m.receives.end());
  }
  const bool none = neighbours.empty();
  auto halo = std::make_unique<HaloExchange<double, Space>>(exec, communicator, std::move(neighbours));  // collective
  if (none) return;
  m_halo = std::move(halo);
  m_sends = upload(exec, "send_positions", sends);
  m_receives = upload(exec, "receive_positions", receives);
}

void GhostExchange::update(const Space& exec, const Vector& x) {
  if (!m_halo) return;
  Kokkos::parallel_for("tessera::cg::pack", Range<Space>(exec, 0, static_cast<index_t>(m_sends.extent(0))),
                       Pack{m_halo->send_buffer(), x, m_sends});
  m_halo->start(exec);
  m_halo->finish(exec);
  Kokkos::parallel_for("tessera::cg::unpack", Range<Space>(exec, 0, static_cast<index_t>(m_receives.extent(0))),
                       Unpack{m_halo->receive_buffer(), x, m_receives});
}

double GhostExchange::bytes() const {
  return m_halo ? 8.0 * static_cast<double>(m_sends.extent(0) + m_receives.extent(0)) : 0;
}

DistributedMatrix::DistributedMatrix(const Space& exec, const HostRows& rows, const GhostPlan& plan,
                                     const Communicator& communicator)
    : m_communicator(communicator),
      m_range(rows.range),
      m_global_rows(rows.n),
      m_global_nnz(communicator.all_reduce(static_cast<double>(rows.nnz()), Reduction::sum)),
      m_matrix(upload_matrix(exec, rows, plan)),
      m_plan(plan_spmv(exec, m_matrix)),
      m_exchange(exec, communicator, all_ghosts(rows, plan)) {}

void DistributedMatrix::apply(const Space& exec, const Vector& x, const Vector& y) {
  const Region region("tessera::cg::apply");
  m_exchange.update(exec, x);
  m_plan.run(exec, 1.0, m_matrix, x, 0.0, y);
}

Vector DistributedMatrix::make_vector(const Space& exec, const char* what) const {
  return Vector(Kokkos::view_alloc(exec, label("cg", what)), columns());
}

}  // namespace tessera::cg
