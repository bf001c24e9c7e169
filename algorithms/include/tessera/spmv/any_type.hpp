// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// SpMV and the checks of CSR matrices for element and index types that the library does not bring compiled: include
/// this instead of tessera/spmv.hpp.

#include <tessera/backends/enabled.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/spmv.hpp>
#include <tessera/spmv/long_rows.hpp>
#include <tessera/spmv/scatter.hpp>
#include <tessera/spmv/stream.hpp>
#include <tessera/spmv/vector.hpp>

namespace tessera::detail {

/// y = beta * y before atomic additions.
template <class Types>
void scale_spmv_output(const auto& exec, const SpmvProblem<Types>& p) {
  using Space = std::remove_cvref_t<decltype(exec)>;
  Kokkos::parallel_for("tessera::spmv::scale", Range<Space>(exec, 0, p.y.extents[0]),
                       ScaleOutput<typename Types::scalar>{{p.alpha, p.beta, p.y}});
}

template <class Types, class Space>
void launch_spmv_stream(const Space& exec, const SpmvProblem<Types>& p) {
  // short rows make small blocks, of which a processor holds more where a thread copies fewer entries
  if (p.a.nnz <= 12 * p.a.rows)
    SpmvStream<Types, Space, 8>::launch(exec, p);
  else
    SpmvStream<Types, Space, 16>::launch(exec, p);
}

template <class Types, class Space>
void run_spmv(const Space& exec, const SpmvProblem<Types>& p) {
  const Region region([&] { return "tessera::spmv[portable " + p.shape.text() + "]"; });
  if (p.y.extents[0] == 0) return;
  // nothing to add: y = beta y, whatever the rows of the matrix are
  const bool nothing =
      p.a.nnz == 0 || p.a.rows == 0 || (p.alpha.on_host() && p.alpha.value == decltype(p.alpha.value){});
  if (nothing || p.transposed) scale_spmv_output(exec, p);
  if (nothing) return;
  if (p.transposed)
    SpmvScatter<Types, Space>::launch(exec, p);
  else if (p.shape.kernel == SpmvShape::Kernel::stream)
    launch_spmv_stream(exec, p);
  else
    SpmvVector<Types, Space>::launch(exec, p);
  if (p.shape.long_rows) SpmvLongRows<Types, Space>::launch(exec, p);
}

template <class Offset>
struct RowLengths {
  const Offset* offsets;
  index_t mean;  // lengths are squared about it, so that large rows do not cancel

  TESSERA_INLINE_FUNCTION void operator()(index_t r, index_t& shortest, index_t& longest, double& sum,
                                          double& squares) const {
    const index_t n = static_cast<index_t>(offsets[r + 1]) - static_cast<index_t>(offsets[r]);
    shortest = n < shortest ? n : shortest;
    longest = n > longest ? n : longest;
    const double d = static_cast<double>(n - mean);
    sum += d;
    squares += d * d;
  }
};

/// One value from the space's memory, waited for.
template <class T, class Space>
index_t fetch_index(const Space& exec, const T* from) {
  using One = Kokkos::View<const T, typename Space::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  T value{};
  Kokkos::deep_copy(exec, value, One(from));
  exec.fence("tessera::spmv::fetch");
  return static_cast<index_t>(value);
}

template <class Offset, class Space>
RowStatistics row_statistics(const Space& exec, index_t rows, const Offset* row_offsets) {
  const Region region("tessera::spmv::statistics");
  RowStatistics s;
  if (rows == 0) return s;
  // two single copies: a strided one to the host is not allowed from a device
  const index_t about = (fetch_index(exec, row_offsets + rows) - fetch_index(exec, row_offsets)) / rows;
  double sum = 0, squares = 0;
  Kokkos::parallel_reduce("tessera::spmv::statistics", Range<Space>(exec, 0, rows),
                          RowLengths<Offset>{row_offsets, about}, Kokkos::Min<index_t>(s.shortest),
                          Kokkos::Max<index_t>(s.longest), Kokkos::Sum<double>(sum), Kokkos::Sum<double>(squares));
  const double n = static_cast<double>(rows), shift = sum / n;
  s.mean = static_cast<double>(about) + shift;
  const double variance = squares / n - shift * shift;
  s.variance = variance > 0 ? variance : 0;
  return s;
}

template <class Offset>
struct FaultyRow {
  const Offset* offsets;
  index_t rows, nnz;
  TESSERA_INLINE_FUNCTION void operator()(index_t r, index_t& first) const {
    const index_t begin = static_cast<index_t>(offsets[r]), end = static_cast<index_t>(offsets[r + 1]);
    const bool good = begin <= end && begin >= 0 && end <= nnz && (r > 0 || begin == 0) && (r < rows - 1 || end == nnz);
    if (!good && r < first) first = r;
  }
};
template <class Ordinal>
struct FaultyEntry {
  const Ordinal* columns;
  index_t cols;
  TESSERA_INLINE_FUNCTION void operator()(index_t k, index_t& first) const {
    const index_t c = static_cast<index_t>(columns[k]);
    if ((c < 0 || c >= cols) && k < first) first = k;
  }
};

template <class Types, class Space>
CsrFault find_csr_fault(const Space& exec, const CsrRef<Types>& a) {
  const Region region("tessera::csr_matrix::check");
  constexpr index_t none = std::numeric_limits<index_t>::max();
  CsrFault fault;
  index_t first = none;
  Kokkos::parallel_reduce("tessera::csr_matrix::check_rows", Range<Space>(exec, 0, a.rows),
                          FaultyRow<typename Types::offset>{a.row_offsets, a.rows, a.nnz}, Kokkos::Min<index_t>(first));
  if (first != none) {
    fault.row = first;
    fault.before = fetch_index(exec, a.row_offsets + first);
    fault.after = fetch_index(exec, a.row_offsets + first + 1);
    return fault;
  }
  first = none;
  if (a.nnz == 0) return fault;
  Kokkos::parallel_reduce("tessera::csr_matrix::check_columns", Range<Space>(exec, 0, a.nnz),
                          FaultyEntry<typename Types::ordinal>{a.columns, a.cols}, Kokkos::Min<index_t>(first));
  if (first != none) {
    fault.entry = first;
    fault.column = fetch_index(exec, a.columns + first);
  }
  return fault;
}

}  // namespace tessera::detail
