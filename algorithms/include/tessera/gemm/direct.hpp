// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/gemm/kernel.hpp>

namespace tessera::detail {

/// Small products on hosts, straight from where the operands lie: packing would cost more than it saves. Vectors of
/// `Lanes` lie along the contiguous lines of C and B; elements of A are read where they are. A small B whose lines lie
/// otherwise is turned first.
template <class Types, class Space, class Config, int Lanes = Config::lanes>
struct GemmDirect {
  using Real = typename Config::Real;
  static constexpr bool possible =
      !Config::resident && std::is_same_v<typename Types::in, Real> && std::is_same_v<typename Types::out, Real>;
  static constexpr int lanes = Lanes, nv = Config::nv;
  static constexpr int tallest = Config::many_registers ? 8 : 4;  // rows of a micro-tile
  static constexpr int turned_bytes = 16 * 1024;
  static constexpr int narrowest = 16 / static_cast<int>(sizeof(Real));
  using Vec = vec<Real, lanes>;
  using Narrower = GemmDirect<Types, Space, Config, (Lanes > narrowest ? Lanes / 2 : Lanes)>;

  GemmTask<Types> task;
  index_t rows;     // of a worker
  index_t workers;  // of a product

  /// Operands that fit into a core's second-level cache, C read along its lines.
  static bool suits(const GemmTask<Types>& t) {
    const index_t real_bytes = sizeof(Real), bytes = (t.m * t.k + t.k * t.n + t.m * t.n) * real_bytes;
    const bool readable = t.b.line_stride == 1 || t.k * t.n * real_bytes <= turned_bytes;
    return readable && t.column_stride == 1 && t.n >= narrowest &&
           bytes <= static_cast<index_t>(machine<Space>::l2_bytes);
  }
  static void launch(const Space& exec, const GemmTask<Types>& t) {
    if constexpr (Lanes > narrowest)
      if (t.n < Lanes) return Narrower::launch(exec, t);
    constexpr index_t least = 1 << 14;  // products that are worth a thread
    const index_t tiles = (t.m + tallest - 1) / tallest, useful = t.m * t.n * t.k / least + 1;
    const auto threads = static_cast<index_t>(exec.concurrency());
    index_t workers = t.batches >= 4 * threads ? 1 : threads;
    workers = workers < useful ? workers : useful;
    workers = workers < tiles ? workers : tiles;
    const index_t each = (tiles + workers - 1) / workers;
    workers = (tiles + each - 1) / each;
    Kokkos::parallel_for("tessera::gemm::direct", Range<Space>(exec, 0, t.batches * workers),
                         GemmDirect{t, each * tallest, workers});
  }

  TESSERA_FUNCTION void operator()(index_t item) const {
    const index_t batch = workers > 1 ? item / workers : item, worker = item - batch * workers;
    const index_t first = worker * rows, last = first + rows < task.m ? first + rows : task.m;
    const Real alpha = task.alpha.get(), beta = task.beta.get();
    const Operands x{task.a.pointer + batch * task.a.batch_stride,
                     task.b.pointer + batch * task.b.batch_stride,
                     task.b.depth_stride,
                     task.c + batch * task.c_batch,
                     alpha == Real{} ? 0 : task.k,
                     alpha,
                     beta};
    if (task.b.line_stride == 1)
      product(x, first, last);
    else
      turned(x, first, last);
  }

 private:
  /// One product's.
  struct Operands {
    const Real *a, *b;
    index_t b_depth_stride;
    Real* c;
    index_t depth;
    Real alpha, beta;
  };

  TESSERA_INLINE_FUNCTION void product(const Operands& x, index_t first, index_t last) const {
    for (index_t column = 0; column < task.n; column += nv * lanes) column_of_tiles<nv>(x, first, last, column);
  }
  /// With B's lines laid side by side.
  TESSERA_FUNCTION void turned(const Operands& x, index_t first, index_t last) const {
    Real lines[turned_bytes / sizeof(Real)];
    for (index_t j = 0; j < task.n; ++j)
      for (index_t k = 0; k < x.depth; ++k)
        lines[k * task.n + j] = x.b[j * task.b.line_stride + k * task.b.depth_stride];
    product({x.a, lines, task.n, x.c, x.depth, x.alpha, x.beta}, first, last);
  }
  /// Tiles of up to Vectors vectors, as many as there are columns left for.
  template <int Vectors>
  TESSERA_INLINE_FUNCTION void column_of_tiles(const Operands& x, index_t first, index_t last, index_t column) const {
    if constexpr (Vectors > 1)
      if (column + (Vectors - 1) * lanes >= task.n) return column_of_tiles<Vectors - 1>(x, first, last, column);
    down<Vectors, tallest>(x, first, last, column);
  }
  template <int Vectors, int Rows>
  TESSERA_INLINE_FUNCTION void down(const Operands& x, index_t row, index_t last, index_t column) const {
    for (; row + Rows <= last; row += Rows) tile<Vectors, Rows>(x, row, column);
    if constexpr (Rows > 1) down<Vectors, Rows / 2>(x, row, last, column);
  }

  /// The last vector of a line ends with the line: `done` of its lanes belong to the vector before.
  template <int Vectors, int Rows>
  TESSERA_INLINE_FUNCTION void tile(const Operands& x, index_t row, index_t column) const {
    const index_t behind = column + (Vectors - 1) * lanes, fits = task.n - lanes;
    const index_t tail = behind < fits ? behind : fits;
    const auto done = static_cast<int>(behind - tail);
    Vec sum[Rows][Vectors];
    unrolled<Rows * Vectors>([&](auto at) {
      constexpr int r = decltype(at)::value / Vectors, v = decltype(at)::value % Vectors;
      sum[r][v] = Vec(Real{});
    });
    const Real* a = x.a + row * task.a.line_stride;
    const Real *b = x.b + column, *b_tail = x.b + tail;
    for (index_t k = 0; k < x.depth; ++k, a += task.a.depth_stride, b += x.b_depth_stride, b_tail += x.b_depth_stride) {
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
    const bool keep = x.beta != Real{};
    unrolled<Rows * Vectors>([&](auto at) {
      constexpr int r = decltype(at)::value / Vectors, v = decltype(at)::value % Vectors;
      Real* const to = x.c + (row + r) * task.row_stride + (v == Vectors - 1 ? tail : column + v * lanes);
      Vec result = Vec(x.alpha) * sum[r][v];
      if (keep) result = fma(Vec(x.beta), Vec::load(to), result);
      if (v < Vectors - 1 || done == 0)
        result.store(to);
      else
        for (int l = done; l < lanes; ++l) to[l] = result[l];
    });
  }
};

}  // namespace tessera::detail
