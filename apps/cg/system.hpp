// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cg/ghosts.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include <tessera/core/halo.hpp>
#include <tessera/spmv.hpp>

/// \file
/// A row-distributed symmetric matrix and the vectors it multiplies, where kernels run.

namespace tessera::cg {

/// CG runs where Kokkos runs by default.
using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Vector = Kokkos::View<double*, Memory>;
/// Rows and ghosts of a rank fit 32 bits; its entries need not.
using Matrix = CsrMatrix<double, std::int32_t, std::int64_t, Memory>;

template <class T>
[[nodiscard]] Kokkos::View<T*, Memory> upload(const Space& exec, const char* what, const std::vector<T>& from) {
  Kokkos::View<T*, Memory> to(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("cg", what)), from.size());
  Kokkos::deep_copy(exec, to, Kokkos::View<const T*, Kokkos::HostSpace>(from.data(), from.size()));
  exec.fence("tessera::cg::upload");
  return to;
}

/// Brings some elements of a distributed vector from their owners: all ghosts, or those of one colour.
class GhostExchange {
 public:
  struct Message {
    int rank = 0;
    std::vector<std::int32_t> sends;     ///< positions in the own vector
    std::vector<std::int32_t> receives;  ///< positions among its ghosts, from the vector's start
  };
  /// Messages without elements are left out. Collective.
  GhostExchange(const Space& exec, const Communicator& communicator, const std::vector<Message>& messages);

  /// Every rank must call it; it waits for the messages, and for exec where there are any.
  void update(const Space& exec, const Vector& x);
  /// Bytes that this rank sends and receives.
  [[nodiscard]] double bytes() const;

 private:
  Kokkos::View<std::int32_t*, Memory> m_sends, m_receives;
  std::unique_ptr<HaloExchange<double, Space>> m_halo;  // null where nothing comes or goes
};

/// The rows of a rank. Vectors have rows() elements, those that are multiplied have columns(): rows, then ghosts.
class DistributedMatrix {
 public:
  /// Waits. Collective.
  DistributedMatrix(const Space& exec, const HostRows& rows, const GhostPlan& plan, const Communicator& communicator);

  /// y = A x; fetches the ghosts of x. Collective.
  void apply(const Space& exec, const Vector& x, const Vector& y);

  [[nodiscard]] index_t rows() const { return m_matrix.rows; }
  [[nodiscard]] index_t columns() const { return m_matrix.cols; }
  [[nodiscard]] index_t global_rows() const { return m_global_rows; }
  [[nodiscard]] double global_nnz() const { return m_global_nnz; }
  [[nodiscard]] IndexRange range() const { return m_range; }
  [[nodiscard]] const Matrix& local() const { return m_matrix; }
  [[nodiscard]] const std::string& path() const { return m_plan.path(); }
  [[nodiscard]] const Communicator& communicator() const { return m_communicator; }

  /// A vector with room for ghosts, all zero.
  [[nodiscard]] Vector make_vector(const Space& exec, const char* what) const;
  /// Its own elements.
  [[nodiscard]] Vector own(const Vector& x) const { return Kokkos::subview(x, std::pair<index_t, index_t>(0, rows())); }

 private:
  Communicator m_communicator;
  IndexRange m_range;
  index_t m_global_rows;
  double m_global_nnz;
  Matrix m_matrix;
  SpmvPlan m_plan;
  GhostExchange m_exchange;
};

}  // namespace tessera::cg
