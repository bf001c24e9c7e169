// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer's driver of the Matrix Market reader: any bytes are either refused with an Error, or become a matrix
// that keeps the reader's promises and comes back the same from what the writer makes of it.
#include <common/matrix_market.hpp>
#include <cstdlib>
#include <iostream>

namespace mm = tessera::matrix_market;

namespace {

void check(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "broken promise: " << what << "\n";
  std::abort();
}

const mm::ReadOptions options{.memory_limit = 8 << 20};

template <class Scalar, class Ordinal, class Offset>
void check_csr(const mm::Csr<Scalar, Ordinal, Offset>& m) {
  const auto rows = static_cast<std::size_t>(m.header.rows);
  check(m.row_offsets.size() == rows + 1, "rows + 1 offsets");
  check(m.row_offsets.front() == 0, "the first offset is 0");
  check(m.columns.size() == m.values.size(), "a value for each column");
  check(static_cast<std::size_t>(m.row_offsets.back()) == m.columns.size(), "the last offset is the size");
  for (std::size_t i = 0; i < rows; ++i) {
    check(m.row_offsets[i] <= m.row_offsets[i + 1], "offsets ascend");
    for (auto k = static_cast<std::size_t>(m.row_offsets[i]); k < static_cast<std::size_t>(m.row_offsets[i + 1]); ++k) {
      check(m.columns[k] >= 0 && m.columns[k] < m.header.columns, "columns lie inside");
      check(k == static_cast<std::size_t>(m.row_offsets[i]) || m.columns[k - 1] < m.columns[k], "columns ascend");
    }
  }
}

template <class Scalar, class Ordinal, class Offset>
void fuzz_csr(std::string_view text) {
  mm::Csr<Scalar, Ordinal, Offset> m;
  try {
    m = mm::parse_csr<Scalar, Ordinal, Offset>(text, "fuzz", options);
  } catch (const mm::FileError& e) {
    check(e.line() >= 1, "lines count from 1");
    check(std::string_view(e.what()).size() < 1200, "messages are short");
    return;
  } catch (const tessera::Error&) {
    return;
  }
  check_csr(m);
  for (const Scalar& v : m.values)
    if (v != v || v - v != Scalar(0)) return;  // sums of duplicates may overflow; the writer writes them, we refuse
  const std::string written = mm::format_csr(m);
  const auto again = mm::parse_csr<Scalar, Ordinal, Offset>(written, "written", options);
  check(again.row_offsets == m.row_offsets && again.columns == m.columns && again.values == m.values,
        "a matrix written and read is the same");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz_csr<double, std::int32_t, std::int32_t>(text);
  fuzz_csr<std::complex<float>, std::int64_t, std::int64_t>(text);
  try {
    const auto m = mm::parse_dense<double>(text, "fuzz", options);
    check(m.values.size() == static_cast<std::size_t>(m.header.rows) * static_cast<std::size_t>(m.header.columns),
          "rows x columns values");
    const auto again = mm::parse_dense<double>(mm::format_dense(m.header.rows, m.header.columns, m.values), "written",
                                               {.memory_limit = 8 << 20, .allow_nonfinite = true});
    bool finite = true;
    for (const double v : m.values) finite = finite && v - v == 0;
    check(!finite || again.values == m.values, "an array written and read is the same");
  } catch (const tessera::Error&) {
  }
  return 0;
}
