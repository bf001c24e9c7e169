// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <common/stored.hpp>
#include <filesystem>
#include <functional>
#include <gemm/errors_report.hpp>
#include <gemm_ladder/ladder.hpp>
#include <limits>
#include <random>
#include <support/damaged.hpp>
#include <support/message_of.hpp>

/// \file
/// Results that gemm_ladder and gemm --errors read again: unfinished, damaged and hostile ones.

namespace app = tessera::app;
using app::Json;
using Catch::Matchers::ContainsSubstring;

namespace {

/// What App writes round results.
Json document(const char* name, Json results) {
  return {
      {"app", name}, {"parameters", {{"step", Json::array()}}}, {"verified", true}, {"results", std::move(results)}};
}

/// Seven steps of fp32, the last and two more of bf16, tessera::gemm and a library beside each.
app::Ladder example_ladder() {
  app::Ladder l{.device = "A device", .m = 512, .n = 512, .k = 512};
  for (const char* const type : {"fp32", "bf16"}) {
    const bool wide = std::string(type) == "fp32";
    for (int number = wide ? 1 : 7; number <= (wide ? 7 : 9); ++number)
      l.rungs.push_back({.number = number,
                         .name = "step_" + std::to_string(number),
                         .type = type,
                         .seconds = 1e-3 / number,
                         .spread = 0.01,
                         .error = 0.1,
                         .verified = true});
    l.rungs.push_back({.name = "tessera::gemm",
                       .type = type,
                       .kind = app::Kind::house,
                       .path = "gemm[portable]",
                       .seconds = 1e-4,
                       .error = 0.1,
                       .verified = true});
    l.rungs.push_back({.name = "Library", .type = type, .kind = app::Kind::library, .seconds = 2e-4});
  }
  return l;
}

app::Errors example_errors() {
  app::Errors e{.device = "A device", .side = 192};
  for (const char* const operands : app::all_operands)
    for (const tessera::index_t k : app::all_inner_extents)
      for (const app::InputsNamed& inputs : app::all_inputs)
        for (const app::PrecisionNamed& p : app::all_precisions)
          if (app::is_measured(operands, inputs.inputs, p.precision))
            e.rows.push_back({.operands = operands,
                              .inputs = inputs.name,
                              .precision = p.name,
                              .k = k,
                              .path = "gemm[portable 8x48x512]",
                              .normwise = 1e-7,
                              .componentwise = 1e-7,
                              .bound = 1e-5,
                              .share_of_bound = 0.1});
  return e;
}

Json ladder_document() { return document("gemm_ladder", {{"ladder", app::to_json(example_ladder())}}); }
Json errors_document() { return document("gemm", app::to_json(example_errors())); }

using Change = std::function<void(Json&)>;

app::Ladder changed_ladder(const Change& change) {
  Json d = ladder_document();
  change(d);
  return app::parse_ladder(d.dump(), "given.json");
}
app::Errors changed_errors(const Change& change) {
  Json d = errors_document();
  change(d);
  return app::parse_errors(d.dump(), "given.json");
}
std::string refused_ladder(const Change& change) {
  return message_of([&] { (void)changed_ladder(change); });
}
std::string refused_errors(const Change& change) {
  return message_of([&] { (void)changed_errors(change); });
}

Json& rungs(Json& d) { return d["results"]["ladder"]["rungs"]; }
Json& rows(Json& d) { return d["results"]["errors"]; }

/// No byte that a terminal takes as a command.
bool printable(const std::string& text) {
  return std::ranges::none_of(text,
                              [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f; });
}

}  // namespace

TEST_CASE("a ladder goes into JSON and comes back", "[stored]") {
  const app::Ladder l = changed_ladder([](Json&) {});
  REQUIRE(l.verified());
  REQUIRE(app::to_json(l) == app::to_json(example_ladder()));
  REQUIRE(app::markdown(l) == app::markdown(example_ladder()));
  // as files before the count of rungs
  REQUIRE(changed_ladder([](Json& d) { d["results"]["ladder"].erase("rungs_asked_for"); }).verified());
  REQUIRE(app::to_json({.rungs = {{.name = "a", .type = "fp32", .error = NAN}}})["rungs"][0]["error_over_bound"] ==
          1e300);
  // a step alone
  REQUIRE(changed_ladder([](Json& d) {
            d["parameters"]["step"] = {"step_3"};
            d["results"]["ladder"]["rungs_asked_for"] = 1;
            const Json third = rungs(d)[2];
            rungs(d) = {third};
          }).verified());
  // none was timed
  REQUIRE(changed_ladder([](Json& d) {
            for (Json& r : rungs(d)) r.erase("seconds");
          }).verified());
}

TEST_CASE("a ladder that is unfinished is not verified, and tells what is missing", "[stored]") {
  const auto unfinished = [](const Change& change) {
    const app::Ladder l = changed_ladder(change);
    REQUIRE_FALSE(l.verified());
    REQUIRE_THAT(app::markdown(l), ContainsSubstring("Not verified: "));
    return l.unfinished;
  };
  REQUIRE(unfinished([](Json& d) { d["interrupted"] = true; }) == "the run was interrupted");
  REQUIRE(unfinished([](Json& d) { rungs(d).erase(3); }) == "step 4 of fp32 is missing");
  REQUIRE(unfinished([](Json& d) { rungs(d).erase(10); }) == "step 8 of bf16 is missing");
  REQUIRE(unfinished([](Json& d) { rungs(d) = Json::array(); }) == "the steps of fp32 are missing");
  REQUIRE(unfinished([](Json& d) {
            Json kept = Json::array();
            for (const Json& r : rungs(d))
              if (r["type"] == "fp32") kept.push_back(r);
            rungs(d) = kept;
          }) == "the steps of bf16 are missing");
  REQUIRE(unfinished([](Json& d) { rungs(d).erase(12); }) == "13 rungs are there of 14");
  REQUIRE(unfinished([](Json& d) { d["parameters"]["step"] = {"step_99"}; }) == "step step_99 is missing");
  REQUIRE(unfinished([](Json& d) { rungs(d)[2].erase("seconds"); }) == "some rungs were not timed");
  REQUIRE(unfinished([](Json& d) { d["verified"] = false; }) == "the run did not end as verified");
}

TEST_CASE("a ladder with impossible numbers or strange texts is refused, with the place", "[stored]") {
  const auto refused = refused_ladder;
  const auto rung = [&](const char* key, const Json& value) {
    return refused_ladder([&](Json& d) { rungs(d)[1][key] = value; });
  };
  REQUIRE_THAT(rung("seconds", -1.0), ContainsSubstring("\"given.json\"") &&
                                          ContainsSubstring("rungs[1].seconds is -1") &&
                                          ContainsSubstring("make one: gemm_ladder --json FILE"));
  REQUIRE_THAT(rung("seconds", nullptr), ContainsSubstring("rungs[1].seconds is not a number"));
  REQUIRE_THAT(rung("seconds", "fast"), ContainsSubstring("is not a number"));
  REQUIRE_THAT(rung("seconds", 1e300), ContainsSubstring("rungs[1].seconds is"));
  REQUIRE_THAT(rung("spread", -0.5), ContainsSubstring("rungs[1].spread is -0.5"));
  REQUIRE_THAT(rung("error_over_bound", -2), ContainsSubstring("rungs[1].error_over_bound is -2"));
  REQUIRE_THAT(rung("error_over_bound", nullptr), ContainsSubstring("not a number"));
  REQUIRE_THAT(rung("error_over_bound", 3.0), ContainsSubstring("rungs[1] is verified, which"));
  REQUIRE_THAT(rung("verified", false), ContainsSubstring("rungs[1] is wrong, which"));
  REQUIRE_THAT(rung("verified", "yes"), ContainsSubstring("neither true nor false"));
  REQUIRE_THAT(rung("number", 0), ContainsSubstring("rungs[1].number is 0"));
  REQUIRE_THAT(rung("number", 2.5), ContainsSubstring("not a whole number"));
  REQUIRE_THAT(rung("number", 18446744073709551615u), ContainsSubstring("it must be from"));
  REQUIRE_THAT(rung("kind", "other"), ContainsSubstring("rungs[1].kind is none of"));
  REQUIRE_THAT(rung("type", "fp8"), ContainsSubstring("rungs[1].type is neither"));
  REQUIRE_THAT(rung("name", "step_1"), ContainsSubstring("second of its name"));
  REQUIRE_THAT(rung("name", ""), ContainsSubstring("empty"));
  for (const char* const evil : {"\x1b[2J", "a\nb", "\x7f",
                                 "\xc2\x9b"
                                 "2J",
                                 "\xe2\x80\xae"
                                 "x",
                                 "\xe2\x81\xa6"
                                 "x"}) {
    const std::string message = rung("name", evil);
    REQUIRE_THAT(message, ContainsSubstring("rungs[1].name holds control characters"));
    REQUIRE(printable(message));
    REQUIRE_THAT(refused([&](Json& d) { d["results"]["ladder"]["device"] = evil; }),
                 ContainsSubstring("device holds control"));
  }
  REQUIRE_THAT(refused([](Json& d) { d["results"]["ladder"]["m"] = -5; }), ContainsSubstring("m is -5"));
  REQUIRE_THAT(refused([](Json& d) { d["results"]["ladder"]["k"] = 0; }), ContainsSubstring("a rate that nothing has"));
  REQUIRE_THAT(refused([](Json& d) {
                 for (const char* const extent : {"m", "n", "k"}) d["results"]["ladder"][extent] = 1 << 30;
               }),
               ContainsSubstring("a rate that nothing has"));
  REQUIRE_THAT(refused([](Json& d) { rungs(d) = 3; }), ContainsSubstring("rungs is not an array"));
  REQUIRE_THAT(refused([](Json& d) {
                 for (int i = 0; i < 300; ++i) rungs(d).push_back(rungs(d)[0]);
               }),
               ContainsSubstring("at most 256"));
  REQUIRE_THAT(refused([](Json& d) { d["results"].erase("ladder"); }), ContainsSubstring("no \"ladder\""));
  REQUIRE_THAT(refused([](Json& d) { d["app"] = "bench"; }), ContainsSubstring("another app"));
  REQUIRE_THAT(refused([](Json& d) { d["error"] = "it broke"; }), ContainsSubstring("ended with an error"));
  REQUIRE_THAT(refused([](Json& d) { d.erase("verified"); }), ContainsSubstring("no \"verified\""));
  REQUIRE_THAT(message_of([] { (void)app::parse_ladder("[1", "x"); }), ContainsSubstring("not JSON from byte"));
}

TEST_CASE("markup in a ladder's texts stays text", "[stored]") {
  const std::string text = app::markdown(changed_ladder([](Json& d) {
    d["results"]["ladder"]["device"] = "<img> | [a](b)";
    rungs(d)[1]["name"] = "a | b";
  }));
  REQUIRE_THAT(text, ContainsSubstring("\\<img\\> \\| \\[a\\](b)") && ContainsSubstring("| 2 a \\| b |"));
}

TEST_CASE("errors of gemm go into JSON and come back", "[stored]") {
  const app::Errors e = changed_errors([](Json&) {});
  REQUIRE(e.verified());
  REQUIRE(e.missing() == 0);
  REQUIRE(app::to_json(e) == app::to_json(example_errors()));
  REQUIRE(app::tables_of(e) == app::tables_of(example_errors()));
  // a run that was wrong can be looked at
  app::Errors wrong = example_errors();
  wrong.rows[1].share_of_bound = 2;
  wrong.rows[2].normwise = wrong.rows[2].share_of_bound = std::numeric_limits<double>::quiet_NaN();
  Json d = document("gemm", app::to_json(wrong));
  d["verified"] = false;
  const app::Errors read = app::parse_errors(d.dump(), "x");
  REQUIRE_FALSE(wrong.verified());
  REQUIRE_FALSE(read.verified());
  REQUIRE_THAT(app::tables_of(read), ContainsSubstring("2.0e+00 WRONG |"));
}

TEST_CASE("errors of an unfinished run are not verified", "[stored]") {
  const auto unfinished = [](const Change& change) {
    const app::Errors e = changed_errors(change);
    REQUIRE_FALSE(e.verified());
    const std::string text = app::tables_of(e);
    return text.substr(text.find("Not verified"));
  };
  REQUIRE(unfinished([](Json& d) { rows(d).erase(7); }) == "Not verified: 1 rows of 123 are missing.\n");
  REQUIRE(unfinished([](Json& d) { rows(d) = Json::array(); }) == "Not verified: 123 rows of 123 are missing.\n");
  REQUIRE_THAT(unfinished([](Json& d) { d["interrupted"] = true; }), ContainsSubstring("did not end as verified"));
  REQUIRE_THAT(unfinished([](Json& d) { d["verified"] = false; }), ContainsSubstring("did not end as verified"));
}

TEST_CASE("errors with impossible numbers or strange texts are refused, with the place", "[stored]") {
  const auto row = [&](const char* key, const Json& value) {
    return refused_errors([&](Json& d) { rows(d)[1][key] = value; });
  };
  REQUIRE_THAT(row("share_of_bound", -1), ContainsSubstring("\"given.json\"") &&
                                              ContainsSubstring("errors[1].share_of_bound is -1") &&
                                              ContainsSubstring("make one: gemm --errors --json FILE"));
  REQUIRE_THAT(row("share_of_bound", nullptr), ContainsSubstring("errors[1].share_of_bound is not a number"));
  REQUIRE_THAT(row("normwise", nullptr), ContainsSubstring("errors[1].normwise is not a number"));
  REQUIRE_THAT(row("componentwise", -1e-9), ContainsSubstring("errors[1].componentwise is"));
  REQUIRE_THAT(row("bound", 0), ContainsSubstring("errors[1].bound is 0"));
  REQUIRE_THAT(row("bound", 1e9), ContainsSubstring("errors[1].bound is"));
  REQUIRE_THAT(row("k", 65), ContainsSubstring("errors[1] is of operands"));
  REQUIRE_THAT(row("k", "64"), ContainsSubstring("errors[1].k is not a whole number"));
  REQUIRE_THAT(row("inputs", "other"), ContainsSubstring("errors[1] is of operands, inputs"));
  REQUIRE_THAT(row("precision", "full"), ContainsSubstring("errors[1] is there twice"));
  REQUIRE_THAT(row("path", "gemm[a`b]"), ContainsSubstring("errors[1].path holds"));
  REQUIRE_THAT(row("path", "\x1b]0;x\x07"), ContainsSubstring("errors[1].path holds control characters"));
  REQUIRE_THAT(row("path", 7), ContainsSubstring("errors[1].path is not a string"));
  REQUIRE_THAT(refused_errors([](Json& d) {
                 for (Json& r : rows(d))
                   if (r["inputs"] == "special") r["different"] = -3;
               }),
               ContainsSubstring(".different is -3"));
  REQUIRE_THAT(refused_errors([](Json& d) { d["results"]["device"] = "\x1b"; }),
               ContainsSubstring("device holds control"));
  REQUIRE_THAT(refused_errors([](Json& d) { d["results"]["side"] = 0; }), ContainsSubstring("side is 0"));
  REQUIRE_THAT(refused_errors([](Json& d) { d["results"].erase("errors"); }), ContainsSubstring("no \"errors\""));
  REQUIRE_THAT(refused_errors([](Json& d) { d["app"] = "gemm_ladder"; }), ContainsSubstring("another app"));
  REQUIRE_THAT(refused_errors([](Json& d) { d["error"] = "it broke"; }), ContainsSubstring("ended with an error"));
  const std::string markup = app::tables_of(changed_errors([](Json& d) { d["results"]["device"] = "<b>|"; }));
  REQUIRE_THAT(markup, ContainsSubstring("\\<b\\>\\|: C of"));
}

TEST_CASE("no damage to a stored result gives anything but a refusal or text that can be printed", "[stored]") {
  const std::string whole_ladder = ladder_document().dump(1), whole_errors = errors_document().dump(1);
  std::mt19937 random(20261201);
  std::size_t refused = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    try {
      const app::Ladder l = app::parse_ladder(damaged(whole_ladder, random), "x");
      REQUIRE(printable(app::table_of(l).text()));
      REQUIRE(printable(app::markdown(l)));
      if (trial % 50 == 0) (void)app::line_plot(app::series_of(l), app::plot_options(l));
    } catch (const tessera::Error& error) {
      REQUIRE(printable(error.what()));
      ++refused;
    }
    if (trial % 3 != 0) continue;
    try {
      const std::string text = app::tables_of(app::parse_errors(damaged(whole_errors, random), "x"));
      REQUIRE(printable(text));
    } catch (const tessera::Error& error) {
      REQUIRE(printable(error.what()));
      ++refused;
    }
  }
  REQUIRE(refused > 1000);
}

TEST_CASE("numbers at the ends of what is read can be drawn", "[stored]") {
  app::Ladder l = example_ladder();
  l.m = l.n = l.k = 1;
  for (app::Rung& r : l.rungs) r.seconds = r.number % 2 == 0 ? 1e7 : 1e-9;
  const app::Ladder read = app::parse_ladder(document("gemm_ladder", {{"ladder", app::to_json(l)}}).dump(), "x");
  const app::Image picture = app::line_plot(app::series_of(read), app::plot_options(read));
  REQUIRE(picture.width > 0);
  REQUIRE(app::markdown(read).size() < 10'000);
}

TEST_CASE("files that cannot be read are told by their names", "[stored]") {
  const std::string folder = std::filesystem::temp_directory_path().string();
  REQUIRE_THAT(message_of([&] { (void)app::read_ladder(folder); }),
               ContainsSubstring("\"" + folder + "\" is a folder"));
  REQUIRE_THAT(message_of([&] { (void)app::read_errors(folder); }),
               ContainsSubstring("\"" + folder + "\" is a folder"));
  REQUIRE_THAT(message_of([] { (void)app::read_ladder("no/such.json"); }),
               ContainsSubstring("\"no/such.json\" could not be opened"));
  REQUIRE_THAT(message_of([] { (void)app::read_errors("no/such.json"); }),
               ContainsSubstring("\"no/such.json\" could not be opened"));
}
