// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types and equalities that do not come compiled.
#include <support/compaction.hpp>

#include <tessera/unique/any_type.hpp>

using namespace compaction;

namespace {

struct Cell {
  std::int32_t column, row, depth;
};
struct SameColumn {
  TESSERA_FUNCTION bool operator()(const Cell& a, const Cell& b) const { return a.column == b.column; }
};
struct SameTens {
  TESSERA_FUNCTION bool operator()(int a, int b) const { return a / 10 == b / 10; }
};

}  // namespace

TEST_CASE("unique: an equality and a type of one's own", "[unique]") {
  std::mt19937 random(55);
  for (const index_t n : {0, 1, 700, 20000}) {
    const Kokkos::View<Cell*, Space> x("x", n), y("y", n);
    const Kokkos::View<std::int32_t*, Space> lengths("lengths", n);
    const auto host = Kokkos::create_mirror(Kokkos::HostSpace(), x);
    index_t runs = 0;
    for (index_t i = 0; i < n; ++i) {
      host(i) = {static_cast<std::int32_t>(random() % 3), static_cast<std::int32_t>(i), 0};
      runs += i == 0 || host(i).column != host(i - 1).column ? 1 : 0;
    }
    Kokkos::deep_copy(x, host);
    REQUIRE(tessera::run_length_encode(Space(), x, y, lengths, SameColumn{}) == runs);
    const auto values = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
    const auto counts = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), lengths);
    index_t begin = 0, wrong = 0;
    for (index_t k = 0; k < runs; ++k) {
      wrong += values(k).row != begin || values(k).column != host(begin).column ? 1 : 0;
      begin += counts(k);
    }
    REQUIRE(wrong == 0);
    REQUIRE(begin == n);
  }
  const auto numbers = operand<int>({1, 9, 10, 12, 19, 35, 34, 1});
  Operand<int> first(Shape{8}, -1);
  const auto count = in_space(index_t{0});
  tessera::unique(Space(), numbers.vector(), first.vector(), count, SameTens{});
  first.download();
  REQUIRE(fetch(count) == 4);
  REQUIRE((first.after(0) == 1 && first.after(1) == 10 && first.after(2) == 35 && first.after(3) == 1));
  REQUIRE(first.after(4) == -1);
}
