// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <numeric>
#include <support/level1.hpp>

#include <tessera/sort.hpp>

using namespace level1;
using Catch::Matchers::ContainsSubstring;
using tessera::Order;
using tessera::SortOptions;

namespace {

#define TESSERA_SORT_TYPES                                                                                          \
  std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, \
      tessera::half, tessera::bfloat16, float, double

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
  return value;
}

/// The order of the contract, told without the kernels' trick: NaN last, zeros equal.
template <class T>
bool before(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else {
    const auto x = static_cast<double>(a), y = static_cast<double>(b);
    if (x != x) return false;
    if (y != y) return true;
    return x < y;
  }
}

/// Keys of every kind of bits: any, few different ones, already in order, all the same, and the extremes.
template <class T>
std::vector<T> some_keys(index_t n, int kind, std::mt19937_64& random) {
  std::vector<T> keys(static_cast<std::size_t>(n));
  constexpr int bits = 8 * sizeof(T);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t r = random();
    switch (kind) {
      case 0:
        keys[i] = from_bits<T>(r);
        break;
      case 1:
        keys[i] = from_bits<T>((r % 5) << (bits - 8) | (r >> 8) % 3);
        break;
      case 2:
        keys[i] = static_cast<T>(static_cast<int>(i * 100 / keys.size()));
        break;
      case 3:
        keys[i] = static_cast<T>(1);
        break;
      default: {
        const std::vector<T> extremes = [] {
          using L = std::numeric_limits<T>;
          if constexpr (std::is_integral_v<T>) {
            return std::vector<T>{L::min(), L::max(), T(0), T(1), static_cast<T>(-1)};
          } else {
            constexpr std::uint64_t sign = std::uint64_t{1} << (bits - 1);
            std::uint64_t inf = 0;
            const T infinity = L::infinity();
            std::memcpy(&inf, &infinity, sizeof infinity);
            return std::vector<T>{from_bits<T>(0),        from_bits<T>(sign),
                                  from_bits<T>(1),        from_bits<T>(sign | 1),
                                  from_bits<T>(inf),      from_bits<T>(sign | inf),
                                  from_bits<T>(inf + 1),  from_bits<T>(sign | (inf + 1)),
                                  from_bits<T>(sign - 1), from_bits<T>(~std::uint64_t{0}),
                                  static_cast<T>(1),      static_cast<T>(-1)};
          }
        }();
        keys[i] = extremes[r % extremes.size()];
      }
    }
  }
  return keys;
}

template <class T>
std::vector<index_t> expected_order(const std::vector<T>& keys, Order order) {
  std::vector<index_t> positions(keys.size());
  std::iota(positions.begin(), positions.end(), index_t{0});
  std::stable_sort(positions.begin(), positions.end(), [&](index_t a, index_t b) {
    const T &x = keys[static_cast<std::size_t>(a)], &y = keys[static_cast<std::size_t>(b)];
    return order == Order::ascending ? before(x, y) : before(y, x);
  });
  return positions;
}

/// An operand to be written.
template <class T>
Operand<T> output(const Shape& shape) {
  return Operand<T>(shape, T{});
}

/// Found against the elements of `source` in the order `positions`, bit for bit.
template <class T>
void require_ordered(Operand<T>& found, const std::vector<T>& source, const std::vector<index_t>& positions) {
  found.download();
  index_t wrong = 0, at = -1;
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (!same_bits(found.after(static_cast<index_t>(i)), source[static_cast<std::size_t>(positions[i])])) {
      ++wrong;
      if (at < 0) at = static_cast<index_t>(i);
    }
  INFO("the first wrong element is " << at);
  REQUIRE(wrong == 0);
}

template <class V>
V value_of(index_t i) {
  V v{};
  for (std::size_t b = 0; b < sizeof(V); ++b)
    reinterpret_cast<unsigned char*>(&v)[b] =
        static_cast<unsigned char>((static_cast<std::uint64_t>(i) * 2654435761u) >> (8 * (b % 4)));
  return v;
}

template <class V, class T>
void check_values(const std::vector<T>& keys, const std::vector<index_t>& positions, const Shape& shape, Order order) {
  INFO("values of " << sizeof(V) << " bytes, " << shape.text());
  const auto n = static_cast<index_t>(keys.size());
  std::vector<V> values;
  values.reserve(keys.size());
  for (index_t i = 0; i < n; ++i) values.push_back(value_of<V>(i));
  Operand<T> k({n});
  Operand<V> v(shape);
  fill(k, keys);
  fill(v, values);
  tessera::sort_by_key(Space(), k.vector(), v.vector(), {.order = order});
  require_ordered(k, keys, positions);
  require_ordered(v, values, positions);
  auto to = output<T>({n, 1, 1, 0, 1});
  auto values_to = output<V>({n});
  fill(k, keys);
  fill(v, values);
  tessera::sort_by_key(Space(), k.vector(), v.vector(), to.vector(), values_to.vector(), {.order = order});
  require_ordered(to, keys, positions);
  require_ordered(values_to, values, positions);
}

struct Bytes3 {
  unsigned char b[3];
};
struct Bytes12 {
  float x[3];
};
struct alignas(16) Bytes16 {
  double x[2];
};

}  // namespace

template <>
Bytes3 test_values::random_value<Bytes3>(std::mt19937& random) {
  return value_of<Bytes3>(static_cast<index_t>(random()));
}
template <>
Bytes12 test_values::random_value<Bytes12>(std::mt19937& random) {
  return value_of<Bytes12>(static_cast<index_t>(random()));
}
template <>
Bytes16 test_values::random_value<Bytes16>(std::mt19937& random) {
  return value_of<Bytes16>(static_cast<index_t>(random()));
}

// sizes round the hosts' insertion and worker limits and the devices' tiles
TEMPLATE_TEST_CASE("sort in place, and from one view into another", "[sort]", TESSERA_SORT_TYPES) {
  using T = TestType;
  std::mt19937_64 random(17);
  for (const index_t n : {0, 1, 2, 31, 48, 49, 255, 1000, 4607, 4608, 7679, 7681, 9217, 33001})
    for (int kind = 0; kind < 5; ++kind) {
      if (n > 5000 && kind % 2 != 0) continue;
      const auto keys = some_keys<T>(n, kind, random);
      for (const Order order : {Order::ascending, Order::descending}) {
        INFO(n << " keys of kind " << kind << (order == Order::ascending ? "" : ", descending"));
        const auto positions = expected_order(keys, order);
        Operand<T> x({n, 1, 1, 0, kind});
        auto y = output<T>({n});
        fill(x, keys);
        tessera::sort(Space(), x.vector(), y.vector(), {.order = order});
        require_ordered(y, keys, positions);
        std::vector<index_t> same(keys.size());
        std::iota(same.begin(), same.end(), index_t{0});
        require_ordered(x, keys, same);
        tessera::sort(Space(), x.vector(), {.order = order});
        require_ordered(x, keys, positions);
      }
    }
}

TEMPLATE_TEST_CASE("sort of strided keys", "[sort]", TESSERA_SORT_TYPES) {
  using T = TestType;
  std::mt19937_64 random(18);
  for (const index_t n : {2, 40, 5000, 20011}) {
    const auto keys = some_keys<T>(n, 0, random);
    const auto positions = expected_order(keys, Order::ascending);
    Operand<T> x({n, 1, 3, 0, 1});
    auto y = output<T>({n}), z = output<T>({n, 1, 2});
    fill(x, keys);
    tessera::sort(Space(), x.vector(), y.vector());
    require_ordered(y, keys, positions);
    tessera::sort(Space(), x.vector(), z.vector());
    require_ordered(z, keys, positions);
    tessera::sort(Space(), x.vector());
    require_ordered(x, keys, positions);
    fill(y, keys);
    tessera::sort(Space(), y.vector(), x.vector());
    require_ordered(x, keys, positions);
  }
}

TEMPLATE_TEST_CASE("sort_by_key is stable and moves values of any size", "[sort]", std::uint8_t, std::int16_t,
                   tessera::bfloat16, std::uint32_t, float, std::int64_t, double) {
  using T = TestType;
  std::mt19937_64 random(19);
  for (const index_t n : {1, 40, 7000, 16411})
    for (const int kind : {0, 1, 4}) {
      if (n > 10000 && kind == 1) continue;
      const auto keys = some_keys<T>(n, kind, random);
      const Order order = kind == 1 ? Order::descending : Order::ascending;
      INFO(n << " keys of kind " << kind);
      const auto positions = expected_order(keys, order);
      check_values<std::uint8_t>(keys, positions, {n}, order);
      check_values<std::uint16_t>(keys, positions, {n}, order);
      check_values<Bytes3>(keys, positions, {n}, order);
      check_values<float>(keys, positions, {n}, order);
      check_values<float>(keys, positions, {n, 1, 3}, order);
      check_values<double>(keys, positions, {n}, order);
      check_values<Bytes12>(keys, positions, {n, 1, 2}, order);
      check_values<Bytes16>(keys, positions, {n}, order);
    }
}

TEMPLATE_TEST_CASE("argsort", "[sort]", std::int8_t, std::uint16_t, tessera::half, std::int32_t, float, double,
                   std::uint64_t) {
  using T = TestType;
  std::mt19937_64 random(20);
  const auto check = [&]<class Index>(Index, const Shape& keys_shape, const Shape& shape) {
    const index_t n = shape.rows;
    const auto keys = some_keys<T>(n, 4, random);
    const auto positions = expected_order(keys, Order::ascending);
    Operand<T> x(keys_shape);
    auto index = output<Index>(shape);
    fill(x, keys);
    tessera::argsort(Space(), x.vector(), index.vector());
    index.download();
    index_t wrong = 0;
    for (index_t i = 0; i < n; ++i)
      wrong += static_cast<index_t>(index.after(i)) != positions[static_cast<std::size_t>(i)] ? 1 : 0;
    REQUIRE(wrong == 0);
    std::vector<index_t> same(keys.size());
    std::iota(same.begin(), same.end(), index_t{0});
    require_ordered(x, keys, same);
  };
  for (const index_t n : {0, 1, 40, 5000, 50021}) {
    check(std::int32_t{}, {n}, {n});
    check(std::uint64_t{}, {n}, {n});
    check(std::int64_t{}, {n, 1, 2}, {n, 1, 3});
    check(std::uint32_t{}, {n, 1, 5}, {n});
  }
}

TEST_CASE("sort by some bits of the keys", "[sort]") {
  std::mt19937_64 random(21);
  for (const index_t n : {40, 5000, 30000})
    for (const auto& [first, last] : {std::pair(0, 8), std::pair(4, 15), std::pair(31, 32), std::pair(0, 0),
                                      std::pair(7, 7), std::pair(3, 27), std::pair(0, 20)}) {
      INFO(n << " keys, bits " << first << " to " << last);
      const auto keys = some_keys<std::uint32_t>(n, 0, random);
      const std::uint32_t mask =
          last - first == 32 ? ~0u : ((1u << static_cast<unsigned>(last - first)) - 1) << static_cast<unsigned>(first);
      std::vector<std::uint32_t> masked;
      masked.reserve(keys.size());
      for (const auto k : keys) masked.push_back(first == last ? 0 : k & mask);
      for (const Order order : {Order::ascending, Order::descending}) {
        const SortOptions options{.order = order, .first_bit = first, .last_bit = last};
        const auto positions = expected_order(masked, order);
        Operand<std::uint32_t> x({n});
        auto y = output<std::uint32_t>({n});
        Operand<double> values({n});
        fill(x, keys);
        tessera::sort(Space(), x.vector(), y.vector(), options);
        require_ordered(y, keys, positions);
        std::vector<double> numbers(keys.size());
        std::iota(numbers.begin(), numbers.end(), 0.0);
        fill(values, numbers);
        tessera::sort_by_key(Space(), x.vector(), values.vector(), options);
        require_ordered(x, keys, positions);
        require_ordered(values, numbers, positions);
      }
    }
}

TEMPLATE_TEST_CASE("segmented_sort", "[sort]", std::uint8_t, std::int16_t, std::uint32_t, float, double) {
  using T = TestType;
  std::mt19937_64 random(22);
  const auto check = [&]<class Offset>(Offset, index_t n, const std::vector<index_t>& at, Order order, index_t stride) {
    auto keys = some_keys<T>(n, 0, random);
    Operand<T> x({n, 1, stride});
    Operand<Offset> offsets({static_cast<index_t>(at.size())});
    fill(x, keys);
    fill(offsets, std::vector<Offset>(at.begin(), at.end()));
    tessera::segmented_sort(Space(), x.vector(), offsets.vector(), {.order = order});
    std::vector<index_t> edges{0};
    edges.insert(edges.end(), at.begin(), at.end());
    edges.push_back(n);
    std::vector<index_t> positions;
    for (std::size_t s = 0; s + 1 < edges.size(); ++s) {
      const std::vector<T> part(keys.begin() + edges[s], keys.begin() + edges[s + 1]);
      for (const index_t p : expected_order(part, order)) positions.push_back(edges[s] + p);
    }
    require_ordered(x, keys, positions);
    for (const index_t stride_in : {1, 3}) {
      Operand<T> in({n, 1, stride_in});
      auto out = output<T>({n, 1, stride});
      fill(in, keys);
      tessera::segmented_sort(Space(), in.vector(), offsets.vector(), out.vector(), {.order = order});
      require_ordered(out, keys, positions);
      require_same(in, keys);
    }
  };
  check(std::int32_t{}, 0, {0, 0}, Order::ascending, 1);
  check(std::int32_t{}, 1, {0, 1}, Order::ascending, 1);
  check(std::int64_t{}, 1000, {0, 1000}, Order::ascending, 1);
  check(std::int64_t{}, 1000, {}, Order::ascending, 1);
  check(std::int32_t{}, 1000, {100, 100, 900}, Order::descending, 2);
  for (const index_t n : {5000, 100000}) {
    std::vector<index_t> at{0};
    while (at.back() < n) at.push_back(std::min<index_t>(n, at.back() + static_cast<index_t>(random() % 70)));
    check(std::int32_t{}, n, at, Order::ascending, 1);
    check(std::int64_t{}, n, {0, 3, 3, n / 2, n / 2 + 1000, n}, Order::descending, 1);
  }
}

TEST_CASE("case A15: equal, empty, extreme and NaN keys", "[sort][cases]") {
  const auto sorted = []<class T>(std::vector<T> keys) {
    Operand<T> x({static_cast<index_t>(keys.size())});
    fill(x, keys);
    tessera::sort(Space(), x.vector());
    x.download();
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = x.after(static_cast<index_t>(i));
    return keys;
  };
  REQUIRE(sorted(std::vector<int>(256, 0)) == std::vector<int>(256, 0));
  REQUIRE(sorted(std::vector<int>{}).empty());
  REQUIRE(sorted(std::vector<int>{7}) == std::vector<int>{7});
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  REQUIRE(sorted(std::vector<std::int64_t>{least, 0, 3, 2, 1, 3, 6, 4, 3}) ==
          std::vector<std::int64_t>{least, 0, 1, 2, 3, 3, 3, 4, 6});
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const auto floats = sorted(std::vector<float>{nan, 3, -inf, -nan, inf, -1});
  REQUIRE(std::vector<float>(floats.begin(), floats.begin() + 4) == std::vector<float>{-inf, -1, 3, inf});
  REQUIRE(std::isnan(floats[4]));
  REQUIRE(std::isnan(floats[5]));
  REQUIRE(std::signbit(floats[5]));  // as they came
}

TEST_CASE("a plan of a sort runs in memory that the caller lends", "[sort]") {
  std::mt19937_64 random(23);
  for (const index_t n : {0, 30, 5000, 60000}) {
    const auto keys = some_keys<float>(n, 0, random);
    const auto positions = expected_order(keys, Order::ascending);
    Operand<float> x({n});
    Operand<Bytes12> values({n});
    std::vector<Bytes12> numbers;
    numbers.reserve(static_cast<std::size_t>(n));
    for (index_t i = 0; i < n; ++i) numbers.push_back(value_of<Bytes12>(i));
    fill(x, keys);
    fill(values, numbers);
    const auto plan = tessera::plan_sort_by_key(Space(), x.vector(), values.vector());
    REQUIRE(plan.path().starts_with("sort["));
    const Kokkos::View<char*, Space> memory("workspace", plan.workspace_bytes());
    plan.run(Space(), {memory.data(), memory.size()}, x.vector(), values.vector());
    require_ordered(x, keys, positions);
    require_ordered(values, numbers, positions);
    if (n == 0) continue;
    REQUIRE_THROWS_WITH(plan.run(Space(), {memory.data(), 16}, x.vector(), values.vector()),
                        ContainsSubstring("plan.workspace_bytes()"));
    const Operand<float> longer({n + 1});
    const Operand<Bytes12> more({n + 1});
    REQUIRE_THROWS_WITH(plan.run(Space(), {memory.data(), memory.size()}, longer.vector(), more.vector()),
                        ContainsSubstring("keys; the plan was made for"));
  }
  tessera::release_sort_workspace(Space());
}

TEST_CASE("what a sort refuses", "[sort]") {
  const Kokkos::View<float*, Space> keys("keys", 100), other("other", 99);
  const Kokkos::View<int*, Space> index("index", 100);
  const Space exec;
  REQUIRE_THROWS_WITH(tessera::sort(exec, keys, {.first_bit = 3, .last_bit = 33}), ContainsSubstring("<= 32"));
  REQUIRE_THROWS_WITH(tessera::sort(exec, keys, {.first_bit = 9, .last_bit = 8}), ContainsSubstring("first_bit"));
  REQUIRE_THROWS_WITH(tessera::sort(exec, keys, {.path = "none"}), ContainsSubstring("portable"));
  REQUIRE_THROWS_WITH(tessera::sort(exec, keys, other), ContainsSubstring("99"));
  const auto range = [](index_t a, index_t b) {
    return std::pair(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
  };
  REQUIRE_THROWS_WITH(tessera::sort(exec, Kokkos::subview(keys, range(0, 60)), Kokkos::subview(keys, range(30, 90))),
                      ContainsSubstring("keys_out"));
  REQUIRE_THROWS_WITH(tessera::sort_by_key(exec, keys, other), ContainsSubstring("99"));
  REQUIRE_THROWS_WITH(
      tessera::sort_by_key(exec, Kokkos::subview(keys, range(0, 50)), Kokkos::subview(keys, range(20, 70))),
      ContainsSubstring("values_out"));
  REQUIRE_THROWS_WITH(tessera::argsort(exec, other, index), ContainsSubstring("index"));
}

// more keys than one launch takes, counted in more than 31 bits; needs 7 GiB (hosts: 13 s a thread)
TEST_CASE("sort of 2^31 + 5 keys", "[.large][sort]") {
  const index_t n = (index_t{1} << 31) + 5;
  const Space exec;
  const Kokkos::View<std::uint8_t*, Space> keys(Kokkos::view_alloc("keys", Kokkos::WithoutInitializing), n);
  Kokkos::parallel_for(
      "tessera::test::fill", tessera::Range<Space>(exec, 0, n),
      KOKKOS_LAMBDA(index_t i) { keys(i) = static_cast<std::uint8_t>((i * 2654435761u) >> 13); });
  Kokkos::View<std::uint64_t[256], Space> counts("counts"), after("after");
  const auto count = [&](const Kokkos::View<std::uint64_t[256], Space>& into) {
    Kokkos::parallel_for(
        "tessera::test::count", tessera::Range<Space>(exec, 0, 4096), KOKKOS_LAMBDA(index_t w) {
          std::uint64_t mine[256] = {};
          for (index_t i = w; i < n; i += 4096) ++mine[keys(i)];
          for (int d = 0; d < 256; ++d) Kokkos::atomic_add(&into(d), mine[d]);
        });
  };
  count(counts);
  tessera::sort(exec, keys);
  count(after);
  index_t falls = 0;
  Kokkos::parallel_reduce(
      "tessera::test::order", tessera::Range<Space>(exec, 1, n),
      KOKKOS_LAMBDA(index_t i, index_t & f) { f += keys(i - 1) > keys(i) ? 1 : 0; }, falls);
  REQUIRE(falls == 0);
  const auto a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), counts);
  const auto b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), after);
  index_t wrong = 0;
  for (int d = 0; d < 256; ++d) wrong += a(d) != b(d) ? 1 : 0;
  REQUIRE(wrong == 0);
  tessera::release_sort_workspace(exec);
}
