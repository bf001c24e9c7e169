// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/core/error.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/views.hpp>
#include <tessera/spmv/problem.hpp>

namespace tessera {

/// A sparse matrix in compressed sparse rows. Entries of row r stand at row_offsets(r) to row_offsets(r + 1) - 1 of
/// `columns` and `values`; columns of a row may come in any order, and may repeat (their values add up).
/// Index types compiled in: int32/int32, int32/int64, int64/int64 (Ordinal/Offset). Make one by make_csr_matrix() or
/// csr_from_triplets(), which check it; an aggregate filled by hand is trusted.
template <class Scalar, class Ordinal = std::int32_t, class Offset = std::int32_t,
          class MemorySpace = Kokkos::DefaultExecutionSpace::memory_space>
struct CsrMatrix {
  static_assert(std::is_signed_v<Ordinal> && std::is_integral_v<Ordinal> && std::is_signed_v<Offset> &&
                    std::is_integral_v<Offset>,
                "tessera::CsrMatrix: Ordinal and Offset are signed integers");
  using scalar_type = Scalar;
  using ordinal_type = Ordinal;
  using offset_type = Offset;
  using memory_space = MemorySpace;
  using types = CsrTypes<Scalar, Ordinal, Offset>;

  index_t rows = 0;
  index_t cols = 0;
  Kokkos::View<Offset*, MemorySpace> row_offsets;  ///< rows + 1 of them (none is accepted where rows is 0)
  Kokkos::View<Ordinal*, MemorySpace> columns;     ///< 0-based
  Kokkos::View<Scalar*, MemorySpace> values;

  /// Stored entries, explicit zeros included.
  [[nodiscard]] index_t nnz() const { return static_cast<index_t>(values.extent(0)); }
  [[nodiscard]] CsrRef<types> ref() const {
    return {rows, cols, nnz(), row_offsets.data(), columns.data(), values.data()};
  }
};

namespace detail {

/// What is wrong with the indices of a matrix: positions of the first faults, or -1.
struct CsrFault {
  index_t row = -1;    ///< first row whose offsets are out of order or out of range
  index_t entry = -1;  ///< first entry whose column is out of range
  index_t before = 0;  ///< the faulty row's offsets
  index_t after = 0;
  index_t column = 0;  ///< the faulty entry's column
};

/// Looks at every index on the device and waits for the answer.
template <class Types, class Space>
CsrFault find_csr_fault(const Space& exec, const CsrRef<Types>& a);  // defined in spmv/any_type.hpp
/// A matrix of which only the structure matters.
template <class Ordinal, class Offset>
using CsrStructure = CsrTypes<void, Ordinal, Offset>;

struct CsrSizes {
  index_t rows, cols, offsets, columns, values;
  index_t most_cols, most_nnz;  // what the index types count
};
/// \throws Error where the sizes do not fit each other
void check_csr_sizes(const char* function, const CsrSizes& sizes, const std::source_location& where);
/// \throws Error describing the fault, if there is one
void check_csr_fault(const char* function, const CsrSizes& sizes, const CsrFault& fault,
                     const std::source_location& where);

/// Triplets sorted by row, then column, equal positions marked: the order in which to gather them.
struct TripletOrder {
  std::vector<index_t> order;        // entry k of the sorted matrix is triplet order[k]
  std::vector<index_t> row_offsets;  // of the sorted entries, before equal positions are added up
};
TripletOrder order_triplets(const char* function, index_t rows, index_t cols, std::span<const index_t> row,
                            std::span<const index_t> column, const std::source_location& where);

}  // namespace detail

/// A checked matrix over arrays that are already in memory that exec reads; nothing is copied.
/// \param row_offsets  rows + 1, starting with 0, never falling, ending with the number of entries
/// \param columns      each in [0, cols)
/// \param values       as many as columns
/// \throws Error       naming the first row or entry that breaks a rule. Waits for the check.
template <ExecutionSpace Space, class Offsets, class Columns, class Values>
  requires(Kokkos::is_view_v<Offsets> && Kokkos::is_view_v<Columns> && Kokkos::is_view_v<Values> &&
           MutableVectorView<Offsets> && MutableVectorView<Columns> && MutableVectorView<Values> &&
           AccessibleFrom<Offsets, Space> && AccessibleFrom<Columns, Space> && AccessibleFrom<Values, Space>)
[[nodiscard]] auto make_csr_matrix(const Space& exec, index_t rows, index_t cols, const Offsets& row_offsets,
                                   const Columns& columns, const Values& values,
                                   std::source_location where = std::source_location::current()) {
  using Scalar = value_t<Values>;
  using Ordinal = value_t<Columns>;
  using Offset = value_t<Offsets>;
  using MemorySpace = typename Values::memory_space;
  constexpr const char* function = "tessera::make_csr_matrix";
  const auto size = [](const auto& view) { return static_cast<index_t>(view.extent(0)); };
  const detail::CsrSizes sizes{rows,
                               cols,
                               size(row_offsets),
                               size(columns),
                               size(values),
                               static_cast<index_t>(std::numeric_limits<Ordinal>::max()),
                               static_cast<index_t>(std::numeric_limits<Offset>::max())};
  detail::check_csr_sizes(function, sizes, where);
  const auto contiguous = [](const auto& view) { return view.extent(0) < 2 || view.stride(0) == 1; };
  require(contiguous(row_offsets) && contiguous(columns) && contiguous(values), [&] {
    return Error(function, "an array has a stride above 1", "the three arrays are contiguous", "Copy it first", where);
  });
  CsrMatrix<Scalar, Ordinal, Offset, MemorySpace> a{rows, cols, row_offsets, columns, values};
  if (rows > 0)
    detail::check_csr_fault(function, sizes,
                            detail::find_csr_fault<detail::CsrStructure<Ordinal, Offset>, Space>(
                                exec, {rows, cols, a.nnz(), row_offsets.data(), columns.data(), nullptr}),
                            where);
  return a;
}

/// A matrix from host triplets (row, column, value) in any order; values at equal positions are added up; columns of
/// a row come out ascending. Waits for the copy to the device.
/// \throws Error naming the first triplet outside of the matrix
template <class Ordinal = std::int32_t, class Offset = std::int32_t, ExecutionSpace Space, class Scalar>
[[nodiscard]] CsrMatrix<Scalar, Ordinal, Offset, typename Space::memory_space> csr_from_triplets(
    const Space& exec, index_t rows, index_t cols, const std::vector<index_t>& row, const std::vector<index_t>& column,
    const std::vector<Scalar>& value, std::source_location where = std::source_location::current()) {
  constexpr const char* function = "tessera::csr_from_triplets";
  require(row.size() == column.size() && row.size() == value.size(), [&] {
    return Error(function,
                 std::to_string(row.size()) + " rows, " + std::to_string(column.size()) + " columns and " +
                     std::to_string(value.size()) + " values",
                 "a triplet has one of each", {}, where);
  });
  const detail::TripletOrder sorted = detail::order_triplets(function, rows, cols, row, column, where);
  std::vector<index_t> first(static_cast<std::size_t>(rows) + 1, 0);
  std::vector<index_t> columns;
  std::vector<Scalar> values;
  columns.reserve(row.size());
  values.reserve(row.size());
  for (index_t r = 0; r < rows; ++r) {
    const auto i = static_cast<std::size_t>(r);
    for (index_t k = sorted.row_offsets[i]; k < sorted.row_offsets[i + 1]; ++k) {
      const auto t = static_cast<std::size_t>(sorted.order[static_cast<std::size_t>(k)]);
      if (k > sorted.row_offsets[i] && columns.back() == column[t]) {
        values.back() = static_cast<Scalar>(values.back() + value[t]);
      } else {
        columns.push_back(column[t]);
        values.push_back(value[t]);
      }
    }
    first[i + 1] = static_cast<index_t>(values.size());
  }
  detail::check_csr_sizes(
      function,
      {rows, cols, rows + 1, static_cast<index_t>(columns.size()), static_cast<index_t>(values.size()),
       static_cast<index_t>(std::numeric_limits<Ordinal>::max()),
       static_cast<index_t>(std::numeric_limits<Offset>::max())},
      where);
  CsrMatrix<Scalar, Ordinal, Offset, typename Space::memory_space> a{rows, cols, {}, {}, {}};
  const auto upload = [&exec](auto& view, const auto& from, const char* what) {
    using View = std::remove_reference_t<decltype(view)>;
    view = View(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label("csr_matrix", what)), from.size());
    auto host = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, Kokkos::HostSpace(), view);
    for (std::size_t i = 0; i < from.size(); ++i) host(i) = static_cast<typename View::value_type>(from[i]);
    Kokkos::deep_copy(exec, view, host);
    exec.fence("tessera::csr_matrix::upload");
  };
  upload(a.row_offsets, first, "row_offsets");
  upload(a.columns, columns, "columns");
  upload(a.values, values, "values");
  return a;
}

/// A copy of a matrix in another memory space (host to device, or back). Waits for it.
template <class To, ExecutionSpace Space, class Scalar, class Ordinal, class Offset, class From>
[[nodiscard]] CsrMatrix<Scalar, Ordinal, Offset, To> copy_csr_matrix(
    const Space& exec, const CsrMatrix<Scalar, Ordinal, Offset, From>& a) {
  CsrMatrix<Scalar, Ordinal, Offset, To> b{a.rows, a.cols, {}, {}, {}};
  const auto copy = [&exec](auto& to, const auto& from, const char* what) {
    using View = std::remove_reference_t<decltype(to)>;
    to = View(Kokkos::view_alloc(Kokkos::WithoutInitializing, label("csr_matrix", what)), from.extent(0));
    Kokkos::deep_copy(exec, to, from);
  };
  copy(b.row_offsets, a.row_offsets, "row_offsets");
  copy(b.columns, a.columns, "columns");
  copy(b.values, a.values, "values");
  exec.fence("tessera::csr_matrix::copy");
  return b;
}

}  // namespace tessera
