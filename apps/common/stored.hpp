// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tessera::app {

/// Reads a result that an app wrote with --json. The file is input like any other, whoever wrote it: its size and
/// depth, and the types, ranges and texts that are asked for are checked. Each error names the file, the place in it,
/// what is wrong and what to give instead; none quotes the file.
class StoredReader {
 public:
  using Json = nlohmann::json;

  /// \param function  that errors name: "gemm_ladder --from"
  /// \param writer    the command that writes such files: "gemm_ladder --json"
  /// \param source    the file's name, "-" is standard input
  StoredReader(std::string function, std::string writer, std::string source)
      : m_function(std::move(function)), m_writer(std::move(writer)), m_source(std::move(source)) {}

  /// \throws Error  always: this is no result, because of `what`
  [[noreturn]] void refuse(const std::string& what) const;

  /// The whole file. \throws Error where it cannot be read, or is larger than 16 MiB
  [[nodiscard]] std::string contents() const;
  /// \throws Error where the text is no JSON, too large or nested too deep, is no object or is another app's
  [[nodiscard]] Json parse(std::string_view text, std::string_view app) const;

  // Of a document that parse() gave; `where` names the place in errors. \throws Error unless it is as asked for

  [[nodiscard]] const Json* find(const Json& in, const char* key) const;
  [[nodiscard]] const Json& need(const Json& in, const char* key, const std::string& where) const;
  /// Of at most 2000 bytes, without control characters, those that turn the direction of writing among them: it can be
  /// printed on a terminal.
  [[nodiscard]] std::string text(const Json& value, const std::string& where) const;
  [[nodiscard]] double number(const Json& value, double least, double most, const std::string& where) const;
  [[nodiscard]] std::int64_t whole(const Json& value, std::int64_t least, std::int64_t most,
                                   const std::string& where) const;
  [[nodiscard]] bool truth(const Json& value, const std::string& where) const;
  [[nodiscard]] const Json& list(const Json& value, std::size_t most, const std::string& where) const;

 private:
  std::string m_function, m_writer, m_source;
};

/// What would be markup in a line or a cell of Markdown, as text.
[[nodiscard]] std::string markdown_text(std::string_view text);

}  // namespace tessera::app
