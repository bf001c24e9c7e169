// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gemm_ladder/steps/register_tiles.hpp>

#include <tessera/core/vec.hpp>

/// \file
/// Step 6: four elements a load from memory, and as many as a vector has from scratch.

namespace tessera::ladder {

/// Elements (i, j) .. (i, j + 3); 0 behind the edges.
template <class T>
TESSERA_INLINE_FUNCTION vec<T, 4> quad_at(const RowMajor<const T>& m, bool aligned, index_t i, index_t j) {
  if (aligned && i < m.rows && j + 4 <= m.columns) return vec<T, 4>::load_aligned(&m(i, j));
  vec<T, 4> quad(T{});
  for (int l = 0; l < 4; ++l) quad.set(l, m.or_zero(i, j + l));
  return quad;
}

/// A panel of A and of B on its way from memory to scratch, in the registers of a team.
template <class Shape, class T>
struct Panel {
  using Sum = typename Shape::Sum;
  static constexpr int tile = Shape::tile, depth = Shape::depth, line = Shape::line, threads = Shape::threads;
  static constexpr int quads = tile * depth / 4 / threads;  // of either operand, a thread
  static_assert(quads * 4 * threads == tile * depth);

  vec<T, 4> a[quads], b[quads];

  // [panel]
  TESSERA_INLINE_FUNCTION void fetch(const Product<T>& p, bool aligned, index_t row, index_t column, index_t k0,
                                     int t) {
    TESSERA_UNROLL
    for (int q = 0; q < quads; ++q) {
      const int e = t + q * threads;
      a[q] = quad_at(p.a, aligned, row + e / (depth / 4), k0 + e % (depth / 4) * 4);
      b[q] = quad_at(p.b, aligned, k0 + e / (tile / 4), column + e % (tile / 4) * 4);
    }
  }
  TESSERA_INLINE_FUNCTION void commit(Sum* to_a, Sum* to_b, int t) const {
    TESSERA_UNROLL
    for (int q = 0; q < quads; ++q) {
      const int e = t + q * threads;
      vec<Sum, 4> of_b;
      TESSERA_UNROLL
      for (int l = 0; l < 4; ++l) {
        to_a[(e % (depth / 4) * 4 + l) * line + e / (depth / 4)] = a[q][l];
        of_b.set(l, b[q][l]);
      }
      of_b.store_aligned(to_b + e / (tile / 4) * line + e % (tile / 4) * 4);
    }
  }
  // [panel]
};

/// The sums of a micro-tile, its rows and columns in groups of a vector's width.
template <class Space, class T, int Threads>
struct VectorSums : MicroTiles<Space, T, Threads> {
  using Shape = MicroTiles<Space, T, Threads>;
  using Sum = typename Shape::Sum;
  using Shape::across, Shape::depth, Shape::line, Shape::side;
  static constexpr int wide = machine<Space>::simd_bytes / static_cast<int>(sizeof(Sum));
  static constexpr int lanes = wide < side ? wide : side, groups = side / lanes;
  static constexpr int apart = across * lanes;  // from group to group
  using Vec = vec<Sum, lanes>;

  Vec sum[side][groups];

  TESSERA_INLINE_FUNCTION void clear() {
    TESSERA_UNROLL
    for (int i = 0; i < side; ++i)
      for (int g = 0; g < groups; ++g) sum[i][g] = Vec(Sum{});
  }

  // [multiply]
  TESSERA_INLINE_FUNCTION void multiply(const Sum* a, const Sum* b) {
    TESSERA_UNROLL
    for (int k = 0; k < depth; ++k) {
      Vec x[groups], y[groups];
      TESSERA_UNROLL
      for (int g = 0; g < groups; ++g) x[g] = Vec::load_aligned(a + k * line + g * apart);
      TESSERA_UNROLL
      for (int g = 0; g < groups; ++g) y[g] = Vec::load_aligned(b + k * line + g * apart);
      TESSERA_UNROLL
      for (int i = 0; i < side; ++i)
        for (int g = 0; g < groups; ++g) sum[i][g] = fma(Vec(x[i / lanes][i % lanes]), y[g], sum[i][g]);
    }
  }
  // [multiply]

  /// To C, from the micro-tile's first element on.
  TESSERA_INLINE_FUNCTION void put(const RowMajor<T>& c, bool aligned, index_t row, index_t column) const {
    TESSERA_UNROLL
    for (int i = 0; i < side; ++i)
      for (int g = 0; g < groups; ++g) {
        const index_t r = row + i / lanes * apart + i % lanes, first = column + g * apart;
        if (r >= c.rows) continue;
        vec<T, lanes> values;
        TESSERA_UNROLL
        for (int l = 0; l < lanes; ++l) values.set(l, T(sum[i][g][l]));
        if (aligned && first + lanes <= c.columns) {
          values.store_aligned(&c(r, first));
        } else {
          TESSERA_UNROLL
          for (int l = 0; l < lanes; ++l)
            if (first + l < c.columns) c(r, first + l) = values[l];
        }
      }
  }
};

template <class Space, class T, int Threads = machine<Space>::team_threads>
struct VectorLoads : MicroTiles<Space, T, Threads> {
  using Shape = MicroTiles<Space, T, Threads>;
  using Sums = VectorSums<Space, T, Threads>;
  using Sum = typename Shape::Sum;
  using Policy = BoundedTeams<Space, Threads, 2>;
  using Team = typename Policy::member_type;
  using Shape::across, Shape::depth, Shape::each, Shape::line, Shape::threads, Shape::tile;
  static constexpr int scratch = 2 * depth * line, lanes = Sums::lanes;

  Product<T> p;

  TESSERA_FUNCTION explicit VectorLoads(const Product<T>& product) : p(product) {}

  TESSERA_FUNCTION void operator()(const Team& team) const {
    const int t = team.team_rank();
    const bool aligned = p.a.aligned_to(4) && p.b.aligned_to(4), aligned_c = p.c.aligned_to(lanes);
    Sum* const a = scratch_of<Sum>(team, scratch);
    Sum* const b = a + depth * line;
    for_each_tile<tile, tile>(team, p.c, [&](index_t row, index_t column) {
      Panel<Shape, T> panel;
      Sums sums[each];
      for (int s = 0; s < each; ++s) sums[s].clear();
      // [loop]
      for (index_t k0 = 0; k0 < p.a.columns; k0 += depth) {
        panel.fetch(p, aligned, row, column, k0, t);
        panel.commit(a, b, t);
        team.team_barrier();
        for (int s = 0; s < each; ++s) {
          const int micro = t + s * threads;
          sums[s].multiply(a + micro / across * lanes, b + micro % across * lanes);
        }
        team.team_barrier();
      }
      // [loop]
      for (int s = 0; s < each; ++s) {
        const int micro = t + s * threads;
        sums[s].put(p.c, aligned_c, row + micro / across * lanes, column + micro % across * lanes);
      }
    });
  }
};

template <class Space, class T>
void vector_loads(const Space& exec, const Product<T>& p) {
  run_tiles("tessera::ladder::vector_loads", exec, VectorLoads<Space, T>(p));
}

}  // namespace tessera::ladder
