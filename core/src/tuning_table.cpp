// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <vector>

#include <tessera/core/error.hpp>
#include <tessera/core/tuning_table.hpp>

namespace tessera {
namespace {

/// Letters, digits and signs of ASCII, no control characters: what a field may hold.
bool is_plain(std::string_view text) {
  for (const char c : text)
    if (c < ' ' || c > '~') return false;
  return true;
}

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Error no_table(std::size_t line, const std::string& what) {
  return {"tessera::TuningTable::parse", "line " + std::to_string(line) + " " + what,
          "a table has a first line of what it is of, then types, signature, path and seconds with tabs between them",
          "Delete the file: it is made anew"};
}

}  // namespace

TuningTable TuningTable::parse(std::string_view text, std::string header) {
  TuningTable table(std::move(header));
  if (text.empty()) return table;
  if (text.size() > most_bytes) throw no_table(1, "begins a text of more than 16 MiB");
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) throw no_table(number + 1, "has no end: the text was cut off");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (++number == 1) {
      if (line.substr(0, magic.size()) != magic) throw no_table(1, "does not begin with '" + std::string(magic) + "'");
      if (line != table.m_header) return table;
      continue;
    }
    std::vector<std::string_view> fields;
    for (std::size_t start = 0; start <= line.size() && fields.size() < 5;) {
      const std::size_t tab = std::min(line.find('\t', start), line.size());
      fields.push_back(line.substr(start, tab - start));
      start = tab + 1;
    }
    if (fields.size() != 4) throw no_table(number, "has not four fields");
    for (const std::string_view field : fields)
      if (field.empty() || field.size() > 4096 || !is_plain(field))
        throw no_table(number, "has a field that is empty, very long or no plain text");
    if (!is_hexadecimal(fields[1])) throw no_table(number, "has a signature that is not hexadecimal");
    double seconds = 0;
    const auto [last, wrong] = std::from_chars(fields[3].data(), fields[3].data() + fields[3].size(), seconds);
    if (wrong != std::errc{} || last != fields[3].data() + fields[3].size() || !(seconds >= 0) || seconds > 1e9)
      throw no_table(number, "has a time that is no number of seconds");
    if (table.m_entries.size() >= most_entries) throw no_table(number, "is one too many");
    table.put({std::string(fields[0]), std::string(fields[1])}, {std::string(fields[2]), seconds});
  }
  return table;
}

std::string TuningTable::text() const {
  std::string all = m_header + "\n";
  for (const auto& [key, entry] : m_entries) {
    char seconds[40];
    std::snprintf(seconds, sizeof seconds, "%.4g", entry.seconds);
    all += key.first + "\t" + key.second + "\t" + entry.path + "\t" + seconds + "\n";
  }
  return all;
}

const TuningTable::Entry* TuningTable::find(const Key& key) const {
  const auto found = m_entries.find(key);
  return found == m_entries.end() ? nullptr : &found->second;
}

void TuningTable::put(const Key& key, Entry entry) {
  const auto found = m_entries.find(key);
  if (found != m_entries.end())
    found->second = std::move(entry);
  else if (m_entries.size() < most_entries)
    m_entries.emplace(key, std::move(entry));
}

}  // namespace tessera
