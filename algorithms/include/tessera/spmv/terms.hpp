// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <type_traits>

#include <tessera/core/execution.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/core/vec.hpp>
#include <tessera/gemv/output.hpp>
#include <tessera/spmv/problem.hpp>

/// \file
/// What the SpMV kernels share: products of entries with x, and which rows are a team's.

namespace tessera::detail {

/// Entries that a lane of a device has in flight: 16 registers' worth of values.
template <class Types>
inline constexpr int spmv_batch = sizeof(typename Types::scalar) <= 8 ? 8 : 4;

/// Teams whose lanes have several loads in flight: told how many threads a team has and how many teams a processor,
/// device compilers keep the loads together instead of saving registers.
template <class Space>
using SpmvBatches =
    Kokkos::TeamPolicy<Space, Kokkos::IndexType<index_t>, Kokkos::LaunchBounds<machine<Space>::team_threads, 3>>;

/// Products a(k) * x(column(k)). With conjugations, sum conj(a) x = conj(sum a conj(x)): the terms conjugate at most
/// x, `finish` the sum.
template <class Types>
struct SpmvTerms {
  using Scalar = typename Types::scalar;
  using Ordinal = typename Types::ordinal;
  using A = product_sum_t<Scalar>;

  const Scalar* values;
  const Ordinal* columns;
  const Scalar* x;
  index_t x_stride;
  bool conj_x;        ///< of the terms of a row sum
  bool conj_a;        ///< of the matrix: of a row sum as a whole, or of a scattered value
  bool plain_x_conj;  ///< of x in scattered products

  explicit SpmvTerms(const SpmvProblem<Types>& p)
      : values(p.a.values),
        columns(p.a.columns),
        x(p.x.pointer),
        x_stride(p.x.strides[0]),
        conj_x(p.conj != p.x.conj),
        conj_a(p.conj),
        plain_x_conj(p.x.conj) {}

  template <bool UnitStride>
  [[nodiscard]] TESSERA_INLINE_FUNCTION A gather(Ordinal column) const {
    const Scalar value = UnitStride ? x[column] : x[static_cast<index_t>(column) * x_stride];
    if constexpr (is_complex_v<Scalar>)
      return conj_x ? A(conj_value(value)) : A(value);
    else
      return A(value);
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION A finish(const A& sum) const {
    if constexpr (is_complex_v<Scalar>)
      return conj_a ? conj_value(sum) : sum;
    else
      return sum;
  }

  /// The two factors of a scattered product.
  [[nodiscard]] TESSERA_INLINE_FUNCTION A value(const Scalar& v) const { return conj_a ? A(conj_value(v)) : A(v); }
  [[nodiscard]] TESSERA_INLINE_FUNCTION A x_value(index_t row) const {
    const Scalar v = x[row * x_stride];
    return plain_x_conj ? A(conj_value(v)) : A(v);
  }

  /// Sum of the terms begin + lane, begin + lane + lanes, ... below end.
  template <bool Host>
  [[nodiscard]] TESSERA_INLINE_FUNCTION A lane_sum(index_t begin, index_t end, int lane, int lanes) const {
    if constexpr (Host)
      return x_stride == 1 ? serial_sum<true>(begin, end) : serial_sum<false>(begin, end);
    else
      return x_stride == 1 ? batched_sum<true>(begin, end, lane, lanes) : batched_sum<false>(begin, end, lane, lanes);
  }

 private:
  template <bool UnitStride>
  [[nodiscard]] TESSERA_INLINE_FUNCTION A serial_sum(index_t begin, index_t end) const {
    // four chains of additions hide their latency
    const Scalar* const __restrict__ v = values;
    const Ordinal* const __restrict__ c = columns;
    index_t k = begin;
    if constexpr (std::is_floating_point_v<Scalar>) {
      using V = vec<Scalar, 4>;
      V sums(Scalar{});
      for (; k + 4 <= end; k += 4) {
        V other;
        for (int u = 0; u < 4; ++u) other.set(u, gather<UnitStride>(c[k + u]));
        sums = fma(V::load(v + k), other, sums);
      }
      Scalar rest{};
      for (; k < end; ++k) rest += v[k] * gather<UnitStride>(c[k]);
      return reduce_add(sums) + rest;
    } else {
      A sums[4] = {};
      for (; k + 4 <= end; k += 4)
        for (int u = 0; u < 4; ++u) sums[u] += A(v[k + u]) * gather<UnitStride>(c[k + u]);
      for (; k < end; ++k) sums[0] += A(v[k]) * gather<UnitStride>(c[k]);
      return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
  }
  /// Several terms in flight: all their loads come before all arithmetic. Behind the end the last entry is read again,
  /// since compilers move a conditional load to its use.
  template <bool UnitStride>
  [[nodiscard]] TESSERA_INLINE_FUNCTION A batched_sum(index_t begin, index_t end, int lane, int lanes) const {
    A sum{};
    index_t k = begin + lane;
    for (; k + (spmv_batch<Types> - 1) * lanes < end; k += spmv_batch<Types> * lanes)
      add_batch<spmv_batch<Types>, true, UnitStride>(sum, k, end, lanes);
    for (; k < end; k += 4 * lanes) add_batch<4, false, UnitStride>(sum, k, end, lanes);
    return sum;
  }
  template <int Count, bool Full, bool UnitStride>
  TESSERA_INLINE_FUNCTION void add_batch(A& sum, index_t k, index_t end, int step) const {
    Ordinal column[Count];
    Scalar value[Count];
    A other[Count];
    for (int u = 0; u < Count; ++u) {
      const index_t at = Full || k + u * step < end ? k + u * step : end - 1;
      column[u] = columns[at];
      value[u] = values[at];
    }
    for (int u = 0; u < Count; ++u) other[u] = gather<UnitStride>(column[u]);
    for (int u = 0; u < Count; ++u)
      if (Full || k + u * step < end) sum += A(value[u]) * other[u];
  }
};

/// First position in [0, n) where offsets[i] + weight * i >= target; n if there is none.
template <class Offset>
[[nodiscard]] TESSERA_INLINE_FUNCTION index_t first_row_at(const Offset* offsets, index_t n, index_t weight,
                                                           index_t target) {
  index_t low = 0, high = n;
  while (low < high) {
    const index_t middle = low + (high - low) / 2;
    if (static_cast<index_t>(offsets[middle]) + weight * middle < target)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// The rows that a team owns: on hosts one of `blocks` parts of equal work, on devices `rows_per_block` rows.
template <class Types, class Space>
struct SpmvRowBlocks {
  index_t rows, nnz, blocks, rows_per_block;
  const typename Types::offset* offsets;

  SpmvRowBlocks(const Space& exec, const CsrRef<Types>& a, index_t per_block)
      : rows(a.rows), nnz(a.nnz), rows_per_block(per_block), offsets(a.row_offsets) {
    if constexpr (machine<Space>::is_host)
      blocks = static_cast<index_t>(exec.concurrency());
    else
      blocks = (rows + per_block - 1) / per_block;
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t begin(index_t block) const {
    if constexpr (machine<Space>::is_host) {
      // a row costs about as much as an entry, beside its entries
      return block == blocks ? rows : first_row_at(offsets, rows, 1, (nnz + rows) / blocks * block);
    } else {
      const index_t row = block * rows_per_block;
      return row < rows ? row : rows;
    }
  }
  /// Leagues are 32-bit: teams loop where there are more blocks.
  [[nodiscard]] int league() const {
    constexpr index_t most = index_t{1} << 30;
    return static_cast<int>(blocks < most ? blocks : most);
  }
};

}  // namespace tessera::detail
