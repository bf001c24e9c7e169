// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tessera/core/error.hpp>

namespace tessera {
namespace {

std::string sentence(std::string_view function, std::string_view given, std::string_view allowed,
                     std::string_view advice, const std::source_location& where) {
  std::string text;
  text.append(function).append(": ").append(given).append("; ").append(allowed).append(".");
  if (!advice.empty()) text.append(" ").append(advice).append(".");
  text.append(" [").append(where.file_name()).append(":").append(std::to_string(where.line())).append("]");
  return text;
}

}  // namespace

Error::Error(std::string_view function, std::string_view given, std::string_view allowed, std::string_view advice,
             std::source_location where)
    : std::runtime_error(sentence(function, given, allowed, advice, where)),
      m_function(function),
      m_given(given),
      m_allowed(allowed),
      m_advice(advice),
      m_where(where) {}

}  // namespace tessera
