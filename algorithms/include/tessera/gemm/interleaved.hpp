// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/gemm/kernel.hpp>

namespace tessera::detail {

/// Batches on hosts whose products lie interleaved, element by element (as LayoutLeft has them): vectors lie across
/// the batch, each lane a product of its own.
template <class Types, class Space, class Config>
struct GemmInterleaved {
  using Real = typename Config::Real;
  static constexpr int lanes = Config::lanes;
  static constexpr int tallest = 4, widest = Config::many_registers ? 4 : 2;  // of a micro-tile, vectors

  GemmTask<Types> task;

  static bool suits(const GemmTask<Types>& t) {
    const auto across = [](index_t stride) { return stride == 0 || stride == 1; };
    // what a vector's products have must stay in a core's second-level cache
    const index_t bytes = (t.m * t.k + t.k * t.n + t.m * t.n) * lanes * static_cast<index_t>(sizeof(Real));
    return t.batches >= lanes && t.c_batch == 1 && across(t.a.batch_stride) && across(t.b.batch_stride) &&
           bytes <= static_cast<index_t>(machine<Space>::l2_bytes);
  }
  static void launch(const Space& exec, const GemmTask<Types>& t) {
    Kokkos::parallel_for("tessera::gemm::interleaved", Range<Space>(exec, 0, (t.batches + lanes - 1) / lanes),
                         GemmInterleaved{t});
  }

  TESSERA_FUNCTION void operator()(index_t item) const {
    const index_t batch = item * lanes, last = batch + lanes < task.batches ? batch + lanes : task.batches;
    const bool keep = task.beta.get() != Real{};
    if (last - batch == lanes)
      keep ? products<lanes, true>(batch) : products<lanes, false>(batch);
    else
      for (index_t b = batch; b < last; ++b) keep ? products<1, true>(b) : products<1, false>(b);
  }

 private:
  template <int Lanes, bool Keep>
  TESSERA_FUNCTION void products(index_t batch) const {
    for (index_t column = 0; column < task.n;) column += column_of_tiles<Lanes, Keep, widest>(batch, column);
  }
  template <int Lanes, bool Keep, int Columns>
  TESSERA_INLINE_FUNCTION index_t column_of_tiles(index_t batch, index_t column) const {
    if constexpr (Columns > 1)
      if (column + Columns > task.n) return column_of_tiles<Lanes, Keep, Columns / 2>(batch, column);
    index_t row = 0;
    for (; row + tallest <= task.m; row += tallest) tile<Lanes, Keep, tallest, Columns>(batch, row, column);
    for (; row < task.m; ++row) tile<Lanes, Keep, 1, Columns>(batch, row, column);
    return Columns;
  }

  template <int Lanes, bool Keep, int Rows, int Columns>
  TESSERA_FUNCTION void tile(index_t batch, index_t row, index_t column) const {
    using Vec = vec<Real, Lanes>;
    const auto load = [](const Real* p, index_t stride) { return stride == 0 ? Vec(*p) : Vec::load(p); };
    Vec sum[Rows][Columns];
    unrolled<Rows * Columns>(
        [&](auto at) { sum[decltype(at)::value / Columns][decltype(at)::value % Columns] = Vec(Real{}); });
    const index_t a_batch = task.a.batch_stride, b_batch = task.b.batch_stride;
    const Real* a = task.a.pointer + batch * a_batch + row * task.a.line_stride;
    const Real* b = task.b.pointer + batch * b_batch + column * task.b.line_stride;
    const Real alpha = task.alpha.get();
    const index_t depth = alpha == Real{} ? 0 : task.k;
    for (index_t k = 0; k < depth; ++k, a += task.a.depth_stride, b += task.b.depth_stride) {
      Vec line[Columns];
      unrolled<Columns>([&](auto at) {
        constexpr int j = decltype(at)::value;
        line[j] = load(b + j * task.b.line_stride, b_batch);
      });
      unrolled<Rows>([&](auto at) {
        constexpr int i = decltype(at)::value;
        const Vec factor = load(a + i * task.a.line_stride, a_batch);
        unrolled<Columns>([&](auto which) {
          constexpr int j = decltype(which)::value;
          sum[i][j] = fma(factor, line[j], sum[i][j]);
        });
      });
    }
    Real* const c = task.c + batch + row * task.row_stride + column * task.column_stride;
    unrolled<Rows * Columns>([&](auto at) {
      constexpr int i = decltype(at)::value / Columns, j = decltype(at)::value % Columns;
      Real* const to = c + i * task.row_stride + j * task.column_stride;
      Vec result = Vec(alpha) * sum[i][j];
      if constexpr (Keep) result = fma(Vec(task.beta.get()), Vec::load(to), result);
      result.store(to);
    });
  }
};

}  // namespace tessera::detail
