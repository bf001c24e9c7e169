// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/types.hpp>

/// \file
/// What the portable steps of the ladder share: their operands, and a team's walk over tiles of C.

namespace tessera::ladder {

/// A matrix whose rows are contiguous and begin `stride` elements apart.
template <class T>
struct RowMajor {
  T* data = nullptr;
  index_t rows = 0, columns = 0, stride = 0;

  [[nodiscard]] TESSERA_INLINE_FUNCTION T& operator()(index_t i, index_t j) const { return data[i * stride + j]; }
  /// 0 behind the edges, so that every tile is whole.
  [[nodiscard]] TESSERA_INLINE_FUNCTION std::remove_const_t<T> or_zero(index_t i, index_t j) const {
    return i < rows && j < columns ? (*this)(i, j) : std::remove_const_t<T>{};
  }
  /// Whether every row begins with an aligned group of `count` elements.
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool aligned_to(int count) const {
    return stride % count == 0 && reinterpret_cast<std::uintptr_t>(data) % (count * sizeof(T)) == 0;
  }
};

/// C = A B. What is summed is of type Sum: fp32 also where the elements are bf16.
template <class T>
struct Product {
  using Sum = accumulator_t<T>;
  RowMajor<const T> a, b;
  RowMajor<T> c;
};

/// body(row, column) for the first element of each tile of C that is this team's.
TESSERA_CALLS_ANYTHING
template <int Rows, int Columns, class Team, class T, class Body>
TESSERA_INLINE_FUNCTION void for_each_tile(const Team& team, const RowMajor<T>& c, const Body& body) {
  const index_t down = (c.rows + Rows - 1) / Rows, across = (c.columns + Columns - 1) / Columns;
  for (index_t tile = team.league_rank(); tile < down * across; tile += team.league_size())
    body(tile / across * Rows, tile % across * Columns);
}

inline constexpr std::size_t scratch_alignment = 64;

/// `count` elements of the team's scratch, aligned for every load.
template <class Sum, class Team>
TESSERA_INLINE_FUNCTION Sum* scratch_of(const Team& team, int count) {
  // get_shmem_aligned() hides from the compiler which memory this is, and costs it the loads made for scratch
  char* const raw = static_cast<char*>(
      team.team_scratch(0).get_shmem(static_cast<std::size_t>(count) * sizeof(Sum) + scratch_alignment));
  if (raw == nullptr) __builtin_unreachable();
  return reinterpret_cast<Sum*>(raw + (-reinterpret_cast<std::uintptr_t>(raw) & (scratch_alignment - 1)));
}

/// The policy of a kernel that walks over tiles: a team a tile.
template <class Kernel, class Space>
auto tile_policy(const Space& exec, const Kernel& kernel) {
  using Policy = typename Kernel::Policy;
  const auto& c = kernel.p.c;
  const index_t tiles = (c.rows + Kernel::tile - 1) / Kernel::tile * ((c.columns + Kernel::tile - 1) / Kernel::tile);
  constexpr index_t most_teams = (index_t{1} << 31) - 1;
  return Policy(exec, std::min(tiles, most_teams), Kernel::threads)
      .set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch * sizeof(typename Kernel::Sum) + scratch_alignment));
}

template <class Kernel, class Space>
void run_tiles(const std::string& label, const Space& exec, const Kernel& kernel) {
  if (kernel.p.c.rows == 0 || kernel.p.c.columns == 0) return;
  Kokkos::parallel_for(label, tile_policy(exec, kernel), kernel);
}

}  // namespace tessera::ladder
