// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cstdlib>
#include <support/message_of.hpp>
#include <support/tuning_folder.hpp>
#include <thread>
#include <vector>

#include <tessera/core/plan.hpp>

using Catch::Matchers::ContainsSubstring;

namespace {

struct Problem {
  std::int64_t size;
};
struct Types {};
struct OtherTypes {};

/// Runs odd sizes on one architecture only; counts how often it is asked.
struct Fast {
  static constexpr std::string_view name = "vendor:fast";
  template <class T, class>
  static constexpr bool supports = std::is_same_v<T, Types>;
  static inline std::atomic<int> asked = 0;
  static inline std::uint64_t version = 0;
  static std::uint64_t state() { return version; }
  static tessera::Verdict can_run(const Problem& p, const tessera::DeviceInfo& d) {
    ++asked;
    if (d.major != 9 || d.minor != 0)
      return tessera::Verdict::no("needs architecture 9.0 and this is " + std::to_string(d.major) + "." +
                                  std::to_string(d.minor));
    return p.size % 2 ? tessera::Verdict::yes() : tessera::Verdict::no("the size is even");
  }
  static std::string configuration(const Problem& p, const tessera::DeviceInfo&) { return p.size > 100 ? "big" : ""; }
};
struct Portable {
  static constexpr std::string_view name = "portable";
  template <class, class>
  static constexpr bool supports = true;
  static tessera::Verdict can_run(const Problem&, const tessera::DeviceInfo&) { return tessera::Verdict::yes(); }
  static std::string configuration(const Problem&, const tessera::DeviceInfo&) { return {}; }
};
using Providers = std::tuple<Fast, Portable>;

tessera::DeviceInfo device(int major, int minor) {
  tessera::DeviceInfo d;
  d.major = major;
  d.minor = minor;
  d.key = "fake:" + std::to_string(major) + "." + std::to_string(minor);
  return d;
}

template <class T = Types>
const tessera::Selection* chosen(const Problem& p, const tessera::DeviceInfo& d, std::string_view forced = {},
                                 std::string_view algorithm = "thing") {
  return &tessera::select_provider<T, int>(algorithm, p, d, std::is_same_v<T, Types> ? "types" : "other",
                                           tessera::signature_bytes(p.size), forced, Providers{});
}
template <class T = Types>
tessera::Selection select(const Problem& p, const tessera::DeviceInfo& d, std::string_view forced = {}) {
  return *chosen<T>(p, d, forced);
}

}  // namespace

TEST_CASE("the first provider that can is taken, the refusals tell why others were not", "[plan]") {
  const auto hopper = device(9, 0);
  CHECK(select({7}, hopper).path == "thing[vendor:fast]");
  CHECK(select({101}, hopper).path == "thing[vendor:fast big]");
  CHECK(select({101}, hopper).region == "tessera::thing[vendor:fast big]");
  CHECK(select({7}, hopper).refusals.empty());
  const auto even = select({8}, hopper);
  CHECK(even.path == "thing[portable]");
  CHECK(even.provider == 1);
  REQUIRE(even.refusals.size() == 1);
  CHECK(even.refusals[0] == tessera::Refusal{"vendor:fast", "the size is even"});
  for (const auto& [major, minor] : {std::pair{8, 9}, std::pair{10, 0}}) {
    const auto other = select({7}, device(major, minor));
    CHECK(other.path == "thing[portable]");
    CHECK_THAT(other.refusals.at(0).reason, ContainsSubstring("needs architecture 9.0"));
  }
  CHECK_THAT(select<OtherTypes>({7}, hopper).refusals.at(0).reason, ContainsSubstring("not compiled for these"));
}

TEST_CASE("a path can be forced by option and by environment", "[plan]") {
  const auto hopper = device(9, 0);
  CHECK(select({9}, hopper, "portable").path == "thing[portable]");
  CHECK_THAT(message_of([&] { select({10}, hopper, "vendor:fast"); }),
             ContainsSubstring("'vendor:fast' was forced and cannot run: the size is even") &&
                 ContainsSubstring("vendor:fast, portable"));
  CHECK_THAT(message_of([&] { select({10}, hopper, "fastest"); }), ContainsSubstring("there is no path 'fastest'"));
  REQUIRE(setenv("TESSERA_THING", "portable", 1) == 0);  // NOLINT(concurrency-mt-unsafe): no other thread runs
  CHECK(select({9}, hopper).path == "thing[portable]");
  CHECK(select({9}, hopper, "vendor:fast").path == "thing[vendor:fast]");
  REQUIRE(unsetenv("TESSERA_THING") == 0);  // NOLINT(concurrency-mt-unsafe): no other thread runs
  CHECK(select({9}, hopper).path == "thing[vendor:fast]");
}

TEST_CASE("a choice is made once for each key, and again when the providers' state changes", "[plan]") {
  const auto hopper = device(9, 0);
  Fast::asked = 0;
  CHECK(chosen({1001}, hopper) == chosen({1001}, hopper));
  CHECK(Fast::asked == 1);
  select({1003}, hopper);
  chosen({1001}, hopper, {}, "other");
  CHECK(Fast::asked == 3);
  Fast::version = 1;
  select({1001}, hopper);
  CHECK(Fast::asked == 4);
  Fast::version = 0;
}

TEST_CASE("choosing from many threads and for many problems", "[plan]") {
  const auto hopper = device(9, 0);
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::int64_t i = 0; i < 40000; ++i)
        if (chosen({i}, hopper)->provider != (i % 2 ? 0U : 1U)) ++wrong;
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
  // more keys than are kept
  const tessera::Selection* const kept = chosen({5}, hopper);
  for (std::int64_t i = 0; i < 100000; ++i) chosen({i}, hopper);
  CHECK(kept->path == "thing[vendor:fast]");
}

TEST_CASE("a known choice costs under two microseconds", "[plan]") {
  const auto hopper = device(9, 0);
  select({77}, hopper);
  constexpr int calls = 20000;
  double best = 1;
  for (int round = 0; round < 10; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) chosen({77}, hopper);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls);
  }
  INFO("seconds a call: " << best);
#ifdef TESSERA_SANITIZED
  CHECK(best < 2e-5);
#elif defined(NDEBUG)
  CHECK(best < 2e-6);
#endif
}

TEST_CASE("what was measured is found under its own signature, whatever else the problem's holds", "[plan]") {
  const TuningFolder folder;
  const tessera::DeviceInfo on = device(9, 0);
  const auto path = [&](std::string_view signature, std::string_view measured_as) {
    return tessera::select_provider<Types, int>("test", Problem{3}, on, "types", signature, "", Providers{},
                                                std::source_location::current(), measured_as)
        .path;
  };
  CHECK(path("scalars on the host", "product").find("portable") == std::string::npos);
  tessera::remember_tuned("test", on, "types", "product", "portable", 1e-6);
  CHECK(path("scalars on the host", "product").find("portable") != std::string::npos);
  CHECK(path("scalars on the device", "product").find("portable") != std::string::npos);
  CHECK(path("another", "another product").find("portable") == std::string::npos);
  CHECK(path("product", {}).find("portable") != std::string::npos);
}

TEST_CASE("what was measured but lacks its workspace is not taken", "[plan]") {
  const auto candidate = [](bool lacks) {
    tessera::detail::Candidate c;
    c.name = "with workspace";
    c.compiled = true;
    c.can_run = [](tessera::detail::Wanted w) {
      return w.by_name ? tessera::Verdict::yes() : tessera::Verdict::no("only by name");
    };
    c.configuration = [](tessera::detail::Wanted) { return std::string(); };
    c.lacks_workspace = [lacks](tessera::detail::Wanted) { return lacks; };
    return c;
  };
  tessera::detail::Candidate portable = candidate(false);
  portable.name = "portable";
  portable.can_run = [](tessera::detail::Wanted) { return tessera::Verdict::yes(); };
  const auto chosen = [&](bool lacks) {
    return tessera::detail::choose("test", "", "with workspace", {candidate(lacks), portable}, {});
  };
  CHECK(chosen(false).path == "test[with workspace]");
  CHECK(chosen(true).path == "test[portable]");
  CHECK_THAT(chosen(true).refusals.at(0).reason, ContainsSubstring("needs a workspace"));
}
