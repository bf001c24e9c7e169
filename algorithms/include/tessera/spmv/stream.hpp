// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/spmv/terms.hpp>

namespace tessera::detail {

/// Row sums through scratch: a team forms the products of a chunk of consecutive entries, read without gaps whatever
/// the lengths of the rows, and then sums each of its rows from scratch.
/// Source: the CSR-Stream kernel of Greathouse and Daga, "Efficient sparse matrix-vector multiplication on GPUs using
/// the CSR storage format", SC 2014; here the chunk is walked, so that no row blocks need be made beforehand.
template <class Types, class Space>
struct SpmvStream {
  using Scalar = typename Types::scalar;
  using A = product_sum_t<Scalar>;
  using Offset = typename Types::offset;
  using Member = typename Teams<Space>::member_type;
  using Scratch = Kokkos::View<A*, typename Space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr bool host = machine<Space>::is_host;
  static constexpr int batch = spmv_batch<Types>;
  static constexpr int host_rows = 64;  // a team of one sums so many rows

  SpmvTerms<Types> terms;
  ProductOutput<Scalar> out;
  const Offset* offsets;
  index_t rows, blocks, longest;
  int rows_per_team, capacity, lanes_asked;

  static void launch(const Space& exec, const SpmvProblem<Types>& p) {
    const int lanes = host ? 1 : p.shape.lanes;
    const int team = host ? 1 : p.shape.team_threads / lanes;
    const int per_team = host ? host_rows : team;
    const int capacity = (host ? 256 : p.shape.team_threads) * batch;
    const index_t blocks = (p.a.rows + per_team - 1) / per_team;
    constexpr index_t most = index_t{1} << 30;
    const SpmvStream kernel{SpmvTerms<Types>(p),
                            ProductOutput<Scalar>(p.alpha, p.beta, p.y),
                            p.a.row_offsets,
                            p.a.rows,
                            blocks,
                            p.shape.long_rows ? p.shape.long_row_length : p.a.nnz,
                            per_team,
                            capacity,
                            lanes};
    Kokkos::parallel_for(
        "tessera::spmv::stream",
        Teams<Space>(exec, static_cast<int>(blocks < most ? blocks : most), team, lanes)
            .set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(capacity) + Scratch::shmem_size(per_team))),
        kernel);
  }

  TESSERA_INLINE_FUNCTION void operator()(const Member& team) const {
    const int lanes = host ? 1 : lanes_asked;
    const Scratch products(team.team_scratch(0), capacity);
    const Scratch sums(team.team_scratch(0), rows_per_team);
    const A alpha = A(out.alpha.get()), beta = A(out.beta.get());
    for (index_t block = team.league_rank(); block < blocks; block += team.league_size()) {
      const index_t first = block * rows_per_team;
      const int count = static_cast<int>(rows - first < rows_per_team ? rows - first : rows_per_team);
      index_t at = static_cast<index_t>(offsets[first]);
      const index_t end = static_cast<index_t>(offsets[first + count]);
      // only a block with many entries can hold a long row, which another kernel sums
      const bool search = end - at > longest;
      int row = 0;  // the search for long rows has passed those before
      bool fresh = true;
      while (alpha != A{} && at < end) {
        index_t stop = end;
        if (search) {
          stop = next_long_row(first, count, at, end, row);
          if (at >= end) break;
        }
        const int chunk = stop - at < capacity ? static_cast<int>(stop - at) : capacity;
        form(team, products, at, chunk);
        team.team_barrier();
        sum_rows(team, products, sums, first, count, at, at + chunk, lanes, fresh);
        team.team_barrier();
        fresh = false;
        at += chunk;
      }
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int r) {
        Kokkos::single(Kokkos::PerThread(team),
                       [&] { out.store(first + r, alpha, beta, fresh ? A{} : terms.finish(sums(r))); });
      });
    }
  }

  /// Moves `at` out of a long row; returns where the next long row begins, or `end`.
  TESSERA_INLINE_FUNCTION index_t next_long_row(index_t first, int count, index_t& at, index_t end, int& row) const {
    for (; row < count; ++row) {
      const index_t b = static_cast<index_t>(offsets[first + row]), e = static_cast<index_t>(offsets[first + row + 1]);
      if (e - b <= longest) continue;
      if (at < b) return b;
      at = e;
    }
    return end;
  }

  TESSERA_INLINE_FUNCTION void form(const Member& team, const Scratch& products, index_t at, int chunk) const {
    const int step = capacity / batch;
    const auto* const columns = terms.columns + at;
    const auto* const values = terms.values + at;
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, step), [&](int thread) {
      const auto keep = [&](int k, const A& term) { products(k) = term; };
      if (terms.x_stride == 1)
        terms.template batch<batch, true>(columns, values, thread, step, chunk, keep);
      else
        terms.template batch<batch, false>(columns, values, thread, step, chunk, keep);
    });
  }

  TESSERA_INLINE_FUNCTION void sum_rows(const Member& team, const Scratch& products, const Scratch& sums, index_t first,
                                        int count, index_t from, index_t to, int lanes, bool fresh) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](int r) {
      const index_t b = static_cast<index_t>(offsets[first + r]), e = static_cast<index_t>(offsets[first + r + 1]);
      const int begin = static_cast<int>((b > from ? b : from) - from);
      const int end = static_cast<int>((e < to ? e : to) - from);
      A sum{};
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, lanes),
          [&](int lane, A& partial) {
            for (int k = begin + lane; k < end; k += lanes) partial += products(k);
          },
          sum);
      Kokkos::single(Kokkos::PerThread(team), [&] { sums(r) = fresh ? sum : sums(r) + sum; });
    });
  }
};

}  // namespace tessera::detail
