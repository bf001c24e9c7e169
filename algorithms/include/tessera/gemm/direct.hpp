// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/gemm/kernel.hpp>

namespace tessera::detail {

/// Small products on hosts, straight from where the operands lie: packing would cost more than it saves. Vectors lie
/// along the contiguous lines of B and C; elements of A are read where they are.
template <class Types, class Space, class Config>
struct GemmDirect {
  using Real = typename Config::Real;
  static constexpr bool possible =
      !Config::resident && std::is_same_v<typename Types::in, Real> && std::is_same_v<typename Types::out, Real>;
  static constexpr int lanes = Config::lanes, nv = Config::nv;
  static constexpr int tallest = Config::many_registers ? 8 : 4;  // rows of a micro-tile
  using Vec = vec<Real, lanes>;

  GemmTask<Types> task;
  index_t rows;  // of a worker

  /// Operands that fit into a core's second-level cache, read along their lines.
  static bool suits(const GemmTask<Types>& t) {
    const index_t bytes = (t.m * t.k + t.k * t.n + t.m * t.n) * static_cast<index_t>(sizeof(Real));
    return t.b.line_stride == 1 && t.column_stride == 1 && t.n >= lanes &&
           bytes <= static_cast<index_t>(machine<Space>::l2_bytes);
  }
  static void launch(const Space& exec, const GemmTask<Types>& t) {
    constexpr index_t least = 1 << 14;  // products that are worth a thread
    const index_t tiles = (t.m + tallest - 1) / tallest, useful = t.m * t.n * t.k / least + 1;
    index_t workers = exec.concurrency();
    workers = workers < useful ? workers : useful;
    workers = workers < tiles ? workers : tiles;
    const index_t each = (tiles + workers - 1) / workers;
    Kokkos::parallel_for("tessera::gemm::direct", Range<Space>(exec, 0, (tiles + each - 1) / each),
                         GemmDirect{t, each * tallest});
  }

  TESSERA_FUNCTION void operator()(index_t worker) const {
    const index_t first = worker * rows, last = first + rows < task.m ? first + rows : task.m;
    const Real alpha = task.alpha.get(), beta = task.beta.get();
    const index_t depth = alpha == Real{} ? 0 : task.k;
    for (index_t column = 0; column < task.n; column += nv * lanes)
      column_of_tiles<nv>(first, last, column, depth, alpha, beta);
  }

 private:
  /// Tiles of up to Vectors vectors, as many as there are columns left for.
  template <int Vectors>
  TESSERA_INLINE_FUNCTION void column_of_tiles(index_t first, index_t last, index_t column, index_t depth, Real alpha,
                                               Real beta) const {
    if constexpr (Vectors > 1)
      if (column + (Vectors - 1) * lanes >= task.n)
        return column_of_tiles<Vectors - 1>(first, last, column, depth, alpha, beta);
    down<Vectors, tallest>(first, last, column, depth, alpha, beta);
  }
  template <int Vectors, int Rows>
  TESSERA_INLINE_FUNCTION void down(index_t row, index_t last, index_t column, index_t depth, Real alpha,
                                    Real beta) const {
    for (; row + Rows <= last; row += Rows) tile<Vectors, Rows>(row, column, depth, alpha, beta);
    if constexpr (Rows > 1) down<Vectors, Rows / 2>(row, last, column, depth, alpha, beta);
  }

  /// The last vector of a line ends with the line: `done` of its lanes belong to the vector before.
  template <int Vectors, int Rows>
  TESSERA_INLINE_FUNCTION void tile(index_t row, index_t column, index_t depth, Real alpha, Real beta) const {
    const index_t behind = column + (Vectors - 1) * lanes, fits = task.n - lanes;
    const index_t tail = behind < fits ? behind : fits;
    const auto done = static_cast<int>(behind - tail);
    Vec sum[Rows][Vectors];
    unrolled<Rows * Vectors>([&](auto at) {
      constexpr int r = decltype(at)::value / Vectors, v = decltype(at)::value % Vectors;
      sum[r][v] = Vec(Real{});
    });
    const Real* a = task.a.pointer + row * task.a.line_stride;
    const Real *b = task.b.pointer + column, *b_tail = task.b.pointer + tail;
    for (index_t k = 0; k < depth;
         ++k, a += task.a.depth_stride, b += task.b.depth_stride, b_tail += task.b.depth_stride) {
      Vec line[Vectors];
      unrolled<Vectors>([&](auto at) {
        constexpr int v = decltype(at)::value;
        line[v] = Vec::load(v == Vectors - 1 ? b_tail : b + v * lanes);
      });
      unrolled<Rows>([&](auto at) {
        constexpr int r = decltype(at)::value;
        const Vec factor(a[r * task.a.line_stride]);
        unrolled<Vectors>([&](auto which) {
          constexpr int v = decltype(which)::value;
          sum[r][v] = fma(factor, line[v], sum[r][v]);
        });
      });
    }
    const bool keep = beta != Real{};
    unrolled<Rows * Vectors>([&](auto at) {
      constexpr int r = decltype(at)::value / Vectors, v = decltype(at)::value % Vectors;
      Real* const to = task.c + (row + r) * task.row_stride + (v == Vectors - 1 ? tail : column + v * lanes);
      Vec result = Vec(alpha) * sum[r][v];
      if (keep) result = fma(Vec(beta), Vec::load(to), result);
      if (v < Vectors - 1 || done == 0)
        result.store(to);
      else
        for (int l = done; l < lanes; ++l) to[l] = result[l];
    });
  }
};

}  // namespace tessera::detail
