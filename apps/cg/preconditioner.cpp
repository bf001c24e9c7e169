// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cg/colouring.hpp>
#include <cg/preconditioner.hpp>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/machine.hpp>

namespace tessera::cg {
namespace {

using Positions = Kokkos::View<std::int32_t*, Memory>;
using Offsets = Kokkos::View<std::int64_t*, Memory>;

/// The entry on the diagonal of each own row, 0 where none is stored.
std::vector<double> diagonal(const HostRows& rows) {
  std::vector<double> d(static_cast<std::size_t>(rows.rows()));
  for (index_t i = 0; i < rows.rows(); ++i) {
    const index_t* const first = rows.columns.data() + rows.offsets(i);
    const index_t* const last = rows.columns.data() + rows.offsets(i + 1);
    const index_t* const at = std::lower_bound(first, last, rows.range.begin + i);
    if (at != last && *at == rows.range.begin + i)
      d[static_cast<std::size_t>(i)] = rows.values(at - rows.columns.data());
  }
  return d;
}

class None final : public Preconditioner {
 public:
  explicit None(index_t rows) : m_rows(rows) {}
  void apply(const Space& exec, const Vector& r, const Vector& z) override {
    const std::pair<index_t, index_t> own(0, m_rows);
    Kokkos::deep_copy(exec, Kokkos::subview(z, own), Kokkos::subview(r, own));
  }
  [[nodiscard]] double flops() const override { return 0; }
  [[nodiscard]] double bytes() const override { return 0; }
  [[nodiscard]] bool is_identity() const override { return true; }
  [[nodiscard]] std::string describe() const override { return "none"; }

 private:
  index_t m_rows;
};

struct Scale {
  Vector inverse, r, z;
  KOKKOS_FUNCTION void operator()(index_t i) const { z(i) = inverse(i) * r(i); }
};

std::vector<double> inverse_diagonal(const HostRows& rows) {
  std::vector<double> d = diagonal(rows);
  for (double& v : d) v = 1 / v;
  return d;
}

class Jacobi final : public Preconditioner {
 public:
  Jacobi(const Space& exec, const HostRows& rows)
      : m_inverse(upload(exec, "inverse_diagonal", inverse_diagonal(rows))), m_n(static_cast<double>(rows.n)) {}
  void apply(const Space& exec, const Vector& r, const Vector& z) override {
    Kokkos::parallel_for("tessera::cg::jacobi", Range<Space>(exec, 0, static_cast<index_t>(m_inverse.extent(0))),
                         Scale{m_inverse, r, z});
  }
  [[nodiscard]] double flops() const override { return m_n; }
  [[nodiscard]] double bytes() const override { return 24 * m_n; }
  [[nodiscard]] std::string describe() const override { return "Jacobi"; }

 private:
  Vector m_inverse;
  double m_n;
};

/// The rows of a rank in the order of their colours, without the diagonal. In each row the entries of lower colours
/// come first; middle(k) is where those of higher ones begin.
struct ColouredRows {
  Positions row;  ///< own row at place k
  Offsets begin;  ///< of place k; one more at the end
  Offsets middle;
  Positions columns;
  Vector values;
  Vector inverse;  ///< of the diagonal, by own row
};

/// One colour of a sweep. With z = 0 at the start, the forward sweep is (D + L) z = r, which reads lower colours
/// only. Going back, r - L z = D z is already known from it, so that (D + U) z' = D z reads higher colours only: both
/// sweeps together touch each entry once.
struct Sweep {
  using Member = Teams<Space>::member_type;

  ColouredRows a;
  Vector r, z;
  index_t first, last;  ///< places of this colour
  index_t rows_a_team;
  int lanes;
  bool forward;

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const index_t from = first + team.league_rank() * rows_a_team;
    const index_t to = from + rows_a_team < last ? from + rows_a_team : last;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, from, to), [&](index_t k) {
      const index_t row = a.row(k);
      const std::int64_t begin = forward ? a.begin(k) : a.middle(k);
      const std::int64_t end = forward ? a.middle(k) : a.begin(k + 1);
      double sum = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, lanes),
          [&](int lane, double& partial) {
            // four entries in flight a lane; one sum would wait for each addition
            double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
            std::int64_t e = begin + lane;
            for (; e + 3 * lanes < end; e += 4 * lanes) {
              s0 += a.values(e) * z(a.columns(e));
              s1 += a.values(e + lanes) * z(a.columns(e + lanes));
              s2 += a.values(e + 2 * lanes) * z(a.columns(e + 2 * lanes));
              s3 += a.values(e + 3 * lanes) * z(a.columns(e + 3 * lanes));
            }
            for (; e < end; e += lanes) s0 += a.values(e) * z(a.columns(e));
            partial += (s0 + s1) + (s2 + s3);
          },
          sum);
      Kokkos::single(Kokkos::PerThread(team),
                     [&] { z(row) = forward ? (r(row) - sum) * a.inverse(row) : z(row) - sum * a.inverse(row); });
    });
  }
};

/// What GaussSeidel's constructor works out on the host.
struct HostColouredRows {
  std::vector<index_t> colour_begin;
  std::vector<std::int32_t> row, columns;
  std::vector<std::int64_t> begin, middle;
  std::vector<double> values;
};

HostColouredRows order_by_colour(const HostRows& rows, const GhostPlan& plan, const Colouring& colouring) {
  HostColouredRows h;
  const auto own = static_cast<std::size_t>(rows.rows());
  h.colour_begin.assign(static_cast<std::size_t>(colouring.colours) + 1, 0);
  for (std::size_t i = 0; i < own; ++i) ++h.colour_begin[static_cast<std::size_t>(colouring.of[i]) + 1];
  for (std::size_t c = 1; c < h.colour_begin.size(); ++c) h.colour_begin[c] += h.colour_begin[c - 1];
  h.row.resize(own);
  std::vector<index_t> place(h.colour_begin.begin(), h.colour_begin.end() - 1);
  for (std::size_t i = 0; i < own; ++i)
    h.row[static_cast<std::size_t>(place[static_cast<std::size_t>(colouring.of[i])]++)] = static_cast<std::int32_t>(i);

  h.begin.reserve(own + 1);
  h.middle.reserve(own);
  h.columns.reserve(static_cast<std::size_t>(rows.nnz()));
  h.values.reserve(static_cast<std::size_t>(rows.nnz()));
  for (const std::int32_t i : h.row) {
    h.begin.push_back(static_cast<std::int64_t>(h.values.size()));
    const std::int32_t colour = colouring.of[static_cast<std::size_t>(i)];
    for (const bool lower : {true, false}) {
      for (index_t k = rows.offsets(i); k < rows.offsets(i + 1); ++k) {
        const std::int32_t column = plan.local(rows, rows.columns(k));
        const std::int32_t other = colouring.of[static_cast<std::size_t>(column)];
        if (column == i || (other < colour) != lower) continue;
        h.columns.push_back(column);
        h.values.push_back(rows.values(k));
      }
      if (lower) h.middle.push_back(static_cast<std::int64_t>(h.values.size()));
    }
  }
  h.begin.push_back(static_cast<std::int64_t>(h.values.size()));
  return h;
}

class GaussSeidel final : public Preconditioner {
 public:
  GaussSeidel(const Space& exec, const HostRows& rows, const GhostPlan& plan, const DistributedMatrix& matrix)
      : m_n(static_cast<double>(rows.n)), m_nnz(matrix.global_nnz()) {
    const Communicator& communicator = matrix.communicator();
    const Colouring colouring = colour_rows(rows, plan, communicator);
    HostColouredRows host = order_by_colour(rows, plan, colouring);
    m_colour_begin = std::move(host.colour_begin);
    m_rows.row = upload(exec, "coloured_rows", host.row);
    m_rows.begin = upload(exec, "coloured_begin", host.begin);
    m_rows.middle = upload(exec, "coloured_middle", host.middle);
    m_rows.columns = upload(exec, "coloured_columns", host.columns);
    m_rows.values = upload(exec, "coloured_values", host.values);
    m_rows.inverse = upload(exec, "inverse_diagonal", inverse_diagonal(rows));
    for (int colour = 0; colour < colouring.colours; ++colour) {
      std::vector<GhostExchange::Message> messages;
      for (const GhostPlan::Peer& peer : plan.peers) {
        GhostExchange::Message message{peer.rank, {}, {}};
        for (const std::int32_t row : peer.sends)
          if (colouring.of[static_cast<std::size_t>(row)] == colour) message.sends.push_back(row);
        for (std::int32_t k = 0; k < peer.receives; ++k) {
          const auto ghost = static_cast<std::int32_t>(rows.rows()) + peer.first_receive + k;
          if (colouring.of[static_cast<std::size_t>(ghost)] == colour) message.receives.push_back(ghost);
        }
        messages.push_back(std::move(message));
      }
      m_exchanges.emplace_back(exec, communicator, messages);
    }
    // half of a row's entries are read in a sweep: as many lanes as leave each about two
    const double half_row =
        rows.rows() > 0 ? 0.5 * static_cast<double>(rows.nnz()) / static_cast<double>(rows.rows()) : 1;
    m_lanes = 1;
    while (2 * m_lanes <= machine<Space>::warp_width && 2 * m_lanes <= half_row) m_lanes *= 2;
  }

  void apply(const Space& exec, const Vector& r, const Vector& z) override {
    const Region region("tessera::cg::symgs");
    const int colours = this->colours();
    for (int c = 0; c < colours; ++c) {
      sweep(exec, r, z, c, true);
      m_exchanges[static_cast<std::size_t>(c)].update(exec, z);
    }
    // no colour is higher than the last, and none reads the first
    for (int c = colours - 2; c >= 0; --c) {
      sweep(exec, r, z, c, false);
      if (c > 0) m_exchanges[static_cast<std::size_t>(c)].update(exec, z);
    }
  }
  [[nodiscard]] double flops() const override { return 2 * (m_nnz - m_n) + 4 * m_n; }
  // entries with their columns and the elements of z they meet, row numbers and offsets; r, z, D twice
  [[nodiscard]] double bytes() const override { return 12 * (m_nnz - m_n) + 2 * m_n * (4 + 16 + 32); }
  [[nodiscard]] std::string describe() const override {
    return fmt::format("symmetric Gauss-Seidel in {} colours", colours());
  }
  [[nodiscard]] int colours() const override { return static_cast<int>(m_exchanges.size()); }

 private:
  void sweep(const Space& exec, const Vector& r, const Vector& z, int colour, bool forward) const {
    const index_t first = m_colour_begin[static_cast<std::size_t>(colour)];
    const index_t last = m_colour_begin[static_cast<std::size_t>(colour) + 1];
    if (first == last) return;
    using Here = machine<Space>;
    const int threads = Here::is_host ? Here::team_threads : std::max(1, 128 / m_lanes);
    // a team of one thread takes enough rows to be worth starting; one of a GPU gives each thread a row
    const index_t share = (last - first) / (4 * static_cast<index_t>(exec.concurrency())) + 1;
    const index_t rows_a_team = Here::is_host ? std::clamp<index_t>(share, 64, 4096) : threads;
    const index_t league = (last - first + rows_a_team - 1) / rows_a_team;  // a rank has less than 2^31 rows
    const Teams<Space> policy(exec, static_cast<int>(league), threads, m_lanes);
    Kokkos::parallel_for(forward ? "tessera::cg::sweep_forward" : "tessera::cg::sweep_backward", policy,
                         Sweep{m_rows, r, z, first, last, rows_a_team, m_lanes, forward});
  }

  double m_n, m_nnz;
  std::vector<index_t> m_colour_begin;
  ColouredRows m_rows;
  std::vector<GhostExchange> m_exchanges;
  int m_lanes = 1;
};

}  // namespace

std::unique_ptr<Preconditioner> make_preconditioner(std::string_view name, const Space& exec, const HostRows& rows,
                                                    const GhostPlan& plan, const DistributedMatrix& matrix) {
  const Region region("tessera::cg::preconditioner");
  if (name == "none") return std::make_unique<None>(rows.rows());
  if (name == "jacobi") return std::make_unique<Jacobi>(exec, rows);
  if (name == "symgs") return std::make_unique<GaussSeidel>(exec, rows, plan, matrix);
  throw Error("tessera::cg::make_preconditioner", "the preconditioner \"" + std::string(name) + "\"",
              "there are none, jacobi and symgs");
}

std::string diagonal_fault(const HostRows& rows, const Communicator& communicator) {
  const std::vector<double> d = diagonal(rows);
  index_t first = rows.n;
  for (std::size_t i = d.size(); i-- > 0;)
    if (!(d[i] > 0)) first = rows.range.begin + static_cast<index_t>(i);
  const index_t global = communicator.all_reduce(first, Reduction::min);
  if (global == rows.n) return {};
  double value = 0;
  if (first == global) value = d[static_cast<std::size_t>(global - rows.range.begin)];
  value = communicator.all_reduce(value, Reduction::sum);
  return fmt::format("the matrix is not positive definite: its diagonal entry ({0}, {0}) is {1}", global + 1, value);
}

}  // namespace tessera::cg
