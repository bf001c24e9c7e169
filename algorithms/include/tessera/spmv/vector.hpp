// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/spmv/terms.hpp>

namespace tessera::detail {

/// Row sums by vector lanes: `lanes` of them read a row's entries side by side, a batch each at a time.
template <class Types, class Space>
struct SpmvVector {
  using A = accumulator_t<typename Types::scalar>;
  using Offset = typename Types::offset;
  using Ordinal = typename Types::ordinal;
  using Scalar = typename Types::scalar;
  using Member = typename Teams<Space>::member_type;
  static constexpr bool host = machine<Space>::is_host;
  static constexpr int batch = spmv_batch<Types>;

  SpmvTerms<Types> terms;
  SpmvOutput<Types> out;
  SpmvRowBlocks<Types, Space> blocks;
  int lanes_asked;
  index_t longest;  // rows beyond are another kernel's

  static void launch(const Space& exec, const SpmvProblem<Types>& p) {
    const int lanes = host ? 1 : p.shape.lanes;
    const int team = host ? 1 : p.shape.team_threads / lanes;
    const SpmvVector kernel{SpmvTerms<Types>(p), SpmvOutput<Types>(p), SpmvRowBlocks<Types, Space>(exec, p.a, team),
                            lanes, p.shape.long_rows ? p.shape.long_row_length : p.a.nnz};
    Kokkos::parallel_for("tessera::spmv::vector", Teams<Space>(exec, kernel.blocks.league(), team, lanes), kernel);
  }

  [[nodiscard]] TESSERA_INLINE_FUNCTION A lane_sum(index_t begin, index_t end, int lane, int lanes) const {
    if constexpr (host) {
      // four chains of additions hide their latency
      const Scalar* const __restrict__ v = terms.values;
      const Ordinal* const __restrict__ c = terms.columns;
      A s0{}, s1{}, s2{}, s3{};
      index_t k = begin;
      for (; k + 4 <= end; k += 4) {
        s0 += A(v[k]) * terms.gather(c[k]);
        s1 += A(v[k + 1]) * terms.gather(c[k + 1]);
        s2 += A(v[k + 2]) * terms.gather(c[k + 2]);
        s3 += A(v[k + 3]) * terms.gather(c[k + 3]);
      }
      for (; k < end; ++k) s0 += A(v[k]) * terms.gather(c[k]);
      return (s0 + s1) + (s2 + s3);
    } else {
      A sum{};
      for (index_t k = begin; k < end; k += batch * lanes) {
        const index_t left = end - k;
        const int count = left < batch * lanes ? static_cast<int>(left) : batch * lanes;
        terms.template batch<batch>(terms.columns + k, terms.values + k, lane, lanes, count,
                                    [&](int, const A& term) { sum += term; });
      }
      return sum;
    }
  }

  TESSERA_INLINE_FUNCTION void operator()(const Member& team) const {
    const int lanes = host ? 1 : lanes_asked;
    const A alpha = out.alpha.get(), beta = out.beta.get();
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
              [&](int lane, A& partial) { partial += lane_sum(begin, end, lane, lanes); }, sum);
        Kokkos::single(Kokkos::PerThread(team), [&] { out.store(row, alpha, beta, terms.finish(sum)); });
      });
    }
  }
};

}  // namespace tessera::detail
