// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <bench/measure.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <stdexcept>
#include <type_traits>

#include <tessera/backends/peers.hpp>
#include <tessera/core/execution.hpp>

namespace bench = tessera::bench;
namespace peers = tessera::peers;
using bench::Space;
using Catch::Matchers::ContainsSubstring;
using Counter = Kokkos::View<int, Space>;

namespace {

void add_one(const Space& exec, const Counter& counter) {
  Kokkos::parallel_for(
      "tessera::test::add_one", tessera::Range<Space>(exec, 0, 1), KOKKOS_LAMBDA(tessera::index_t) { ++counter(); });
}

constexpr bool on_host = tessera::is_host_space<Space>;
/// The bench times the default space alone: programs of a build's other spaces have nothing to look at.
constexpr bool not_timed = !std::is_same_v<TESSERA_TEST_SPACE, Space>;

/// What may go wrong in a capture; the last one is right.
std::array<std::function<void()>, 7> attempts(const Space& exec, const Counter& counter) {
  const Kokkos::View<int, Kokkos::HostSpace> on_the_host("on the host");
  return {[=] {
            add_one(exec, counter);
            exec.fence("tessera::test::wait");
          },
          [=] {
            add_one(exec, counter);
            Kokkos::kokkos_free<Space::memory_space>(Kokkos::kokkos_malloc<Space::memory_space>("tessera::test", 4096));
          },
          [=] {
            add_one(exec, counter);
            Kokkos::deep_copy(exec, on_the_host, counter);
          },
          [=] {
            add_one(exec, counter);
            throw std::runtime_error("told\nand more");
          },
          [=] {
            add_one(exec, counter);
            throw 7;
          },
          [] {},
          [=] { add_one(exec, counter); }};
}

/// A case of three operand sets, its contenders counting their calls on each.
bench::Case counting(const std::vector<Counter>& counters, const std::function<void()>& peer) {
  bench::Case c;
  c.name = "counting";
  c.algorithm = "counting";
  c.bytes = 1;
  c.footprint = 1;
  c.prepare = [=](const Space& exec, int sets) {
    REQUIRE(sets == 3);
    bench::Prepared prepared;
    for (int s = 0; s < sets; ++s) {
      const Counter counter = counters.at(static_cast<std::size_t>(s));
      prepared.contenders.push_back({{"tessera", [=] { add_one(exec, counter); }}, {"peer", peer}});
    }
    prepared.worst_error = [] { return 0.0; };
    return prepared;
  };
  return c;
}

}  // namespace

TEST_CASE("calls are captured without being run, and each replay runs all of them", "[bench_replay]") {
  if (not_timed) return;
  const Space exec;
  const Counter counter("counter");
  add_one(exec, counter);
  const peers::Replay replay = peers::capture(peers::queue_of(exec), [&] {
    for (int i = 0; i < 5; ++i) add_one(exec, counter);
  });
  REQUIRE(bench::fetch(exec, counter) == 1);
  if (on_host) {
    REQUIRE_FALSE(replay.launch);
    REQUIRE_THAT(replay.refusal, ContainsSubstring("on the host"));
    return;
  }
  REQUIRE(replay.refusal.empty());
  REQUIRE(replay.nodes == 5);
  for (int i = 0; i < 3; ++i) replay.launch();
  REQUIRE(bench::fetch(exec, counter) == 16);
}

TEST_CASE("what cannot be captured is refused with a reason, and the stream works on", "[bench_replay]") {
  if (not_timed || on_host) return;
  const Space exec;
  const Counter counter("counter");
  int expected = 0;
  for (const auto& attempt : attempts(exec, counter)) {
    const peers::Replay replay = peers::capture(peers::queue_of(exec), attempt);
    REQUIRE(replay.refusal.empty() == static_cast<bool>(replay.launch));
    REQUIRE(replay.refusal.find('\n') == std::string::npos);
    INFO(replay.refusal);
    REQUIRE(bench::fetch(exec, counter) == expected);  // none of it has run
    add_one(exec, counter);
    REQUIRE(bench::fetch(exec, counter) == ++expected);
    const peers::Replay next = peers::capture(peers::queue_of(exec), [&] { add_one(exec, counter); });
    REQUIRE(next.launch);
    next.launch();
    REQUIRE(bench::fetch(exec, counter) == ++expected);
  }
  const auto reason = [&](std::size_t i) {
    return peers::capture(peers::queue_of(exec), attempts(exec, counter).at(i)).refusal;
  };
  REQUIRE_THAT(reason(0), ContainsSubstring("capturing"));
  REQUIRE_FALSE(reason(1).empty());
  REQUIRE_FALSE(reason(2).empty());
  REQUIRE(reason(3) == "told");
  REQUIRE_FALSE(reason(4).empty());
  REQUIRE_THAT(reason(5), ContainsSubstring("nothing"));
  REQUIRE(reason(6).empty());
}

TEST_CASE("a case is timed by replays, or all of it by calls where one contender cannot be captured",
          "[bench_replay]") {
  if (not_timed) return;
  const Space exec;
  const Counter theirs("theirs");
  const bench::Effort effort{.rounds = 3, .batch_seconds = 1e-3, .replay = true};
  for (const bool waits : {false, true}) {
    std::vector<Counter> ours;
    for (int s = 0; s < 3; ++s) ours.emplace_back("ours");
    const bench::Case c = counting(ours, [=] {
      add_one(exec, theirs);
      if (waits) exec.fence("tessera::test::wait");
    });
    const auto result = bench::measure(exec, c, effort, 1.0);
    REQUIRE(result.has_value());
    REQUIRE(result->error.empty());
    REQUIRE(result->timings.size() == 2);
    REQUIRE(result->seconds() > 0);
    REQUIRE(result->replayed == (!on_host && !waits));
    REQUIRE(result->not_replayed.empty() == result->replayed);
    if (!on_host && waits) REQUIRE_THAT(result->not_replayed, ContainsSubstring("peer: "));
    // the first call alone was on one set more than on the others
    const int calls = bench::fetch(exec, ours[1]);
    REQUIRE(calls > 3);
    REQUIRE(bench::fetch(exec, ours[0]) == calls + 1);
    REQUIRE(bench::fetch(exec, ours[2]) == calls);
  }
  const auto plain = bench::measure(exec, counting(std::vector<Counter>(3, theirs), [=] { add_one(exec, theirs); }),
                                    {.rounds = 3}, 1.0);
  REQUIRE(plain.has_value());
  REQUIRE_FALSE(plain->replayed);
  REQUIRE(plain->not_replayed.empty());
}
