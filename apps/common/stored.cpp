// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <common/stored.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>

#include <tessera/core/error.hpp>

namespace tessera::app {
namespace {

constexpr std::size_t most_bytes = std::size_t{16} << 20;
constexpr int most_depth = 8;
constexpr std::size_t most_text = 2'000;

/// Whether a terminal may take the character at `i` as a command, or show what comes after it in another place: C0 and
/// C1 controls, delete, and those that turn the direction of writing. The text is whole UTF-8: the parser has looked.
bool controls(std::string_view s, std::size_t i) {
  const auto byte = [&](std::size_t at) { return at < s.size() ? static_cast<unsigned char>(s[at]) : 0U; };
  if (byte(i) < 0x20 || byte(i) == 0x7f) return true;
  if (byte(i) == 0xc2) return byte(i + 1) < 0xa0;  // 0xc2 0x80 .. 0xc2 0x9f
  if (byte(i) != 0xe2) return false;
  const unsigned second = byte(i + 1), third = byte(i + 2);
  return (second == 0x80 && third >= 0xa8 && third <= 0xae) ||  // line separators, embeddings, overrides
         (second == 0x81 && third >= 0xa6 && third <= 0xa9);    // isolates
}

}  // namespace

void StoredReader::refuse(const std::string& what) const {
  throw Error(m_function, "\"" + m_source + "\" is no result of this program: " + what,
              "a result is a JSON file that " + m_writer + " wrote",
              "Give such a file, or make one: " + m_writer + " FILE");
}

std::string StoredReader::contents() const {
  const auto unread = [&](const char* what) {
    return Error(m_function, "\"" + m_source + "\" " + what, "it must be a file that can be read",
                 "Give a file that " + m_writer + " wrote");
  };
  std::ifstream opened;
  if (m_source != "-") {
    std::error_code none;
    if (std::filesystem::is_directory(m_source, none)) throw unread("is a folder");
    opened.open(m_source, std::ios::binary);
    if (!opened) throw unread("could not be opened");
  }
  std::istream& in = m_source == "-" ? std::cin : opened;
  std::string text(most_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) throw unread("could not be read");
  return text;
}

StoredReader::Json StoredReader::parse(std::string_view text, std::string_view app) const {
  if (text.size() > most_bytes)
    refuse(fmt::format("it is larger than {} MiB, the most that is read", most_bytes >> 20));
  const auto look = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > most_depth) refuse(fmt::format("it is nested more than {} deep", most_depth));
    return true;
  };
  Json document;
  try {
    document = Json::parse(text, look);
  } catch (const Json::parse_error& error) {
    // the library's own text would quote the file
    const std::string_view before = text.substr(0, std::min(error.byte, text.size()));
    refuse(fmt::format("it is not JSON from byte {} (line {}) on", error.byte,
                       1 + std::ranges::count(before.substr(0, before.empty() ? 0 : before.size() - 1), '\n')));
  } catch (const Json::exception&) {
    refuse("a number in it is too large");
  }
  if (this->text(need(document, "app", "the document"), "app") != app) refuse("another app wrote it");
  return document;
}

const StoredReader::Json* StoredReader::find(const Json& in, const char* key) const {
  const auto at = in.find(key);
  return at == in.end() ? nullptr : &*at;
}

const StoredReader::Json& StoredReader::need(const Json& in, const char* key, const std::string& where) const {
  if (!in.is_object()) refuse(where + " is not an object");
  if (const Json* const found = find(in, key)) return *found;
  refuse(where + " has no \"" + key + "\"");
}

std::string StoredReader::text(const Json& value, const std::string& where) const {
  if (!value.is_string()) refuse(where + " is not a string");
  const auto& s = value.get_ref<const std::string&>();
  if (s.size() > most_text) refuse(fmt::format("{} is longer than {} bytes", where, most_text));
  for (std::size_t i = 0; i < s.size(); ++i)
    if (controls(s, i)) refuse(where + " holds control characters");
  return s;
}

double StoredReader::number(const Json& value, double least, double most, const std::string& where) const {
  if (!value.is_number()) refuse(where + " is not a number");
  const double x = value.get<double>();
  if (!(x >= least && x <= most)) refuse(fmt::format("{} is {}; it must be from {} to {}", where, x, least, most));
  return x;
}

std::int64_t StoredReader::whole(const Json& value, std::int64_t least, std::int64_t most,
                                 const std::string& where) const {
  if (!value.is_number_integer()) refuse(where + " is not a whole number");
  // beyond 2^63 an unsigned one would turn negative
  const bool beyond = value.is_number_unsigned() &&
                      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::max<std::int64_t>(most, 0));
  if (beyond || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
    refuse(fmt::format("{} is {}; it must be from {} to {}", where, value.dump(), least, most));
  return value.get<std::int64_t>();
}

bool StoredReader::truth(const Json& value, const std::string& where) const {
  if (!value.is_boolean()) refuse(where + " is neither true nor false");
  return value.get<bool>();
}

const StoredReader::Json& StoredReader::list(const Json& value, std::size_t most, const std::string& where) const {
  if (!value.is_array()) refuse(where + " is not an array");
  if (value.size() > most) refuse(fmt::format("{} has {} entries; at most {} are read", where, value.size(), most));
  return value;
}

std::string markdown_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>#|~&$!").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace tessera::app
