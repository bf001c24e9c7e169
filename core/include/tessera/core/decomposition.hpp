// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <source_location>

#include <tessera/core/refs.hpp>

/// \file
/// Who owns which cell. Every cell belongs to exactly one rank, and the first ranks take the remainder.

namespace tessera {

/// Half-open.
struct IndexRange {
  index_t begin = 0;
  index_t end = 0;
  [[nodiscard]] constexpr index_t size() const { return end - begin; }
  friend constexpr bool operator==(const IndexRange&, const IndexRange&) = default;
};

/// The part `which` of 0..n-1 cut into `parts` contiguous pieces whose sizes differ by at most one, longer ones
/// first. Pieces are empty where parts > n.
/// \throws Error where n < 0, parts < 1, or which is not in 0..parts-1
[[nodiscard]] IndexRange block_range(index_t n, int parts, int which,
                                     std::source_location where = std::source_location::current());

/// The piece that holds index i: the inverse of block_range.
[[nodiscard]] int block_owner(index_t n, int parts, index_t i,
                              std::source_location where = std::source_location::current());

/// A grid of ranks {px, py, pz} with px*py*pz = size that cuts a box of cells with the least surface between ranks,
/// so that every rank gets at least `minimum` cells along each dimension (a halo's width, say). Of equal ones, the one
/// that cuts the first dimensions most.
/// \throws Error where there is none, naming the largest rank count at all and the nearest one below `size`
[[nodiscard]] std::array<int, 3> factor_3d(int size, const std::array<index_t, 3>& extents, index_t minimum = 1,
                                           std::source_location where = std::source_location::current());

/// A rank's box in a Cartesian decomposition.
class CartesianBlock {
 public:
  /// \param rank, size  of the communicator; the last dimension's neighbour is the next rank
  /// \param extents     cells of the whole box
  /// \param minimum     least cells a rank needs along each dimension
  /// \throws Error      as factor_3d
  CartesianBlock(int rank, int size, const std::array<index_t, 3>& extents, index_t minimum = 1,
                 std::source_location where = std::source_location::current());

  static constexpr int none = -1;
  [[nodiscard]] const std::array<int, 3>& grid() const { return m_grid; }
  [[nodiscard]] const std::array<int, 3>& position() const { return m_position; }
  /// Cells of the dimension that this rank owns.
  [[nodiscard]] IndexRange range(int dimension) const { return range_of(m_position, dimension); }
  [[nodiscard]] index_t extent(int dimension) const { return range(dimension).size(); }
  /// Cells that another rank owns.
  [[nodiscard]] IndexRange range_of_rank(int rank, int dimension) const {
    return range_of(position_of(rank), dimension);
  }
  /// Rank across the lower (side 0) or upper (side 1) face; `none` at the edge of the whole box.
  [[nodiscard]] int neighbour(int dimension, int side) const;

 private:
  [[nodiscard]] std::array<int, 3> position_of(int rank) const;
  [[nodiscard]] IndexRange range_of(const std::array<int, 3>& position, int dimension) const;
  std::array<index_t, 3> m_extents{};
  std::array<int, 3> m_grid{};
  std::array<int, 3> m_position{};
};

}  // namespace tessera
