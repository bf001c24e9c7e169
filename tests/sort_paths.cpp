// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/core/device.hpp>
#include <tessera/sort.hpp>

/// Sorts of as many keys as it takes for a vendor's library to be asked, by free choice and by the portable kernel.

using Space = TESSERA_TEST_SPACE;
using Catch::Matchers::ContainsSubstring;
using tessera::index_t;

namespace {

template <class T>
using Keys = Kokkos::View<T*, Space>;

constexpr index_t n = tessera::is_host_space<Space> ? 70'001 : (index_t{1} << 22) + 17;

template <class T>
struct Pair {
  T key;
  std::uint32_t value;
  bool operator==(const Pair&) const = default;
};

/// Keys of which many are equal, and the values 0, 1, ...
template <class T>
std::vector<Pair<T>> some_pairs(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<Pair<T>> pairs(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    pairs[i] = {static_cast<T>(bits % 3 == 0 ? bits & 0x80000301u : bits), static_cast<std::uint32_t>(i)};
  }
  return pairs;
}

template <class T>
void upload(const std::vector<Pair<T>>& pairs, const Keys<T>& keys, const Keys<std::uint32_t>& values) {
  const auto k = Kokkos::create_mirror_view(keys);
  const auto v = Kokkos::create_mirror_view(values);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    k(i) = pairs[i].key;
    v(i) = pairs[i].value;
  }
  Kokkos::deep_copy(keys, k);
  Kokkos::deep_copy(values, v);
}

template <class T>
std::size_t different(const std::vector<Pair<T>>& expected, const Keys<T>& keys, const Keys<std::uint32_t>* values) {
  const auto k = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), keys);
  const auto v = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace(), values != nullptr ? *values : Keys<std::uint32_t>("none", keys.size()));
  std::size_t count = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (k(i) != expected[i].key || (values != nullptr && v(i) != expected[i].value)) ++count;
  return count;
}

}  // namespace

TEMPLATE_TEST_CASE("sorts of many 4-byte integers, by every path", "[sort]", std::uint32_t, std::int32_t) {
  const Space exec;
  Keys<TestType> keys("keys", n), sorted("sorted", n);
  Keys<std::uint32_t> values("values", n), moved("moved", n);
  for (const char* const path : {"", "portable"})
    for (const auto& [first, last] : {std::pair(0, 32), std::pair(3, 17), std::pair(31, 32)}) {
      INFO("path '" << path << "', bits " << first << " to " << last);
      const tessera::SortOptions options{.first_bit = first, .last_bit = last, .path = path};
      const auto given = some_pairs<TestType>(5);
      auto expected = given;
      std::stable_sort(expected.begin(), expected.end(), [first = first, last = last](const auto& a, const auto& b) {
        const auto word = [&](TestType key) {
          const auto bits = static_cast<std::uint32_t>(key) ^ (std::is_signed_v<TestType> ? 0x80000000u : 0u);
          return bits << (32 - last) >> (32 - last) >> first;
        };
        return word(a.key) < word(b.key);
      });
      upload(given, keys, values);
      tessera::sort_by_key(exec, keys, values, sorted, moved, options);
      CHECK(different(expected, sorted, &moved) == 0);
      CHECK(different(given, keys, &values) == 0);
      tessera::sort(exec, keys, sorted, options);
      CHECK(different(expected, sorted, static_cast<const Keys<std::uint32_t>*>(nullptr)) == 0);
      tessera::sort_by_key(exec, keys, values, options);
      CHECK(different(expected, keys, &values) == 0);
      upload(given, keys, values);
      const auto plan = tessera::plan_sort(exec, keys, options);
      const Kokkos::View<char*, Space> memory("memory", plan.workspace_bytes());
      plan.run(exec, {memory.data(), memory.size()}, keys);
      CHECK(different(expected, keys, static_cast<const Keys<std::uint32_t>*>(nullptr)) == 0);
    }
}

TEST_CASE("which path sorts, and why not another", "[sort]") {
  const Space exec;
  const Keys<std::uint32_t> keys("keys", n);
  const auto few = Kokkos::subview(keys, std::pair<index_t, index_t>(0, 1000));
  CHECK(tessera::plan_sort(exec, few).path() == "sort[portable]");
  const auto many = tessera::plan_sort(exec, keys);
  if (many.path() == "sort[portable]") {
    CHECK(many.reasons().empty());
    return;
  }
  CHECK(many.path() == "sort[cuda:cub]");
  const auto why = [&](const auto& plan) { return plan.reasons().empty() ? std::string() : plan.reasons()[0].reason; };
  CHECK_THAT(why(tessera::plan_sort(exec, few)), ContainsSubstring("below 2^22 keys"));
  CHECK_THAT(why(tessera::plan_sort(exec, keys, {.order = tessera::Order::descending})),
             ContainsSubstring("descending"));
  CHECK_THAT(why(tessera::plan_argsort(exec, keys, Keys<int>("index", n))), ContainsSubstring("not asked for"));
}
