// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <iterator>
#include <random>
#include <vector>

#include <tessera/merge/any_type.hpp>
#include <tessera/set_operations/any_type.hpp>

namespace {

using Space = TESSERA_TEST_SPACE;
using tessera::index_t;

/// Ordered by row, then by column; the payload tells elements apart that are equal.
struct Entry {
  std::int32_t row, column;
  double payload;
};
struct ByPlace {
  TESSERA_FUNCTION bool operator()(const Entry& a, const Entry& b) const {
    return a.row < b.row || (a.row == b.row && a.column < b.column);
  }
};
/// Ordered by the distance from a point that the caller chooses.
struct ByDistance {
  int from;
  TESSERA_FUNCTION bool operator()(std::int16_t a, std::int16_t b) const {
    return (a - from) * (a - from) < (b - from) * (b - from);
  }
};

template <class T>
Kokkos::View<T*, Space> on_device(const std::vector<T>& values) {
  Kokkos::View<T*, Space> view("values", values.size());
  const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), view);
  for (std::size_t i = 0; i < values.size(); ++i) host(i) = values[i];
  Kokkos::deep_copy(view, host);
  return view;
}
template <class T, class Same>
void require_begins(const Kokkos::View<T*, Space>& found, const std::vector<T>& expected, const Same& same) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found);
  index_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) wrong += same(host(i), expected[i]) ? 0 : 1;
  REQUIRE(wrong == 0);
}

template <class T, class Before, class Same>
void check(const std::vector<T>& a, const std::vector<T>& b, const Before& before, const Same& same) {
  INFO(a.size() << " and " << b.size() << " elements");
  const Space exec;
  const auto x = on_device(a), y = on_device(b);
  const Kokkos::View<T*, Space> out("out", a.size() + b.size());
  std::vector<T> expected(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin(), before);
  tessera::merge(exec, x, y, out, before);
  require_begins(out, expected, same);

  const auto with = [&](const auto& ours, const auto& theirs) {
    expected.clear();
    theirs(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected), before);
    REQUIRE(ours(exec, x, y, out, before) == static_cast<index_t>(expected.size()));
    require_begins(out, expected, same);
  };
  with([](const auto&... v) { return tessera::set_union(v...); }, [](auto... v) { std::set_union(v...); });
  with([](const auto&... v) { return tessera::set_intersection(v...); },
       [](auto... v) { std::set_intersection(v...); });
  with([](const auto&... v) { return tessera::set_difference(v...); }, [](auto... v) { std::set_difference(v...); });
  with([](const auto&... v) { return tessera::set_symmetric_difference(v...); },
       [](auto... v) { std::set_symmetric_difference(v...); });
}

}  // namespace

TEST_CASE("merge and set operations of structs in an order of their own", "[merge]") {
  std::mt19937 random(81);
  for (const int different : {2, 40, 100000})
    for (const auto& [na, nb] : {std::pair(0, 3), std::pair(1281, 1279), std::pair(9001, 7003)}) {
      const auto entries = [&](int n, double from) {
        std::vector<Entry> all;
        for (int i = 0; i < n; ++i) {
          const auto place = static_cast<std::int32_t>(random() % static_cast<unsigned>(different));
          all.push_back({place / 7, place % 7, from + i});
        }
        std::stable_sort(all.begin(), all.end(), ByPlace{});
        return all;
      };
      check(entries(na, 0), entries(nb, 1e6), ByPlace{}, [](const Entry& x, const Entry& y) {
        return x.row == y.row && x.column == y.column && x.payload == y.payload;
      });
    }
}

TEST_CASE("merge and set operations in an order with a state", "[merge]") {
  std::mt19937 random(82);
  const ByDistance before{17};
  for (const int n : {100, 5000, 30000}) {
    const auto numbers = [&] {
      std::vector<std::int16_t> all;
      all.reserve(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) all.push_back(static_cast<std::int16_t>(static_cast<int>(random() % 2001) - 1000));
      std::stable_sort(all.begin(), all.end(), before);
      return all;
    };
    check(numbers(), numbers(), before, [](std::int16_t x, std::int16_t y) { return x == y; });
  }
}
