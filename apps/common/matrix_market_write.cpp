// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <charconv>
#include <common/files.hpp>
#include <common/matrix_market.hpp>
#include <type_traits>

namespace tessera::matrix_market {
namespace {

/// Where text goes: a string, or a file that takes its name when it is whole.
class Sink {
 public:
  explicit Sink(std::string& text) : m_text(text) {}
  Sink(std::string& buffer, app::AtomicFile& file) : m_text(buffer), m_file(&file) {}

  std::string& text() { return m_text; }
  void line_done() {
    if (m_file && m_text.size() > (1u << 20)) drain();
  }
  void drain() {
    m_file->write(m_text);
    m_text.clear();
  }

 private:
  std::string& m_text;
  app::AtomicFile* m_file = nullptr;
};

template <class Put>
void write_whole(const std::string& path, Put&& put) {
  app::AtomicFile file(path);
  std::string buffer;
  Sink sink(buffer, file);
  put(sink);
  sink.drain();
  file.commit();
}

template <class T>
void put_number(std::string& text, T value) {
  char digits[64];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}
template <class T>
void put_number(std::string& text, const std::complex<T>& value) {
  put_number(text, value.real());
  text += ' ';
  put_number(text, value.imag());
}

template <class Scalar>
constexpr const char* field_word = "real";
template <class T>
constexpr const char* field_word<std::complex<T>> = "complex";

template <class Scalar>
Scalar mirrored(Scalar value, Symmetry symmetry) {
  if (symmetry == Symmetry::skew_symmetric) return -value;
  if constexpr (!std::is_floating_point_v<Scalar>)
    if (symmetry == Symmetry::hermitian) return std::conj(value);
  return value;
}

void put_banner(std::string& text, const char* format, const char* field, const WriteOptions& options) {
  constexpr const char* words[] = {"general", "symmetric", "skew-symmetric", "Hermitian"};
  text.append("%%MatrixMarket matrix ").append(format).append(" ").append(field).append(" ");
  text.append(words[static_cast<int>(options.symmetry)]).append("\n");
  std::string_view rest = options.comment;
  while (!rest.empty()) {
    const std::size_t stop = std::min(rest.find('\n'), rest.size());
    text.append("% ").append(rest.substr(0, stop)).append("\n");
    rest.remove_prefix(std::min(stop + 1, rest.size()));
  }
}

template <class Scalar, class Ordinal, class Offset>
void put_csr(Sink& sink, const Csr<Scalar, Ordinal, Offset>& m, const WriteOptions& options,
             const std::source_location& where) {
  const auto rows = static_cast<std::int64_t>(m.row_offsets.size()) - 1;
  require(rows == m.header.rows && rows >= 0 && m.columns.size() == m.values.size() &&
              static_cast<std::size_t>(m.row_offsets.back()) == m.columns.size(),
          [&] {
            return Error("tessera::matrix_market::write_csr",
                         std::to_string(m.row_offsets.size()) + " row offsets, " + std::to_string(m.columns.size()) +
                             " columns and " + std::to_string(m.values.size()) + " values for " +
                             std::to_string(m.header.rows) + " rows",
                         "there must be rows + 1 offsets, and as many columns and values as the last one says", {},
                         where);
          });
  const bool triangle = options.symmetry != Symmetry::general;
  const auto find = [&](std::int64_t i, std::int64_t j) -> const Scalar* {
    const auto first = m.columns.begin() + m.row_offsets[static_cast<std::size_t>(i)];
    const auto last = m.columns.begin() + m.row_offsets[static_cast<std::size_t>(i) + 1];
    const auto at = std::lower_bound(first, last, static_cast<Ordinal>(j));
    return at != last && *at == j ? &m.values[static_cast<std::size_t>(at - m.columns.begin())] : nullptr;
  };
  std::int64_t written = static_cast<std::int64_t>(m.columns.size());
  if (triangle) {
    written = 0;
    for (std::int64_t i = 0; i < rows; ++i)
      for (Offset k = m.row_offsets[static_cast<std::size_t>(i)]; k < m.row_offsets[static_cast<std::size_t>(i) + 1];
           ++k) {
        const std::int64_t j = m.columns[static_cast<std::size_t>(k)];
        const Scalar* const other = rows == m.header.columns ? find(j, i) : nullptr;
        const Scalar& value = m.values[static_cast<std::size_t>(k)];
        // a NaN equals nothing, and is let through; NOLINTNEXTLINE(misc-redundant-expression)
        if (!other || (*other != mirrored(value, options.symmetry) && value == value))
          throw Error(
              "tessera::matrix_market::write_csr",
              "the entries at (" + std::to_string(i + 1) + ", " + std::to_string(j + 1) + ") and across the diagonal",
              "they must mirror each other where only a triangle is written", "Write the matrix as general", where);
        written += j <= i ? 1 : 0;
      }
  }
  std::string& text = sink.text();
  put_banner(text, "coordinate", field_word<Scalar>, options);
  put_number(text, m.header.rows);
  text += ' ';
  put_number(text, m.header.columns);
  text += ' ';
  put_number(text, written);
  text += '\n';
  for (std::int64_t i = 0; i < rows; ++i)
    for (Offset k = m.row_offsets[static_cast<std::size_t>(i)]; k < m.row_offsets[static_cast<std::size_t>(i) + 1];
         ++k) {
      const std::int64_t j = m.columns[static_cast<std::size_t>(k)];
      if (triangle && j > i) continue;
      put_number(text, i + 1);
      text += ' ';
      put_number(text, j + 1);
      text += ' ';
      put_number(text, m.values[static_cast<std::size_t>(k)]);
      text += '\n';
      sink.line_done();
    }
}

template <class Scalar>
void put_dense(Sink& sink, std::int64_t rows, std::int64_t columns, const std::vector<Scalar>& values,
               const WriteOptions& options, const std::source_location& where) {
  require(rows >= 0 && columns >= 0 &&
              (rows == 0 ? values.empty()
                         : values.size() % static_cast<std::size_t>(rows) == 0 &&
                               values.size() / static_cast<std::size_t>(rows) == static_cast<std::size_t>(columns)),
          [&] {
            return Error(
                "tessera::matrix_market::write_dense",
                std::to_string(values.size()) + " values for " + std::to_string(rows) + " x " + std::to_string(columns),
                "there must be rows x columns values", {}, where);
          });
  require(options.symmetry == Symmetry::general, [&] {
    return Error("tessera::matrix_market::write_dense", "a symmetry other than general", "arrays are written whole",
                 "Write a symmetric matrix by write_csr", where);
  });
  std::string& text = sink.text();
  put_banner(text, "array", field_word<Scalar>, options);
  put_number(text, rows);
  text += ' ';
  put_number(text, columns);
  text += '\n';
  for (const Scalar& value : values) {
    put_number(text, value);
    text += '\n';
    sink.line_done();
  }
}

}  // namespace

template <class Scalar, class Ordinal, class Offset>
std::string format_csr(const Csr<Scalar, Ordinal, Offset>& matrix, const WriteOptions& options,
                       std::source_location where) {
  std::string text;
  Sink sink(text);
  put_csr(sink, matrix, options, where);
  return text;
}
template <class Scalar>
std::string format_dense(std::int64_t rows, std::int64_t columns, const std::vector<Scalar>& values,
                         const WriteOptions& options, std::source_location where) {
  std::string text;
  Sink sink(text);
  put_dense(sink, rows, columns, values, options, where);
  return text;
}
template <class Scalar, class Ordinal, class Offset>
void write_csr(const std::string& path, const Csr<Scalar, Ordinal, Offset>& matrix, const WriteOptions& options,
               std::source_location where) {
  write_whole(path, [&](Sink& sink) { put_csr(sink, matrix, options, where); });
}
template <class Scalar>
void write_dense(const std::string& path, std::int64_t rows, std::int64_t columns, const std::vector<Scalar>& values,
                 const WriteOptions& options, std::source_location where) {
  write_whole(path, [&](Sink& sink) { put_dense(sink, rows, columns, values, options, where); });
}

// what only instantiations name counts as unused
using std::complex;  // NOLINT(misc-unused-using-decls)
using std::int32_t;
using std::int64_t;
using std::source_location;  // NOLINT(misc-unused-using-decls)
using std::string;
using std::vector;  // NOLINT(misc-unused-using-decls)
template string format_csr(const Csr<float, int32_t, int32_t>&, const WriteOptions&, source_location);
template void write_csr(const string&, const Csr<float, int32_t, int32_t>&, const WriteOptions&, source_location);
template string format_csr(const Csr<float, int32_t, int64_t>&, const WriteOptions&, source_location);
template void write_csr(const string&, const Csr<float, int32_t, int64_t>&, const WriteOptions&, source_location);
template string format_csr(const Csr<float, int64_t, int64_t>&, const WriteOptions&, source_location);
template void write_csr(const string&, const Csr<float, int64_t, int64_t>&, const WriteOptions&, source_location);
template string format_dense(int64_t, int64_t, const vector<float>&, const WriteOptions&, source_location);
template void write_dense(const string&, int64_t, int64_t, const vector<float>&, const WriteOptions&, source_location);
template string format_csr(const Csr<double, int32_t, int32_t>&, const WriteOptions&, source_location);
template void write_csr(const string&, const Csr<double, int32_t, int32_t>&, const WriteOptions&, source_location);
template string format_csr(const Csr<double, int32_t, int64_t>&, const WriteOptions&, source_location);
template void write_csr(const string&, const Csr<double, int32_t, int64_t>&, const WriteOptions&, source_location);
template string format_csr(const Csr<double, int64_t, int64_t>&, const WriteOptions&, source_location);
template void write_csr(const string&, const Csr<double, int64_t, int64_t>&, const WriteOptions&, source_location);
template string format_dense(int64_t, int64_t, const vector<double>&, const WriteOptions&, source_location);
template void write_dense(const string&, int64_t, int64_t, const vector<double>&, const WriteOptions&, source_location);
template string format_csr(const Csr<complex<float>, int32_t, int32_t>&, const WriteOptions&, source_location);
template void write_csr(const string&, const Csr<complex<float>, int32_t, int32_t>&, const WriteOptions&,
                        source_location);
template string format_csr(const Csr<complex<float>, int32_t, int64_t>&, const WriteOptions&, source_location);
template void write_csr(const string&, const Csr<complex<float>, int32_t, int64_t>&, const WriteOptions&,
                        source_location);
template string format_csr(const Csr<complex<float>, int64_t, int64_t>&, const WriteOptions&, source_location);
template void write_csr(const string&, const Csr<complex<float>, int64_t, int64_t>&, const WriteOptions&,
                        source_location);
template string format_dense(int64_t, int64_t, const vector<complex<float>>&, const WriteOptions&, source_location);
template void write_dense(const string&, int64_t, int64_t, const vector<complex<float>>&, const WriteOptions&,
                          source_location);
template string format_csr(const Csr<complex<double>, int32_t, int32_t>&, const WriteOptions&, source_location);
template void write_csr(const string&, const Csr<complex<double>, int32_t, int32_t>&, const WriteOptions&,
                        source_location);
template string format_csr(const Csr<complex<double>, int32_t, int64_t>&, const WriteOptions&, source_location);
template void write_csr(const string&, const Csr<complex<double>, int32_t, int64_t>&, const WriteOptions&,
                        source_location);
template string format_csr(const Csr<complex<double>, int64_t, int64_t>&, const WriteOptions&, source_location);
template void write_csr(const string&, const Csr<complex<double>, int64_t, int64_t>&, const WriteOptions&,
                        source_location);
template string format_dense(int64_t, int64_t, const vector<complex<double>>&, const WriteOptions&, source_location);
template void write_dense(const string&, int64_t, int64_t, const vector<complex<double>>&, const WriteOptions&,
                          source_location);

}  // namespace tessera::matrix_market
