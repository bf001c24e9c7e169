// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Runs as one process and, registered again in apps.cmake, on several ranks: every rank makes the same calls.

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <tessera/core/communicator.hpp>
#include <tessera/core/decomposition.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/halo.hpp>

using tessera::block_range;
using tessera::CartesianBlock;
using tessera::Communicator;
using tessera::Exchange;
using tessera::factor_3d;
using tessera::index_t;
using tessera::IndexRange;
using tessera::Reduction;
using Space = TESSERA_TEST_SPACE;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class T>
std::span<const std::byte> bytes(const std::vector<T>& v) {
  return std::as_bytes(std::span(v));
}
template <class T>
std::span<std::byte> writable(std::vector<T>& v) {
  return std::as_writable_bytes(std::span(v));
}

}  // namespace

TEST_CASE("ranges partition what they cut", "[decomposition]") {
  for (const index_t n : {0, 1, 5, 7, 8, 9, 1000})
    for (const int parts : {1, 2, 3, 7, 8, 13}) {
      index_t next = 0;
      for (int p = 0; p < parts; ++p) {
        const IndexRange r = block_range(n, parts, p);
        REQUIRE(r.begin == next);
        REQUIRE(r.size() == n / parts + (p < n % parts ? 1 : 0));  // the first take the remainder
        for (index_t i = r.begin; i < r.end; ++i) REQUIRE(tessera::block_owner(n, parts, i) == p);
        next = r.end;
      }
      REQUIRE(next == n);
    }
  const index_t huge = index_t{1} << 52;
  CHECK(block_range(huge + 3, 4, 3) == IndexRange{3 * (huge / 4) + 3, huge + 3});
  CHECK_THROWS_WITH(block_range(5, 0, 0), ContainsSubstring("number of parts >= 1"));
  CHECK_THROWS_WITH(block_range(5, 2, 2), ContainsSubstring("part 2 of 2"));
  CHECK_THROWS_WITH(block_range(-1, 2, 1), ContainsSubstring("range of -1"));
}

TEST_CASE("grids of ranks", "[decomposition]") {
  CHECK(factor_3d(1, {5, 5, 5}) == std::array{1, 1, 1});
  CHECK(factor_3d(8, {64, 64, 64}) == std::array{2, 2, 2});
  CHECK(factor_3d(4, {64, 64, 64}) == std::array{2, 2, 1});
  CHECK(factor_3d(6, {64, 64, 64}) == std::array{3, 2, 1});
  CHECK(factor_3d(4, {1, 1, 100}) == std::array{1, 1, 4});
  CHECK(factor_3d(4, {100, 100, 1}) == std::array{2, 2, 1});
  CHECK(factor_3d(125, {5, 5, 5}) == std::array{5, 5, 5});
  // A26: the largest count is named
  CHECK_THROWS_WITH(factor_3d(8, {5, 1, 1}), ContainsSubstring("8 ranks for a grid of 5 x 1 x 1 cells") &&
                                                 ContainsSubstring("the largest rank count is 5"));
  CHECK_THROWS_WITH(factor_3d(7, {5, 5, 5}),
                    ContainsSubstring("largest rank count is 125") && ContainsSubstring("not above 7 is 6"));
  CHECK_THROWS_WITH(factor_3d(4, {3, 3, 1}, 2), ContainsSubstring("largest rank count is 0"));
  CHECK_THROWS_WITH(factor_3d(8, {5, 3, 4}, 2), ContainsSubstring("at least 2 cells along each dimension"));
}

TEST_CASE("boxes of a Cartesian decomposition give every cell to one rank", "[decomposition]") {
  for (const int size : {1, 2, 3, 4, 6, 8, 12}) {
    const std::array<index_t, 3> n = {7, 5, 4};
    std::vector<int> owners(static_cast<std::size_t>(n[0] * n[1] * n[2]), 0);
    for (int rank = 0; rank < size; ++rank) {
      const CartesianBlock block(rank, size, n);
      for (index_t i = block.range(0).begin; i < block.range(0).end; ++i)
        for (index_t j = block.range(1).begin; j < block.range(1).end; ++j)
          for (index_t k = block.range(2).begin; k < block.range(2).end; ++k)
            ++owners[static_cast<std::size_t>((i * n[1] + j) * n[2] + k)];
      for (int d = 0; d < 3; ++d)
        for (int side = 0; side < 2; ++side) {
          const int other = block.neighbour(d, side);
          const bool at_edge =
              side == 0 ? block.range(d).begin == 0 : block.range(d).end == n[static_cast<std::size_t>(d)];
          REQUIRE((other == CartesianBlock::none) == at_edge);
          if (at_edge) continue;
          REQUIRE(CartesianBlock(other, size, n).neighbour(d, 1 - side) == rank);
          const IndexRange theirs = block.range_of_rank(other, d);
          REQUIRE((side == 0 ? theirs.end == block.range(d).begin : theirs.begin == block.range(d).end));
        }
    }
    REQUIRE(std::all_of(owners.begin(), owners.end(), [](int count) { return count == 1; }));
  }
}

TEST_CASE("reductions, broadcasts and gathers", "[communicator]") {
  const Communicator world = Communicator::world();
  const int me = world.rank(), ranks = world.size();
  REQUIRE((me >= 0 && me < ranks));
  world.barrier();

  const index_t sum = static_cast<index_t>(ranks) * (ranks - 1) / 2;
  CHECK(world.all_reduce(me, Reduction::sum) == sum);
  CHECK(world.all_reduce(me, Reduction::max) == ranks - 1);
  CHECK(world.all_reduce(index_t{me} + (index_t{1} << 40), Reduction::min) == index_t{1} << 40);
  CHECK(world.all_reduce(0.5 * me, Reduction::sum) == 0.5 * static_cast<double>(sum));
  CHECK(world.all_reduce(static_cast<float>(-me), Reduction::min) == static_cast<float>(1 - ranks));
  CHECK(world.all_agree(true));
  CHECK(world.all_agree(me == 0) == (ranks == 1));

  std::vector<double> values(1000);
  std::iota(values.begin(), values.end(), me);
  world.all_reduce(values, Reduction::sum);
  for (int i = 0; i < 1000; ++i)
    REQUIRE(values[static_cast<std::size_t>(i)] == static_cast<double>(sum + index_t{i} * ranks));
  world.all_reduce(std::span<double>{}, Reduction::sum);

  const int root = ranks - 1;
  std::vector<int> numbers(17, me);
  world.broadcast(std::span<int>(numbers), root);
  CHECK(numbers == std::vector<int>(17, root));
  CHECK(world.broadcast(me == root ? std::string("from the last") : std::string("x"), root) == "from the last");
  CHECK(world.broadcast(std::string(), root).empty());

  const std::vector<index_t> all = world.all_gather(index_t{10} * me);
  REQUIRE(all.size() == static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) CHECK(all[static_cast<std::size_t>(r)] == 10 * r);
  CHECK(world.all_gather(0.25 * me).back() == 0.25 * (ranks - 1));

  // lengths differ, one is empty
  const std::vector<std::uint8_t> mine(static_cast<std::size_t>(me) * 3, static_cast<std::uint8_t>(me));
  const auto gathered = world.gather(bytes(mine), root);
  REQUIRE(gathered.size() == (me == root ? static_cast<std::size_t>(ranks) : 0u));
  for (std::size_t r = 0; r < gathered.size(); ++r)
    CHECK(gathered[r] == std::vector<std::byte>(r * 3, static_cast<std::byte>(r)));

  CHECK(world.all_arrive_within(std::chrono::seconds(20)));
  CHECK_THROWS_WITH(world.broadcast(std::span<int>(numbers), ranks), ContainsSubstring("ranks are 0 to"));
}

TEST_CASE("groups of ranks", "[communicator]") {
  const Communicator world = Communicator::world();
  const Communicator half = world.split(world.rank() % 2, -world.rank());
  const int evens = (world.size() + 1) / 2;
  CHECK(half.size() == (world.rank() % 2 == 0 ? evens : world.size() - evens));
  // ordered by the key: the last rank of the world comes first
  CHECK(half.rank() == half.size() - 1 - world.rank() / 2);
  CHECK(half.all_reduce(world.rank() % 2, Reduction::max) == world.rank() % 2);
  CHECK(Communicator::self().size() == 1);
}

TEST_CASE("messages between neighbours and to oneself", "[communicator]") {
  const Communicator world = Communicator::world();
  const int me = world.rank(), ranks = world.size(), right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  Exchange exchange(world);
  for (int round = 0; round < 3; ++round) {
    // two messages with one tag keep their order; one has no bytes
    std::vector<int> first(100, me + round), second(50, -me), in_first(100, -7), in_second(50, -7), none;
    exchange.receive(left, 3, writable(in_first));
    exchange.receive(left, 3, writable(in_second));
    exchange.receive(left, 4, writable(none));
    exchange.send(right, 3, bytes(first));
    exchange.send(right, 3, bytes(second));
    exchange.send(right, 4, bytes(none));
    exchange.progress();
    exchange.wait();
    CHECK(in_first == std::vector<int>(100, left + round));
    CHECK(in_second == std::vector<int>(50, -left));
  }
  exchange.wait();  // nothing posted: nothing to wait for
  std::vector<int> token(1, me);
  if (ranks > 1) {
    if (me == 0) {
      world.send(1, 0, bytes(token));
      world.receive(ranks - 1, 0, writable(token));
      CHECK(token[0] == ranks - 1);
    } else {
      std::vector<int> got(1);
      world.receive(me - 1, 0, writable(got));
      CHECK(got[0] == me - 1);
      world.send(right, 0, bytes(token));
    }
  }
  CHECK_THROWS_WITH(world.send(me, 0, bytes(token)), ContainsSubstring("sends to itself"));
  CHECK_THROWS_WITH(exchange.send(ranks, 0, bytes(token)), ContainsSubstring("ranks are 0 to"));
  CHECK_THROWS_WITH(exchange.receive(0, 32768, writable(token)), ContainsSubstring("tags 0 to 32767"));
}

TEST_CASE("a message of another length than expected is an error that names both sides", "[communicator]") {
  const Communicator world = Communicator::world();
  const int me = world.rank(), ranks = world.size(), right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  for (const std::size_t expected : {std::size_t{1001}, std::size_t{999}}) {
    std::vector<char> out(1000), in(expected);
    Exchange exchange(world);
    exchange.receive(left, 5, writable(in));
    exchange.send(right, 5, bytes(out));
    const std::string from = "rank " + std::to_string(left) + " sent", to = "rank " + std::to_string(me);
    if (expected > 1000)
      CHECK_THROWS_WITH(exchange.wait(), ContainsSubstring(from + " 1000 bytes with tag 5") && ContainsSubstring(to) &&
                                             ContainsSubstring("expected 1001"));
    else
      CHECK_THROWS_WITH(exchange.wait(), ContainsSubstring(from) && ContainsSubstring(to) && ContainsSubstring("999"));
  }
  world.barrier();
  if (ranks == 1) {
    std::vector<char> in(4);
    Exchange exchange(world);
    if (world.description().find("not started") != std::string::npos || world.description().starts_with("none")) {
      exchange.receive(0, 1, writable(in));
      CHECK_THROWS_WITH(exchange.wait(), ContainsSubstring("no send matches"));
      exchange.send(0, 1, bytes(in));
      CHECK_THROWS_WITH(exchange.wait(), ContainsSubstring("no receive matches"));
    }
  }
}

namespace {

/// Slow on purpose: what is sent before it is done is wrong.
struct DelayedPack {
  Kokkos::View<index_t*, Space> buffer;
  index_t first, round;
  KOKKOS_FUNCTION void operator()(index_t i) const {
    double wasted = 1;
    for (int k = 0; k < 4000; ++k) wasted = wasted * 1.0000001 + 1e-9;
    buffer(i) = first + i + round * 1000000 + (wasted < 0 ? 1 : 0);
  }
};
struct CountWrong {
  Kokkos::View<index_t*, Space> buffer;
  index_t offset, first, round;
  KOKKOS_FUNCTION void operator()(index_t i, index_t& wrong) const {
    if (buffer(offset + i) != first + i + round * 1000000) ++wrong;
  }
};

}  // namespace

// A27: halo sent before packing finished, or from the wrong buffer. The value of a cell is its global index.
TEST_CASE("halos hold what their owners packed, direct and staged", "[halo]") {
  using Halo = tessera::HaloExchange<index_t, Space>;
  const Space exec;
  const Communicator world = Communicator::world();
  const int me = world.rank(), ranks = world.size(), right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  const index_t cells = 64;
  for (const auto staging : {tessera::Staging::automatic, tessera::Staging::staged}) {
    Halo halo(exec, world, {{right, 1, 0, cells, cells}, {left, 0, 1, cells, cells}}, staging);
    if (staging == tessera::Staging::staged) CHECK(std::string(halo.path()) == "staged");
    index_t wrong = 0;
    for (index_t round = 0; round < 500; ++round) {
      const index_t first = me * 2 * cells;
      Kokkos::parallel_for("tessera::test::pack", tessera::Range<Space>(exec, 0, 2 * cells),
                           DelayedPack{halo.send_buffer(), first, round});
      halo.start(exec);
      halo.progress();
      halo.finish(exec);
      index_t from_right = 0, from_left = 0;
      // the right neighbour's part for its left, which is its second; and the left one's first
      Kokkos::parallel_reduce(
          "tessera::test::check", tessera::Range<Space>(exec, 0, cells),
          CountWrong{halo.receive_buffer(), halo.receive_offset(0), right * 2 * cells + cells, round}, from_right);
      Kokkos::parallel_reduce("tessera::test::check", tessera::Range<Space>(exec, 0, cells),
                              CountWrong{halo.receive_buffer(), halo.receive_offset(1), left * 2 * cells, round},
                              from_left);
      wrong += from_right + from_left;
    }
    CHECK(wrong == 0);
  }
}

// A17: a copy is ordered in its instance.
TEST_CASE("a copy on an instance comes after the kernel before it and before the kernel after it", "[halo]") {
  const Space exec;
  const index_t n = 256;
  const Kokkos::View<index_t*, Space> x("x", n), y("y", n);
  index_t wrong = 0;
  for (index_t round = 0; round < 1000; ++round) {
    Kokkos::parallel_for("tessera::test::write", tessera::Range<Space>(exec, 0, n), DelayedPack{x, 0, round});
    Kokkos::deep_copy(exec, y, x);
    index_t count = 0;
    Kokkos::parallel_reduce("tessera::test::read", tessera::Range<Space>(exec, 0, n), CountWrong{y, 0, 0, round},
                            count);
    wrong += count;
  }
  CHECK(wrong == 0);
  // one row of a column-major matrix, with strides, to the host
  Kokkos::View<double**, Kokkos::LayoutLeft, Space> matrix("matrix", 1000, 100);
  Kokkos::parallel_for(
      "tessera::test::fill", tessera::Range<Space>(exec, 0, 1000 * 100),
      KOKKOS_LAMBDA(index_t e) { matrix(e % 1000, e / 1000) = static_cast<double>(e); });
  const auto row = Kokkos::subview(matrix, 17, Kokkos::ALL());
  const Kokkos::View<double*, Space> dense("dense", 100);
  Kokkos::deep_copy(exec, dense, row);
  const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), dense);
  Kokkos::deep_copy(exec, host, dense);
  exec.fence("tessera::test::copied");
  for (int j = 0; j < 100; ++j) REQUIRE(host(j) == 17.0 + 1000.0 * j);
}
