// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tessera {

/// The one exception type of Tessera. Its text reads
///   "tessera::gemm: A is 4 x 3 and B is 5 x 2; A's columns must equal B's rows. Pass transposed(B) or ... [file:line]"
/// and its parts can be read one by one.
class Error : public std::runtime_error {
 public:
  /// \param function  public name of what was called, "tessera::gemm"
  /// \param given     what was asked for
  /// \param allowed   what is possible
  /// \param advice    what to do next; may be empty where `allowed` already says it
  /// \param where     the caller's line
  Error(std::string_view function, std::string_view given, std::string_view allowed, std::string_view advice = {},
        std::source_location where = std::source_location::current());

  [[nodiscard]] const std::string& function() const noexcept { return m_function; }
  [[nodiscard]] const std::string& given() const noexcept { return m_given; }
  [[nodiscard]] const std::string& allowed() const noexcept { return m_allowed; }
  [[nodiscard]] const std::string& advice() const noexcept { return m_advice; }
  [[nodiscard]] const std::source_location& where() const noexcept { return m_where; }

 private:
  std::string m_function;
  std::string m_given;
  std::string m_allowed;
  std::string m_advice;
  std::source_location m_where;
};

/// Checks a precondition on the host, in every build kind. The message is made by `describe`, which is
/// called only on failure and returns an Error.
template <class Describe>
void require(bool holds, Describe&& describe) {
  if (!holds) [[unlikely]]
    throw describe();
}

}  // namespace tessera
