// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <array>
#include <bench/plot.hpp>
#include <bench/report.hpp>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <support/damaged.hpp>

#include <tessera/core/error.hpp>

namespace bench = tessera::bench;
using bench::CaseResult;
using bench::Result;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

namespace {

/// A dot that moves 1.6 GB at the copy's speed, 1.25 times as fast as its peer, a product at half of its peer's rate,
/// and a sort, which counts no operations.
Result example() {
  Result r;
  r.version = "0.1.0";
  r.backend = "OpenMP";
  r.device = "A device";
  r.concurrency = 2;
  r.copy_gb_per_s = 100;
  r.machine = {{"set", "full"}};
  r.asked = 3;
  r.cases.push_back({"dot fp64 n=1e8",
                     "dot",
                     "dot[portable]",
                     1.6e9,
                     2e8,
                     1,
                     true,
                     true,
                     0.5,
                     "",
                     {{"tessera", 0.016, 0.01}, {"loop", 0.020, 0.03}},
                     false,
                     ""});
  r.cases.push_back({"gemm fp32 NN 1000x1000x1000",
                     "gemm",
                     "gemm[portable]",
                     1.2e7,
                     2e9,
                     4,
                     true,
                     true,
                     0.1,
                     "",
                     {{"tessera", 0.02, 0.001}, {"BLAS", 0.01, 0.001}, {"other", 0.02, 0.01}},
                     false,
                     ""});
  r.cases.push_back(
      {"sort u32 n=1e6", "sort", "sort[portable]", 8e6, 0, 24, false, true, 0, "", {{"tessera", 0.001, 0}}, false, ""});
  return r;
}

std::string text_of(const Result& r) { return bench::to_json(r).dump(1); }

std::string refusal(const std::string& text) {
  try {
    (void)bench::parse_result(text, "given.json");
  } catch (const tessera::Error& error) {
    return error.what();
  }
  return "";
}

std::size_t count(const std::string& in, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = in.find(what); at != std::string::npos; at = in.find(what, at + 1)) ++n;
  return n;
}

/// Whether elements open and close as they should, attributes are quoted, and no text holds a bare < or &.
bool well_formed(const std::string& page) {
  std::vector<std::string> open;
  std::size_t at = 0;
  if (page.starts_with("<!DOCTYPE html>")) at = page.find('>') + 1;
  while (at < page.size()) {
    if (page[at] == '&') {
      const std::size_t end = page.find(';', at);
      if (end == std::string::npos || end - at > 6) return false;
    }
    if (page[at] != '<') {
      ++at;
      continue;
    }
    bool quoted = false;
    std::size_t end = at + 1;
    for (; end < page.size() && (quoted || page[end] != '>'); ++end) {
      if (page[end] == '"') quoted = !quoted;
      if (!quoted && page[end] == '<') return false;
    }
    if (end == page.size()) return false;
    const std::string tag = page.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" \n/", 1));
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with('/') && name != "meta") {
      open.push_back(name);
      if (name == "style") {
        end = page.find("</style>", end) - 1;
      }
    }
    at = end + 1;
  }
  return open.empty();
}

}  // namespace

TEST_CASE("a result goes into JSON and comes back", "[bench]") {
  const Result before = example();
  const Result after = bench::parse_result(text_of(before), "x");
  REQUIRE(text_of(after) == text_of(before));
  REQUIRE(after.cases.size() == 3);
  REQUIRE(after.cases[1].ratio(1) == Approx(0.5));
  REQUIRE(after.cases[2].past_cache == false);
  REQUIRE(after.verified());
  const json document = bench::to_json(before);
  REQUIRE(document["results"][0]["ratios"]["loop"].get<double>() == Approx(1.25));
  REQUIRE(document["results"][0]["share_of_copy"].get<double>() == Approx(1));
}

TEST_CASE("files of the first format, without newer keys, are read", "[bench]") {
  json document = bench::to_json(example());
  for (const char* const key : {"machine", "interrupted", "cases_asked_for", "product_gflop_per_s"})
    document.erase(key);
  for (json& r : document["results"])
    for (const char* const key : {"past_cache", "share_of_ceiling", "ceiling", "timed"}) r.erase(key);
  const Result r = bench::parse_result(document.dump(), "x");
  REQUIRE(r.cases.size() == 3);
  REQUIRE_FALSE(r.cases[0].past_cache.has_value());
  REQUIRE_FALSE(r.interrupted);
}

TEST_CASE("the ceiling is a copy or the fastest product of the type", "[bench]") {
  const Result r = example();
  const bench::Peaks peaks = bench::peaks_of(r);
  REQUIRE(peaks.size() == 1);
  REQUIRE(peaks.at("fp32") == Approx(200));  // 2e9 operations in 0.01 s
  const bench::Share dot = bench::share_of_ceiling(r, r.cases[0], peaks);
  REQUIRE(dot.of == "copy");
  REQUIRE(dot.value == Approx(1));
  const bench::Share gemm = bench::share_of_ceiling(r, r.cases[1], peaks);
  REQUIRE(gemm.of == "fp32 product");
  REQUIRE(gemm.value == Approx(0.5));
  // of a selection too
  const Result one = bench::selection(r, {"dot"});
  REQUIRE(bench::peaks_of(one) == peaks);
  REQUIRE(bench::peaks_of(bench::parse_result(text_of(one), "x")) == peaks);
  REQUIRE(bench::type_of({.name = "transpose complex fp64 9x9",
                          .algorithm = "",
                          .path = "",
                          .past_cache = {},
                          .error = "",
                          .timings = {},
                          .not_replayed = ""}) == "complex fp64");
}

TEST_CASE("filters are words, and several are alternatives", "[bench]") {
  REQUIRE(bench::matches("gemm fp64 NN 512", {}));
  REQUIRE(bench::matches("gemm fp64 NN 512", {"gemm 512"}));
  REQUIRE_FALSE(bench::matches("gemm fp64 NN 512", {"gemm fp32"}));
  REQUIRE(bench::matches("gemm fp64 NN 512", {"dot", "fp64"}));
  REQUIRE(bench::selection(example(), {"dot", "sort 1e6"}).cases.size() == 2);
}

TEST_CASE("a comparison marks what moved beyond the spread of both, and nothing else", "[bench]") {
  const Result before = example();
  Result now = example();
  now.cases[0].timings[0].seconds *= 1.019;  // within 0.01 + 0.01
  now.cases[1].timings[0].seconds *= 1.01;   // beyond 0.001 + 0.001
  now.cases[2].timings[0].seconds /= 2;
  now.cases.push_back(now.cases[0]);
  now.cases.back().name = "new";
  const bench::Comparison c = bench::compare(before, now, "old.json");
  REQUIRE(c.moved.size() == 3);
  REQUIRE(std::string(c.moved[0].verdict()).empty());
  REQUIRE(std::string(c.moved[1].verdict()) == "SLOWER");
  REQUIRE(std::string(c.moved[2].verdict()) == "faster");
  const std::string text = bench::text(c);
  REQUIRE_THAT(text, ContainsSubstring("1 faster and 1 slower") && ContainsSubstring("1 cases are new"));
  REQUIRE(count(text, "SLOWER") == 1);
  const std::string page = bench::html(now, &c);
  REQUIRE_THAT(page, ContainsSubstring("Against old.json"));
  REQUIRE(count(page, "<td class=\"left\">SLOWER</td>") == 1);
  REQUIRE(well_formed(page));

  now.device = "Another";
  REQUIRE_THAT(bench::text(bench::compare(before, now, "o")), ContainsSubstring("another machine"));
  REQUIRE(bench::compare(before, before, "o").moved[0].beyond_spread() == false);
}

TEST_CASE("what was timed by replays and what by calls is told, and the two are not compared", "[bench]") {
  const Result calls = example();
  REQUIRE(bench::to_json(calls)["results"][0]["timed"] == "calls");
  for (const std::string& text : {bench::text(calls), bench::markdown(calls), bench::html(calls)})
    REQUIRE(count(text, "replay") == 0);

  Result replays = example();
  replays.cases[0].replayed = replays.cases[1].replayed = true;
  replays.cases[2].not_replayed = "tessera: it <allocates>";
  const json document = bench::to_json(replays);
  REQUIRE(document["results"][0]["timed"] == "replay");
  REQUIRE(document["results"][2]["timed"] == "calls");
  REQUIRE(text_of(bench::parse_result(text_of(replays), "x")) == text_of(replays));
  const std::string text = bench::text(replays);
  REQUIRE(count(text, "[replay]\n") == 2);
  REQUIRE_THAT(text, ContainsSubstring("[calls: tessera: it <allocates>]\n") &&
                         ContainsSubstring("1 of 3 cases could not be captured"));
  REQUIRE_THAT(bench::markdown(replays), ContainsSubstring("| dot n=1e8 (replay) |") &&
                                             ContainsSubstring("| sort n=1e6 (calls) |") &&
                                             ContainsSubstring("without the host's launches"));
  const std::string page = bench::html(replays);
  REQUIRE(well_formed(page));
  REQUIRE_THAT(page, ContainsSubstring("title=\"tessera: it &lt;allocates&gt;\">(calls)"));
  REQUIRE(count(page, ">(replay)<") == 2);
  REQUIRE_THAT(bench::csv(replays), ContainsSubstring(",replay\n") && ContainsSubstring(",calls\n"));

  // types of one case that were timed differently have rows of their own
  replays.cases.push_back(replays.cases[0]);
  replays.cases.back().name = "dot fp32 n=1e8";
  replays.cases.back().replayed = false;
  replays.cases.back().not_replayed = "loop: it waits";
  REQUIRE_THAT(bench::markdown(replays),
               ContainsSubstring("| dot n=1e8 (replay) | fp64 |") && ContainsSubstring("| dot n=1e8 (calls) | fp32 |"));
  replays.cases.pop_back();

  const bench::Comparison c = bench::compare(calls, replays, "calls.json");
  REQUIRE(c.moved.size() == 1);
  REQUIRE(c.moved[0].name == "sort u32 n=1e6");
  REQUIRE_THAT(bench::text(c), ContainsSubstring("2 cases were timed by replays in one of the two") &&
                                   ContainsSubstring("give both --replay, or neither"));
  REQUIRE_THAT(bench::html(replays, &c), ContainsSubstring("2 cases were timed by replays in one of the two"));
  REQUIRE(bench::compare(replays, replays, "o").moved.size() == 3);
}

TEST_CASE("a summary for each peer: geometric mean, how many are close, the least", "[bench]") {
  Result r = example();
  r.cases.resize(2);
  for (std::size_t i = 0; i < 2; ++i) {
    r.cases[i].timings.resize(2);
    r.cases[i].timings[1].name = "Peer";
    r.cases[i].timings[0].seconds = 1;
    r.cases[i].timings[1].seconds = i == 0 ? 0.9 : 1.6;
  }
  REQUIRE(bench::text_summary(r) ==
          "Peer: geometric mean 1.200 of 2 cases, 1 at 0.95 and above; least 0.90, " + r.cases[0].name + "\n");
  r.cases.resize(1);
  REQUIRE(bench::text_summary(r).empty());
}

TEST_CASE("CSV has a line a contender", "[bench]") {
  Result r = example();
  r.cases[0].path = "a \"quoted\", path";
  const std::string text = bench::csv(r);
  REQUIRE(count(text, "\n") == 1 + 2 + 3 + 1);
  REQUIRE_THAT(text, ContainsSubstring("\"dot fp64 n=1e8\",\"dot\",\"a \"\"quoted\"\", path\",true,\"loop\","
                                       "2.000000000e-02,0.0300,1.2500,1600000000,200000000,1,,,calls\n"));
}

TEST_CASE("Markdown puts the types of a case into one row", "[bench]") {
  Result r = example();
  r.cases.push_back(r.cases[0]);
  r.cases.back().name = "dot fp32 n=1e8";
  r.cases.back().timings[1].seconds = 0.008;
  const std::string text = bench::markdown(r);
  REQUIRE_THAT(text,
               ContainsSubstring("| dot n=1e8 | fp32 / fp64 | 100 / 100 GB/s | 1.00 / 1.00 | loop: 0.50 / 1.25 |\n"));
  REQUIRE_THAT(text, ContainsSubstring("| BLAS: 0.50; other: 1.00 |"));
  r.cases[0].verified = false;
  r.cases[1].timings.clear();
  r.cases[1].error = "too large | by far";
  REQUIRE_THAT(bench::markdown(r), ContainsSubstring("WRONG") && ContainsSubstring("too large \\| by far"));
}

TEST_CASE("a page stands alone, and says what a picture shows", "[bench]") {
  const std::string page = bench::html(example());
  REQUIRE(well_formed(page));
  REQUIRE(count(page, "<svg ") == 2);
  REQUIRE(count(page, "role=\"img\"") == 2);
  REQUIRE(count(page, "<desc ") == 2);
  REQUIRE_THAT(page, ContainsSubstring("prefers-color-scheme: dark") && ContainsSubstring("lang=\"en\""));
  // nothing is fetched: no addresses but the name space of SVG
  REQUIRE(count(page, "://") == count(page, "http://www.w3.org/2000/svg"));
  for (const char* const word : {"<script", "<link", "<img", "src=", "href=", "@import", "url("})
    REQUIRE(count(page, word) == 0);
  for (const CaseResult& c : example().cases) REQUIRE_THAT(page, ContainsSubstring(c.name));
}

TEST_CASE("what a name holds stays text", "[bench]") {
  Result r = example();
  const std::string evil = "\"><script>alert('x')</script>&<!--";
  r.device = r.cases[0].name = r.cases[0].algorithm = r.cases[0].path = r.cases[0].timings[1].name = evil;
  r.cases[1].timings.clear();
  r.cases[1].error = r.machine[0].first = r.machine[0].second = evil;
  const Result read = bench::parse_result(text_of(r), "x");
  const bench::Comparison c = bench::compare(example(), read, evil);
  const std::string page = bench::html(read, &c);
  REQUIRE(well_formed(page));
  REQUIRE(count(page, "<script") == 0);
  REQUIRE(count(page, "<!--") == 0);
  REQUIRE(count(page, "&lt;script&gt;") > 5);
  const std::string table = bench::markdown(read);
  REQUIRE(count(table, "<script") == count(table, "\\<script"));
}

TEST_CASE("results with nothing to draw, or wrong, or interrupted", "[bench]") {
  Result r = example();
  r.cases.erase(r.cases.begin(), r.cases.begin() + 2);
  REQUIRE(bench::roofline(r).empty());
  REQUIRE(bench::ratio_plot(r).empty());
  REQUIRE(well_formed(bench::html(r)));
  r = example();
  r.interrupted = true;
  r.asked = 9;
  r.cases[0].verified = false;
  REQUIRE_FALSE(r.verified());
  REQUIRE_THAT(bench::html(r), ContainsSubstring("of 9 cases") && ContainsSubstring("WRONG"));
  REQUIRE_THAT(bench::text(r), ContainsSubstring("WRONG"));
}

TEST_CASE("numbers at the ends of what is read make pages of bounded size", "[bench]") {
  Result r = example();
  const double seconds = GENERATE(1e-12, 1.0, 1e9);
  const double bytes = GENERATE(1e-3, 1e18);
  const double flops = GENERATE(1e-3, 1e24);
  const double copy = GENERATE(1e-6, 1e9);
  r.copy_gb_per_s = copy;
  r.cases[0].bytes = bytes;
  r.cases[0].flops = flops;
  r.cases[0].timings = {{"tessera", seconds, 1e9}, {"peer", 1e-12, 0}, {"other", 1e9, 1e9}};
  const Result read = bench::parse_result(text_of(r), "x");
  const std::string page = bench::html(read);
  REQUIRE(well_formed(page));
  REQUIRE(page.size() < 60'000);
  REQUIRE(count(page, "nan") == 0);
  REQUIRE(count(page, "\"inf") == 0);
}

TEST_CASE("what is no result is refused, with the place", "[bench]") {
  const auto changed = [](const std::function<void(json&)>& change) {
    json document = bench::to_json(example());
    change(document);
    return refusal(document.dump());
  };
  REQUIRE_THAT(refusal(""),
               ContainsSubstring("\"given.json\" is no result") && ContainsSubstring("not JSON from byte"));
  REQUIRE_THAT(refusal("{\n\"app\": \"bench\",\n]"), ContainsSubstring("line 3"));
  REQUIRE_THAT(refusal("[]"), ContainsSubstring("not an object"));
  REQUIRE_THAT(refusal("{}"), ContainsSubstring("no \"app\""));
  REQUIRE_THAT(refusal("{\"app\": 1e999}"), ContainsSubstring("too large"));
  REQUIRE_THAT(refusal(text_of(example()) + "x"), ContainsSubstring("not JSON"));
  REQUIRE_THAT(refusal(std::string(2'000'000, '[')), ContainsSubstring("nested"));
  REQUIRE_THAT(refusal(std::string((16u << 20) + 1, ' ')), ContainsSubstring("16 MiB"));
  REQUIRE_THAT(refusal("{\"app\": \"\xff\"}"), ContainsSubstring("not JSON"));
  REQUIRE_THAT(changed([](json& d) { d["app"] = "heat"; }), ContainsSubstring("another app"));
  REQUIRE_THAT(changed([](json& d) { d["device"] = 7; }), ContainsSubstring("device is not a string"));
  REQUIRE_THAT(changed([](json& d) { d["device"] = "\x1b[2J"; }), ContainsSubstring("control characters"));
  REQUIRE_THAT(changed([](json& d) {
                 d["device"] =
                     "\xc2\x9b"
                     "2J";
               }),
               ContainsSubstring("control characters"));
  REQUIRE_THAT(changed([](json& d) { d["device"] = std::string(3000, 'x'); }), ContainsSubstring("longer than"));
  REQUIRE_THAT(changed([](json& d) { d["copy_gb_per_s"] = 0; }), ContainsSubstring("copy_gb_per_s is 0"));
  REQUIRE_THAT(changed([](json& d) { d["results"] = 3; }), ContainsSubstring("results is not an array"));
  REQUIRE_THAT(changed([](json& d) { d["results"][1] = nullptr; }), ContainsSubstring("results[1] is not an object"));
  REQUIRE_THAT(changed([](json& d) { d["results"][1]["timings"] = json::array(); }),
               ContainsSubstring("results[1] has neither timings nor an error"));
  REQUIRE_THAT(changed([](json& d) { d["results"][0]["timings"][1]["seconds"] = 0; }),
               ContainsSubstring("results[0].timings[1].seconds is 0"));
  REQUIRE_THAT(changed([](json& d) { d["results"][0]["timings"][1]["spread"] = -1; }),
               ContainsSubstring("spread is -1"));
  REQUIRE_THAT(changed([](json& d) { d["results"][0]["timings"][0].erase("name"); }),
               ContainsSubstring("results[0].timings[0] has no \"name\""));
  REQUIRE_THAT(changed([](json& d) { d["results"][0]["verified"] = "yes"; }), ContainsSubstring("verified is neither"));
  REQUIRE_THAT(changed([](json& d) { d["results"][0]["flops"] = -1; }), ContainsSubstring("flops is -1"));
  REQUIRE_THAT(changed([](json& d) { d["results"][0]["timed"] = "guessed"; }), ContainsSubstring("timed is neither"));
  REQUIRE_THAT(changed([](json& d) { d["results"][0]["timed"] = true; }), ContainsSubstring("timed is not a string"));
  REQUIRE_THAT(changed([](json& d) {
                 d["results"][0]["timed"] = "replay";
                 d["results"][0]["not_replayed"] = "it waits";
               }),
               ContainsSubstring("tells why it was not"));
  REQUIRE_THAT(changed([](json& d) { d["results"].push_back(d["results"][0]); }),
               ContainsSubstring("second of its name"));
  REQUIRE_THAT(changed([](json& d) {
                 for (int i = 0; i < 40; ++i) d["results"][0]["timings"].push_back(d["results"][0]["timings"][0]);
               }),
               ContainsSubstring("at most 32"));
  REQUIRE_THAT(changed([](json& d) { d["product_gflop_per_s"] = 1; }), ContainsSubstring("no object"));
  REQUIRE_THAT(changed([](json& d) { d["product_gflop_per_s"]["fp64"] = -1; }), ContainsSubstring("is -1"));
  REQUIRE_THAT(changed([](json& d) { d["machine"] = json::array({1}); }), ContainsSubstring("machine[0]"));
}

TEST_CASE("no damage to a file gives anything but a refusal or a page", "[bench]") {
  const std::string whole = text_of(example());
  std::mt19937 random(20261129);
  std::size_t refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const std::string text = damaged(whole, random);
    try {
      const Result r = bench::parse_result(text, "x");
      if (trial % 10 == 0) REQUIRE(well_formed(bench::html(r)));
    } catch (const tessera::Error&) {
      ++refused;
    }
  }
  REQUIRE(refused > 1000);
}

TEST_CASE("files that cannot be read are told", "[bench]") {
  for (const char* const name : {"/nonexistent/x.json", "/tmp"})
    REQUIRE_THROWS_AS(bench::read_result(name), tessera::Error);
}
