// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tessera/core/communicator.hpp>
#include <tessera/core/decomposition.hpp>

/// \file
/// The rows of a symmetric matrix that a rank owns, on the host, as they are made or read: in global numbers.

namespace tessera::cg {

template <class T>
using HostArray = Kokkos::View<T*, Kokkos::HostSpace>;

/// Rows range.begin to range.end - 1 of an n x n matrix in compressed rows. Columns are global and ascending.
struct HostRows {
  index_t n = 0;
  IndexRange range;
  HostArray<index_t> offsets;  ///< range.size() + 1, from 0
  HostArray<index_t> columns;
  HostArray<double> values;
  std::uint64_t fingerprint = 0;  ///< of the whole matrix, equal on every rank; a checkpoint belongs to one

  [[nodiscard]] index_t rows() const { return range.size(); }
  [[nodiscard]] index_t nnz() const { return static_cast<index_t>(values.extent(0)); }
};

/// The rows of the 27-point operator on a cube of edge^3 points: 26 on the diagonal, -1 towards each neighbour, rows
/// at the faces shorter. Symmetric and positive definite.
/// Source: HPCG (M. Heroux, J. Dongarra, P. Luszczek, SAND2013-8752), without its coarse levels.
/// \throws Error where edge < 1, or edge^3 * 27 is beyond 2^63
[[nodiscard]] HostRows stencil_rows(index_t edge, const Communicator& communicator);
/// Stored entries of the whole operator: (3 edge - 2)^3.
[[nodiscard]] double stencil_nnz(index_t edge);

/// What a file holds beside its rows.
struct FileMatrix {
  HostRows rows;
  std::string description;  ///< "coordinate real symmetric"
  std::string fault;        ///< why CG cannot take it: names the first pair that is not symmetric. Empty where it can
};
/// Reads a Matrix Market file on rank 0 and deals its rows out. Collective; throws on all ranks or none.
/// \throws Error where the file is faulty, complex, or not square
[[nodiscard]] FileMatrix read_rows(const std::string& path, const Communicator& communicator);
struct RightHandSide {
  std::vector<double> values;  ///< of the own rows
  std::uint64_t fingerprint = 0;
};
/// Reads a Matrix Market file of n x 1 on rank 0 and deals its elements out. Collective.
[[nodiscard]] RightHandSide read_right_hand_side(const std::string& path, index_t n, const Communicator& communicator);

/// Rank 0 holds n values, every rank gets its block. Collective.
[[nodiscard]] std::vector<double> deal_out(const std::vector<double>& whole, index_t n,
                                           const Communicator& communicator);

/// Runs an action on rank 0; what it throws is thrown as an Error on every rank. Collective.
void on_root(const Communicator& communicator, const std::function<void()>& action);

}  // namespace tessera::cg
