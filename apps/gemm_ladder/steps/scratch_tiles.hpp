// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gemm_ladder/steps/product.hpp>

/// \file
/// Steps 3 and 4: a team multiplies tiles that it keeps in scratch. Both lie there by depth: line k holds column k of
/// A's tile, and row k of B's, as the micro-tiles of the next steps want them. `Padding` elements follow each line.

namespace tessera::ladder {

template <class Space, class T, int Padding, int Threads = machine<Space>::team_threads>
struct ScratchTiles {
  using Sum = typename Product<T>::Sum;
  using Policy = Teams<Space>;
  using Team = typename Policy::member_type;
  static constexpr int threads = Threads, tile = 32, line = tile + Padding;
  static constexpr int each = tile * tile / threads;  // elements of C, and of either tile, a thread
  static constexpr int scratch = 2 * tile * line;
  static_assert(each * threads == tile * tile);

  Product<T> p;

  TESSERA_FUNCTION void operator()(const Team& team) const {
    const int t = team.team_rank();
    Sum* const a = scratch_of<Sum>(team, scratch);
    Sum* const b = a + tile * line;
    for_each_tile<tile, tile>(team, p.c, [&](index_t row, index_t column) {
      // [tiles]
      Sum sum[each] = {};
      for (index_t k0 = 0; k0 < p.a.columns; k0 += tile) {
        for (int e = t; e < tile * tile; e += threads) {
          const int i = e / tile, j = e % tile;
          a[j * line + i] = p.a.or_zero(row + i, k0 + j);
          b[i * line + j] = p.b.or_zero(k0 + i, column + j);
        }
        team.team_barrier();
        for (int k = 0; k < tile; ++k)
          for (int s = 0; s < each; ++s) {
            const int e = t + s * threads;
            sum[s] += a[k * line + e / tile] * b[k * line + e % tile];
          }
        team.team_barrier();
      }
      // [tiles]
      for (int s = 0; s < each; ++s) {
        const index_t i = row + (t + s * threads) / tile, j = column + (t + s * threads) % tile;
        if (i < p.c.rows && j < p.c.columns) p.c(i, j) = T(sum[s]);
      }
    });
  }
};

template <class Space, class T>
void scratch_tiles(const Space& exec, const Product<T>& p) {
  run_tiles("tessera::ladder::scratch_tiles", exec, ScratchTiles<Space, T, 0>{p});
}
template <class Space, class T>
void padding(const Space& exec, const Product<T>& p) {
  // [padding]
  run_tiles("tessera::ladder::padding", exec, ScratchTiles<Space, T, 1>{p});
  // [padding]
}

}  // namespace tessera::ladder
