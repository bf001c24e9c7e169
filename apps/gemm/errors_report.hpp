// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <common/app.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/core/refs.hpp>
#include <tessera/gemm/problem.hpp>

/// \file
/// What a run of `gemm --errors` found, as plain data: measuring fills it, tables are made from it, also later.

namespace tessera::app {

enum class Inputs { uniform, non_negative, ill_scaled, subnormal, special };

struct InputsNamed {
  Inputs inputs;
  const char* name;
  const char* meaning;
};
inline constexpr InputsNamed all_inputs[] = {
    {Inputs::uniform, "uniform", "-1 to 1"},
    {Inputs::non_negative, "non-negative", "0 to 1"},
    {Inputs::ill_scaled, "ill-scaled", "-1 to 1, each times a power of two from 2^-20 to 2^20"},
    {Inputs::subnormal, "subnormal", "A's -1 to 1 times 2^-130, B's -1 to 1 times 2^30"},
    {Inputs::special, "special", "whole numbers, some infinities and NaN, and the largest fp32 numbers"},
};

struct PrecisionNamed {
  Precision precision;
  const char* name;
};
inline constexpr PrecisionNamed all_precisions[] = {
    {Precision::full, "full"},
    {Precision::tf32, "tf32"},
    {Precision::bf16, "bf16"},
    {Precision::fp32_tf32x3, "fp32_tf32x3"},
    {Precision::fp32_bf16x3, "fp32_bf16x3"},
    {Precision::fp32_bf16x6, "fp32_bf16x6"},
    {Precision::fp32_bf16x9, "fp32_bf16x9"},
};

inline constexpr const char* all_operands[] = {"fp32", "bf16", "fp16"};
inline constexpr index_t all_inner_extents[] = {64, 1024, 8192};
inline constexpr index_t compared_samples = 64;  ///< rows and columns of C looked at, spread over it

/// Whether a run has such products: powers of two of 40 and numbers below 2^-126 are beyond 16 bits, and permissions to
/// round are of fp32 alone.
[[nodiscard]] constexpr bool is_measured(std::string_view operands, Inputs inputs, Precision precision) {
  return operands == "fp32" ||
         (inputs != Inputs::ill_scaled && inputs != Inputs::subnormal && precision == Precision::full);
}

struct ErrorRow {
  std::string operands{}, inputs{}, precision{};  ///< by the names above
  index_t k = 0;
  std::string path{};
  index_t different = 0;  ///< of special inputs: elements that are of another kind than fp32's
  double normwise = 0;    ///< of the others, as the four below; 1e300 where it is no number
  double componentwise = 0;
  double bound = 0;           ///< of the error, in units of the lengths of A's row and B's column
  double share_of_bound = 0;  ///< the largest

  [[nodiscard]] bool special() const;
  [[nodiscard]] bool within_bound() const;
};

struct Errors {
  std::string device{};
  index_t side = 0;  ///< rows and columns of C
  std::vector<ErrorRow> rows{};
  bool stored_as_failed = false;  ///< the run that wrote the file did not end as verified

  /// Rows that a whole run has and this one has not.
  [[nodiscard]] std::size_t missing() const;
  /// Nothing is missing, and every bound held.
  [[nodiscard]] bool verified() const;
};

/// The results of App's document.
[[nodiscard]] Json to_json(const Errors& errors);
/// What to_json() gave, within a document of App, from a file's text. Whatever the text is, it is checked.
/// \param source  named in errors
/// \throws Error that says where and what
[[nodiscard]] Errors parse_errors(std::string_view text, const std::string& source);
/// \param file  "-" is standard input
[[nodiscard]] Errors read_errors(const std::string& file);

/// Tables in Markdown, and a line at the end where rows are missing.
[[nodiscard]] std::string tables_of(const Errors& errors);

}  // namespace tessera::app
