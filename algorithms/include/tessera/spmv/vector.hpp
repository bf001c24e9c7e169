// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/spmv/terms.hpp>

namespace tessera::detail {

/// Row sums by vector lanes: `lanes` of them read a row's entries side by side, a batch each at a time.
template <class Types, class Space>
struct SpmvVector {
  using Scalar = typename Types::scalar;
  using A = product_sum_t<Scalar>;
  using Offset = typename Types::offset;
  static constexpr int most_threads = machine<Space>::team_threads;
  using Policy = SpmvBatches<Space>;
  using Member = typename Policy::member_type;
  static constexpr bool host = machine<Space>::is_host;

  SpmvTerms<Types> terms;
  ProductOutput<Scalar> out;
  SpmvRowBlocks<Types, Space> blocks;
  int lanes_asked;
  index_t longest;  // rows beyond are another kernel's

  static void launch(const Space& exec, const SpmvProblem<Types>& p) {
    const int lanes = host ? 1 : p.shape.lanes;
    const int team = host ? 1 : team_of(p.shape, lanes);
    const SpmvVector kernel{SpmvTerms<Types>(p), ProductOutput<Scalar>(p.alpha, p.beta, p.y),
                            SpmvRowBlocks<Types, Space>(exec, p.a, team), lanes,
                            p.shape.long_rows ? p.shape.long_row_length : p.a.nnz};
    Kokkos::parallel_for("tessera::spmv::vector", Policy(exec, kernel.blocks.league(), team, lanes), kernel);
  }

  static int team_of(const SpmvShape& shape, int lanes) {
    return (shape.team_threads < most_threads ? shape.team_threads : most_threads) / lanes;
  }

  TESSERA_INLINE_FUNCTION void operator()(const Member& team) const {
    const int lanes = host ? 1 : lanes_asked;
    const A alpha = A(out.alpha.get()), beta = A(out.beta.get());
    for (index_t block = team.league_rank(); block < blocks.blocks; block += team.league_size()) {
      const index_t first = blocks.begin(block), last = blocks.begin(block + 1);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, first, last), [&](index_t row) {
        const index_t begin = static_cast<index_t>(blocks.offsets[row]);
        const index_t end = static_cast<index_t>(blocks.offsets[row + 1]);
        const bool mine = alpha != A{} && end - begin <= longest;
        A sum{};
        if (mine)
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, lanes),
              [&](int lane, A& partial) { partial += terms.template lane_sum<host>(begin, end, lane, lanes); }, sum);
        Kokkos::single(Kokkos::PerThread(team), [&] { out.store(row, alpha, beta, terms.finish(sum)); });
      });
    }
  }
};

}  // namespace tessera::detail
