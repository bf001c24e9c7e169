// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <tessera/core/refs.hpp>
#include <tessera/core/types.hpp>

namespace tessera {

/// op(A): A, A^T, conj(A), A^H.
enum class Op { none, transpose, conjugate, adjoint };

/// The element and index types of a CSR matrix, as one name.
template <class Scalar, class Ordinal, class Offset>
struct CsrTypes {
  using scalar = Scalar;    ///< values
  using ordinal = Ordinal;  ///< column indices
  using offset = Offset;    ///< positions in columns and values
};

/// A CSR matrix as plain pointers: row r holds the entries row_offsets[r] to row_offsets[r + 1] - 1.
template <class Types>
struct CsrRef {
  index_t rows = 0;
  index_t cols = 0;
  index_t nnz = 0;
  const typename Types::offset* row_offsets = nullptr;  ///< rows + 1 of them; may be null where rows is 0
  const typename Types::ordinal* columns = nullptr;
  const typename Types::scalar* values = nullptr;
};

/// How many entries the rows of a matrix have.
struct RowStatistics {
  index_t shortest = 0;
  index_t longest = 0;
  double mean = 0;
  double variance = 0;  ///< of the row lengths, over all rows
};

/// How the rows of a matrix are given to threads.
struct SpmvShape {
  enum class Kernel {
    automatic,
    vector,  ///< `lanes` vector lanes work on a row, each with several entries in flight
    stream,  ///< a team copies consecutive entries to scratch, then a thread or a few sum each row from there
  };
  Kernel kernel = Kernel::automatic;
  int lanes = 0;          ///< vector lanes a row: a power of two up to 32; 0: chosen. Not of the stream kernel
  int team_threads = 0;   ///< threads a team, lanes included (row sums use 256 at most); 0: chosen
  bool long_rows = true;  ///< rows of more than `long_row_length` entries may exist: they get teams of their own
  index_t long_row_length = 0;

  [[nodiscard]] std::string text() const;  ///< "vector=4", "stream"
};

/// y = alpha * op(A) * x + beta * y.
template <class Types>
struct SpmvProblem {
  using Scalar = typename Types::scalar;

  ScalarRef<accumulator_t<Scalar>> alpha;
  CsrRef<Types> a;
  bool transposed = false;
  bool conj = false;
  VectorRef<const Scalar> x;
  ScalarRef<accumulator_t<Scalar>> beta;
  VectorRef<Scalar> y;
  SpmvShape shape;
};

}  // namespace tessera
