// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bit>
#include <cg/rows.hpp>
#include <cmath>
#include <common/matrix_market.hpp>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <utility>

#include <tessera/core/error.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/trace.hpp>

namespace tessera::cg {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;

template <class T>
HostArray<T> host_array(const char* what, index_t size) {
  return HostArray<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label("cg", what)), size);
}

/// Where the rows of the 27-point operator start. A row's length is the product of three one-dimensional ones
/// (3, or less at an end), so that sums over rows before it have a closed form and no scan is needed.
struct StencilShape {
  index_t edge;

  [[nodiscard]] KOKKOS_INLINE_FUNCTION index_t width(index_t x) const {
    return 3 - (x == 0 ? 1 : 0) - (x == edge - 1 ? 1 : 0);
  }
  [[nodiscard]] KOKKOS_INLINE_FUNCTION index_t widths_before(index_t x) const {
    if (x == 0) return 0;
    return 3 * x - 1 - (x == edge ? 1 : 0);
  }
  /// Entries in all rows before row (x, y, z), x fastest.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION index_t entries_before(index_t row) const {
    const index_t line = widths_before(edge);
    const index_t x = row % edge, y = row / edge % edge, z = row / (edge * edge);
    if (z == edge) return line * line * line;
    return widths_before(z) * line * line + width(z) * (widths_before(y) * line + width(y) * widths_before(x));
  }
};

struct FillStencil {
  StencilShape shape;
  index_t first_row;
  index_t first_entry;
  HostArray<index_t> offsets, columns;
  HostArray<double> values;

  KOKKOS_FUNCTION void operator()(index_t i) const {
    const index_t edge = shape.edge, row = first_row + i;
    index_t to = shape.entries_before(row) - first_entry;
    offsets(i) = to;
    const index_t x = row % edge, y = row / edge % edge, z = row / (edge * edge);
    for (index_t dz = -1; dz <= 1; ++dz)
      for (index_t dy = -1; dy <= 1; ++dy)
        for (index_t dx = -1; dx <= 1; ++dx) {
          const index_t cx = x + dx, cy = y + dy, cz = z + dz;
          if (cx < 0 || cx >= edge || cy < 0 || cy >= edge || cz < 0 || cz >= edge) continue;
          const index_t column = (cz * edge + cy) * edge + cx;
          columns(to) = column;
          values(to++) = column == row ? 26.0 : -1.0;
        }
  }
};

// FNV-1a over whole words: enough to tell one matrix from another, not to resist an attack
struct Fingerprint {
  std::uint64_t value = 14695981039346656037ull;
  void add(std::uint64_t word) { value = std::rotl((value ^ word) * 1099511628211ull, 23); }
};

using File = matrix_market::Csr<double, std::int64_t, std::int64_t>;

std::string entry_text(index_t i, index_t j, double value) {
  char text[96];
  std::snprintf(text, sizeof text, "a(%lld, %lld) = %.17g", static_cast<long long>(i) + 1,
                static_cast<long long>(j) + 1, value);
  return text;
}

/// The first pair across the diagonal that differs by more than rounding; empty where there is none. Explicit zeros
/// without a partner are marked by `unmatched`: they would make the structure unsymmetric.
std::string symmetry_fault(const File& m, std::vector<char>& unmatched, bool& any_unmatched) {
  const auto rows = static_cast<std::size_t>(m.header.rows);
  std::string fault;
  for (std::size_t i = 0; i < rows; ++i)
    for (auto k = static_cast<std::size_t>(m.row_offsets[i]); k < static_cast<std::size_t>(m.row_offsets[i + 1]); ++k) {
      const auto j = static_cast<std::size_t>(m.columns[k]);
      const auto first = m.columns.begin() + m.row_offsets[j], last = m.columns.begin() + m.row_offsets[j + 1];
      const auto at = std::lower_bound(first, last, static_cast<std::int64_t>(i));
      const bool found = at != last && *at == static_cast<std::int64_t>(i);
      const double here = m.values[k], there = found ? m.values[static_cast<std::size_t>(at - m.columns.begin())] : 0;
      if (!found && here == 0) {
        unmatched[k] = 1;
        any_unmatched = true;
      }
      // general files give both triangles in decimal: the last digits may differ
      if (std::abs(here - there) > 1e-12 * std::max(std::abs(here), std::abs(there)) && fault.empty())
        fault = "the matrix is not symmetric: " + entry_text(static_cast<index_t>(i), static_cast<index_t>(j), here) +
                ", but " + entry_text(static_cast<index_t>(j), static_cast<index_t>(i), there);
    }
  return fault;
}

void remove_marked(File& m, const std::vector<char>& marked) {
  std::size_t to = 0, from = 0;
  for (std::size_t i = 0; i + 1 < m.row_offsets.size(); ++i) {
    const auto end = static_cast<std::size_t>(m.row_offsets[i + 1]);
    for (; from < end; ++from) {
      if (marked[from]) continue;
      m.columns[to] = m.columns[from];
      m.values[to++] = m.values[from];
    }
    m.row_offsets[i + 1] = static_cast<std::int64_t>(to);
  }
  m.columns.resize(to);
  m.values.resize(to);
}

template <class T>
std::span<const std::byte> bytes_of(const T* first, index_t count) {
  return std::as_bytes(std::span(first, static_cast<std::size_t>(count)));
}
template <class T>
std::span<std::byte> writable_bytes_of(T* first, index_t count) {
  return std::as_writable_bytes(std::span(first, static_cast<std::size_t>(count)));
}

}  // namespace

void on_root(const Communicator& communicator, const std::function<void()>& action) {
  std::string message;
  if (communicator.is_root()) {
    try {
      action();
    } catch (const std::exception& error) {
      message = error.what();
      if (message.empty()) message = "unknown error";
    }
  }
  message = communicator.broadcast(std::move(message));
  if (!message.empty()) throw std::runtime_error(message);
}

double stencil_nnz(index_t edge) {
  const double line = 3.0 * static_cast<double>(edge) - 2;
  return line * line * line;
}

HostRows stencil_rows(index_t edge, const Communicator& communicator) {
  require(edge >= 1 && edge <= 699050, [&] {
    return Error("tessera::cg::stencil_rows", "an edge of " + std::to_string(edge) + " points",
                 "it must be 1 to 699050, so that (3 edge)^3 entries can be counted in 63 bits");
  });
  const Region region("tessera::cg::assemble");
  HostRows a;
  a.n = edge * edge * edge;
  a.range = block_range(a.n, communicator.size(), communicator.rank());
  const StencilShape shape{edge};
  const index_t first = shape.entries_before(a.range.begin);
  const index_t entries = shape.entries_before(a.range.end) - first;
  a.offsets = host_array<index_t>("host_offsets", a.rows() + 1);
  a.columns = host_array<index_t>("host_columns", entries);
  a.values = host_array<double>("host_values", entries);
  const Host host;
  Kokkos::parallel_for("tessera::cg::fill_stencil", Range<Host>(host, 0, a.rows()),
                       FillStencil{shape, a.range.begin, first, a.offsets, a.columns, a.values});
  host.fence("tessera::cg::fill_stencil");
  a.offsets(a.rows()) = entries;
  Fingerprint print;
  print.add(27);
  print.add(static_cast<std::uint64_t>(edge));
  a.fingerprint = print.value;
  return a;
}

FileMatrix read_rows(const std::string& path, const Communicator& communicator) {
  const Region region("tessera::cg::read");
  File file;
  FileMatrix result;
  Fingerprint print;
  on_root(communicator, [&] {
    file = matrix_market::read_csr<double, std::int64_t, std::int64_t>(path);
    require(file.header.rows == file.header.columns, [&] {
      return Error("tessera::cg::read_rows",
                   path + " is " + std::to_string(file.header.rows) + " x " + std::to_string(file.header.columns),
                   "CG needs a square matrix");
    });
    result.description = matrix_market::describe(file.header);
    std::vector<char> unmatched(file.values.size());
    bool any_unmatched = false;
    result.fault = symmetry_fault(file, unmatched, any_unmatched);
    if (any_unmatched) remove_marked(file, unmatched);
    for (const std::int64_t c : file.columns) print.add(static_cast<std::uint64_t>(c));
    for (const double v : file.values) print.add(std::bit_cast<std::uint64_t>(v));
  });
  result.description = communicator.broadcast(result.description);
  result.fault = communicator.broadcast(result.fault);
  std::uint64_t shared[2] = {static_cast<std::uint64_t>(file.header.rows), print.value};
  communicator.broadcast(std::span<std::uint64_t>(shared));

  HostRows& a = result.rows;
  a.n = static_cast<index_t>(shared[0]);
  a.fingerprint = shared[1];
  const int ranks = communicator.size();
  a.range = block_range(a.n, ranks, communicator.rank());
  a.offsets = host_array<index_t>("host_offsets", a.rows() + 1);
  const auto rebase = [](const HostArray<index_t>& offsets) {
    const index_t base = offsets(0);
    for (std::size_t i = 0; i < offsets.extent(0); ++i) offsets(i) -= base;
  };
  constexpr int tag = 1;  // messages between two ranks arrive in the order they were sent
  if (communicator.is_root()) {
    for (int rank = 1; rank < ranks; ++rank) {
      const IndexRange range = block_range(a.n, ranks, rank);
      const std::int64_t* const offsets = file.row_offsets.data() + range.begin;
      const std::int64_t first = offsets[0], count = offsets[range.size()] - first;
      communicator.send(rank, tag, bytes_of(offsets, range.size() + 1));
      communicator.send(rank, tag, bytes_of(file.columns.data() + first, count));
      communicator.send(rank, tag, bytes_of(file.values.data() + first, count));
    }
    std::copy_n(file.row_offsets.begin(), a.rows() + 1, a.offsets.data());
    const index_t count = a.offsets(a.rows());
    a.columns = host_array<index_t>("host_columns", count);
    a.values = host_array<double>("host_values", count);
    std::copy_n(file.columns.begin(), count, a.columns.data());
    std::copy_n(file.values.begin(), count, a.values.data());
  } else {
    communicator.receive(0, tag, writable_bytes_of(a.offsets.data(), a.rows() + 1));
    rebase(a.offsets);
    const index_t count = a.offsets(a.rows());
    a.columns = host_array<index_t>("host_columns", count);
    a.values = host_array<double>("host_values", count);
    communicator.receive(0, tag, writable_bytes_of(a.columns.data(), count));
    communicator.receive(0, tag, writable_bytes_of(a.values.data(), count));
  }
  return result;
}

std::vector<double> deal_out(const std::vector<double>& whole, index_t n, const Communicator& communicator) {
  const int ranks = communicator.size();
  constexpr int tag = 2;
  const IndexRange mine = block_range(n, ranks, communicator.rank());
  std::vector<double> part(static_cast<std::size_t>(mine.size()));
  if (communicator.is_root()) {
    for (int rank = 1; rank < ranks; ++rank) {
      const IndexRange range = block_range(n, ranks, rank);
      communicator.send(rank, tag, bytes_of(whole.data() + range.begin, range.size()));
    }
    std::copy_n(whole.begin(), mine.size(), part.begin());
  } else {
    communicator.receive(0, tag, writable_bytes_of(part.data(), mine.size()));
  }
  return part;
}

RightHandSide read_right_hand_side(const std::string& path, index_t n, const Communicator& communicator) {
  std::vector<double> whole;
  Fingerprint print;
  on_root(communicator, [&] {
    auto file = matrix_market::read_dense<double>(path);
    require(file.header.rows == n && file.header.columns == 1, [&] {
      return Error("tessera::cg::read_right_hand_side",
                   path + " is " + std::to_string(file.header.rows) + " x " + std::to_string(file.header.columns),
                   "the right-hand side of this matrix must be " + std::to_string(n) + " x 1");
    });
    whole = std::move(file.values);
    for (const double v : whole) print.add(std::bit_cast<std::uint64_t>(v));
  });
  communicator.broadcast(std::span(&print.value, 1));
  return {deal_out(whole, n, communicator), print.value};
}

}  // namespace tessera::cg
