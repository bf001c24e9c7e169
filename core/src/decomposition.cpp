// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include <tessera/core/decomposition.hpp>
#include <tessera/core/error.hpp>

namespace tessera {
namespace {

std::string text(const std::array<index_t, 3>& extents) {
  return std::to_string(extents[0]) + " x " + std::to_string(extents[1]) + " x " + std::to_string(extents[2]);
}

std::optional<std::array<int, 3>> best_grid(int size, const std::array<index_t, 3>& extents, index_t minimum) {
  std::optional<std::array<int, 3>> best;
  double least = std::numeric_limits<double>::infinity();
  // of equal ones the one that cuts the first dimensions: in row-major order those faces are the contiguous ones
  for (int px = size; px >= 1; --px) {
    if (size % px != 0 || extents[0] / px < minimum) continue;
    const int rest = size / px;
    for (int py = rest; py >= 1; --py) {
      if (rest % py != 0 || extents[1] / py < minimum) continue;
      const int pz = rest / py;
      if (extents[2] / pz < minimum) continue;
      const auto area = [&](int cuts, int a, int b) {
        return (cuts - 1.0) * static_cast<double>(extents[a]) * static_cast<double>(extents[b]);
      };
      const double surface = area(px, 1, 2) + area(py, 0, 2) + area(pz, 0, 1);
      if (surface < least) {
        least = surface;
        best = std::array<int, 3>{px, py, pz};
      }
    }
  }
  return best;
}

}  // namespace

IndexRange block_range(index_t n, int parts, int which, std::source_location where) {
  require(n >= 0 && parts >= 1 && which >= 0 && which < parts, [&] {
    return Error(
        "tessera::block_range",
        "part " + std::to_string(which) + " of " + std::to_string(parts) + " of a range of " + std::to_string(n),
        "the range's length must be >= 0, the number of parts >= 1, and the part in 0..parts-1", {}, where);
  });
  const index_t base = n / parts;
  const index_t rest = n % parts;
  const index_t begin = which * base + std::min<index_t>(which, rest);
  return {begin, begin + base + (which < rest ? 1 : 0)};
}

int block_owner(index_t n, int parts, index_t i, std::source_location where) {
  require(parts >= 1 && i >= 0 && i < n, [&] {
    return Error("tessera::block_owner", "index " + std::to_string(i) + " of a range of " + std::to_string(n),
                 "the index must be in the range and the number of parts >= 1", {}, where);
  });
  const index_t base = n / parts;
  const index_t rest = n % parts;
  const index_t in_longer = rest * (base + 1);
  return static_cast<int>(i < in_longer ? i / (base + 1) : rest + (i - in_longer) / base);
}

std::array<int, 3> factor_3d(int size, const std::array<index_t, 3>& extents, index_t minimum,
                             std::source_location where) {
  require(size >= 1 && minimum >= 1 && *std::min_element(extents.begin(), extents.end()) >= 0, [&] {
    return Error("tessera::factor_3d", std::to_string(size) + " ranks for a grid of " + text(extents) + " cells",
                 "the rank count and the least extent must be >= 1, and no extent negative", {}, where);
  });
  if (const auto grid = best_grid(size, extents, minimum)) return *grid;

  // Saturated, so that a huge grid does not wrap.
  double most = 1;
  for (const index_t e : extents) most *= static_cast<double>(e / minimum);
  const index_t largest = static_cast<index_t>(std::min(most, 2147483647.0));
  int below = static_cast<int>(std::min<index_t>(size - 1, largest));
  while (below > 0 && !best_grid(below, extents, minimum)) --below;
  const std::string per_rank =
      minimum == 1 ? "at least one cell" : "at least " + std::to_string(minimum) + " cells along each dimension";
  throw Error(
      "tessera::factor_3d", std::to_string(size) + " ranks for a grid of " + text(extents) + " cells",
      "every rank needs " + per_rank + ", so the largest rank count is " + std::to_string(largest) +
          (below > 0 && below != largest
               ? ", and the largest not above " + std::to_string(size) + " is " + std::to_string(below)
               : ""),
      below > 0 ? "Start at most " + std::to_string(below) + " ranks, or use a larger grid" : "Use a larger grid",
      where);
}

CartesianBlock::CartesianBlock(int rank, int size, const std::array<index_t, 3>& extents, index_t minimum,
                               std::source_location where)
    : m_extents(extents), m_grid(factor_3d(size, extents, minimum, where)) {
  require(rank >= 0 && rank < size, [&] {
    return Error("tessera::CartesianBlock", "rank " + std::to_string(rank) + " of " + std::to_string(size),
                 "the rank must be in 0..size-1", {}, where);
  });
  m_position = position_of(rank);
}

std::array<int, 3> CartesianBlock::position_of(int rank) const {
  return {rank / (m_grid[1] * m_grid[2]), rank / m_grid[2] % m_grid[1], rank % m_grid[2]};
}

IndexRange CartesianBlock::range_of(const std::array<int, 3>& position, int dimension) const {
  const auto d = static_cast<std::size_t>(dimension);
  return block_range(m_extents[d], m_grid[d], position[d]);
}

int CartesianBlock::neighbour(int dimension, int side) const {
  const auto d = static_cast<std::size_t>(dimension);
  std::array<int, 3> p = m_position;
  p[d] += side == 0 ? -1 : 1;
  if (p[d] < 0 || p[d] >= m_grid[d]) return none;
  return (p[0] * m_grid[1] + p[1]) * m_grid[2] + p[2];
}

}  // namespace tessera
