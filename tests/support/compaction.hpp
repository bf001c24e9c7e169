// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the tests of compactions share: places of chosen elements, calls with either kind of count, what outputs hold.

#include <cstdint>
#include <support/level1.hpp>
#include <vector>

namespace compaction {

using namespace level1;

enum class Count { host, view };
using Where = std::vector<index_t>;

/// Calls with a count in a view or on the host, whatever the call.
template <class F>
index_t counted(Count count, const F& call) {
  if (count == Count::host) return call();
  const auto result = in_space(index_t{-5});
  call(result);
  return fetch(result);
}

/// y begins with right(0), right(1), ... as far as they fit, and is as it was behind them.
template <class T, class F>
void require_begins(Operand<T>& y, index_t count, const F& right) {
  y.download();
  index_t wrong = 0, at = -1;
  for (index_t k = 0; k < y.shape().rows; ++k)
    if (!same_bits(y.after(k), k < count ? T(right(k)) : y.before(k)) && wrong++ == 0) at = k;
  INFO("the first wrong element is " << at);
  REQUIRE(wrong == 0);
}
/// y begins with the elements of x at `places`.
template <class T>
void require_elements(Operand<T>& y, const Operand<T>& x, const Where& places) {
  require_begins(y, static_cast<index_t>(places.size()),
                 [&](index_t k) { return x.before(places[static_cast<std::size_t>(k)]); });
}

/// One flag in 100 is set where share is 1, all where it is 100; set ones have their top bit alone, or their lowest.
template <class Flag>
Operand<Flag> some_flags(const Shape& shape, int share, std::mt19937& random, Where& chosen, Where& others) {
  Operand<Flag> flags(shape, Flag(0));
  for (index_t i = 0; i < shape.rows; ++i) {
    const bool is_set = std::uniform_int_distribution<int>(0, 99)(random) < share;
    if (is_set)
      flags.before(i) = static_cast<Flag>(i % 2 == 0 ? std::uint64_t{1} : std::uint64_t{1} << (8 * sizeof(Flag) - 1));
    (is_set ? chosen : others).push_back(i);
  }
  flags.upload();
  return flags;
}

/// Numbers in which a run ends once in `every` elements; floats have NaN and both zeros among them.
template <class T>
Operand<T> some_runs(const Shape& shape, int every, std::mt19937& random) {
  std::vector<T> kinds{T(0), T(1), T(2), T(5)};
  if constexpr (!std::is_integral_v<T>) {
    using R = tessera::real_t<T>;
    kinds = {T(R(0)), T(R(-0.0F)), T(std::numeric_limits<R>::quiet_NaN()), T(std::numeric_limits<R>::infinity()),
             T(R(1))};
  }
  Operand<T> x(shape, T(kinds[0]));
  std::size_t kind = 0;
  for (index_t i = 0; i < shape.rows; ++i) {
    if (std::uniform_int_distribution<int>(0, every - 1)(random) == 0)
      kind = std::uniform_int_distribution<std::size_t>(0, kinds.size() - 1)(random);
    x.before(i) = kinds[kind];
  }
  x.upload();
  return x;
}

/// Where runs begin, as wide numbers compare: NaN to nothing, zeros to each other.
template <class T>
Where heads_of(const Operand<T>& x) {
  Where heads;
  for (index_t i = 0; i < x.shape().rows; ++i)
    if (i == 0 || wide(x.before(i - 1)) != wide(x.before(i))) heads.push_back(i);
  return heads;
}

/// Round the edges of leaves, rows, strips and tiles of every size, and of the stretches of hosts.
inline const std::vector<index_t>& sizes() {
  static const std::vector<index_t> all = {0,    1,    2,    3,    15,   16,   31,   33,   127,  511,   512,  513,
                                           1023, 1025, 2047, 2048, 2049, 4095, 4097, 8191, 8193, 20000, 70001};
  return all;
}

/// Draws extents, strides and offsets.
struct RandomShapes {
  std::mt19937& random;
  index_t pick(index_t low, index_t high) const { return std::uniform_int_distribution<index_t>(low, high)(random); }
  index_t extent() const { return pick(0, 3) == 0 ? pick(0, 100000) : pick(0, 5000); }
  Shape shape(index_t rows) const { return {rows, 1, pick(0, 1) == 0 ? 1 : pick(1, 4), 0, pick(0, 4)}; }
  /// Of an output of at most n elements: often that many, else fewer or more.
  Shape room(index_t n) const { return shape(pick(0, 1) == 0 ? n : pick(0, n + 10)); }
  Count count() const { return pick(0, 1) == 0 ? Count::host : Count::view; }
};

}  // namespace compaction
