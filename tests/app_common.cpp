// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <common/app.hpp>
#include <common/files.hpp>
#include <common/font.hpp>
#include <common/picture.hpp>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace app = tessera::app;
namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A folder of its own for each test, removed at the end.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("tessera-test-" + std::to_string(getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  [[nodiscard]] auto entries() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator{}); }
};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t v = 0;
  for (std::size_t i = 0; i < 4; ++i) v = v << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  return v;
}

/// CRC-32 bit by bit: nothing shared with what is tested.
std::uint32_t plain_crc(std::string_view bytes) {
  std::uint32_t c = ~0u;
  for (const char b : bytes) {
    c ^= static_cast<std::uint8_t>(b);
    for (int k = 0; k < 8; ++k) c = (c >> 1) ^ (c & 1 ? 0xedb88320u : 0);
  }
  return ~c;
}

/// A zlib stream of one block of fixed Huffman codes, undone bit by bit (RFC 1950, 1951).
std::string inflate(std::string_view in) {
  REQUIRE((static_cast<std::uint8_t>(in[0]) * 256 + static_cast<std::uint8_t>(in[1])) % 31 == 0);
  std::size_t bit = 16;
  const auto next = [&] {
    REQUIRE(bit / 8 < in.size());
    const int b = static_cast<std::uint8_t>(in[bit / 8]) >> (bit % 8) & 1;
    ++bit;
    return b;
  };
  const auto number = [&](int bits) {
    int v = 0;
    for (int i = 0; i < bits; ++i) v |= next() << i;
    return v;
  };
  const auto code = [&](int bits, int v = 0) {
    for (int i = 0; i < bits; ++i) v = v << 1 | next();
    return v;
  };
  REQUIRE(number(1) == 1);
  REQUIRE(number(2) == 1);
  std::string out;
  for (;;) {
    int symbol = code(7);
    if (symbol <= 0b0010111) {
      symbol += 256;
    } else {
      symbol = code(1, symbol);
      if (symbol >= 0b00110000 && symbol <= 0b10111111)
        symbol -= 0b00110000;
      else if (symbol >= 0b11000000 && symbol <= 0b11000111)
        symbol += 280 - 0b11000000;
      else
        symbol = code(1, symbol) - 0b110010000 + 144;
    }
    if (symbol == 256) break;
    if (symbol < 256) {
      out.push_back(static_cast<char>(symbol));
      continue;
    }
    int length = 0;
    if (symbol < 265)
      length = symbol - 254;
    else if (symbol == 285)
      length = 258;
    else {
      const int extra = (symbol - 261) / 4;
      length = ((4 + (symbol - 265) % 4) << extra) + 3 + number(extra);
    }
    const int d = code(5);
    const int distance = d < 2 ? d + 1 : ((2 + d % 2) << (d / 2 - 1)) + 1 + number(d / 2 - 1);
    REQUIRE(static_cast<std::size_t>(distance) <= out.size());
    for (int i = 0; i < length; ++i) out.push_back(out[out.size() - static_cast<std::size_t>(distance)]);
  }
  std::uint32_t a = 1, b = 0;
  for (const char c : out) a = (a + static_cast<std::uint8_t>(c)) % 65521, b = (b + a) % 65521;
  REQUIRE(big_endian(in, (bit + 7) / 8) == (b << 16 | a));
  return out;
}

void check_png(const app::Image& image) {
  const std::string png = app::encode_png(image);
  REQUIRE(png.substr(0, 8) == std::string("\x89PNG\r\n\x1a\n", 8));
  std::string data;
  std::vector<std::string> kinds;
  for (std::size_t at = 8; at < png.size();) {
    const std::size_t length = big_endian(png, at);
    const std::string_view body = std::string_view(png).substr(at + 4, length + 4);
    kinds.emplace_back(body.substr(0, 4));
    REQUIRE(plain_crc(body) == big_endian(png, at + 8 + length));
    if (kinds.back() == "IHDR") {
      CHECK(big_endian(body, 4) == static_cast<std::uint32_t>(image.width));
      CHECK(big_endian(body, 8) == static_cast<std::uint32_t>(image.height));
    }
    if (kinds.back() == "IDAT") data += inflate(body.substr(4));
    at += 12 + length;
  }
  CHECK(kinds == std::vector<std::string>{"IHDR", "IDAT", "IEND"});
  const std::size_t stride = static_cast<std::size_t>(image.width) * 3 + 1;
  REQUIRE(data.size() == stride * static_cast<std::size_t>(image.height));
  std::vector<std::uint8_t> above(stride - 1, 0);
  bool same = true;
  for (int y = 0; y < image.height; ++y) {
    REQUIRE(data[static_cast<std::size_t>(y) * stride] == 2);
    for (std::size_t i = 0; i + 1 < stride; ++i) {
      above[i] = static_cast<std::uint8_t>(
          above[i] + static_cast<std::uint8_t>(data[static_cast<std::size_t>(y) * stride + 1 + i]));
      same = same && above[i] == image.at(static_cast<int>(i / 3), y)[i % 3];
    }
  }
  CHECK(same);
}

}  // namespace

TEST_CASE("PNG files decode to the picture", "[picture]") {
  std::mt19937 random(7);
  for (const auto& [w, h] : {std::pair{1, 1}, {1, 40}, {300, 1}, {64, 64}, {257, 133}}) {
    app::Image noise(w, h), plain(w, h, {10, 200, 30}), ramp(w, h);
    for (app::Colour& c : noise.pixels)
      for (std::uint8_t& v : c) v = static_cast<std::uint8_t>(random());
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) ramp.at(x, y) = app::colour_map(static_cast<double>(x) / w);
    check_png(noise);
    check_png(plain);
    check_png(ramp);
  }
  // repeats further apart than deflate's window, and longer than its longest match
  app::Image wide(40000, 3);
  for (int x = 0; x < wide.width; ++x)
    wide.at(x, 1) = {static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(x >> 7), 9};
  check_png(wide);
}

TEST_CASE("the colour map grows lighter in even steps", "[picture]") {
  const auto lightness = [](app::Colour c) {  // CIE L*
    double y = 0;
    const double weights[] = {0.2126, 0.7152, 0.0722};
    for (std::size_t k = 0; k < 3; ++k) {
      const double v = c[k] / 255.0;
      y += weights[k] * (v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
    }
    return y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
  };
  double before = -1;
  for (int i = 0; i <= 64; ++i) {
    const double l = lightness(app::colour_map(i / 64.0));
    CHECK(l > before);
    if (i > 0) CHECK(l - before < 3.5);
    before = l;
  }
  CHECK(lightness(app::colour_map(0)) < 12);
  CHECK(lightness(app::colour_map(1)) > 90);
  CHECK(app::colour_map(-5) == app::colour_map(0));
  CHECK(app::colour_map(7) == app::colour_map(1));
}

TEST_CASE("pictures of awkward data", "[picture]") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const app::PlotOptions log{.title = "t", .x_label = "x", .y_label = "y", .log_x = true, .log_y = true};
  CHECK(app::line_plot({}, {}).width == 960);
  std::vector<app::Series> series{
      {"a", {1, 2, 3}, {0, nan, -1}}, {"b", {1}, {5}}, {"", {}, {}}, {"c", {0, inf}, {1, 1}}};
  for (const auto& options : {app::PlotOptions{}, log}) CHECK(app::line_plot(series, options).height == 600);
  series = {{"wide", {1e-300, 1e300}, {1e-30, 1e30}}};
  CHECK(app::line_plot(series, log).pixels.size() == 960u * 600u);
  series = {{"flat", {0, 1, 2}, {4, 4, 4}}};
  CHECK(app::line_plot(series, {}).pixels.size() == 960u * 600u);

  const std::vector<double> values = {0, 1, nan, 3};
  const app::Image two = app::heatmap(values, 2, 2, {.size = 100});
  const auto has = [](const app::Image& image, app::Colour c) {
    return std::find(image.pixels.begin(), image.pixels.end(), c) != image.pixels.end();
  };
  CHECK(has(two, {170, 170, 170}));  // NaN
  CHECK(has(two, app::colour_map(0)));
  CHECK(has(two, app::colour_map(1)));
  CHECK_FALSE(app::heatmap({}, 0, 0, {}).pixels.empty());
  CHECK_FALSE(app::heatmap(std::vector<double>(9, 2.5), 3, 3, {.size = 50}).pixels.empty());
  CHECK_FALSE(app::heatmap(std::vector<double>(300 * 10, 1.5), 300, 10, {.size = 60})
                  .pixels.empty());  // fewer pixels than cells
}

TEST_CASE("every character has strokes inside its line", "[picture]") {
  for (char c = '!'; c <= '~'; ++c) {
    const std::string text(1, c);
    const auto strokes = app::text_strokes(text);
    INFO(text);
    REQUIRE_FALSE(strokes.empty());
    const double width = app::text_width(text);
    CHECK(width > 0);
    for (const auto& line : strokes)
      for (const app::Point p : line) {
        CHECK((p.x > -0.5 && p.x < width + 0.5));
        CHECK((p.y > -2.5 && p.y < 7.5));
      }
  }
  CHECK(app::text_width("10^{-3}") < app::text_width("10-3"));
  CHECK(app::text_width("") == 0);
}

TEST_CASE("a file that appears whole keeps links, and replaces nothing but files", "[files]") {
  const Folder folder;
  const fs::path target = folder.path / "target", link = folder.path / "link", pipe = folder.path / "pipe";
  app::write_file_atomically(target, "old");
  fs::create_symlink(target, link);
  app::write_file_atomically(link, "new");
  CHECK(fs::is_symlink(link));
  CHECK(read(target) == "new");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(app::write_file_atomically(pipe, "x"), ContainsSubstring("a device, a pipe"));
  CHECK_THROWS_WITH(app::check_writable(pipe), ContainsSubstring("a device, a pipe"));
  CHECK_THROWS_WITH(app::check_writable(folder.path), ContainsSubstring("a folder has its name"));
  CHECK(fs::is_fifo(pipe));
  CHECK(folder.entries() == 3);
}

TEST_CASE("files appear whole or not at all", "[files]") {
  const Folder folder;
  const fs::path path = folder.path / "result.txt";
  app::write_file_atomically(path, "first");
  CHECK(read(path) == "first");
  {
    app::AtomicFile file(path);
    file.write("never committed");
    CHECK(folder.entries() == 2);  // the temporary one lies beside it
  }
  CHECK(read(path) == "first");
  CHECK(folder.entries() == 1);
  const std::string large(5'000'000, 'x');
  app::write_file_atomically(path, large);
  CHECK(read(path) == large);
  CHECK(folder.entries() == 1);
  CHECK((fs::status(path).permissions() & fs::perms::owner_read) != fs::perms::none);

  CHECK_THROWS_WITH(app::write_file_atomically(folder.path / "no" / "x", "y"),
                    ContainsSubstring("no/x") && ContainsSubstring("No such file"));
  fs::create_directory(folder.path / "taken");
  CHECK_THROWS_WITH(app::write_file_atomically(folder.path / "taken", "y"), ContainsSubstring("a folder has its name"));
  CHECK(folder.entries() == 2);
  CHECK_THROWS_WITH(app::check_writable(folder.path / "taken"), ContainsSubstring("a folder has its name"));
  CHECK_THROWS_WITH(app::make_folder(path / "below"), ContainsSubstring("could not be made"));
  app::make_folder(folder.path / "a" / "b");
  app::make_folder(folder.path / "a" / "b");
  CHECK(fs::is_directory(folder.path / "a" / "b"));
}

TEST_CASE("small helpers", "[app]") {
  const app::Spread s = app::spread({4, 1, 3, 2});
  CHECK((s.min == 1 && s.median == 2.5 && s.max == 4));
  CHECK(app::spread({7}).median == 7);
  CHECK(app::readable_bytes(512) == "512 bytes");
  CHECK(app::readable_bytes(1.5 * 1024 * 1024 * 1024) == "1.5 GiB");
  app::Table table({"name", "value"});
  table.row({"a", "1"});
  table.row({"long one", "22.5"});
  CHECK(table.text() ==
        "  name      value\n"
        "  ---------------\n"
        "  a             1\n"
        "  long one   22.5\n");
}

namespace {

struct Arguments {
  std::vector<std::string> words;
  std::vector<char*> pointers;
  explicit Arguments(std::vector<std::string> w) : words(std::move(w)) {
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
  }
  [[nodiscard]] int count() const { return static_cast<int>(words.size()); }
};

}  // namespace

TEST_CASE("exit codes and JSON of an app", "[app]") {
  const Folder folder;
  const fs::path json_path = folder.path / "out.json";
  int size = 3;
  double value = 0.5;
  const auto run = [&](std::vector<std::string> options, const std::function<bool(app::App&)>& body) {
    app::App a({.name = "sample", .summary = "A test.", .examples = "  sample\n"});
    a.option("--size", size, "Size [cells]");
    a.option("--some-value", value, "Value");
    options.insert(options.begin(), "sample");
    options.insert(options.end(), {"--json", json_path.string()});
    Arguments arguments(options);
    return a.run(arguments.count(), arguments.pointers.data(), [&] { return body(a); });
  };
  const auto json = [&] { return app::Json::parse(read(json_path)); };

  CHECK(run({"--size", "9"}, [](app::App& a) {
          a.result("answer", 42);
          (void)a.timing("work", 2.0, {.bytes = 4e9, .flops = 6e9});
          return true;
        }) == 0);
  CHECK(json()["app"] == "sample");
  CHECK(json()["verified"] == true);
  CHECK(json()["parameters"]["size"] == 9);
  CHECK(json()["parameters"]["some_value"] == 0.5);
  CHECK(json()["results"]["answer"] == 42);
  CHECK(json()["timings"]["work"]["gb_per_s"] == 2.0);
  CHECK(json()["timings"]["work"]["gflop_per_s"] == 3.0);
  CHECK(json()["ranks"] == 1);
  CHECK(json()["backend"] == app::Space::name());

  CHECK(run({}, [](app::App&) { return false; }) == 1);
  CHECK(json()["verified"] == false);
  CHECK(run({}, [](app::App&) -> bool { throw tessera::Error("f", "given", "allowed"); }) == 2);
  CHECK(json()["error"].get<std::string>().find("f: given; allowed.") == 0);
  CHECK(run({}, [](app::App&) -> bool { throw std::bad_alloc(); }) == 2);
  CHECK(json()["error"].get<std::string>().find("out of memory") == 0);
  CHECK(run({}, [](app::App& a) {
          a.require_memory(1e18, "Use a smaller --size");
          return true;
        }) == 2);
  CHECK(json()["error"].get<std::string>().find("Use a smaller --size") != std::string::npos);
  bool ran = false;
  CHECK(run({"--size", "x"}, [&](app::App&) { return ran = true; }) == 2);
  CHECK(run({"surplus"}, [&](app::App&) { return ran = true; }) == 2);
  CHECK_FALSE(ran);

  // SIGINT while it runs
  CHECK(run({}, [](app::App& a) {
          CHECK_FALSE(a.interrupted());
          std::raise(SIGINT);
          CHECK(a.interrupted());
          a.result("done", 1);
          return true;
        }) == 130);
  CHECK(json()["interrupted"] == true);
  CHECK(json()["verified"] == false);
  CHECK(json()["results"]["done"] == 1);
}
