// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace tessera {

/// The text of a tuning file (core/tuning.hpp). One line each: what it is of, then the types, the signature, the path
/// and the seconds of an entry, with tabs between them. Of another algorithm, device, driver or version of Tessera it
/// counts as empty; a text that does not read as such is an error as a whole.
class TuningTable {
 public:
  struct Entry {
    std::string path;    ///< "cuda:cublas", "cuda:wgmma_half_sm90a 128x64x64 split 4"
    double seconds = 0;  ///< of one run
  };
  /// The types and the signature of a problem, the latter as hexadecimal digits.
  using Key = std::pair<std::string, std::string>;

  static constexpr std::size_t most_bytes = std::size_t{16} << 20, most_entries = 1 << 16;

  /// How the first line begins.
  static constexpr std::string_view magic = "tessera-tuning 1";

  explicit TuningTable(std::string header) : m_header(std::move(header)) {}

  /// The table in a text; empty where that is of something else.
  /// \throws Error where the text is no table, naming the line
  static TuningTable parse(std::string_view text, std::string header);
  [[nodiscard]] std::string text() const;

  [[nodiscard]] const Entry* find(const Key& key) const;
  /// Adds or replaces; where the table is full, nothing.
  void put(const Key& key, Entry entry);
  [[nodiscard]] std::size_t size() const { return m_entries.size(); }

 private:
  std::string m_header;
  std::map<Key, Entry> m_entries;
};

}  // namespace tessera
