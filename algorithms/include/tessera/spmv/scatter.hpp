// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/spmv/terms.hpp>

namespace tessera::detail {

/// op(A) = A^T or A^H: each row's entries, times x of that row, are added to y atomically (plainly where one thread
/// works alone). y holds beta * y already.
template <class Types, class Space>
struct SpmvScatter {
  using Scalar = typename Types::scalar;
  using A = product_sum_t<Scalar>;
  using Member = typename Teams<Space>::member_type;
  static constexpr bool host = machine<Space>::is_host;

  SpmvTerms<Types> terms;
  ProductOutput<Scalar> out;
  SpmvRowBlocks<Types, Space> blocks;
  index_t longest;  // rows beyond are another kernel's
  bool alone;

  static void launch(const Space& exec, const SpmvProblem<Types>& p) {
    const int lanes = host ? 1 : p.shape.lanes;
    const int team = host ? 1 : p.shape.team_threads / lanes;
    const SpmvScatter kernel{SpmvTerms<Types>(p), ProductOutput<Scalar>(p.alpha, p.beta, p.y),
                             SpmvRowBlocks<Types, Space>(exec, p.a, team),
                             p.shape.long_rows ? p.shape.long_row_length : p.a.nnz, host && exec.concurrency() == 1};
    Kokkos::parallel_for("tessera::spmv::scatter", Teams<Space>(exec, kernel.blocks.league(), team, lanes), kernel);
  }

  TESSERA_INLINE_FUNCTION void operator()(const Member& team) const {
    const A alpha = A(out.alpha.get());
    if (alpha == A{}) return;
    for (index_t block = team.league_rank(); block < blocks.blocks; block += team.league_size()) {
      const index_t first = blocks.begin(block), last = blocks.begin(block + 1);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, first, last), [&](index_t row) {
        const index_t begin = static_cast<index_t>(blocks.offsets[row]);
        const index_t count = static_cast<index_t>(blocks.offsets[row + 1]) - begin;
        if (count == 0 || count > longest) return;
        const A factor = alpha * terms.x_value(row);
        const auto* const columns = terms.columns + begin;
        const auto* const values = terms.values + begin;
        if (alone) {
          for (index_t k = 0; k < count; ++k)
            out.add_alone(static_cast<index_t>(columns[k]), factor * terms.value(values[k]));
        } else {
          Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, count), [&](index_t k) {
            out.add(static_cast<index_t>(columns[k]), factor * terms.value(values[k]));
          });
        }
      });
    }
  }
};

}  // namespace tessera::detail
