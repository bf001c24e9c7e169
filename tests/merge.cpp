// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/sorted_ranges.hpp>

#include <tessera/merge.hpp>

using namespace sorted_ranges;
using Catch::Matchers::ContainsSubstring;
using tessera::KeyBefore;

namespace {

/// Merges keys, then keys with values that tell where each stood, and compares with the standard library, bit for bit.
template <class T, class V>
void check(index_t a_count, index_t b_count, int different, bool descending, index_t stride, index_t offset,
           std::mt19937_64& random) {
  INFO(a_count << " and " << b_count << " keys of " << different << (descending ? ", descending" : "") << ", stride "
               << stride << ", offset " << offset);
  const auto a = sorted_keys<T>(a_count, different, descending, random);
  const auto b = sorted_keys<T>(b_count, different, descending, random);
  struct Pair {
    T key;
    V value;
  };
  std::vector<Pair> pa, pb, merged(a.size() + b.size());
  for (const T& key : a) pa.push_back({key, static_cast<V>(pa.size())});
  for (const T& key : b) pb.push_back({key, static_cast<V>(1'000'000 + pb.size())});
  std::merge(pa.begin(), pa.end(), pb.begin(), pb.end(), merged.begin(), [&](const Pair& x, const Pair& y) {
    return descending ? rank_of(y.key, x.key) < 0 : rank_of(x.key, y.key) < 0;
  });
  std::vector<T> keys;
  std::vector<V> values, va, vb;
  for (const Pair& p : merged) {
    keys.push_back(p.key);
    values.push_back(p.value);
  }
  for (const Pair& p : pa) va.push_back(p.value);
  for (const Pair& p : pb) vb.push_back(p.value);
  const auto shape = [&](index_t n) { return Shape{n, 1, stride, 0, offset}; };
  const auto xa = filled(shape(a_count), a), xb = filled(Shape{b_count}, b);
  const auto ya = filled(Shape{a_count}, va), yb = filled(shape(b_count), vb);
  const Space exec;
  Operand<T> out(shape(a_count + b_count), T{}), out_keys(Shape{a_count + b_count}, T{});
  Operand<V> out_values(shape(a_count + b_count), V{});
  tessera::merge(exec, xa.vector(), xb.vector(), out.vector(), KeyBefore{descending});
  require_same(out, keys);
  tessera::merge_by_key(exec, xa.vector(), ya.vector(), xb.vector(), yb.vector(), out_keys.vector(),
                        out_values.vector(), KeyBefore{descending});
  require_same(out_keys, keys);
  require_same(out_values, values);
}

}  // namespace

TEMPLATE_TEST_CASE("merge and merge_by_key: edges, equal keys, strides", "[merge]", float, double, std::int32_t,
                   std::int64_t, std::uint32_t, std::uint64_t) {
  std::mt19937_64 random(11);
  using Long = std::conditional_t<sizeof(TestType) == 4, double, float>;
  // tiles of devices are 5888 and 3328 elements, with values 3840 and 2304; stretches of hosts 4096 and more
  const index_t sizes[][2] = {{0, 0},    {0, 1},       {1, 0},       {1, 1},      {2, 5},
                              {2303, 1}, {1, 2303},    {1664, 1664}, {3327, 2},   {1920, 1920},
                              {3841, 0}, {2944, 2944}, {5887, 0},    {0, 5889},   {5888, 5888},
                              {5000, 0}, {100, 9000},  {4096, 4095}, {20000, 13}, {30011, 40009}};
  int turn = 0;
  for (const auto& [a, b] : sizes)
    for (const int different : {1, 3, 100000}) {
      const int t = turn++;
      check<TestType, TestType>(a, b, different, t % 2 == 1, 1, 0, random);
      check<TestType, Long>(a, b, different, t % 2 == 0, t % 3 == 0 ? 2 : 1, t % 4, random);
    }
}

TEST_CASE("merge: random sizes", "[merge]") {
  const unsigned seed = 2026;
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int call = 0; call < 30; ++call) {
    const auto a = static_cast<index_t>(random() % 20000), b = static_cast<index_t>(random() % 20000);
    check<float, std::uint32_t>(a, b, 1 + static_cast<int>(random() % 3000), call % 2 == 0,
                                1 + static_cast<index_t>(random() % 3), static_cast<index_t>(random() % 3), random);
  }
}

TEST_CASE("merge: ranges that do not interleave", "[merge]") {
  const Space exec;
  const index_t n = 50000;
  std::vector<std::int32_t> low, high, all;
  for (int i = 0; i < n; ++i) low.push_back(i);
  for (int i = 0; i < n; ++i) high.push_back(static_cast<std::int32_t>(n) + i);
  all = low;
  all.insert(all.end(), high.begin(), high.end());
  const auto x = operand(low), y = operand(high);
  Operand<std::int32_t> out(Shape{2 * n}, std::int32_t{0});
  tessera::merge(exec, x.vector(), y.vector(), out.vector());
  require_same(out, all);
  tessera::merge(exec, y.vector(), x.vector(), out.vector());
  require_same(out, all);
}

TEST_CASE("what a merge refuses", "[merge]") {
  const Space exec;
  const Kokkos::View<double*, Space> a("a", 5), b("b", 7), out("out", 11), right("right", 12);
  const auto message = [&](const auto& call) -> std::string {
    try {
      call();
    } catch (const tessera::Error& e) {
      return e.what();
    }
    return "nothing was thrown";
  };
  CHECK_THAT(message([&] { tessera::merge(exec, a, b, out); }),
             ContainsSubstring("tessera::merge") && ContainsSubstring("out 11") && ContainsSubstring("together, 12"));
  CHECK_THAT(message([&] { tessera::merge(exec, a, b, Kokkos::subview(right, std::pair(0, 12))); }),
             ContainsSubstring("nothing was thrown"));
  const Kokkos::View<double*, Space> all("all", 12);
  const auto part = Kokkos::subview(all, std::pair(0, 5));
  CHECK_THAT(message([&] { tessera::merge(exec, part, b, all); }), ContainsSubstring("overlap"));
  CHECK_THAT(message([&] { tessera::merge_by_key(exec, a, a, b, a, right, all); }),
             ContainsSubstring("b_values") && ContainsSubstring("7"));
}
