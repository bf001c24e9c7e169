// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work stays on its instance and in its order (CASES A7, A17): chains on two parted instances, driven by one host
// thread and by two, give the bits of the same chains run one after the other.
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <support/instances.hpp>
#include <support/tool_events.hpp>
#include <thread>
#include <vector>

#include <tessera/axpby.hpp>
#include <tessera/backends/enabled.hpp>
#include <tessera/gemm.hpp>
#include <tessera/scal.hpp>

using Space = TESSERA_TEST_SPACE;
using tessera::index_t;

namespace {

using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, Space>;
constexpr index_t n = 48;
constexpr int repeats = 200;

/// The value is a function of the place and a seed, so that no two chains hold the same numbers.
struct Fill {
  Matrix a;
  double seed;
  TESSERA_FUNCTION void operator()(index_t k) const {
    const index_t i = k % n, j = k / n;
    a(i, j) = seed + static_cast<double>((7 * i + 13 * j) % 11) / 16 - 0.25;
  }
};

struct Chain {
  Matrix a{"a", n, n}, b{"b", n, n}, c{"c", n, n};

  void start(const Space& exec, double seed) const {
    Kokkos::parallel_for("test::fill", tessera::Range<Space>(exec, 0, n * n), Fill{a, seed});
    Kokkos::parallel_for("test::fill", tessera::Range<Space>(exec, 0, n * n), Fill{b, 1 - seed});
    Kokkos::parallel_for("test::fill", tessera::Range<Space>(exec, 0, n * n), Fill{c, seed / 2});
  }
  /// scale -> product -> sum; the factors keep the numbers near 1 over all repeats.
  void step(const Space& exec) const {
    tessera::scal(exec, 0.5, c);
    tessera::gemm(exec, 0.125 / n, a, b, 1.0, c);
    tessera::axpby(exec, 0.0625, c, 0.9375, a);
  }
  [[nodiscard]] std::vector<double> result(const Space& exec) const {
    std::vector<double> all;
    for (const Matrix& m : {a, c}) {
      const auto host =
          Kokkos::create_mirror_view(Kokkos::view_alloc(Kokkos::HostSpace(), Kokkos::WithoutInitializing), m);
      Kokkos::deep_copy(exec, host, m);
      exec.fence("test");
      all.insert(all.end(), host.data(), host.data() + host.size());
    }
    return all;
  }
};

std::vector<double> one_after_the_other(const Space& exec, double seed) {
  const Chain chain;
  chain.start(exec, seed);
  for (int r = 0; r < repeats; ++r) chain.step(exec);
  return chain.result(exec);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// Writes `value`, slowly: each element is computed by a long chain that the compiler cannot shorten.
struct SlowWrite {
  Kokkos::View<double*, Space> x;
  double value;
  TESSERA_FUNCTION void operator()(index_t i) const {
    double v = static_cast<double>(i + 1);
    for (int k = 0; k < 60; ++k) v = v * 0.5 + static_cast<double>(i + 1) * 0.5;
    x(i) = v - static_cast<double>(i + 1) + value;
  }
};

struct Compare {
  Kokkos::View<double*, Space> y;
  double value;
  Kokkos::View<int, Space> wrong;
  TESSERA_FUNCTION void operator()(index_t i) const {
    if (y(i) != value) Kokkos::atomic_add(&wrong(), 1);
  }
};

}  // namespace

TEST_CASE("chains on two instances, one host thread", "[tools][instances]") {
  const auto [first, second] = two_instances<Space>();
  const auto expected_one = one_after_the_other(first, 0.75), expected_two = one_after_the_other(second, 0.25);
  REQUIRE_FALSE(same_bits(expected_one, expected_two));

  const Chain one, two;
  one.start(first, 0.75);
  two.start(second, 0.25);
  first.fence("test");
  second.fence("test");
  tool_events::Recorder recorder;
  for (int r = 0; r < repeats; ++r) {
    one.step(first);
    two.step(second);
  }
  const auto seen = recorder.take();
  CHECK(same_bits(one.result(first), expected_one));
  CHECK(same_bits(two.result(second), expected_two));
  CHECK(seen.fences.empty());
  using Kokkos::Tools::Experimental::device_id;
  REQUIRE_FALSE(seen.kernels.empty());
  for (const auto& kernel : seen.kernels) {
    if (kernel.device == device_id(first) || kernel.device == device_id(second)) continue;
    FAIL_CHECK(kernel.name << " ran on another instance");
  }
  // hosts give all their instances one identity; devices tell them apart
  if (device_id(first) != device_id(second))
    for (const auto& kernel : seen.kernels) CHECK(kernel.device != device_id(Space()));
}

TEST_CASE("chains on two instances, a host thread each", "[tools][instances]") {
  const auto instances = two_instances<Space>();
  const Space execs[] = {instances.first, instances.second};
  const double seeds[] = {0.75, 0.25};
  const std::vector<double> expected[] = {one_after_the_other(execs[0], seeds[0]),
                                          one_after_the_other(execs[1], seeds[1])};
  const Chain chains[2];
  std::vector<double> results[2];
  std::vector<std::thread> threads;
  threads.reserve(2);
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      chains[t].start(execs[t], seeds[t]);
      for (int r = 0; r < repeats; ++r) chains[t].step(execs[t]);
      results[t] = chains[t].result(execs[t]);
    });
  for (auto& t : threads) t.join();
  for (int t = 0; t < 2; ++t) CHECK(same_bits(results[t], expected[t]));
}

TEST_CASE("a copy is ordered in its instance", "[tools][instances]") {
  const Space exec = two_instances<Space>().first;
  constexpr index_t length = 4000;
  const Kokkos::View<double*, Space> x("x", length), y("y", length), z("z", length);
  const Kokkos::View<int, Space> wrong("wrong");
  for (int r = 0; r < 1000; ++r) {
    Kokkos::parallel_for("test::slow_write", tessera::Range<Space>(exec, 0, length), SlowWrite{x, double(r)});
    Kokkos::deep_copy(exec, y, x);
    Kokkos::parallel_for("test::compare", tessera::Range<Space>(exec, 0, length), Compare{y, double(r), wrong});
    tessera::axpby(exec, 1.0, x, 0.0, z);
    Kokkos::parallel_for("test::compare", tessera::Range<Space>(exec, 0, length), Compare{z, double(r), wrong});
  }
  int count = -1;
  Kokkos::deep_copy(exec, count, wrong);
  exec.fence("test");
  CHECK(count == 0);
}

TEST_CASE("a strided row reaches the host through axpby", "[tools][instances]") {
  const Space exec;
  const Kokkos::View<double**, Kokkos::LayoutLeft, Space> a("a", 1000, 100);
  const auto all = Kokkos::create_mirror_view(a);
  for (index_t i = 0; i < 1000; ++i)
    for (index_t j = 0; j < 100; ++j) all(i, j) = static_cast<double>(1000 * j + i);
  Kokkos::deep_copy(exec, a, all);
  const Kokkos::View<double*, Space> packed("packed", 100);
  tessera::axpby(exec, 1.0, Kokkos::subview(a, 417, Kokkos::ALL), 0.0, packed);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), packed);
  for (index_t j = 0; j < 100; ++j) REQUIRE(host(j) == static_cast<double>(1000 * j + 417));
}
