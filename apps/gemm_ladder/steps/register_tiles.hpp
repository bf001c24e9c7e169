// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gemm_ladder/steps/product.hpp>

/// \file
/// Step 5: a thread has micro-tiles of 8 x 8 elements of C in registers: one of them on devices; on hosts, where a
/// team is one thread, all of the tile's, one after the other.

namespace tessera::ladder {

/// The shape of steps 5 to 7.
template <class Space, class T, int Threads>
struct MicroTiles {
  using Machine = machine<Space>;
  using Sum = typename Product<T>::Sum;
  static constexpr int threads = Threads;
  static constexpr int side = 8;                            // of a micro-tile
  static constexpr int across = Machine::is_host ? 8 : 16;  // micro-tiles along a side of the tile
  static constexpr int tile = side * across;
  static constexpr int depth = Machine::is_host ? 24 : 8;  // of a panel, along K
  static constexpr int line = tile + 4;                    // in scratch: whole vectors, and no bank met twice
  static constexpr int each = across * across / threads;   // micro-tiles a thread
  static_assert(each * threads == across * across);
};

template <class Space, class T, int Threads = machine<Space>::team_threads>
struct RegisterTiles : MicroTiles<Space, T, Threads> {
  using Shape = MicroTiles<Space, T, Threads>;
  using Sum = typename Shape::Sum;
  using Policy = BoundedTeams<Space, Threads, 2>;
  using Team = typename Policy::member_type;
  using Shape::across, Shape::depth, Shape::each, Shape::line, Shape::side, Shape::threads, Shape::tile;
  static constexpr int scratch = 2 * depth * line;
  // Rows of a micro-tile lie apart on devices, so that a warp reads neighbours; on hosts side by side: one register.
  static constexpr int apart = machine<Space>::is_host ? 1 : across, begin = machine<Space>::is_host ? side : 1;

  Product<T> p;

  TESSERA_FUNCTION explicit RegisterTiles(const Product<T>& product) : p(product) {}

  // [multiply]
  TESSERA_INLINE_FUNCTION static void multiply(Sum (&sum)[side][side], const Sum* a, const Sum* b) {
    for (int k = 0; k < depth; ++k) {
      Sum x[side], y[side];
      TESSERA_UNROLL
      for (int i = 0; i < side; ++i) x[i] = a[k * line + i * apart];
      TESSERA_UNROLL
      for (int j = 0; j < side; ++j) y[j] = b[k * line + j * apart];
      TESSERA_UNROLL
      for (int i = 0; i < side; ++i)
        for (int j = 0; j < side; ++j) sum[i][j] += x[i] * y[j];
    }
  }
  // [multiply]

  TESSERA_FUNCTION void operator()(const Team& team) const {
    const int t = team.team_rank();
    Sum* const a = scratch_of<Sum>(team, scratch);
    Sum* const b = a + depth * line;
    for_each_tile<tile, tile>(team, p.c, [&](index_t row, index_t column) {
      Sum sum[each][side][side] = {};
      for (index_t k0 = 0; k0 < p.a.columns; k0 += depth) {
        for (int e = t; e < tile * depth; e += threads) {
          a[e % depth * line + e / depth] = p.a.or_zero(row + e / depth, k0 + e % depth);
          b[e / tile * line + e % tile] = p.b.or_zero(k0 + e / tile, column + e % tile);
        }
        team.team_barrier();
        for (int s = 0; s < each; ++s) {
          const int micro = t + s * threads;
          multiply(sum[s], a + micro / across * begin, b + micro % across * begin);
        }
        team.team_barrier();
      }
      for (int s = 0; s < each; ++s)
        for (int i = 0; i < side; ++i)
          for (int j = 0; j < side; ++j) {
            const int micro = t + s * threads;
            const index_t r = row + micro / across * begin + i * apart, c = column + micro % across * begin + j * apart;
            if (r < p.c.rows && c < p.c.columns) p.c(r, c) = T(sum[s][i][j]);
          }
    });
  }
};

template <class Space, class T>
void register_tiles(const Space& exec, const Product<T>& p) {
  run_tiles("tessera::ladder::register_tiles", exec, RegisterTiles<Space, T>(p));
}

}  // namespace tessera::ladder
