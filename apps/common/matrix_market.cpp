// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <common/matrix_market.hpp>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <system_error>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace tessera::matrix_market {

FileError::FileError(std::string file, std::int64_t line, std::string_view given, std::string_view allowed,
                     std::string_view advice, std::source_location where)
    : Error("tessera::matrix_market", given, allowed, advice, where), m_file(std::move(file)), m_line(line) {}

namespace {

constexpr std::string_view format_name(Format f) { return f == Format::coordinate ? "coordinate" : "array"; }
constexpr std::string_view field_name(Field f) {
  constexpr std::string_view names[] = {"real", "integer", "complex", "pattern"};
  return names[static_cast<int>(f)];
}
constexpr std::string_view symmetry_name(Symmetry s) {
  constexpr std::string_view names[] = {"general", "symmetric", "skew-symmetric", "Hermitian"};
  return names[static_cast<int>(s)];
}

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower_case(std::string_view text) {
  std::string s(text);
  for (char& c : s) c = lower(c);
  return s;
}

// A piece of the file as it may stand in a message: printable, and short however long the line is.
std::string quoted(std::string_view text, std::size_t longest = 100) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  std::string s = "\"";
  for (std::size_t i = 0; i < text.size() && i < longest; ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '\t') {
      s += "\\t";
    } else if (c < 0x20 || c >= 0x7f) {
      constexpr char hex[] = "0123456789abcdef";
      s += {'\\', 'x', hex[c >> 4], hex[c & 15]};
    } else {
      s += static_cast<char>(c);
    }
  }
  s += "\"";
  if (text.size() > longest) s += "... (" + std::to_string(text.size()) + " bytes)";
  return s;
}

enum class Number { good, not_a_number, too_large, not_finite };

// True where a decimal number that from_chars calls out of range is too large rather than too small: the power of
// ten of its first digit that is not zero tells. Exponents are clamped, so that no length of one overflows.
bool is_too_large(std::string_view token) {
  std::int64_t point = 0;
  bool seen_point = false, seen_digit = false;
  std::size_t i = token.starts_with('-') ? 1 : 0;
  for (; i < token.size() && (is_digit(token[i]) || token[i] == '.'); ++i) {
    if (token[i] == '.') {
      seen_point = true;
    } else {
      if (token[i] != '0') seen_digit = true;
      if (seen_digit && !seen_point) ++point;
      if (!seen_digit && seen_point) --point;
    }
  }
  std::int64_t exponent = 0;
  if (i < token.size() && lower(token[i]) == 'e') {
    ++i;
    const bool negative = i < token.size() && token[i] == '-';
    if (i < token.size() && (token[i] == '-' || token[i] == '+')) ++i;
    for (; i < token.size() && is_digit(token[i]); ++i)
      exponent = std::min<std::int64_t>(exponent * 10 + (token[i] - '0'), std::int64_t{1} << 50);
    if (negative) exponent = -exponent;
  }
  return point + exponent > 0;
}

template <class Real>
Number decimal(const char*& p, const char* end, Real& value) {
  const char* start = p;
  if (start != end && *start == '+') {
    ++start;
    if (start != end && *start == '-') return Number::not_a_number;
  }
  const auto [stop, status] = std::from_chars(start, end, value);
  if (status == std::errc::invalid_argument) return Number::not_a_number;
  if (status == std::errc::result_out_of_range) {
    const std::string_view token(start, static_cast<std::size_t>(stop - start));
    if (is_too_large(token)) return Number::too_large;
    value = token.starts_with('-') ? -Real(0) : Real(0);
  }
  p = stop;
  return std::isfinite(value) ? Number::good : Number::not_finite;
}

// Fortran writes 1.5D+03. Rare, so that a copy of the token costs nothing that matters.
template <class Real>
Number fortran(const char*& p, const char* end, Real& value) {
  const char* stop = p;
  while (stop != end && !is_blank(*stop) && *stop != '\n') ++stop;
  std::string token(p, stop);
  std::replace_if(token.begin(), token.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
  const char* q = token.data();
  const Number outcome = decimal(q, token.data() + token.size(), value);
  if (outcome == Number::good || outcome == Number::not_finite) p += q - token.data();
  return outcome;
}

/// The text with a place in it, and the messages that name that place.
class Cursor {
 public:
  Cursor(std::string_view text, const std::string& name, std::source_location where)
      : m_name(name),
        m_where(where),
        m_at(text.data()),
        m_end(text.data() + text.size()),
        m_line_start(m_at),
        m_content_start(m_at) {}

  [[noreturn]] void fail(const std::string& problem, std::string_view allowed, std::string_view advice = {}) const {
    fail_at(m_line, line_text(), problem, allowed, advice);
  }
  [[noreturn]] void fail_at(std::int64_t line, std::string_view text, const std::string& problem,
                            std::string_view allowed, std::string_view advice = {}) const {
    throw FileError(m_name, line,
                    m_name + ", line " + std::to_string(line) + ": " + problem + " in the line " + quoted(text),
                    allowed, advice, m_where);
  }

  /// What a file that ends too early is reported at: an empty last line would tell nothing.
  [[noreturn]] void fail_at_last_content(const std::string& problem, std::string_view allowed,
                                         std::string_view advice = {}) const {
    fail_at(m_content_line, line_from(m_content_start), problem, allowed, advice);
  }

  /// The line that the cursor stands in, without its end.
  [[nodiscard]] std::string_view line_text() const { return line_from(m_line_start); }
  [[nodiscard]] std::int64_t line() const { return m_line; }
  [[nodiscard]] std::int64_t bytes_left() const { return m_end - m_at; }

  /// To the first character of the next line that holds more than blanks and comments; false at the end.
  bool next_content() {
    for (;;) {
      skip_blanks();
      if (m_at == m_end) return false;
      if (*m_at == '%') skip_rest();
      if (m_at == m_end) return false;
      if (*m_at != '\n') {
        m_content_line = m_line;
        m_content_start = m_line_start;
        return true;
      }
      step_over_newline();
    }
  }
  void skip_blanks() {
    while (m_at != m_end && is_blank(*m_at)) ++m_at;
  }
  /// After the last number of a line: only blanks and a comment may follow.
  void finish_line(std::string_view allowed) {
    skip_blanks();
    if (m_at == m_end) return;
    if (*m_at == '%') {
      skip_rest();
      if (m_at == m_end) return;
    }
    if (*m_at != '\n') [[unlikely]]
      fail(quoted(token(), 40) + " after the last number", allowed);
    step_over_newline();
  }
  /// What stands at the cursor, up to the next blank.
  [[nodiscard]] std::string_view token() const {
    const char* stop = m_at;
    while (stop != m_end && !is_blank(*stop) && *stop != '\n') ++stop;
    return {m_at, static_cast<std::size_t>(stop - m_at)};
  }

  /// A count of the size line, 0 to 2^63-1.
  std::int64_t count(const char* what) {
    skip_blanks();
    std::int64_t value = 0;
    if (!digits(value)) fail_integer(what, "an integer of 0 or more", "9223372036854775807");
    return value;
  }
  /// An index from 1 to `largest`, returned from 0.
  std::int64_t index(const char* what, std::int64_t largest) {
    skip_blanks();
    std::int64_t value = 0;
    if (!digits(value)) [[unlikely]]
      fail_integer(what, "an integer from 1 to " + std::to_string(largest), std::to_string(largest));
    if (value < 1 || value > largest) [[unlikely]]
      fail(std::string(what) + " " + std::to_string(value),
           largest == 0 ? std::string("the matrix has none")
                        : std::string("it must lie between 1 and ") + std::to_string(largest),
           "Indices are counted from 1, up to the sizes in the file's size line");
    return value - 1;
  }
  template <class Real>
  Real real(const char* what, bool allow_nonfinite, bool integer) {
    skip_blanks();
    Real value{};
    const char* p = m_at;
    Number outcome = decimal(p, m_end, value);
    if (p != m_end && (*p == 'd' || *p == 'D') && outcome == Number::good) {
      p = m_at;
      outcome = fortran(p, m_end, value);
    }
    if (outcome == Number::not_finite && allow_nonfinite) outcome = Number::good;
    if (outcome != Number::good || !ends_number(p)) [[unlikely]]
      fail_real(what, outcome);
    if (integer) [[unlikely]] {
      const char* q = m_at + (*m_at == '-' || *m_at == '+' ? 1 : 0);
      while (q != p && is_digit(*q)) ++q;
      if (q != p)
        fail(std::string(what) + " " + quoted(token(), 40), "an \"integer\" file holds integers",
             "Say \"real\" in the banner");
    }
    m_at = p;
    return value;
  }

  /// The first line of the file.
  [[nodiscard]] std::string_view banner() {
    const std::string_view line = line_text();
    m_at = m_line_start + line.size();
    if (m_at != m_end) step_over_newline();
    return line;
  }

 private:
  [[nodiscard]] std::string_view line_from(const char* start) const {
    const auto left = static_cast<std::size_t>(m_end - start);
    const void* const newline = left == 0 ? nullptr : std::memchr(start, '\n', left);
    return {start, newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - start) : left};
  }
  [[nodiscard]] bool ends_number(const char* p) const { return p == m_end || is_blank(*p) || *p == '\n' || *p == '%'; }
  bool digits(std::int64_t& value) {
    const char* p = m_at;
    std::int64_t v = 0;
    while (p != m_end && is_digit(*p)) {
      if (v > (std::numeric_limits<std::int64_t>::max() - (*p - '0')) / 10) [[unlikely]]
        return false;
      v = v * 10 + (*p++ - '0');
    }
    if (p == m_at || !ends_number(p)) [[unlikely]]
      return false;
    m_at = p;
    value = v;
    return true;
  }
  void step_over_newline() {
    ++m_at;
    ++m_line;
    m_line_start = m_at;
  }
  void skip_rest() {
    const void* const newline = std::memchr(m_at, '\n', static_cast<std::size_t>(m_end - m_at));
    m_at = newline ? static_cast<const char*>(newline) : m_end;
  }
  [[noreturn]] void fail_integer(const char* what, const std::string& allowed, const std::string& largest) const {
    const std::string_view found = token();
    if (found.empty() || found.front() == '%') fail(std::string("no ") + what, "it must be " + allowed);
    const bool all_digits = std::all_of(found.begin(), found.end(), is_digit);
    if (all_digits) fail(std::string(what) + " " + quoted(found, 40), "the largest possible is " + largest);
    fail(quoted(found, 40) + " where the " + what + " belongs", "it must be " + allowed);
  }
  [[noreturn]] void fail_real(const char* what, Number outcome) const {
    const std::string_view found = token();
    if (found.empty() || found.front() == '%')
      fail(std::string("no ") + what, "every entry of such a file has one",
           "A file without values says \"pattern\" in its banner");
    if (outcome == Number::too_large)
      fail(std::string(what) + " " + quoted(found, 40), "it is beyond the range of the type that is read",
           "Read the file as double");
    if (outcome == Number::not_finite)
      fail(std::string(what) + " " + quoted(found, 40), "values must be finite numbers",
           "ReadOptions::allow_nonfinite accepts inf and nan");
    fail(quoted(found, 40) + " where the " + what + " belongs", "it must be a decimal number like -1.5e3");
  }

  const std::string& m_name;
  std::source_location m_where;
  const char* m_at;
  const char* m_end;
  const char* m_line_start;
  std::int64_t m_line = 1;
  std::int64_t m_content_line = 1;
  const char* m_content_start;
};

constexpr std::string_view banner_allowed =
    "the first line must read %%MatrixMarket matrix coordinate|array real|integer|complex|pattern "
    "general|symmetric|skew-symmetric|Hermitian";

struct FileStart {
  Header header;
  std::int64_t size_line = 0;
};

FileStart read_header(Cursor& at) {
  const std::string_view line = at.banner();
  std::vector<std::string> words;
  for (std::size_t i = 0; i < line.size() && words.size() <= 5;) {
    if (is_blank(line[i])) {
      ++i;
      continue;
    }
    std::size_t stop = i;
    while (stop < line.size() && !is_blank(line[stop])) ++stop;
    // a word longer than any of the format's is not copied whole
    words.push_back(lower_case(line.substr(i, std::min<std::size_t>(stop - i, 32))));
    i = stop;
  }
  const auto bad = [&](const std::string& problem) { at.fail_at(1, line, problem, banner_allowed); };
  if (line.empty() || !line.starts_with("%%") || words[0] != "%%matrixmarket") bad("no Matrix Market banner");
  if (words.size() < 5) bad("a banner of " + std::to_string(words.size()) + " words, not 5,");
  if (words.size() > 5) bad("a banner of more than 5 words");
  if (words[1] != "matrix") bad("the object " + quoted(words[1]));

  Header h;
  if (words[2] == "array")
    h.format = Format::array;
  else if (words[2] != "coordinate")
    bad("the format " + quoted(words[2]));
  if (words[3] == "integer")
    h.field = Field::integer;
  else if (words[3] == "complex")
    h.field = Field::complex;
  else if (words[3] == "pattern")
    h.field = Field::pattern;
  else if (words[3] != "real")
    bad("the field " + quoted(words[3]));
  if (words[4] == "symmetric")
    h.symmetry = Symmetry::symmetric;
  else if (words[4] == "skew-symmetric")
    h.symmetry = Symmetry::skew_symmetric;
  else if (words[4] == "hermitian")
    h.symmetry = Symmetry::hermitian;
  else if (words[4] != "general")
    bad("the symmetry " + quoted(words[4]));
  if (h.field == Field::pattern) {
    if (h.format == Format::array)
      at.fail_at(1, line, "a pattern array", "a pattern lists coordinates", "Say \"coordinate\" in the banner");
    if (h.symmetry == Symmetry::skew_symmetric || h.symmetry == Symmetry::hermitian)
      at.fail_at(1, line, "a pattern that is " + std::string(symmetry_name(h.symmetry)),
                 "a pattern has no signs: it is general or symmetric");
  }

  if (!at.next_content())
    at.fail_at_last_content("the file ends before its size line", h.format == Format::array
                                                                      ? "it holds rows and columns"
                                                                      : "it holds rows, columns and entries");
  h.rows = at.count("number of rows");
  h.columns = at.count("number of columns");
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  if (h.symmetry != Symmetry::general && h.rows != h.columns)
    at.fail(std::to_string(h.rows) + " rows and " + std::to_string(h.columns) + " columns",
            "a " + std::string(symmetry_name(h.symmetry)) + " matrix is square");
  if (h.format == Format::coordinate) {
    h.entries = at.count("number of entries");
  } else {
    __extension__ using Wide = unsigned __int128;
    Wide entries = static_cast<Wide>(h.rows) * static_cast<Wide>(h.columns);
    if (h.symmetry == Symmetry::skew_symmetric)
      entries = h.rows == 0 ? 0 : static_cast<Wide>(h.rows) * static_cast<Wide>(h.rows - 1) / 2;
    else if (h.symmetry != Symmetry::general)
      entries = static_cast<Wide>(h.rows) * (static_cast<Wide>(h.rows) + 1) / 2;
    if (entries > static_cast<Wide>(largest))
      at.fail("an array of " + std::to_string(h.rows) + " x " + std::to_string(h.columns),
              "the number of its entries must be below 2^63", "Write it as coordinates");
    h.entries = static_cast<std::int64_t>(entries);
  }
  const std::int64_t size_line = at.line();
  at.finish_line(h.format == Format::array ? "the size line of an array holds 2 numbers: rows and columns"
                                           : "the size line holds 3 numbers: rows, columns and entries");
  return {h, size_line};
}

template <class T>
struct ScalarTraits {
  using Real = T;
  static constexpr bool complex = false;
};
template <class T>
struct ScalarTraits<std::complex<T>> {
  using Real = T;
  static constexpr bool complex = true;
};
template <class Scalar>
inline constexpr bool is_complex = ScalarTraits<Scalar>::complex;
template <class Scalar>
using Real = typename ScalarTraits<Scalar>::Real;

template <class Scalar>
Scalar conjugate(const Scalar& value) {
  if constexpr (is_complex<Scalar>)
    return std::conj(value);
  else
    return value;
}

[[noreturn]] void wrong_count(const Cursor& at, const Header& h, std::int64_t size_line, std::int64_t found,
                              bool too_many) {
  const std::string promised = "line " + std::to_string(size_line) + " promises " + std::to_string(h.entries);
  if (too_many) at.fail("entry " + std::to_string(found), promised, "Correct the size line, or remove entries");
  at.fail_at_last_content("the file ends after " + std::to_string(found) + (found == 1 ? " entry" : " entries"),
                          promised, "The file may have been cut off");
}

/// Calls sink(row, column, value) for every stored entry, in the file's order. `begin(header, most)` comes first;
/// `most` bounds the number of entries by what the file can hold.
template <class Scalar, class Begin, class Sink>
Header parse(std::string_view text, const std::string& name, const ReadOptions& options,
             const std::source_location& where, Begin&& begin, Sink&& sink) {
  Cursor at(text, name, where);
  const auto [h, size_line] = read_header(at);
  if (h.field == Field::complex && !is_complex<Scalar>)
    at.fail_at(1, text.substr(0, text.find('\n')), "a complex matrix", "a real one is wanted here",
               "Read it into a complex type");
  const bool integer = h.field == Field::integer;
  const bool nonfinite = options.allow_nonfinite;
  const auto value = [&]() -> Scalar {
    if (h.field == Field::pattern) return Scalar(1);
    const auto re =
        at.template real<Real<Scalar>>(h.field == Field::complex ? "real part" : "value", nonfinite, integer);
    if constexpr (is_complex<Scalar>)
      if (h.field == Field::complex)
        return Scalar(re, at.template real<Real<Scalar>>("imaginary part", nonfinite, false));
    return Scalar(re);
  };
  const auto check_diagonal = [&](const Scalar& v) {
    if (h.symmetry == Symmetry::skew_symmetric && v != Scalar(0))
      at.fail("a diagonal entry other than 0", "the diagonal of a skew-symmetric matrix is 0");
    if constexpr (is_complex<Scalar>)
      if (h.symmetry == Symmetry::hermitian && v.imag() != 0)
        at.fail("a diagonal entry with an imaginary part", "the diagonal of a Hermitian matrix is real");
  };

  std::int64_t found = 0;
  if (h.format == Format::coordinate) {
    const char* const line_end = h.field == Field::complex   ? "an entry is: row column real imaginary"
                                 : h.field == Field::pattern ? "an entry of a pattern is: row column"
                                                             : "an entry is: row column value";
    begin(h, std::min(h.entries, at.bytes_left() / (h.field == Field::pattern ? 4 : 6) + 1));
    const bool triangle = h.symmetry != Symmetry::general;
    int side = 0;  // -1: the file gives the lower triangle, 1: the upper
    while (at.next_content()) {
      if (found == h.entries) [[unlikely]]
        wrong_count(at, h, size_line, found + 1, true);
      const std::int64_t i = at.index("row index", h.rows);
      const std::int64_t j = at.index("column index", h.columns);
      const Scalar v = value();
      if (triangle) {
        if (i == j) {
          check_diagonal(v);
        } else {
          const int this_side = i > j ? -1 : 1;
          if (side == -this_side) [[unlikely]]
            at.fail("an entry of the " + std::string(this_side < 0 ? "lower" : "upper") + " triangle",
                    "a " + std::string(symmetry_name(h.symmetry)) + " file gives one triangle, and entries of the " +
                        (side < 0 ? "lower" : "upper") + " one came before",
                    "Say \"general\" in the banner if both are given");
          side = this_side;
        }
      }
      sink(i, j, v);
      at.finish_line(line_end);
      ++found;
    }
  } else {
    begin(h, std::min(h.entries, at.bytes_left() / 2 + 1));
    const char* const line_end = h.field == Field::complex ? "a line of a complex array holds two numbers"
                                                           : "a line of an array holds one number";
    const bool triangle = h.symmetry != Symmetry::general;
    const std::int64_t below = h.symmetry == Symmetry::skew_symmetric ? 1 : 0;
    std::int64_t i = triangle ? below : 0, j = 0;
    while (at.next_content()) {
      if (found == h.entries) [[unlikely]]
        wrong_count(at, h, size_line, found + 1, true);
      const Scalar v = value();
      if (i == j && triangle) check_diagonal(v);
      sink(i, j, v);
      at.finish_line(line_end);
      ++found;
      if (++i == h.rows) {
        ++j;
        i = triangle ? j + below : 0;
      }
    }
  }
  if (found < h.entries) wrong_count(at, h, size_line, found, false);
  return h;
}

std::int64_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::int64_t>(pages) * page : std::int64_t{1} << 40;
}

void check_memory(double bytes, const Header& h, const std::string& name, const ReadOptions& options,
                  const std::source_location& where) {
  const std::int64_t limit = options.memory_limit > 0 ? options.memory_limit : machine_memory();
  if (bytes > static_cast<double>(limit))
    throw Error("tessera::matrix_market",
                name + " is " + std::to_string(h.rows) + " x " + std::to_string(h.columns) + " and takes " +
                    std::to_string(static_cast<std::int64_t>(std::min(bytes / 1048576.0, 9e18))) + " MiB",
                "the limit is " + std::to_string(limit / 1048576) + " MiB",
                "Raise ReadOptions::memory_limit, or remove empty rows", where);
}

// std::bad_alloc says nothing to a user
template <class F>
auto with_memory_errors(const std::string& name, const std::source_location& where, F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    throw Error("tessera::matrix_market", "memory ran out while reading " + name, "the matrix must fit in memory",
                "Use a machine with more of it", where);
  } catch (const std::length_error&) {
    throw Error("tessera::matrix_market", name + " is too long for an array of this machine",
                "the matrix must fit in memory", {}, where);
  }
}

/// Sorts a row's entries by column, keeping the order of equal ones.
template <class Scalar, class Ordinal>
void sort_row(Ordinal* columns, Scalar* values, std::int64_t n, std::vector<std::pair<Ordinal, std::int64_t>>& keys,
              std::vector<Scalar>& old_values) {
  if (std::is_sorted(columns, columns + n)) return;
  if (n <= 32) {
    for (std::int64_t k = 1; k < n; ++k) {
      const Ordinal c = columns[k];
      const Scalar v = values[k];
      std::int64_t m = k;
      for (; m > 0 && columns[m - 1] > c; --m) {
        columns[m] = columns[m - 1];
        values[m] = values[m - 1];
      }
      columns[m] = c;
      values[m] = v;
    }
    return;
  }
  keys.resize(static_cast<std::size_t>(n));
  old_values.assign(values, values + n);
  for (std::int64_t k = 0; k < n; ++k) keys[static_cast<std::size_t>(k)] = {columns[k], k};
  std::sort(keys.begin(), keys.end());
  for (std::int64_t k = 0; k < n; ++k) {
    columns[k] = keys[static_cast<std::size_t>(k)].first;
    values[k] = old_values[static_cast<std::size_t>(keys[static_cast<std::size_t>(k)].second)];
  }
}

template <class Scalar, class Ordinal, class Offset>
Csr<Scalar, Ordinal, Offset> build_csr(std::string_view text, const std::string& name, const ReadOptions& options,
                                       const std::source_location& where) {
  std::vector<Ordinal> entry_rows, entry_columns;
  std::vector<Scalar> entry_values;
  bool pattern = false, array = false;
  const auto begin = [&](const Header& h, std::int64_t most) {
    const auto largest = static_cast<std::int64_t>(std::numeric_limits<Ordinal>::max());
    if (h.rows > largest || h.columns > largest)
      throw Error("tessera::matrix_market", name + " is " + std::to_string(h.rows) + " x " + std::to_string(h.columns),
                  "the index type that is read into ends at " + std::to_string(largest), "Read it with 64-bit indices",
                  where);
    // one offset a row, known before anything is read
    check_memory((static_cast<double>(h.rows) + 1) * sizeof(Offset), h, name, options, where);
    pattern = h.field == Field::pattern;
    array = h.format == Format::array;
    if (array) return;  // zeros are not stored, so that nothing is known
    entry_rows.reserve(static_cast<std::size_t>(most));
    entry_columns.reserve(static_cast<std::size_t>(most));
    if (!pattern) entry_values.reserve(static_cast<std::size_t>(most));
  };
  const auto sink = [&](std::int64_t i, std::int64_t j, const Scalar& v) {
    if (array && v == Scalar(0)) return;
    entry_rows.push_back(static_cast<Ordinal>(i));
    entry_columns.push_back(static_cast<Ordinal>(j));
    if (!pattern) entry_values.push_back(v);
  };
  Csr<Scalar, Ordinal, Offset> m;
  m.header = parse<Scalar>(text, name, options, where, begin, sink);
  const Header& h = m.header;
  const bool mirrored = h.symmetry != Symmetry::general;

  const std::size_t stored = entry_rows.size();
  std::int64_t total = static_cast<std::int64_t>(stored);
  if (mirrored)
    for (std::size_t k = 0; k < stored; ++k) total += entry_rows[k] != entry_columns[k] ? 1 : 0;
  if (total > static_cast<std::int64_t>(std::numeric_limits<Offset>::max()))
    throw Error("tessera::matrix_market", name + " has " + std::to_string(total) + " entries",
                "the offset type that is read into ends at " + std::to_string(std::numeric_limits<Offset>::max()),
                "Read it with 64-bit offsets", where);
  check_memory((static_cast<double>(h.rows) + 1) * sizeof(Offset) +
                   static_cast<double>(total) * (sizeof(Ordinal) + sizeof(Scalar)),
               h, name, options, where);

  // counting sort by rows: row_offsets[i] is first the row's count, then its start, then its end
  m.row_offsets.assign(static_cast<std::size_t>(h.rows) + 1, Offset(0));
  Offset* const place = m.row_offsets.data();
  for (std::size_t k = 0; k < stored; ++k) {
    ++place[entry_rows[k]];
    if (mirrored && entry_rows[k] != entry_columns[k]) ++place[entry_columns[k]];
  }
  Offset start = 0;
  for (std::int64_t i = 0; i <= h.rows; ++i) start += std::exchange(place[i], start);
  m.columns.resize(static_cast<std::size_t>(total));
  m.values.resize(static_cast<std::size_t>(total));
  for (std::size_t k = 0; k < stored; ++k) {
    const Ordinal i = entry_rows[k], j = entry_columns[k];
    const Scalar v = pattern ? Scalar(1) : entry_values[k];
    auto to = static_cast<std::size_t>(place[i]++);
    m.columns[to] = j;
    m.values[to] = v;
    if (!mirrored || i == j) continue;
    to = static_cast<std::size_t>(place[j]++);
    m.columns[to] = i;
    m.values[to] = h.symmetry == Symmetry::skew_symmetric ? -v : h.symmetry == Symmetry::hermitian ? conjugate(v) : v;
  }

  // sort each row, merge what is given twice, close the gaps; row_offsets[i] goes from the end of row i to its end
  // after merging, and is moved up by one at last
  std::vector<std::pair<Ordinal, std::int64_t>> keys;
  std::vector<Scalar> old_values;
  std::size_t from = 0, to = 0;
  for (std::int64_t i = 0; i < h.rows; ++i) {
    const auto end = static_cast<std::size_t>(place[i]);
    sort_row(m.columns.data() + from, m.values.data() + from, static_cast<std::int64_t>(end - from), keys, old_values);
    const std::size_t row_start = to;
    for (; from < end; ++from) {
      if (to > row_start && m.columns[to - 1] == m.columns[from]) {
        if (!pattern) m.values[to - 1] += m.values[from];
        continue;
      }
      m.columns[to] = m.columns[from];
      m.values[to++] = m.values[from];
    }
    place[i] = static_cast<Offset>(to);
  }
  m.columns.resize(to);
  m.values.resize(to);
  Offset previous = 0;
  for (std::int64_t i = 0; i <= h.rows; ++i) std::swap(place[i], previous);
  return m;
}

template <class Scalar>
Dense<Scalar> build_dense(std::string_view text, const std::string& name, const ReadOptions& options,
                          const std::source_location& where) {
  Dense<Scalar> m;
  Symmetry symmetry = Symmetry::general;
  bool pattern = false, array = false, in_order = false;
  std::int64_t rows = 0;
  const auto begin = [&](const Header& h, std::int64_t most) {
    symmetry = h.symmetry;
    pattern = h.field == Field::pattern;
    array = h.format == Format::array;
    rows = h.rows;
    in_order = array && symmetry == Symmetry::general;
    check_memory(static_cast<double>(h.rows) * static_cast<double>(h.columns) * sizeof(Scalar), h, name, options,
                 where);
    if (in_order)
      m.values.reserve(static_cast<std::size_t>(most));
    else
      m.values.assign(static_cast<std::size_t>(h.rows) * static_cast<std::size_t>(h.columns), Scalar(0));
  };
  const auto put = [&](std::int64_t i, std::int64_t j, const Scalar& v) {
    Scalar& element = m.values[static_cast<std::size_t>(i + j * rows)];
    if (pattern)
      element = Scalar(1);
    else
      element += v;
  };
  const auto sink = [&](std::int64_t i, std::int64_t j, const Scalar& v) {
    if (in_order) {
      m.values.push_back(v);
      return;
    }
    put(i, j, v);
    if (symmetry == Symmetry::general || i == j) return;
    put(j, i, symmetry == Symmetry::skew_symmetric ? -v : symmetry == Symmetry::hermitian ? conjugate(v) : v);
  };
  m.header = parse<Scalar>(text, name, options, where, begin, sink);
  return m;
}

struct Buffer {
  std::unique_ptr<char[]> bytes;
  std::size_t size = 0;
  [[nodiscard]] std::string_view text() const { return {bytes.get(), size}; }
};

[[noreturn]] void cannot_read(const std::string& path, int error, const std::source_location& where) {
  throw Error("tessera::matrix_market", "cannot read " + path + ": " + std::generic_category().message(error),
              "a readable Matrix Market file is wanted", "Check the path and its permissions", where);
}

/// The whole file. Pipes have no size, so that the buffer grows as needed.
Buffer load(const std::string& path, const std::source_location& where) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) cannot_read(path, errno, where);
  std::size_t capacity = 1 << 16;
  if (std::fseek(file.get(), 0, SEEK_END) == 0) {
    const long size = std::ftell(file.get());
    // a directory answers with an absurd size, and its first read fails
    if (size > 0 && size < std::numeric_limits<long>::max()) capacity = static_cast<std::size_t>(size) + 1;
    if (std::fseek(file.get(), 0, SEEK_SET) != 0) cannot_read(path, errno, where);
  }
  Buffer buffer{std::make_unique_for_overwrite<char[]>(capacity), 0};
  for (;;) {
    errno = 0;
    const std::size_t got = std::fread(buffer.bytes.get() + buffer.size, 1, capacity - buffer.size, file.get());
    if (got == 0 && std::ferror(file.get())) cannot_read(path, errno, where);
    if (got == 0) return buffer;
    buffer.size += got;
    if (buffer.size < capacity) continue;
    capacity *= 2;
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    std::memcpy(larger.get(), buffer.bytes.get(), buffer.size);
    buffer.bytes = std::move(larger);
  }
}

}  // namespace

std::string describe(const Header& header) {
  std::string text(format_name(header.format));
  text.append(" ").append(field_name(header.field)).append(" ").append(symmetry_name(header.symmetry));
  return text;
}

Header parse_header(std::string_view text, const std::string& name, std::source_location where) {
  Cursor at(text, name, where);
  return read_header(at).header;
}

template <class Scalar, class Ordinal, class Offset>
Csr<Scalar, Ordinal, Offset> parse_csr(std::string_view text, const std::string& name, const ReadOptions& options,
                                       std::source_location where) {
  return with_memory_errors(name, where,
                            [&] { return build_csr<Scalar, Ordinal, Offset>(text, name, options, where); });
}
template <class Scalar, class Ordinal, class Offset>
Csr<Scalar, Ordinal, Offset> read_csr(const std::string& path, const ReadOptions& options, std::source_location where) {
  return with_memory_errors(path, where, [&] {
    const Buffer buffer = load(path, where);
    return build_csr<Scalar, Ordinal, Offset>(buffer.text(), path, options, where);
  });
}
template <class Scalar>
Dense<Scalar> parse_dense(std::string_view text, const std::string& name, const ReadOptions& options,
                          std::source_location where) {
  return with_memory_errors(name, where, [&] { return build_dense<Scalar>(text, name, options, where); });
}
template <class Scalar>
Dense<Scalar> read_dense(const std::string& path, const ReadOptions& options, std::source_location where) {
  return with_memory_errors(path, where, [&] {
    const Buffer buffer = load(path, where);
    return build_dense<Scalar>(buffer.text(), path, options, where);
  });
}

// what only instantiations name counts as unused
using std::complex;  // NOLINT(misc-unused-using-decls)
using std::int32_t;
using std::int64_t;
using std::source_location;  // NOLINT(misc-unused-using-decls)
using std::string;
using std::string_view;
template Csr<float, int32_t, int32_t> parse_csr(string_view, const string&, const ReadOptions&, source_location);
template Csr<float, int32_t, int32_t> read_csr(const string&, const ReadOptions&, source_location);
template Csr<float, int32_t, int64_t> parse_csr(string_view, const string&, const ReadOptions&, source_location);
template Csr<float, int32_t, int64_t> read_csr(const string&, const ReadOptions&, source_location);
template Csr<float, int64_t, int64_t> parse_csr(string_view, const string&, const ReadOptions&, source_location);
template Csr<float, int64_t, int64_t> read_csr(const string&, const ReadOptions&, source_location);
template Dense<float> parse_dense(string_view, const string&, const ReadOptions&, source_location);
template Dense<float> read_dense(const string&, const ReadOptions&, source_location);
template Csr<double, int32_t, int32_t> parse_csr(string_view, const string&, const ReadOptions&, source_location);
template Csr<double, int32_t, int32_t> read_csr(const string&, const ReadOptions&, source_location);
template Csr<double, int32_t, int64_t> parse_csr(string_view, const string&, const ReadOptions&, source_location);
template Csr<double, int32_t, int64_t> read_csr(const string&, const ReadOptions&, source_location);
template Csr<double, int64_t, int64_t> parse_csr(string_view, const string&, const ReadOptions&, source_location);
template Csr<double, int64_t, int64_t> read_csr(const string&, const ReadOptions&, source_location);
template Dense<double> parse_dense(string_view, const string&, const ReadOptions&, source_location);
template Dense<double> read_dense(const string&, const ReadOptions&, source_location);
template Csr<complex<float>, int32_t, int32_t> parse_csr(string_view, const string&, const ReadOptions&,
                                                         source_location);
template Csr<complex<float>, int32_t, int32_t> read_csr(const string&, const ReadOptions&, source_location);
template Csr<complex<float>, int32_t, int64_t> parse_csr(string_view, const string&, const ReadOptions&,
                                                         source_location);
template Csr<complex<float>, int32_t, int64_t> read_csr(const string&, const ReadOptions&, source_location);
template Csr<complex<float>, int64_t, int64_t> parse_csr(string_view, const string&, const ReadOptions&,
                                                         source_location);
template Csr<complex<float>, int64_t, int64_t> read_csr(const string&, const ReadOptions&, source_location);
template Dense<complex<float>> parse_dense(string_view, const string&, const ReadOptions&, source_location);
template Dense<complex<float>> read_dense(const string&, const ReadOptions&, source_location);
template Csr<complex<double>, int32_t, int32_t> parse_csr(string_view, const string&, const ReadOptions&,
                                                          source_location);
template Csr<complex<double>, int32_t, int32_t> read_csr(const string&, const ReadOptions&, source_location);
template Csr<complex<double>, int32_t, int64_t> parse_csr(string_view, const string&, const ReadOptions&,
                                                          source_location);
template Csr<complex<double>, int32_t, int64_t> read_csr(const string&, const ReadOptions&, source_location);
template Csr<complex<double>, int64_t, int64_t> parse_csr(string_view, const string&, const ReadOptions&,
                                                          source_location);
template Csr<complex<double>, int64_t, int64_t> read_csr(const string&, const ReadOptions&, source_location);
template Dense<complex<double>> parse_dense(string_view, const string&, const ReadOptions&, source_location);
template Dense<complex<double>> read_dense(const string&, const ReadOptions&, source_location);

}  // namespace tessera::matrix_market
