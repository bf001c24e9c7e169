// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <tessera/core/plan.hpp>
#include <tessera/spmv.hpp>

namespace tessera {
namespace {

using Kernel = SpmvShape::Kernel;

bool power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

int power_of_two_at_least(double n, int most) {
  int p = 1;
  while (p < n && p < most) p *= 2;
  return p;
}

const char* name(Op op) {
  switch (op) {
    case Op::none:
      return "A";
    case Op::transpose:
      return "A^T";
    case Op::conjugate:
      return "conj(A)";
    case Op::adjoint:
      return "A^H";
  }
  return "op(A)";
}

}  // namespace

std::string SpmvShape::text() const {
  switch (kernel) {
    case Kernel::automatic:
      return "automatic";
    case Kernel::vector:
      return "vector=" + std::to_string(lanes);
    case Kernel::stream:
      return "stream";
  }
  return {};
}

namespace detail {

SpmvShape choose_spmv_shape(SpmvShape wanted, bool host, index_t rows, index_t nnz, index_t longest, bool transposed,
                            const std::source_location& where) {
  constexpr int warp = 32;
  require((wanted.lanes == 0 || (power_of_two(wanted.lanes) && wanted.lanes <= warp)) &&
              (wanted.team_threads == 0 || (power_of_two(wanted.team_threads) && wanted.team_threads <= 1024 &&
                                            wanted.team_threads >= wanted.lanes)),
          [&] {
            return Error("tessera::spmv",
                         "the shape asks for " + std::to_string(wanted.lanes) + " lanes and " +
                             std::to_string(wanted.team_threads) + " threads a team",
                         "lanes are a power of two up to 32, threads a power of two from lanes to 1024",
                         "Leave them 0 to have them chosen", where);
          });
  SpmvShape s = wanted;
  const double mean = rows > 0 ? static_cast<double>(nnz) / static_cast<double>(rows) : 0.0;
  // a lane goes round twice with 8 entries in flight
  constexpr double a_lane = 16;
  if (s.kernel == Kernel::automatic) s.kernel = !host && !transposed && mean <= 48 ? Kernel::stream : Kernel::vector;
  if (transposed) s.kernel = Kernel::vector;
  if (s.lanes == 0) {
    if (host)
      s.lanes = 1;
    else if (transposed)
      s.lanes = power_of_two_at_least(mean, warp);
    else
      s.lanes = power_of_two_at_least(mean / a_lane, warp);
  }
  if (s.team_threads == 0) s.team_threads = host ? 1 : 256;
  if (s.team_threads < s.lanes) s.team_threads = s.lanes;
  // A team walks a row of so many entries in about 10 us; a host thread in about as long.
  if (s.long_row_length <= 0) s.long_row_length = host ? 65536 : 8192;
  s.long_rows = s.long_rows && (longest < 0 ? nnz : longest) > s.long_row_length;
  return s;
}

void check_spmv_path(const std::string& forced, const std::source_location& where) {
  const std::string wanted(forced.empty() ? std::string_view(forced_by_environment("spmv")) : std::string_view(forced));
  require(wanted.empty() || wanted == "portable", [&] {
    return Error("tessera::spmv", "there is no path '" + wanted + "' in this build", "paths of this build are portable",
                 "Force one of these, or none", where);
  });
}

void check_spmv_operands(Op op, index_t rows, index_t cols, index_t x, index_t y, const std::source_location& where) {
  const index_t out = transposes(op) ? cols : rows, in = transposes(op) ? rows : cols;
  require(x == in && y == out, [&] {
    return Error("tessera::spmv",
                 std::string(name(op)) + " is " + std::to_string(out) + " x " + std::to_string(in) + ", x has " +
                     std::to_string(x) + " and y has " + std::to_string(y) + " elements",
                 "x must have as many elements as op(A) has columns, y as many as it has rows",
                 "Check the op, or pass subviews", where);
  });
}

namespace {
Error csr_error(const char* function, const std::string& given, const std::string& allowed,
                const std::source_location& where, const std::string& advice = {}) {
  return Error(function, given, allowed, advice, where);
}
}  // namespace

void check_csr_sizes(const char* function, const CsrSizes& s, const std::source_location& where) {
  const auto n = [](index_t v) { return std::to_string(v); };
  require(s.rows >= 0 && s.cols >= 0, [&] {
    return csr_error(function, "the matrix is " + n(s.rows) + " x " + n(s.cols), "extents are 0 or more", where);
  });
  require(s.offsets == s.rows + 1 || (s.rows == 0 && s.offsets == 0), [&] {
    return csr_error(function, n(s.offsets) + " row offsets for " + n(s.rows) + " rows",
                     "there is one more row offset than rows: " + n(s.rows + 1), where);
  });
  require(s.columns == s.values, [&] {
    return csr_error(function, n(s.columns) + " column indices and " + n(s.values) + " values",
                     "there are as many column indices as values", where);
  });
  require(s.cols <= s.most_cols, [&] {
    return csr_error(function, n(s.cols) + " columns", "the column index type counts to " + n(s.most_cols), where,
                     "Use a 64-bit Ordinal");
  });
  require(s.values <= s.most_nnz, [&] {
    return csr_error(function, n(s.values) + " entries", "the row offset type counts to " + n(s.most_nnz), where,
                     "Use a 64-bit Offset");
  });
  require(s.rows > 0 || s.values == 0, [&] {
    return csr_error(function, n(s.values) + " entries in a matrix of no rows", "a matrix of no rows has no entries",
                     where);
  });
}

void check_csr_fault(const char* function, const CsrSizes& s, const CsrFault& fault,
                     const std::source_location& where) {
  const auto n = [](index_t v) { return std::to_string(v); };
  require(fault.row < 0, [&] {
    return csr_error(function,
                     "row " + n(fault.row) + " has offsets " + n(fault.before) + " to " + n(fault.after) + " of " +
                         n(s.values) + " entries",
                     "row offsets start with 0, never fall, and end with the number of entries", where,
                     "Check that the offsets are 0-based and count entries");
  });
  require(fault.entry < 0, [&] {
    return csr_error(function, "entry " + n(fault.entry) + " has column " + n(fault.column),
                     "columns are 0 to " + n(s.cols - 1), where, "Subtract 1 where the indices are 1-based");
  });
}

TripletOrder order_triplets(const char* function, index_t rows, index_t cols, std::span<const index_t> row,
                            std::span<const index_t> column, const std::source_location& where) {
  require(rows >= 0 && cols >= 0, [&] {
    return csr_error(function, "the matrix is " + std::to_string(rows) + " x " + std::to_string(cols),
                     "extents are 0 or more", where);
  });
  TripletOrder sorted;
  sorted.row_offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
  for (std::size_t t = 0; t < row.size(); ++t) {
    require(row[t] >= 0 && row[t] < rows && column[t] >= 0 && column[t] < cols, [&] {
      return csr_error(
          function,
          "triplet " + std::to_string(t) + " is at (" + std::to_string(row[t]) + ", " + std::to_string(column[t]) +
              ") of a matrix of " + std::to_string(rows) + " x " + std::to_string(cols),
          "positions are 0-based and inside of the matrix", where, "Subtract 1 where the indices are 1-based");
    });
    ++sorted.row_offsets[static_cast<std::size_t>(row[t]) + 1];
  }
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) sorted.row_offsets[r + 1] += sorted.row_offsets[r];
  std::vector<index_t> next(sorted.row_offsets.begin(), sorted.row_offsets.end() - 1);
  sorted.order.resize(row.size());
  for (std::size_t t = 0; t < row.size(); ++t)
    sorted.order[static_cast<std::size_t>(next[static_cast<std::size_t>(row[t])]++)] = static_cast<index_t>(t);
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    const auto begin = sorted.order.begin() + sorted.row_offsets[r],
               end = sorted.order.begin() + sorted.row_offsets[r + 1];
    const auto before = [&](index_t a, index_t b) {
      return column[static_cast<std::size_t>(a)] < column[static_cast<std::size_t>(b)];
    };
    // stable: equal positions are added up in the order given
    if (!std::is_sorted(begin, end, before)) std::stable_sort(begin, end, before);
  }
  return sorted;
}

}  // namespace detail

void SpmvPlan::check(index_t rows, index_t cols, index_t nnz, const void* row_offsets,
                     const std::source_location& where) const {
  const auto text = [](index_t r, index_t c, index_t n) {
    return std::to_string(r) + " x " + std::to_string(c) + " with " + std::to_string(n) + " entries";
  };
  require(rows == m_data.rows && cols == m_data.cols && nnz == m_data.nnz && row_offsets == m_data.row_offsets, [&] {
    const bool sizes = rows == m_data.rows && cols == m_data.cols && nnz == m_data.nnz;
    return Error(
        "tessera::SpmvPlan::run",
        "A is " + text(rows, cols, nnz) + (sizes ? ", but its row_offsets are another array" : ""),
        "the plan was made for " + text(m_data.rows, m_data.cols, m_data.nnz) + (sizes ? " and its row_offsets" : ""),
        "Make a plan for this matrix", where);
  });
}

}  // namespace tessera
