// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <tessera/core/execution.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/core/vec.hpp>
#include <tessera/stencil/points.hpp>
#include <tessera/stencil/problem.hpp>

/// \file
/// The stencil kernel of devices (any space runs it). Dimension 2 is the one of shortest stride, 0 of longest.

namespace tessera::detail {

/// A thread is a walker: it goes along dimension 0 with a patch of `rows` points of dimension 1 and `lanes` of
/// dimension 2, reads a plane once and adds it to the sums of three output planes, which are in registers. Walkers
/// that stand side by side in dimension 2 read whole lines of memory; what a patch needs from its neighbours comes
/// through the level-1 cache: no scratch, no barrier.
/// `Vectors`: unit strides in dimension 2, and every line as aligned as a vector.
template <class T, class Space, class Points, bool Vectors>
struct StencilWalk : StencilOperands<T> {
  using StencilOperands<T>::u, StencilOperands<T>::v, StencilOperands<T>::n0, StencilOperands<T>::n1,
      StencilOperands<T>::n2, StencilOperands<T>::su, StencilOperands<T>::sv;
  using A = accumulator_t<T>;
  using Member = typename Teams<Space>::member_type;
  static constexpr bool corners = Points::has(0, 0, 0);
  static constexpr int widest = static_cast<int>(machine<Space>::load_bytes / sizeof(T));
  static constexpr int lanes = !Vectors || widest < 2 ? 1 : widest < 4 ? 2 : 4;
  static constexpr int rows = Vectors ? 2 : 4;
  /// Much arithmetic for a plane: the next one is read before it. Little of it: other walkers read meanwhile, and
  /// there are more of them.
  static constexpr bool ahead = Vectors && corners;
  static constexpr int walkers = ahead ? 128 : 256;  // of a team
  static constexpr int teams_at_once = ahead ? 5 : corners ? 3 : 4;
  static constexpr int threads = machine<Space>::is_host ? 1 : walkers;
  static constexpr int most_across = 64;  // walkers side by side

  index_t planes;  // outputs in dimension 0 of a chunk
  unsigned tiles1, tiles2;
  int across;  // walkers side by side: a power of two
  A coefficients[27];

  explicit StencilWalk(const StencilProblem<T>& p) : StencilOperands<T>(p) {}
  static void launch(const Space& exec, const StencilProblem<T>& p, const char* name) {
    StencilWalk k(p);
    for (int n = 0; n < 27; ++n) k.coefficients[n] = p.coefficients[n];
    k.across = most_across;
    while (k.across > 8 && k.across / 2 * lanes >= k.n2 - 1) k.across /= 2;
    const index_t tile1 = walkers / k.across * rows, tile2 = k.across * lanes;
    const index_t tiles1 = (k.n1 - 2 + tile1 - 1) / tile1;
    const index_t tiles2 = (k.n2 - 1 + tile2 - 1) / tile2;  // from 0, so that lines stay whole
    // four teams' worth of work a place, but no chunk so short that its two extra planes tell, nor too long to
    // balance, nor more teams than may be launched
    const index_t inner = k.n0 - 2, wanted = 4 * index_t{exec.concurrency()} / walkers + 1;
    index_t length = inner * tiles1 * tiles2 / wanted;
    length = length < 4 ? 4 : length > 40 ? 40 : length;
    constexpr index_t most = index_t{1} << 30;
    while ((inner + length - 1) / length * tiles1 * tiles2 > most) length *= 2;
    const index_t chunks = (inner + length - 1) / length;
    k.planes = (inner + chunks - 1) / chunks;
    k.tiles1 = static_cast<unsigned>(tiles1);
    k.tiles2 = static_cast<unsigned>(tiles2);
    Kokkos::parallel_for(
        name, BoundedTeams<Space, threads, teams_at_once>(exec, static_cast<int>(chunks * tiles1 * tiles2), threads),
        k);
  }

  TESSERA_INLINE_FUNCTION void operator()(const Member& team) const {
    if constexpr (machine<Space>::is_host)
      for (int walker = 0; walker < walkers; ++walker) start(static_cast<unsigned>(team.league_rank()), walker);
    else
      start(static_cast<unsigned>(team.league_rank()), team.team_rank());
  }

 private:
  /// One walker of tile t.
  TESSERA_INLINE_FUNCTION void start(unsigned t, int walker) const {
    const unsigned tile2 = t % tiles2, tile1 = t / tiles2 % tiles1;
    const index_t first = 1 + t / tiles2 / tiles1 * planes;
    const index_t last = first + planes < n0 - 1 ? first + planes : n0 - 1;
    const index_t k = (index_t{tile2} * across + (walker & (across - 1))) * lanes;
    const index_t j = 1 + (index_t{tile1} * (walkers / across) + walker / across) * rows;
    if (k >= n2 - 1 || j >= n1 - 1) return;
    // numbers that a short word holds, as registers are few
    const auto steps = static_cast<int>(last - first);
    const auto down = static_cast<int>(n1 - j <= rows ? n1 - j : rows + 1);
    const auto along = static_cast<int>(n2 - k <= lanes ? n2 - k : lanes + 1);
    const T* const p = u + (first - 1) * su[0] + (j - 1) * su[1] + k * (Vectors ? 1 : su[2]);
    T* const q = v + first * sv[0] + j * sv[1] + k * (Vectors ? 1 : sv[2]);
    if (down > rows)
      walk<true>(p, q, steps, down, along, k > 0);
    else
      walk<false>(p, q, steps, down, along, k > 0);
  }

  /// What one plane gives to a patch: the patch and one point more on every side.
  template <class V>
  struct Plane {
    V value[rows + 2][lanes + 2];
  };
  static TESSERA_INLINE_FUNCTION void widen(const Plane<T>& from, Plane<A>& to) {
    TESSERA_UNROLL
    for (int r = 0; r < rows + 2; ++r) {
      TESSERA_UNROLL
      for (int c = 0; c < lanes + 2; ++c)
        if (corners || (r > 0 && r < rows + 1) || (c > 0 && c < lanes + 1)) to.value[r][c] = A(from.value[r][c]);
    }
  }

  /// p: the patch's first point in a plane, less one row. Rows that do not exist (`down`: rows from the patch's first
  /// on, rows + 1 where more) are read from the last that does; points that do not exist (`along`: likewise in
  /// dimension 2; `left`: there is one before the patch) are zeros. Neither reaches a sum that counts.
  template <bool Whole>
  TESSERA_INLINE_FUNCTION void read(Plane<T>& plane, const T* p, int down, int along, bool left) const {
    using Line = vec<T, lanes>;
    TESSERA_UNROLL
    for (int r = 0; r < rows + 2; ++r) {
      const T* const q = p + (Whole || r <= down ? r : down) * su[1];
      if constexpr (lanes == 1) {
        plane.value[r][1] = *q;
      } else if (along >= lanes) {
        const Line line = Line::load_aligned(q);
        TESSERA_UNROLL
        for (int c = 0; c < lanes; ++c) plane.value[r][c + 1] = line[c];
      } else {
        TESSERA_UNROLL
        for (int c = 0; c < lanes; ++c) plane.value[r][c + 1] = c < along ? q[c] : T{};
      }
    }
    const index_t step = Vectors ? 1 : su[2];
    TESSERA_UNROLL
    for (int r = 0; r < rows + 2; ++r) {
      if (!corners && (r == 0 || r == rows + 1)) continue;
      const T* const q = p + (Whole || r <= down ? r : down) * su[1];
      plane.value[r][0] = left ? q[-step] : T{};
      plane.value[r][lanes + 1] = along > lanes ? q[lanes * step] : T{};
    }
  }

  /// The points of one row that are inside.
  TESSERA_INLINE_FUNCTION void write(const A (&sum)[lanes], T* q, int along, bool left) const {
    if constexpr (lanes == 1) {
      if (left) *q = T(sum[0]);
    } else if (left && along > lanes) {
      vec<T, lanes> line;
      TESSERA_UNROLL
      for (int x = 0; x < lanes; ++x) line.set(x, T(sum[x]));
      line.store_aligned(q);
    } else {
      TESSERA_UNROLL
      for (int x = 0; x < lanes; ++x)
        if ((x > 0 || left) && x + 1 < along) q[x] = T(sum[x]);
    }
  }

  /// Rows of v from q on in `steps` planes. `Whole`: all rows are to be written.
  template <bool Whole>
  TESSERA_INLINE_FUNCTION void walk(const T* p, T* q, int steps, int down, int along, bool left) const {
    A below[rows][lanes] = {}, here[rows][lanes] = {};  // sums of the output planes i - 1 and i
    Plane<T> next;
    if constexpr (ahead) read<Whole>(next, p, down, along, left);
    for (int i = -1; i <= steps; ++i) {
      Plane<A> plane;
      if constexpr (!ahead) read<Whole>(next, p, down, along, left);
      widen(next, plane);
      if constexpr (ahead)
        if (i < steps) read<Whole>(next, p + su[0], down, along, left);
      A above[rows][lanes] = {};  // and i + 1
      TESSERA_UNROLL
      for (int r = 0; r < rows + 2; ++r) {
        TESSERA_UNROLL
        for (int b = 0; b < 3; ++b) {
          const int y = r - b;  // row r is neighbour b of output row y
          if (y < 0 || y >= rows) continue;
          TESSERA_UNROLL
          for (int c = 0; c < 3; ++c) {
            TESSERA_UNROLL
            for (int x = 0; x < lanes; ++x) {
              if (Points::has(2, b, c)) below[y][x] += coefficients[18 + 3 * b + c] * plane.value[r][c + x];
              if (Points::has(1, b, c)) here[y][x] += coefficients[9 + 3 * b + c] * plane.value[r][c + x];
              if (Points::has(0, b, c)) above[y][x] += coefficients[3 * b + c] * plane.value[r][c + x];
            }
          }
        }
      }
      if (i > 0) {
        TESSERA_UNROLL
        for (int y = 0; y < rows; ++y)
          if (Whole || y + 1 < down) write(below[y], q + y * sv[1], along, left);
        q += sv[0];
      }
      TESSERA_UNROLL
      for (int y = 0; y < rows; ++y) {
        TESSERA_UNROLL
        for (int x = 0; x < lanes; ++x) {
          below[y][x] = here[y][x];
          here[y][x] = above[y][x];
        }
      }
      p += su[0];
    }
  }
};

/// Whether every line of x, of unit stride in dimension 2, is aligned to `lanes` elements.
template <class T>
bool lines_aligned(const StridedRef<T, 3>& x, int lanes) {
  return x.strides[2] == 1 && x.strides[0] % lanes == 0 && x.strides[1] % lanes == 0 &&
         reinterpret_cast<std::uintptr_t>(x.pointer) % (static_cast<std::size_t>(lanes) * sizeof(T)) == 0;
}

template <class T, class Space, class Points>
void walk_stencil(const Space& exec, const StencilProblem<T>& p, const char* unit_name, const char* strided_name) {
  using Widest = StencilWalk<T, Space, Points, true>;
  if (lines_aligned(p.u, Widest::lanes) && lines_aligned(p.v, Widest::lanes))
    Widest::launch(exec, p, unit_name);
  else
    StencilWalk<T, Space, Points, false>::launch(exec, p, strided_name);
}

}  // namespace tessera::detail
