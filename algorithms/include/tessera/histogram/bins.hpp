// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Which slot of a table of counts a value belongs to: its bin, or behind the bins one of three slots for values below,
/// values above, and NaN. The same text gives the same slot on every backend: what is estimated is decided by edges
/// whose arithmetic is rounded as IEEE 754 has it, and integers are computed with in integers.

#include <Kokkos_Core.hpp>
#include <cmath>
#include <limits>

#include <tessera/histogram/problem.hpp>

namespace tessera::detail {

/// Slots behind the bins.
struct HistogramSlots {
  static constexpr int below = 0, above = 1, nan = 2, count = 3;
};

/// Where a value that equals the top edge goes.
inline int histogram_top(int bins, bool closed) { return closed && bins > 0 ? bins - 1 : bins + HistogramSlots::above; }

/// Even bins of floats. Edge i is fma(i, (upper - lower) / bins, lower) in double, rounded to C, and upper for i = bins
/// (nor is any edge above it); narrow floats are compared as floats.
/// The bin is first estimated by a product. Within `reach` of the middle of the estimated bin no error of the product
/// or of the edges can reach the next one; elsewhere the nearest edge decides. Where bins are so narrow that this is
/// not so, edges are searched.
template <class T>
struct EvenFloatBins {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  C lower, upper, scale, reach;
  double origin, width;
  int bins, top;
  bool searched, exact;

  explicit EvenFloatBins(const HistogramProblem<T>& p, int count)
      : lower(p.lower),
        upper(p.upper),
        origin(static_cast<double>(p.lower)),
        bins(count),
        top(histogram_top(count, p.last_closed)) {
    constexpr double half_ulp = static_cast<double>(std::numeric_limits<C>::epsilon()) / 2;
    const double range = static_cast<double>(upper) - origin;
    width = range / bins;
    scale = static_cast<C>(bins / range);
    const double far = origin < 0 && -origin > static_cast<double>(upper) ? -origin : static_cast<double>(upper);
    // of the estimate three roundings; of an edge those of width and fma and the one to C; of the test itself one
    const double error = half_ulp * (bins * (5 + 2 * (far < 0 ? -far : far) / range) + 2) +
                         2 * static_cast<double>(std::numeric_limits<C>::denorm_min()) * bins / range;
    searched = !(error < 0.25) || !(scale >= std::numeric_limits<C>::min()) ||
               !(scale <= std::numeric_limits<C>::max()) ||
               !(range <= static_cast<double>(std::numeric_limits<C>::max()));
    if (searched) scale = 0;
    reach = searched ? C(-1) : static_cast<C>(0.5 - error);  // -1: never within
    // from 0 on by a power of two, products and edges are exact: whole numbers, which all are edges, need no other test
    int exponent = 0;
    exact = !searched && origin == 0 && bins <= 1 << 24 && std::frexp(static_cast<double>(scale), &exponent) == 0.5 &&
            static_cast<double>(scale) * width == 1;
  }

  [[nodiscard]] TESSERA_INLINE_FUNCTION C edge(int i) const {
    const C e = static_cast<C>(Kokkos::fma(static_cast<double>(i), width, origin));
    return i >= bins || e > upper ? upper : e;
  }

  /// For devices, whose conversions to int saturate. One test tells most values: what lies below gives no t above 0,
  /// and what lies above none below bins - error.
  [[nodiscard]] TESSERA_INLINE_FUNCTION int slot(T value) const {
    const C v = static_cast<C>(value);
    const C t = (v - lower) * scale;
    const int i = static_cast<int>(t);
    const C middle = (t - static_cast<C>(i)) - C(0.5);
    if (static_cast<unsigned>(i) < static_cast<unsigned>(bins) &&
        (Kokkos::fabs(middle) <= reach || (exact && v >= lower)))
      return i;
    return decided(v, middle > 0 ? i + 1 : i);
  }

  /// The slot of a value whose nearest edge, where it lies inside, is this one.
  [[nodiscard]] TESSERA_FUNCTION int decided(C v, int nearest) const {
    if (!(v >= lower)) return bins + (v < lower ? HistogramSlots::below : HistogramSlots::nan);
    if (!(v < upper)) return v == upper ? top : bins + HistogramSlots::above;
    if (searched) return search(v);
    return v < edge(nearest) ? nearest - 1 : nearest;
  }
  [[nodiscard]] TESSERA_FUNCTION int search(C v) const {
    int low = 0, high = bins;  // edge(low) <= v < edge(high)
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      if (edge(middle) <= v)
        low = middle;
      else
        high = middle;
    }
    return low;
  }

  /// slot() of n values for hosts: estimates, then, where any needs it, the test of the nearest edge, both in vectors;
  /// what lies outside at last one by one.
  void slots(const T* x, int n, int* found) const {
    if (searched) {
      for (int k = 0; k < n; ++k) found[k] = decided(static_cast<C>(x[k]), 0);
      return;
    }
    const C from = lower, factor = scale, within = reach, most = static_cast<C>(bins);
    int unsure = 0;
    for (int k = 0; k < n; ++k) {
      // what lies outside, and NaN, comes to one of the ends, which are edges
      C t = (static_cast<C>(x[k]) - from) * factor;
      t = t > C(0) ? t : C(0);
      t = t < most ? t : most;
      const int i = static_cast<int>(t);
      const C middle = (t - static_cast<C>(i)) - C(0.5);
      const int nearest = middle > C(0) ? i + 1 : i;
      const int sure = std::fabs(middle) <= within ? 1 : 0;
      unsure |= sure ^ 1;
      found[k] = sure != 0 ? i : ~nearest;
    }
    if (unsure == 0) return;
    const C to = upper;
    const double start = origin, step = width;
    const int last = bins - 1;
    int outside = 0;
    for (int k = 0; k < n; ++k) {
      const C v = static_cast<C>(x[k]);
      const int nearest = found[k] ^ (found[k] >> 31);  // of ~i, i
      // edge() without its bound, which values below upper do not need, but for the last edge
      const C e = static_cast<C>(Kokkos::fma(static_cast<double>(nearest), step, start));
      // comparisons as numbers: choices between floats' comparisons become branches
      const int near = nearest - static_cast<int>(v < e);
      const int slot = near < last ? near : last;
      const int in = static_cast<int>(v >= from) & static_cast<int>(v < to);
      const int decided_here = -((found[k] < 0) & in);
      outside |= (found[k] < 0) & (in ^ 1);
      found[k] = (slot & decided_here) | (found[k] & ~decided_here);
    }
    if (outside == 0) return;
    for (int k = 0; k < n; ++k)
      if (found[k] < 0) found[k] = decided(static_cast<C>(x[k]), 0);
  }
};

/// (a b) / 2^64.
[[nodiscard]] TESSERA_INLINE_FUNCTION std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b >> 64);
}

/// Even bins of integers: bin i holds v where i = floor((v - lower) bins / (upper - lower)), so that edge i is
/// lower + ceil(i (upper - lower) / bins).
/// With bins = whole * range + rest, that is d * whole + floor(d * rest / range) for d = v - lower, and the quotient is
/// taken by the product with factor = 2^64 rest / range. Up to 32 bits range <= 2^32; the factor is rounded up, by
/// which a product exceeds the quotient by less than d / 2^64 < 1 / range, too little to reach the next integer. Above,
/// it is rounded down, the product may be one too small, and the remainder tells.
template <class T>
struct EvenIntegerBins {
  using Level = histogram_level_t<T>;
  static constexpr bool narrow = sizeof(T) <= 4;
  Level lower, upper;
  std::uint64_t factor, range;
  std::uint32_t whole, rest;
  int bins, top;

  explicit EvenIntegerBins(const HistogramProblem<T>& p, int count)
      : lower(p.lower),
        upper(p.upper),
        range(static_cast<std::uint64_t>(p.upper) - static_cast<std::uint64_t>(p.lower)),
        bins(count),
        top(histogram_top(count, p.last_closed)) {
    using Wide = unsigned __int128;
    const auto all = static_cast<std::uint64_t>(count);
    whole = static_cast<std::uint32_t>(all / range);
    rest = static_cast<std::uint32_t>(all % range);
    factor = static_cast<std::uint64_t>((static_cast<Wide>(rest) << 64) / range);
    if (narrow && rest != 0) ++factor;
  }

  [[nodiscard]] TESSERA_INLINE_FUNCTION int slot(T value) const {
    const auto v = static_cast<Level>(value);
    const std::uint64_t difference = static_cast<std::uint64_t>(v) - static_cast<std::uint64_t>(lower);
    if (difference >= range) {  // what lies below wraps round
      if (v < lower) return bins + HistogramSlots::below;
      return v == upper ? top : bins + HistogramSlots::above;
    }
    if constexpr (narrow) {
      // 32 by 64 bits, by halves
      const auto d = static_cast<std::uint32_t>(difference);
      const std::uint64_t low = static_cast<std::uint64_t>(d) * static_cast<std::uint32_t>(factor) >> 32;
      const std::uint64_t high = static_cast<std::uint64_t>(d) * static_cast<std::uint32_t>(factor >> 32);
      return static_cast<int>(d * whole + static_cast<std::uint32_t>((high + low) >> 32));
    } else {
      using Wide = unsigned __int128;
      std::uint64_t quotient = multiply_high(difference, factor);
      if (static_cast<Wide>(difference) * rest - static_cast<Wide>(quotient) * range >= range) ++quotient;
      return static_cast<int>(difference * whole + quotient);
    }
  }
  void slots(const T* x, int n, int* found) const {
    const auto b = *this;
    for (int k = 0; k < n; ++k) found[k] = b.slot(x[k]);
  }
};

template <class T>
using EvenBins = std::conditional_t<std::is_integral_v<T>, EvenIntegerBins<T>, EvenFloatBins<T>>;

/// Bins between edges that are given. The bin is the one that a binary search ends in, so that every value has one slot
/// whatever the edges are.
template <class T>
struct GivenBins {
  using C = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float, T>;
  const T* edges;
  index_t stride;
  int bins, top;

  explicit GivenBins(const HistogramProblem<T>& p, int count)
      : edges(p.edges.pointer), stride(p.edges.strides[0]), bins(count), top(histogram_top(count, p.last_closed)) {}

  [[nodiscard]] TESSERA_INLINE_FUNCTION C edge(int i) const { return static_cast<C>(edges[i * stride]); }

  [[nodiscard]] TESSERA_INLINE_FUNCTION int slot(T value) const {
    const C v = static_cast<C>(value);
    if constexpr (!std::is_integral_v<C>)
      if (!(v == v)) return bins + HistogramSlots::nan;
    int low = 0, high = bins + 1;  // the first edge above v lies in [low, high]
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (edge(middle) <= v)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == 0) return bins + HistogramSlots::below;
    if (low <= bins) return low - 1;
    return v == edge(bins) ? top : bins + HistogramSlots::above;
  }
  void slots(const T* x, int n, int* found) const {
    const auto b = *this;
    for (int k = 0; k < n; ++k) found[k] = b.slot(x[k]);
  }
};

/// Where a table's slots are added at the end.
struct HistogramSink {
  void *counts, *outside;
  index_t counts_stride, outside_stride;
  index_t counted, bins;
  bool wide;

  template <class T>
  HistogramSink(const HistogramProblem<T>& p, int count)
      : counts(p.counts.pointer),
        outside(p.outside.pointer),
        counts_stride(p.counts.stride),
        outside_stride(p.outside.stride),
        counted(p.counts.extent),
        bins(count),
        wide(p.wide) {}

  template <bool Atomic = true>
  TESSERA_INLINE_FUNCTION void add(index_t slot, std::uint64_t amount) const {
    if (slot < counted)
      to<Atomic>(counts, slot * counts_stride, amount);
    else if (slot >= bins && outside != nullptr)
      to<Atomic>(outside, (slot - bins) * outside_stride, amount);
  }
  TESSERA_INLINE_FUNCTION void clear(index_t i) const {
    void* const memory = i < counted ? counts : outside;
    const index_t at = i < counted ? i * counts_stride : (i - counted) * outside_stride;
    if (wide)
      static_cast<std::uint64_t*>(memory)[at] = 0;
    else
      static_cast<std::uint32_t*>(memory)[at] = 0;
  }

 private:
  template <bool Atomic>
  TESSERA_INLINE_FUNCTION void to(void* memory, index_t at, std::uint64_t amount) const {
    if (wide) {
      auto* const p = static_cast<std::uint64_t*>(memory) + at;
      if constexpr (Atomic)
        Kokkos::atomic_add(p, amount);
      else
        *p += amount;
    } else {
      auto* const p = static_cast<std::uint32_t*>(memory) + at;
      if constexpr (Atomic)
        Kokkos::atomic_add(p, static_cast<std::uint32_t>(amount));
      else
        *p += static_cast<std::uint32_t>(amount);
    }
  }
};

}  // namespace tessera::detail
