// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <complex>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/core/error.hpp>

/// \file
/// Matrix Market files to compressed rows and back, on the host, without Kokkos (a fuzzer builds this alone).
/// Source of the format: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange Formats: Initial Design",
/// NISTIR 5935 (1996).
///
/// What is read: the banner in any case; after it comments, blank lines, tabs, leading blanks, CRLF and a missing
/// final newline anywhere; coordinate and array; real, integer, complex and pattern; general, symmetric,
/// skew-symmetric and Hermitian. Numbers are read whatever the locale; Fortran's exponents (1.5D+03) too.
/// What a file may leave open is settled so:
///   duplicates      of real, integer and complex files are summed in the file's order; of pattern files count once
///   triangles       a symmetric, skew-symmetric or Hermitian file gives one triangle, either of the two; an entry
///                   on the wrong side is refused
///   real Hermitian  is symmetric; pattern skew-symmetric, pattern Hermitian and pattern array do not exist
///   array to CSR    zeros are not stored; explicit zeros of coordinate files are
///   integers        become Scalar by rounding to nearest where they have more digits than it
/// What the header promises is never believed: memory is asked for by what the file holds, and an empty matrix of
/// 10^18 rows is refused by `memory_limit`.

namespace tessera::matrix_market {

enum class Format { coordinate, array };
enum class Field { real, integer, complex, pattern };
enum class Symmetry { general, symmetric, skew_symmetric, hermitian };

/// The banner and the size line.
struct Header {
  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;  ///< lines that follow: as stored, before a triangle is expanded
};

/// "coordinate real symmetric"
[[nodiscard]] std::string describe(const Header& header);

/// A fault of a file: its given() reads `FILE, line N: what is wrong in "the line"`.
class FileError : public Error {
 public:
  FileError(std::string file, std::int64_t line, std::string_view given, std::string_view allowed,
            std::string_view advice, std::source_location where);
  [[nodiscard]] const std::string& file() const noexcept { return m_file; }
  [[nodiscard]] std::int64_t line() const noexcept { return m_line; }  ///< from 1

 private:
  std::string m_file;
  std::int64_t m_line;
};

struct ReadOptions {
  /// Bytes that the result may take; 0 means the machine's memory.
  std::int64_t memory_limit = 0;
  /// Accept "inf" and "nan" as values.
  bool allow_nonfinite = false;
};

/// Compressed rows. Columns are sorted and distinct in every row; a symmetric file is expanded.
template <class Scalar, class Ordinal, class Offset>
struct Csr {
  Header header;  ///< of the file; rows and columns are the matrix's
  std::vector<Offset> row_offsets;
  std::vector<Ordinal> columns;
  std::vector<Scalar> values;
};

/// Column-major, every element stored.
template <class Scalar>
struct Dense {
  Header header;
  std::vector<Scalar> values;
};

/// Reads a file as compressed rows.
/// Scalar is float, double, std::complex<float> or std::complex<double>; Ordinal/Offset are int32/int32,
/// int32/int64 or int64/int64.
/// \throws FileError  where the file breaks the format, or is complex and Scalar is real
/// \throws Error      where the file cannot be read, or the matrix does not fit Ordinal, Offset or memory
template <class Scalar, class Ordinal, class Offset>
[[nodiscard]] Csr<Scalar, Ordinal, Offset> read_csr(const std::string& path, const ReadOptions& options = {},
                                                    std::source_location where = std::source_location::current());
/// The same from memory; `name` stands for the path in messages.
template <class Scalar, class Ordinal, class Offset>
[[nodiscard]] Csr<Scalar, Ordinal, Offset> parse_csr(std::string_view text, const std::string& name,
                                                     const ReadOptions& options = {},
                                                     std::source_location where = std::source_location::current());

/// Reads a file as a dense matrix: right-hand sides are arrays of one column.
template <class Scalar>
[[nodiscard]] Dense<Scalar> read_dense(const std::string& path, const ReadOptions& options = {},
                                       std::source_location where = std::source_location::current());
template <class Scalar>
[[nodiscard]] Dense<Scalar> parse_dense(std::string_view text, const std::string& name, const ReadOptions& options = {},
                                        std::source_location where = std::source_location::current());

/// Banner and size line alone.
[[nodiscard]] Header parse_header(std::string_view text, const std::string& name,
                                  std::source_location where = std::source_location::current());

struct WriteOptions {
  Symmetry symmetry = Symmetry::general;  ///< other than general: only the lower triangle is written
  std::string comment = {};               ///< lines of it follow the banner
};

/// Writes a coordinate file, whole or not at all; numbers have the digits that give them back exactly.
/// \throws Error where the file cannot be written, or the matrix is not symmetric in the way asked for
template <class Scalar, class Ordinal, class Offset>
void write_csr(const std::string& path, const Csr<Scalar, Ordinal, Offset>& matrix, const WriteOptions& options = {},
               std::source_location where = std::source_location::current());
/// Writes an array file of rows x columns from column-major values.
template <class Scalar>
void write_dense(const std::string& path, std::int64_t rows, std::int64_t columns, const std::vector<Scalar>& values,
                 const WriteOptions& options = {}, std::source_location where = std::source_location::current());

/// What the two above write.
template <class Scalar, class Ordinal, class Offset>
[[nodiscard]] std::string format_csr(const Csr<Scalar, Ordinal, Offset>& matrix, const WriteOptions& options = {},
                                     std::source_location where = std::source_location::current());
template <class Scalar>
[[nodiscard]] std::string format_dense(std::int64_t rows, std::int64_t columns, const std::vector<Scalar>& values,
                                       const WriteOptions& options = {},
                                       std::source_location where = std::source_location::current());

}  // namespace tessera::matrix_market
