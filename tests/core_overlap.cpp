// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Overlap of outputs and inputs: what is proved, against plain enumeration of bytes.
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <random>
#include <vector>

#include <tessera/core/error.hpp>
#include <tessera/core/overlap.hpp>

using tessera::index_t;
using tessera::detail::Box;
using tessera::detail::proved_overlap;

namespace {

// Bytes are marked in an arena; pointers are only compared, never followed.
constexpr index_t arena = 1 << 14;
alignas(64) char memory[arena];

Box box(index_t first_byte, index_t element_bytes, std::vector<index_t> extents, std::vector<index_t> strides) {
  Box b;
  b.pointer = memory + first_byte;
  b.rank = static_cast<int>(extents.size());
  for (std::size_t r = 0; r < extents.size(); ++r) {
    b.extents[r] = extents[r];
    b.strides[r] = strides[r];
  }
  b.element_bytes = element_bytes;
  return b;
}

// The independent reference: four nested loops over a map of bytes.
bool share_a_byte(const Box& a, const Box& b) {
  std::vector<char> used(3 * arena, 0);
  bool both = false;
  const auto visit = [&](const Box& x, char mark) {
    index_t e[4] = {1, 1, 1, 1}, s[4] = {};
    for (int r = 0; r < x.rank; ++r) {
      e[r] = x.extents[r];
      s[r] = x.strides[r];
    }
    const index_t base = static_cast<const char*>(x.pointer) - memory + arena;
    for (index_t i = 0; i < e[0]; ++i)
      for (index_t j = 0; j < e[1]; ++j)
        for (index_t k = 0; k < e[2]; ++k)
          for (index_t l = 0; l < e[3]; ++l)
            for (index_t byte = 0; byte < x.element_bytes; ++byte) {
              const index_t at = base + (i * s[0] + j * s[1] + k * s[2] + l * s[3]) * x.element_bytes + byte;
              REQUIRE((at >= 0 && at < 3 * arena));
              char& place = used[static_cast<std::size_t>(at)];
              if (mark == 2 && place == 1) both = true;
              place = mark == 1 ? 1 : place;
            }
  };
  visit(a, 1);
  visit(b, 2);
  return both;
}

// Column-major sub-matrix of doubles with leading dimension ld.
Box block(index_t row, index_t column, index_t rows, index_t columns, index_t ld) {
  return box(8 * (row + column * ld), 8, {rows, columns}, {1, ld});
}

}  // namespace

TEST_CASE("disjoint parts of one allocation are accepted", "[core][overlap]") {
  // the trailing update of a blocked LU: A22 -= A21 A12, all in one matrix of leading dimension 20
  const Box a21 = block(4, 0, 12, 4, 20), a12 = block(0, 4, 4, 12, 20), a22 = block(4, 4, 12, 12, 20);
  CHECK_FALSE(proved_overlap(a22, a21, false));
  CHECK_FALSE(proved_overlap(a22, a12, false));
  CHECK_FALSE(proved_overlap(a22, a21, true));
  CHECK_FALSE(proved_overlap(a22, a12, true));
  CHECK_NOTHROW(tessera::detail::refuse_overlap("tessera::gemm", "C", a22, "A", a21, std::source_location::current()));
  // neighbouring columns; interleaved rows; a row and a column that do not meet
  CHECK_FALSE(proved_overlap(block(0, 0, 20, 3, 20), block(0, 3, 20, 3, 20), false));
  CHECK_FALSE(proved_overlap(box(0, 8, {5}, {2}), box(8, 8, {5}, {2}), false));
  CHECK_FALSE(proved_overlap(block(3, 0, 1, 10, 20), block(4, 5, 10, 1, 20), false));
  // one ends where the other begins
  CHECK_FALSE(proved_overlap(box(0, 8, {10}, {1}), box(80, 8, {10}, {1}), false));
}

TEST_CASE("intersecting parts are refused", "[core][overlap]") {
  CHECK(proved_overlap(block(4, 4, 12, 12, 20), block(15, 0, 2, 5, 20), false));
  CHECK(proved_overlap(block(0, 0, 4, 4, 20), block(3, 3, 4, 4, 20), false));
  CHECK(proved_overlap(box(0, 8, {10}, {1}), box(72, 8, {10}, {1}), false));
  CHECK(proved_overlap(box(0, 8, {10}, {1}), box(76, 4, {1}, {1}), false));  // half an element
  // a row (stride = leading dimension) that crosses a block
  CHECK(proved_overlap(block(2, 2, 4, 4, 20), box(8 * 3, 8, {10}, {20}), false));
  // the same start, whatever the strides
  CHECK(proved_overlap(box(0, 8, {3, 3}, {1, 7}), box(0, 8, {4}, {5}), false));
  // rows that wrap: a window of width 10 that starts 15 into a pitch of 20 reaches the next column
  CHECK(proved_overlap(box(8 * 15, 8, {10, 3}, {1, 20}), block(0, 1, 3, 2, 20), false));
  CHECK_FALSE(proved_overlap(box(8 * 15, 8, {10, 3}, {1, 20}), block(6, 0, 4, 8, 20), false));
}

TEST_CASE("negative strides count from the lowest element", "[core][overlap]") {
  const Box down = box(8 * 9, 8, {10}, {-1});  // elements 9, 8, ... 0
  CHECK(proved_overlap(down, box(0, 8, {1}, {1}), false));
  CHECK_FALSE(proved_overlap(down, box(80, 8, {4}, {1}), false));
  const Box flipped = box(8 * (3 + 3 * 20), 8, {4, 4}, {-1, -20});  // the block at 0, 0
  CHECK(proved_overlap(flipped, block(3, 3, 4, 4, 20), false));
  CHECK_FALSE(proved_overlap(flipped, block(4, 0, 4, 4, 20), false));
}

TEST_CASE("what has no elements overlaps nothing", "[core][overlap]") {
  CHECK_FALSE(proved_overlap(box(0, 8, {0}, {1}), box(0, 8, {10}, {1}), true));
  CHECK_FALSE(proved_overlap(box(0, 8, {4, 0}, {1, 4}), box(0, 8, {4, 4}, {1, 4}), true));
  Box nothing;
  nothing.rank = 1;
  nothing.element_bytes = 8;
  CHECK_FALSE(proved_overlap(nothing, nothing, true));
}

TEST_CASE("enumeration finds what the rules leave open", "[core][overlap]") {
  // strides 3 and 5 from 0 and 1: they meet at element 6
  const Box threes = box(0, 8, {10}, {3}), fives = box(8, 8, {6}, {5});
  CHECK(share_a_byte(threes, fives));
  CHECK_FALSE(proved_overlap(threes, fives, false));
  CHECK(proved_overlap(threes, fives, true));
#ifndef NDEBUG
  CHECK_THROWS_AS(tessera::detail::refuse_overlap("f", "y", threes, "x", fives, std::source_location::current()),
                  tessera::Error);
#endif
  // above a million elements nothing is enumerated
  const Box many = box(0, 1, {1000, 1001}, {3, 3000});
  CHECK_FALSE(proved_overlap(many, box(1, 1, {1000}, {5}), true));
}

TEST_CASE("the message names both", "[core][overlap]") {
  try {
    tessera::detail::refuse_overlap("tessera::gemv", "y", block(0, 0, 4, 1, 20), "x", block(2, 0, 4, 1, 20),
                                    std::source_location::current());
    FAIL("accepted");
  } catch (const tessera::Error& error) {
    CHECK(error.function() == "tessera::gemv");
    CHECK(error.given() == "the output y overlaps the input x");
    CHECK(error.advice() == "Write into a separate view, or copy x first");
  }
}

TEST_CASE("in place means exactly the same elements", "[core][overlap]") {
  const auto where = std::source_location::current();
  const auto partial = [&](const Box& out, const Box& in) {
    tessera::detail::refuse_partial_overlap("tessera::axpby", "y", out, "x", in, where);
  };
  CHECK_NOTHROW(partial(block(1, 1, 4, 4, 20), block(1, 1, 4, 4, 20)));
  // the stride of a dimension with one index means nothing
  CHECK_NOTHROW(partial(box(0, 8, {5, 1}, {1, 5}), box(0, 8, {5, 1}, {1, 77})));
  CHECK_THROWS_AS(partial(block(1, 1, 4, 4, 20), block(1, 1, 4, 3, 20)), tessera::Error);
  CHECK_THROWS_AS(partial(block(0, 0, 4, 4, 20), box(0, 8, {4, 4}, {20, 1})), tessera::Error);  // transposed
}

TEST_CASE("random boxes: what is proved is true, and rectangles are decided exactly", "[core][overlap]") {
  std::mt19937 random(20240607);
  const auto pick = [&](index_t low, index_t high) {
    return std::uniform_int_distribution<index_t>(low, high)(random);
  };
  int proved = 0, disjoint = 0, open = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const auto any = [&] {
      const index_t sizes[] = {1, 2, 4, 8, 16};
      const auto rank = static_cast<std::size_t>(pick(0, 1) ? 1 : pick(2, 4));
      std::vector<index_t> extents(rank), strides(rank);
      for (std::size_t r = 0; r < rank; ++r) {
        extents[r] = pick(0, 9) == 0 ? pick(0, 1) : pick(1, 5);
        strides[r] = pick(0, 3) == 0 ? pick(-25, 25) : r == 0 ? pick(1, 2) : 4 * pick(1, 5);
      }
      const index_t size = sizes[pick(0, 3) == 0 ? pick(0, 4) : 3];
      return box(size * pick(0, 30) + (pick(0, 5) == 0 ? pick(0, size - 1) : 0), size, extents, strides);
    };
    const Box a = any(), b = any();
    const bool truth = share_a_byte(a, b);
    const bool claimed = proved_overlap(a, b, false);
    INFO("trial " << trial);
    REQUIRE((!claimed || truth));
    REQUIRE(proved_overlap(b, a, false) == claimed);
    REQUIRE(proved_overlap(a, b, true) == truth);
    proved += claimed;
    disjoint += !truth;
    open += truth && !claimed;
  }
  CAPTURE(proved, disjoint, open);
  CHECK(proved > 1000);  // the test sees enough of each kind
  CHECK(disjoint > 1000);
  CHECK(open > 1000);

  for (int trial = 0; trial < 20000; ++trial) {  // sub-matrices of one matrix, plain or transposed
    const index_t ld = pick(4, 14);
    const auto part = [&] {
      const index_t row = pick(0, ld - 1), column = pick(0, 7);
      Box b = block(row, column, pick(0, ld - row), pick(0, 6), ld);
      if (pick(0, 1)) {
        std::swap(b.extents[0], b.extents[1]);
        std::swap(b.strides[0], b.strides[1]);
      }
      return b;
    };
    const Box a = part(), b = part();
    INFO("trial " << trial << ", ld " << ld);
    REQUIRE(proved_overlap(a, b, false) == share_a_byte(a, b));
  }
}
