// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_message.hpp>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <clocale>
#include <cmath>
#include <common/matrix_market.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <locale>
#include <random>
#include <unistd.h>

namespace mm = tessera::matrix_market;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using Complex = std::complex<double>;

namespace {

using Matrix = mm::Csr<double, std::int32_t, std::int32_t>;

Matrix read(std::string_view text) { return mm::parse_csr<double, std::int32_t, std::int32_t>(text, "a.mtx"); }
mm::Csr<Complex, std::int32_t, std::int32_t> read_complex(std::string_view text) {
  return mm::parse_csr<Complex, std::int32_t, std::int32_t>(text, "a.mtx");
}

template <class M>
auto times_ones(const M& m) {
  using Scalar = std::remove_cvref_t<decltype(m.values[0])>;
  std::vector<Scalar> y(static_cast<std::size_t>(m.header.rows));
  for (std::size_t i = 0; i < y.size(); ++i)
    for (auto k = m.row_offsets[i]; k < m.row_offsets[i + 1]; ++k) y[i] += m.values[static_cast<std::size_t>(k)];
  return y;
}

/// The line that the reader refuses, and that the message names file, line and the line's text.
void refused(const std::string& text, std::int64_t line, const std::string& quoted, const std::string& reason) {
  INFO("file:\n" << text);
  try {
    (void)read(text);
  } catch (const mm::FileError& e) {
    INFO(e.what());
    CHECK(e.line() == line);
    CHECK(e.file() == "a.mtx");
    CHECK_THAT(e.what(), ContainsSubstring("a.mtx, line " + std::to_string(line) + ":"));
    CHECK_THAT(e.what(), ContainsSubstring("in the line \"" + quoted));
    CHECK_THAT(e.what(), ContainsSubstring(reason));
    return;
  }
  FAIL("accepted");
}

const std::string real_general = "%%MatrixMarket matrix coordinate real general\n";
const std::string real_symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";

/// A folder of this test alone, removed at the end.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tessera_matrix_market_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

}  // namespace

TEST_CASE("A32: symmetric, pattern and skew-symmetric files expand rightly", "[matrix_market][A32]") {
  const auto symmetric = read(real_symmetric + "3 3 4\n1 1 2\n2 1 -1\n3 3 4\n3 2 5\n");
  CHECK(symmetric.values.size() == 6);
  CHECK(times_ones(symmetric) == std::vector<double>{1, 4, 9});
  CHECK(symmetric.row_offsets == std::vector<std::int32_t>{0, 2, 4, 6});
  CHECK(symmetric.columns == std::vector<std::int32_t>{0, 1, 0, 2, 1, 2});

  const auto pattern = read("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 4\n1 1\n2 1\n3 3\n3 2\n");
  CHECK(pattern.values.size() == 6);
  CHECK(times_ones(pattern) == std::vector<double>{2, 2, 2});

  const auto skew = read("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 -1\n3 2 5\n");
  CHECK(skew.values.size() == 4);
  CHECK(times_ones(skew) == std::vector<double>{1, -6, 5});

  refused(real_symmetric + "3 3 4\n1 1 2\n0 1 -1\n3 3 4\n3 2 5\n", 4, "0 1 -1", "row index 0");
  refused(real_symmetric + "3 3 4\n1 1 2\n2 1 -1\n3 3 4\n", 5, "3 3 4", "line 2 promises 4");
}

TEST_CASE("Matrix Market: the banner in any case", "[matrix_market]") {
  for (const char* banner :
       {"%%MatrixMarket matrix coordinate real general", "%%matrixmarket MATRIX Coordinate REAL General",
        "%%MATRIXMARKET\tMATRIX  COORDINATE\tREAL GENERAL \t", "%%MatrixMarket matrix coordinate real general\r",
        "%%MatrixMarket matrix coordinate integer general"}) {
    INFO(banner);
    const auto m = read(std::string(banner) + "\n2 2 1\n2 1 7\n");
    CHECK(m.values == std::vector<double>{7});
    CHECK(m.row_offsets == std::vector<std::int32_t>{0, 0, 1});
  }
}

TEST_CASE("Matrix Market: blanks, comments and line ends anywhere after the banner", "[matrix_market]") {
  const std::vector<std::string> lines = {"%%MatrixMarket matrix coordinate real general", "2 3 3", "1 1 1.5", "2 3 -2",
                                          "2 2 1e-3"};
  const std::vector<double> values = {1.5, 1e-3, -2};
  for (const std::string end : {"\n", "\r\n", " \t\r\n", "\n\n", "\n%\n", "\n  % with blanks before\r\n\r\n",
                                " % behind a number\n", "\n\t\n%%\n% 1 1 1\n"})
    for (const std::string start : {"", "  ", "\t", " \t \t"})
      for (const bool final_end : {true, false}) {
        std::string text = lines[0] + (end[0] == '\r' || end[0] == '\n' ? end : "\n");
        for (std::size_t i = 1; i < lines.size(); ++i) {
          std::string line = lines[i];
          if (start == "\t") std::replace(line.begin(), line.end(), ' ', '\t');
          text += start + line + (i + 1 < lines.size() || final_end ? end : "");
        }
        INFO(text);
        const auto m = read(text);
        CHECK(m.values == values);
        CHECK(m.columns == std::vector<std::int32_t>{0, 1, 2});
        CHECK(m.header.columns == 3);
      }
}

TEST_CASE("Matrix Market: every field, symmetry and format", "[matrix_market]") {
  SECTION("complex general") {
    const auto m = read_complex("%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 2 1 -2\n2 1 .5 4.\n");
    CHECK(m.values == std::vector<Complex>{{1, -2}, {0.5, 4}});
  }
  SECTION("Hermitian") {
    const auto m = read_complex("%%MatrixMarket matrix coordinate complex Hermitian\n2 2 2\n1 1 3 0\n2 1 1 2\n");
    CHECK(m.values == std::vector<Complex>{{3, 0}, {1, -2}, {1, 2}});
  }
  SECTION("complex symmetric and skew-symmetric") {
    CHECK(read_complex("%%MatrixMarket matrix coordinate complex symmetric\n2 2 1\n2 1 1 2\n").values ==
          std::vector<Complex>{{1, 2}, {1, 2}});
    CHECK(read_complex("%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 1 2\n").values ==
          std::vector<Complex>{{-1, -2}, {1, 2}});
  }
  SECTION("real into complex") {
    CHECK(read_complex(real_general + "1 1 1\n1 1 2\n").values == std::vector<Complex>{{2, 0}});
  }
  SECTION("an upper triangle is a triangle") {
    const auto m = read(real_symmetric + "2 2 2\n1 2 3\n2 2 1\n");
    CHECK(m.values == std::vector<double>{3, 3, 1});
  }
  SECTION("array general: column by column") {
    const auto m = mm::parse_dense<double>("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6", "a");
    CHECK(m.values == std::vector<double>{1, 2, 3, 4, 5, 6});
    const auto csr = read("%%MatrixMarket matrix array integer general\n2 3\n1\n2\n0\n4\n5\n6\n");
    CHECK(csr.row_offsets == std::vector<std::int32_t>{0, 2, 5});
    CHECK(csr.columns == std::vector<std::int32_t>{0, 2, 0, 1, 2});
    CHECK(csr.values == std::vector<double>{1, 5, 2, 4, 6});
  }
  SECTION("array triangles") {
    const std::string head = "%%MatrixMarket matrix array ";
    CHECK(mm::parse_dense<double>(head + "real symmetric\n2 2\n1\n2\n3\n", "a").values ==
          std::vector<double>{1, 2, 2, 3});
    CHECK(mm::parse_dense<double>(head + "real skew-symmetric\n3 3\n1\n2\n3\n", "a").values ==
          std::vector<double>{0, 1, 2, -1, 0, 3, -2, -3, 0});
    CHECK(mm::parse_dense<Complex>(head + "complex hermitian\n2 2\n1 0\n2 5\n3 0\n", "a").values ==
          std::vector<Complex>{{1, 0}, {2, 5}, {2, -5}, {3, 0}});
    CHECK(read(head + "real skew-symmetric\n3 3\n1\n2\n3\n").values == std::vector<double>{-1, -2, 1, -3, 2, 3});
  }
  SECTION("a right-hand side given by coordinates") {
    CHECK(mm::parse_dense<double>(real_general + "4 1 2\n2 1 5\n4 1 -1\n", "a").values ==
          std::vector<double>{0, 5, 0, -1});
  }
  SECTION("empty matrices") {
    CHECK(read(real_general + "0 0 0\n").row_offsets == std::vector<std::int32_t>{0});
    CHECK(read(real_general + "3 0 0").row_offsets == std::vector<std::int32_t>{0, 0, 0, 0});
    CHECK(mm::parse_dense<double>("%%MatrixMarket matrix array real general\n0 5\n", "a").values.empty());
  }
}

TEST_CASE("Matrix Market: numbers", "[matrix_market]") {
  const auto value = [](const std::string& text) { return read(real_general + "1 1 1\n1 1 " + text + "\n").values[0]; };
  CHECK(value("+1.5") == 1.5);
  CHECK(value("-.25") == -0.25);
  CHECK(value("3.") == 3);
  CHECK(value("1E+3") == 1000);
  CHECK(value("1.5D+03") == 1500);
  CHECK(value("-2d-1") == -0.2);
  CHECK(value("0.1") == 0.1);
  CHECK(value("4.9406564584124654e-324") == std::numeric_limits<double>::denorm_min());
  CHECK(value("1e-400") == 0);
  CHECK(value("0." + std::string(500, '0') + "1") == 0);
  CHECK(value("1e-99999999999999999999") == 0);
  CHECK(value(std::string(400, '0') + "7") == 7);
  CHECK(value("1" + std::string(300, '0')) == 1e300);
  CHECK(value("9007199254740993") == 9007199254740992);  // rounded to nearest
  refused(real_general + "1 1 1\n1 1 1e400\n", 3, "1 1 1e400", "beyond the range");
  refused(real_general + "1 1 1\n1 1 1" + std::string(400, '0') + "\n", 3, "1 1 1000", "beyond the range");
  for (const char* const bad : {"abc", "1.2.3", "1,5", "0x10", "1e", "--1", "+-1", "1e5e", ".", "1/2", "\"1\"", "1d"})
    refused((real_general + "1 1 1\n1 1 ").append(bad) + "\n", 3, "1 1 ", "value belongs");
  refused(real_general + "1 1 1\n1 1 nan\n", 3, "1 1 nan", "finite");
  refused(real_general + "1 1 1\n1 1 -inf\n", 3, "1 1 -inf", "finite");
  CHECK(std::isnan(mm::parse_csr<double, std::int32_t, std::int32_t>(real_general + "1 1 1\n1 1 nan\n", "a",
                                                                     {.allow_nonfinite = true})
                       .values[0]));
  refused("%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n", 3, "1 1 1.5", "holds integers");
  CHECK_THROWS_AS((mm::parse_csr<float, std::int32_t, std::int32_t>(real_general + "1 1 1\n1 1 1e39\n", "a")),
                  mm::FileError);
}

TEST_CASE("Matrix Market: numbers whatever the locale", "[matrix_market]") {
  // a locale with a decimal comma, through both the C and the C++ library; a facet of our own where none is installed
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread runs
  const char* const c_locale = std::setlocale(LC_ALL, "de_DE.UTF-8");
  const auto m = read(real_general + "2000 1 1\n1500 1 1234.5\n");
  const std::string written = mm::format_csr(m);
  std::locale::global(before);
  std::setlocale(LC_ALL, "C");  // NOLINT(concurrency-mt-unsafe): no other thread runs
  INFO("C locale with a comma: " << (c_locale ? "yes" : "not installed"));
  CHECK(m.values == std::vector<double>{1234.5});
  CHECK_THAT(written, ContainsSubstring("\n1500 1 1234.5\n"));
}

TEST_CASE("Matrix Market: duplicates are summed, columns sorted", "[matrix_market]") {
  const auto m = read(real_general + "2 3 5\n1 3 1\n1 1 2\n1 3 4\n2 2 1\n2 2 -1\n");
  CHECK(m.row_offsets == std::vector<std::int32_t>{0, 2, 3});
  CHECK(m.columns == std::vector<std::int32_t>{0, 2, 1});
  CHECK(m.values == std::vector<double>{2, 5, 0});
  CHECK(read(real_symmetric + "2 2 2\n2 1 1\n2 1 3\n").values == std::vector<double>{4, 4});
  CHECK(read("%%MatrixMarket matrix coordinate pattern general\n2 2 2\n2 1\n2 1\n").values == std::vector<double>{1});

  // against a dense accumulation, with rows long enough for both ways of sorting
  std::mt19937 random(5);
  const int rows = 40, columns = 90, entries = 3000;
  const auto at = [](int i, int j) {
    return static_cast<std::size_t>(i) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(j);
  };
  std::vector<double> dense(at(rows, 0));
  std::vector<int> touched(dense.size());
  std::string text = real_general + "40 90 3000\n";
  for (int k = 0; k < entries; ++k) {
    // few entries in the first rows, many in the last
    const int i = static_cast<int>(std::sqrt(static_cast<double>(random() % (rows * rows))));
    const int j = static_cast<int>(random() % columns), v = static_cast<int>(random() % 19) - 9;
    dense[at(i, j)] += v;
    touched[at(i, j)] = 1;
    text += std::to_string(i + 1) + " " + std::to_string(j + 1) + " " + std::to_string(v) + "\n";
  }
  const auto sum = read(text);
  std::vector<double> found(dense.size());
  std::size_t distinct = 0;
  for (int i = 0; i < rows; ++i)
    for (int k = sum.row_offsets[static_cast<std::size_t>(i)]; k < sum.row_offsets[static_cast<std::size_t>(i) + 1];
         ++k) {
      const int j = sum.columns[static_cast<std::size_t>(k)];
      if (k > sum.row_offsets[static_cast<std::size_t>(i)]) CHECK(j > sum.columns[static_cast<std::size_t>(k) - 1]);
      found[at(i, j)] = sum.values[static_cast<std::size_t>(k)];
      ++distinct;
    }
  CHECK(found == dense);
  CHECK(distinct == static_cast<std::size_t>(std::count(touched.begin(), touched.end(), 1)));
}

TEST_CASE("Matrix Market: faults are refused with file, line and the line", "[matrix_market]") {
  const std::string entry = "1 1 1\n";
  refused("", 1, "", "no Matrix Market banner");
  refused("\n" + real_general + "1 1 1\n" + entry, 1, "", "no Matrix Market banner");
  refused("%MatrixMarket matrix coordinate real general\n1 1 1\n", 1, "%MatrixMarket", "banner");
  refused(" %%MatrixMarket matrix coordinate real general\n1 1 1\n", 1, " %%MatrixMarket", "banner");
  refused("%%MatrixMarkets matrix coordinate real general\n", 1, "%%MatrixMarkets", "banner");
  refused("%%MatrixMarket\n", 1, "%%MatrixMarket", "5");
  refused("%%MatrixMarket matrix coordinate real\n", 1, "%%MatrixMarket matrix", "5");
  refused("%%MatrixMarket matrix coordinate real general more\n", 1, "%%MatrixMarket matrix", "more than 5");
  refused("%%MatrixMarket vector coordinate real general\n", 1, "%%MatrixMarket vector", "object \"vector\"");
  refused("%%MatrixMarket matrix sparse real general\n", 1, "%%MatrixMarket matrix", "format \"sparse\"");
  refused("%%MatrixMarket matrix coordinate quaternion general\n", 1, "%%", "field \"quaternion\"");
  refused("%%MatrixMarket matrix coordinate real triangular\n", 1, "%%", "symmetry \"triangular\"");
  refused("%%MatrixMarket matrix array pattern general\n", 1, "%%", "pattern array");
  refused("%%MatrixMarket matrix coordinate pattern skew-symmetric\n", 1, "%%", "no signs");
  refused("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 1\n", 1, "%%", "complex");
  refused(real_general, 1, "%%", "size line");
  refused(real_general + "% nothing\n\n", 1, "%%", "size line");
  refused(real_general + "3 3\n", 2, "3 3", "no number of entries");
  refused(real_general + "3 x 3\n", 2, "3 x 3", "number of columns");
  refused(real_general + "3 -3 3\n", 2, "3 -3 3", "number of columns");
  refused(real_general + "3 3 3 3\n", 2, "3 3 3 3", "after the last number");
  refused(real_general + "3.0 3 3\n", 2, "3.0 3 3", "number of rows");
  refused(real_general + "99999999999999999999 3 3\n", 2, "99999999999999999999", "largest possible");
  refused(real_symmetric + "3 4 1\n1 1 1\n", 2, "3 4 1", "square");
  refused("%%MatrixMarket matrix array real general\n3 4 12\n", 2, "3 4 12", "2 numbers");
  refused(real_general + "2 2 1\n% comment\n\n3 1 5\n", 5, "3 1 5", "row index 3");
  refused(real_general + "2 2 1\n1 3 5\n", 3, "1 3 5", "column index 3");
  refused(real_general + "2 2 1\n1 0 5\n", 3, "1 0 5", "column index 0");
  refused(real_general + "2 2 1\n-1 1 5\n", 3, "-1 1 5", "row index belongs");
  refused(real_general + "2 2 1\n1.0 1 5\n", 3, "1.0 1 5", "row index belongs");
  refused(real_general + "2 2 1\n99999999999999999999999 1 5\n", 3, "9999999", "largest possible");
  refused(real_general + "2 2 1\n1\n", 3, "1", "no column index");
  refused(real_general + "2 2 1\n1 1\n", 3, "1 1", "no value");
  refused(real_general + "2 2 1\n1 1 % comment\n", 3, "1 1 % comment", "no value");
  refused(real_general + "2 2 1\n1 1 5 6\n", 3, "1 1 5 6", "after the last number");
  refused(real_general + "2 2 1\n1 1 5\n2 2 6\n", 4, "2 2 6", "promises 1");
  refused(real_general + "2 2 3\r\n1 1 5\r\n2 2 6\r\n\r\n", 4, "2 2 6\"", "ends after 2 entries");
  refused(real_general + "0 0 1\n1 1 1\n", 3, "1 1 1", "the matrix has none");
  refused(real_symmetric + "2 2 2\n2 1 5\n1 2 5\n", 4, "1 2 5", "one triangle");
  refused("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 5\n", 3, "1 1 5", "diagonal");
  refused("%%MatrixMarket matrix array real general\n2 1\n1\n2\n3\n", 5, "3", "promises 2");
  refused("%%MatrixMarket matrix array real general\n2 1\n1\n", 3, "1", "promises 2");
  refused("%%MatrixMarket matrix array real general\n2 1\n1 2\n", 3, "1 2", "one number");
  CHECK_THROWS_AS(read_complex("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1\n"), mm::FileError);
  CHECK_THROWS_AS(read_complex("%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1 1\n"), mm::FileError);
}

TEST_CASE("Matrix Market: hostile files", "[matrix_market]") {
  const mm::ReadOptions small{.memory_limit = 1 << 20};
  const auto hostile = [&](const std::string& text) {
    return mm::parse_csr<double, std::int64_t, std::int64_t>(text, "a.mtx", small);
  };
  // promises are not believed: were they, these would take exabytes
  CHECK_THROWS_AS(hostile(real_general + "10 10 1000000000000000000\n1 1 1\n"), mm::FileError);
  CHECK_THROWS_AS(hostile(real_general + "1000000000000000000 1000000000000000000 1\n1 1 1\n"), tessera::Error);
  CHECK_THROWS_AS(hostile(real_general + "9223372036854775807 9223372036854775807 9223372036854775807\n"),
                  tessera::Error);
  CHECK_THROWS_AS(hostile("%%MatrixMarket matrix array real general\n1000 9000000000000000\n1\n"), mm::FileError);
  CHECK_THROWS_AS(hostile("%%MatrixMarket matrix array real general\n9223372036854775807 2\n1\n"), mm::FileError);
  CHECK_THROWS_AS(hostile("%%MatrixMarket matrix array real symmetric\n6074001000 6074001000\n1\n"), tessera::Error);
  CHECK_THROWS_AS(mm::parse_dense<double>("%%MatrixMarket matrix array real general\n1000000 1000000\n1\n", "a", small),
                  tessera::Error);
  CHECK_THROWS_WITH(read(real_general + "3000000000 1 1\n1 1 1\n"), ContainsSubstring("64-bit"));
  // columns beyond the file are only a number
  CHECK(hostile(real_general + "1 1000000000000000000 1\n1 1000000000000000000 1\n").columns[0] == 999999999999999999);

  refused(real_general + "1 1 1\n1 1 " + std::string(1, '\0') + "\n", 3, "1 1 \\x00", "value belongs");
  refused(real_general + "1 1 1\n1" + std::string(1, '\0') + "1 1\n", 3, "1\\x001 1", "row index belongs");
  refused("\xef\xbb\xbf" + real_general, 1, "\\xef\\xbb\\xbf%%Matrix", "banner");
  // a line of a megabyte is not repeated whole
  try {
    (void)read(real_general + "1 1 1\n1 1 " + std::string(1 << 20, 'x') + "\n");
    FAIL("accepted");
  } catch (const mm::FileError& e) {
    CHECK(std::string_view(e.what()).size() < 1000);
    CHECK_THAT(e.what(), ContainsSubstring("(1048580 bytes)"));
  }
  CHECK(read(real_general + "%" + std::string(1 << 20, 'x') + "\n1 1 1\n1 1 5\n").values[0] == 5);
  CHECK(read(real_general + "1 1 1\n1 1 " + std::string(1 << 20, '0') + "5\n").values[0] == 5);

  // a file cut off at any byte is refused or, where only the end of the last number is missing, still a number
  const std::string whole = real_general + "2 2 2\n1 1 5\n2 2 67\n";
  for (std::size_t n = 0; n + 2 < whole.size(); ++n) CHECK_THROWS_AS(read(whole.substr(0, n)), mm::FileError);
}

TEST_CASE("Matrix Market: files that are not there", "[matrix_market]") {
  using tessera::Error;
  CHECK_THROWS_WITH((mm::read_csr<double, std::int32_t, std::int32_t>("/nowhere/at/all.mtx")),
                    ContainsSubstring("/nowhere/at/all.mtx") && ContainsSubstring("No such file"));
  CHECK_THROWS_WITH((mm::read_csr<double, std::int32_t, std::int32_t>("/")), ContainsSubstring("directory"));
}

TEMPLATE_TEST_CASE("Matrix Market: what is written is read back, bit for bit", "[matrix_market]", float, double,
                   std::complex<float>, std::complex<double>) {
  const Folder folder;
  const std::string path = folder.path / "m.mtx";
  std::mt19937_64 random(7);
  const auto number = [&] {
    std::uniform_real_distribution<double> mantissa(-1, 1);
    std::uniform_int_distribution<int> exponent(-120, 120);
    const auto real = [&] { return std::ldexp(mantissa(random), exponent(random)); };
    if constexpr (std::is_floating_point_v<TestType>)
      return static_cast<TestType>(real());
    else
      return TestType(static_cast<typename TestType::value_type>(real()),
                      static_cast<typename TestType::value_type>(real()));
  };
  mm::Csr<TestType, std::int64_t, std::int64_t> m;
  m.header.rows = 60;
  m.header.columns = 70;
  m.row_offsets = {0};
  for (int i = 0; i < 60; ++i) {
    for (int j = 0; j < 70; ++j)
      if (random() % 4 == 0) {
        m.columns.push_back(j);
        m.values.push_back(number());
      }
    m.row_offsets.push_back(static_cast<std::int64_t>(m.columns.size()));
  }
  mm::write_csr(path, m, {.comment = "first\nsecond"});
  const auto again = mm::read_csr<TestType, std::int64_t, std::int64_t>(path);
  CHECK(again.row_offsets == m.row_offsets);
  CHECK(again.columns == m.columns);
  CHECK(again.values == m.values);
  const auto narrow = mm::read_csr<TestType, std::int32_t, std::int64_t>(path);
  CHECK(narrow.values == m.values);

  std::vector<TestType> dense(21);
  for (auto& v : dense) v = number();
  mm::write_dense(path, 7, 3, dense);
  const auto dense_again = mm::read_dense<TestType>(path);
  CHECK(dense_again.values == dense);
  CHECK(dense_again.header.rows == 7);
  // nothing but the file itself is left
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), std::filesystem::directory_iterator()) == 1);
}

TEST_CASE("Matrix Market: symmetric matrices are written as a triangle", "[matrix_market]") {
  const auto m = read(real_symmetric + "3 3 4\n1 1 2\n2 1 -1\n3 3 4\n3 2 5\n");
  const std::string text = mm::format_csr(m, {.symmetry = mm::Symmetry::symmetric});
  CHECK(text == "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 -1\n3 2 5\n3 3 4\n");
  const auto skew = read("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 -1\n3 2 5\n");
  CHECK(read(mm::format_csr(skew, {.symmetry = mm::Symmetry::skew_symmetric})).values == skew.values);
  const auto hermitian = read_complex("%%MatrixMarket matrix coordinate complex Hermitian\n2 2 2\n1 1 3 0\n2 1 1 2\n");
  CHECK(read_complex(mm::format_csr(hermitian, {.symmetry = mm::Symmetry::hermitian})).values == hermitian.values);
  CHECK_THROWS_WITH(mm::format_csr(skew, {.symmetry = mm::Symmetry::symmetric}), ContainsSubstring("mirror"));
}

TEST_CASE("Matrix Market: a write that fails leaves the old file", "[matrix_market]") {
  const auto m = read(real_general + "1 1 1\n1 1 5\n");
  CHECK_THROWS_WITH(mm::write_csr("/nowhere/at/all.mtx", m), ContainsSubstring("/nowhere/at/all.mtx"));
  const Folder folder;
  const std::string path = folder.path / "m.mtx";
  mm::write_csr(path, m);
  auto broken = m;
  broken.row_offsets = {0};
  CHECK_THROWS_AS(mm::write_csr(path, broken), tessera::Error);
  CHECK(mm::read_csr<double, std::int32_t, std::int32_t>(path).values == m.values);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), std::filesystem::directory_iterator()) == 1);
}

TEST_CASE("Matrix Market: real files", "[matrix_market][data]") {
  struct Known {
    const char* file;
    std::int64_t size, nnz;
    double norm;  // of A times ones, as SciPy gives it to ten digits
  };
  const std::filesystem::path folder = TESSERA_DATA_FOLDER;
  if (!std::filesystem::exists(folder / "494_bus.mtx"))
    SKIP("the matrices of ../shared/data are absent: " << folder.string());
  const Known known =
      GENERATE(Known{"494_bus.mtx", 494, 1666, 2198.665256}, Known{"1138_bus.mtx", 1138, 4054, 1460.031208},
               Known{"bcsstk08.mtx", 1074, 12960, 8.73989002e10}, Known{"bcspwr06.mtx", 1454, 5300, 151.3274595});
  const auto m = mm::read_csr<double, std::int32_t, std::int32_t>(folder / known.file);
  INFO(known.file);
  CHECK(m.header.rows == known.size);
  CHECK(static_cast<std::int64_t>(m.values.size()) == known.nnz);
  long double sum = 0;
  for (const double v : times_ones(m)) sum += static_cast<long double>(v) * v;
  CHECK_THAT(static_cast<double>(std::sqrt(sum)), WithinRel(known.norm, 1e-9));
}

TEST_CASE("Matrix Market: the fuzzer's corpus", "[matrix_market][fuzz]") {
  // every file is refused with an Error or gives sorted rows; what the fuzzer found stays here
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TESSERA_FUZZ_CORPUS)) {
    INFO(entry.path().string());
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    ++files;
    try {
      const auto m = mm::parse_csr<Complex, std::int64_t, std::int64_t>(text, "corpus", {.memory_limit = 8 << 20});
      REQUIRE(m.row_offsets.size() == static_cast<std::size_t>(m.header.rows) + 1);
      REQUIRE(m.columns.size() == m.values.size());
      REQUIRE(static_cast<std::size_t>(m.row_offsets.back()) == m.columns.size());
      for (std::size_t i = 0; i + 1 < m.row_offsets.size(); ++i)
        for (auto k = m.row_offsets[i] + 1; k < m.row_offsets[i + 1]; ++k)
          REQUIRE(m.columns[static_cast<std::size_t>(k) - 1] < m.columns[static_cast<std::size_t>(k)]);
    } catch (const tessera::Error& e) {
      REQUIRE(std::string_view(e.what()).size() < 1200);
    }
  }
  CHECK(files >= 10);
}
