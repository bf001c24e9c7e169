// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gemm_ladder/steps/vector_loads.hpp>

/// \file
/// Step 7: two panels in scratch, so that the next one travels while the present one is multiplied.

namespace tessera::ladder {

template <class Space, class T, int Threads = machine<Space>::team_threads>
struct DoubleBuffering : MicroTiles<Space, T, Threads> {
  using Shape = MicroTiles<Space, T, Threads>;
  using Sums = VectorSums<Space, T, Threads>;
  using Sum = typename Shape::Sum;
  using Policy = BoundedTeams<Space, Threads, 2>;
  using Team = typename Policy::member_type;
  using Shape::across, Shape::depth, Shape::each, Shape::line, Shape::threads, Shape::tile;
  static constexpr int half = depth * line, buffer = 2 * half, scratch = 2 * buffer, lanes = Sums::lanes;
  static_assert(scratch * sizeof(Sum) + scratch_alignment <= 32 * 1024);  // what every space gives a team

  Product<T> p;

  TESSERA_FUNCTION explicit DoubleBuffering(const Product<T>& product) : p(product) {}

  TESSERA_FUNCTION void operator()(const Team& team) const {
    const int t = team.team_rank();
    const bool aligned = p.a.aligned_to(4) && p.b.aligned_to(4), aligned_c = p.c.aligned_to(lanes);
    Sum* const buffers = scratch_of<Sum>(team, scratch);
    for_each_tile<tile, tile>(team, p.c, [&](index_t row, index_t column) {
      Panel<Shape, T> panel;
      Sums sums[each];
      for (int s = 0; s < each; ++s) sums[s].clear();
      // [loop]
      panel.fetch(p, aligned, row, column, 0, t);
      panel.commit(buffers, buffers + half, t);
      team.team_barrier();
      int here = 0;
      for (index_t k0 = 0; k0 < p.a.columns; k0 += depth) {
        const bool more = k0 + depth < p.a.columns;
        if (more) panel.fetch(p, aligned, row, column, k0 + depth, t);
        for (int s = 0; s < each; ++s) {
          const int micro = t + s * threads;
          sums[s].multiply(buffers + here + micro / across * lanes, buffers + here + half + micro % across * lanes);
        }
        here = buffer - here;
        if (more) panel.commit(buffers + here, buffers + here + half, t);
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
void double_buffering(const Space& exec, const Product<T>& p) {
  run_tiles("tessera::ladder::double_buffering", exec, DoubleBuffering<Space, T>(p));
}

}  // namespace tessera::ladder
