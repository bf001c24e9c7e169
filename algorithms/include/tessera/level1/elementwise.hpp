// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Kernels that write each element of y from the element of x beside it, on one range or on rows and columns of any
/// strides. A Body<access> is made in the kernel, so that it may read scalars there once, and gives
///   static constexpr int lanes; group<U, N>(i, step);             // as walk_pieces() wants
///   move(x elements, y elements)                                  // to another column

#include <Kokkos_Core.hpp>
#include <string>
#include <utility>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/level1/walk.hpp>

namespace tessera::detail {

/// Two matrices of equal extents whose elements are taken in pairs.
template <class T>
struct PairOfMatrices {
  const T* x;
  T* y;
  index_t rows, columns;
  index_t xs0, xs1, ys0, ys1;
  bool conj;  // of x

  /// Makes dimension 0 the one in which y is closest, and one long column of what is contiguous.
  void simplify() {
    const auto distance = [](index_t s) { return s < 0 ? -s : s; };
    if (rows == 1 || (columns != 1 && distance(ys1) < distance(ys0))) {
      std::swap(rows, columns);
      std::swap(xs0, xs1);
      std::swap(ys0, ys1);
    }
    if (columns != 1 && xs1 == rows * xs0 && ys1 == rows * ys0) {
      rows *= columns;
      columns = 1;
    }
  }
  template <class Space>
  [[nodiscard]] bool unit() const {
    if (!unit_access<Space>(x, xs0) || !unit_access<Space>(y, ys0)) return false;
    if (machine<Space>::is_host || columns == 1) return true;
    constexpr auto n = static_cast<index_t>(16 / sizeof(T) > 0 ? 16 / sizeof(T) : 1);
    return xs1 % n == 0 && ys1 % n == 0;
  }
};

/// Visit(kernel, walker): Kernel::visit(f) calls f(body) with the body that the scalars ask for.
template <class Space, class Kernel>
struct ElementwiseRange {
  Kernel kernel;
  index_t n, workers;
  struct Walk {
    Share share;
    template <class Body>
    TESSERA_INLINE_FUNCTION void operator()(Body& body) const {
      walk_pieces<Space, Body::lanes>(share, body);
    }
  };
  KOKKOS_FUNCTION void operator()(index_t worker) const { kernel.visit(Walk{share_of<Space>(worker, workers, n)}); }
};

/// Tiles of `tall` rows and `wide` columns; in a team, 2^log_rows threads lie along a column.
template <class Space, class Kernel>
struct ElementwiseTiles {
  Kernel kernel;
  index_t rows, columns, xs1, ys1;
  index_t tall, wide, down, tiles;  // `down` tiles in a column of tiles
  int log_rows;

  struct Walk {
    const ElementwiseTiles& t;
    index_t tile;
    int along, beside, threads_along, threads_beside;
    template <class Body>
    TESSERA_INLINE_FUNCTION void operator()(Body& body) const {
      const index_t i = tile % t.down * t.tall, j = tile / t.down * t.wide;
      const index_t length = t.rows - i < t.tall ? t.rows - i : t.tall;
      const index_t end = t.columns - j < t.wide ? t.columns : j + t.wide;
      const Body first = body;
      for (index_t column = j + beside; column < end; column += threads_beside) {
        body = first;
        body.move(column * t.xs1, column * t.ys1);
        walk_pieces<Space, Body::lanes>(Share{i, length, along, threads_along}, body);
      }
    }
  };
  KOKKOS_FUNCTION void operator()(const typename Teams<Space>::member_type& team) const {
    const int rank = static_cast<int>(team.team_rank()), size = static_cast<int>(team.team_size());
    const int along = rank & ((1 << log_rows) - 1), beside = rank >> log_rows;
    for (index_t tile = team.league_rank(); tile < tiles; tile += team.league_size())
      kernel.visit(Walk{*this, tile, along, beside, 1 << log_rows, size >> log_rows});
  }
};

/// Labels of the two kernels, made once.
struct ElementwiseLabels {
  std::string range, tiles;
  explicit ElementwiseLabels(const char* algorithm)
      : range(label(algorithm, "range")), tiles(label(algorithm, "columns")) {}
};

/// Runs kernel over the pair; `lanes` elements are taken at once by it.
template <class Space, class T, class Kernel>
void run_elementwise(const Space& exec, const ElementwiseLabels& labels, const PairOfMatrices<T>& p,
                     const Kernel& kernel, int lanes) {
  if (p.columns == 1) {
    const index_t workers = worker_count(exec, p.rows, machine<Space>::is_host ? 2048 : index_t{in_flight} * lanes);
    Kokkos::parallel_for(labels.range, Range<Space>(exec, 0, workers),
                         ElementwiseRange<Space, Kernel>{kernel, p.rows, workers});
    return;
  }
  constexpr int size = machine<Space>::team_threads;
  ElementwiseTiles<Space, Kernel> tiles{kernel, p.rows, p.columns, p.xs1, p.ys1, 0, 0, 0, 0, 0};
  if constexpr (machine<Space>::is_host) {
    tiles.tall = p.rows < 16384 ? p.rows : 16384;
    tiles.wide = (16384 + tiles.tall - 1) / tiles.tall;
  } else {
    while ((1 << tiles.log_rows) < size && (index_t{lanes} << tiles.log_rows) < p.rows) ++tiles.log_rows;
    tiles.tall = (index_t{lanes} << tiles.log_rows) * in_flight;
    tiles.wide = size >> tiles.log_rows;
  }
  tiles.down = (p.rows + tiles.tall - 1) / tiles.tall;
  tiles.tiles = tiles.down * ((p.columns + tiles.wide - 1) / tiles.wide);
  constexpr index_t most = 1 << 30;
  const index_t full = machine<Space>::is_host ? static_cast<index_t>(exec.concurrency()) : most;
  Kokkos::parallel_for(labels.tiles, Teams<Space>(exec, tiles.tiles < full ? tiles.tiles : full, size), tiles);
}

}  // namespace tessera::detail
