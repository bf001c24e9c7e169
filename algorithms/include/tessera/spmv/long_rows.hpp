// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/spmv/terms.hpp>

namespace tessera::detail {

/// Rows of more than `piece` entries, cut into pieces of so many entries of the whole matrix: a team looks at one
/// piece and adds what it holds of long rows to y, atomically. Short rows are another kernel's; a piece can hold parts
/// of two long rows at most, those of its first and of its last entry.
template <class Types, class Space>
struct SpmvLongRows {
  using Scalar = typename Types::scalar;
  using A = product_sum_t<Scalar>;
  using Offset = typename Types::offset;
  using Policy = SpmvBatches<Space>;
  using Member = typename Policy::member_type;
  static constexpr bool host = machine<Space>::is_host;

  SpmvTerms<Types> terms;
  ProductOutput<Scalar> out;
  const Offset* offsets;
  index_t rows, nnz, piece, pieces;
  bool transposed;
  int threads;

  static void launch(const Space& exec, const SpmvProblem<Types>& p) {
    const index_t piece = p.shape.long_row_length;
    if (p.a.nnz <= piece) return;
    const index_t pieces = (p.a.nnz + piece - 1) / piece;
    constexpr int lanes = machine<Space>::warp_width;
    constexpr int team = machine<Space>::team_threads / lanes;
    constexpr index_t most = index_t{1} << 30;
    const SpmvLongRows kernel{SpmvTerms<Types>(p),
                              ProductOutput<Scalar>(p.alpha, p.beta, p.y),
                              p.a.row_offsets,
                              p.a.rows,
                              p.a.nnz,
                              piece,
                              pieces,
                              p.transposed,
                              lanes * team};
    Kokkos::parallel_for("tessera::spmv::long_rows",
                         Policy(exec, static_cast<int>(pieces < most ? pieces : most), team, lanes), kernel);
  }

  /// The row of entry k: the last row that begins at or before it.
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t row_of(index_t k) const {
    return first_row_at(offsets, rows + 1, 0, k + 1) - 1;
  }

  TESSERA_INLINE_FUNCTION void operator()(const Member& team) const {
    const A alpha = A(out.alpha.get());
    if (alpha == A{}) return;
    for (index_t i = team.league_rank(); i < pieces; i += team.league_size()) {
      const index_t from = i * piece, to = from + piece < nnz ? from + piece : nnz;
      const index_t first = row_of(from), last = row_of(to - 1);
      add_part(team, alpha, first, from, to);
      if (last != first) add_part(team, alpha, last, from, to);
    }
  }

  TESSERA_INLINE_FUNCTION void add_part(const Member& team, const A& alpha, index_t row, index_t from,
                                        index_t to) const {
    const index_t b = static_cast<index_t>(offsets[row]), e = static_cast<index_t>(offsets[row + 1]);
    if (e - b <= piece) return;
    const index_t begin = b > from ? b : from;
    const int count = static_cast<int>((e < to ? e : to) - begin);
    if (transposed) {
      const auto* const columns = terms.columns + begin;
      const auto* const values = terms.values + begin;
      const A factor = alpha * terms.x_value(row);
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, count),
                           [&](int k) { out.add(static_cast<index_t>(columns[k]), factor * terms.value(values[k])); });
      return;
    }
    A sum{};
    Kokkos::parallel_reduce(
        Kokkos::TeamVectorRange(team, threads),
        [&](int thread, A& partial) {
          partial += terms.template lane_sum<host>(begin, begin + count, thread, threads);
        },
        sum);
    Kokkos::single(Kokkos::PerTeam(team), [&] { out.add(row, alpha * terms.finish(sum)); });
  }
};

}  // namespace tessera::detail
