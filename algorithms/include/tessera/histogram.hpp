// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <source_location>
#include <type_traits>

#include <tessera/core/debug_checks.hpp>
#include <tessera/core/overlap.hpp>
#include <tessera/core/views.hpp>
#include <tessera/histogram/problem.hpp>

namespace tessera {

/// What can be counted in bins: integers of 8 to 64 bits (not bool), half, bfloat16, float, double.
template <class T>
concept HistogramElement = (std::is_integral_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, half> ||
                           std::is_same_v<T, bfloat16> || std::is_same_v<T, float> || std::is_same_v<T, double>;

/// An end of even bins: an integer for integers, any number for floats.
template <class L, class T>
concept HistogramLevel = (std::integral<L> && !std::same_as<L, bool>) ||
                         (!std::is_integral_v<T> && !View<L> && std::convertible_to<L, double>);

/// Values that Space reads and that can be counted in bins.
template <class V, class Space>
concept HistogramValues = VectorView<V> && AccessibleFrom<V, Space> && HistogramElement<value_t<V>>;

/// Counts that Space writes.
template <class V, class Space>
concept HistogramCountsView = MutableVectorView<V> && AccessibleFrom<V, Space> &&
                              (std::same_as<value_t<V>, std::int32_t> || std::same_as<value_t<V>, std::int64_t> ||
                               std::same_as<value_t<V>, std::uint64_t>);

namespace detail {
template <class T, class Space>
void run_histogram(const Space& exec, const HistogramProblem<T>& problem,
                   const std::source_location& where);  // defined in histogram/any_type.hpp

void check_histogram_counts(index_t n, index_t bins, index_t outside, std::uint64_t largest_count,
                            const std::source_location& where);
void check_histogram_edge_count(index_t edges, index_t bins, const std::source_location& where);
void check_histogram_edge(bool rises, index_t i, const std::source_location& where);
void refuse_histogram_level(bool negative, std::uint64_t value, const std::source_location& where);
/// Ends of even bins of elements of so many bytes.
void check_histogram_ends(double lower, double upper, int bytes, const std::source_location& where);
void check_histogram_ends(std::int64_t lower, std::int64_t upper, int bytes, const std::source_location& where);
void check_histogram_ends(std::uint64_t lower, std::uint64_t upper, int bytes, const std::source_location& where);

template <class T, class L>
histogram_level_t<T> histogram_level(const L& value, const std::source_location& where) {
  using Level = histogram_level_t<T>;
  if constexpr (std::is_integral_v<T>) {
    bool negative = false;
    if constexpr (std::is_signed_v<L>) negative = value < 0;
    const auto bits = static_cast<std::uint64_t>(value);
    if (negative ? !std::is_signed_v<Level> : bits > static_cast<std::uint64_t>(std::numeric_limits<Level>::max()))
      refuse_histogram_level(negative, bits, where);
  }
  return static_cast<Level>(value);
}

template <class V>
HistogramCounts histogram_counts(const V& view) {
  const auto r = ref(view);
  return {r.pointer, r.extents[0], r.strides[0]};
}

/// What all forms share; OV is void where outside is not wanted.
template <class XV, class CV, class OV>
HistogramProblem<value_t<XV>> histogram_problem(const XV& x, const CV& counts, const OV* outside,
                                                const HistogramOptions& options, const std::source_location& where) {
  constexpr const char* name = "tessera::histogram";
  HistogramProblem<value_t<XV>> p;
  p.x = const_ref(x);
  p.counts = histogram_counts(counts);
  p.bins = p.counts.extent;
  p.last_closed = options.last_closed;
  p.wide = sizeof(value_t<CV>) == 8;
  require_disjoint(name, "counts", ref(counts), "x", p.x, where);
  if constexpr (!std::is_void_v<OV>) {
    p.outside = histogram_counts(*outside);
    require_disjoint(name, "outside", ref(*outside), "x", p.x, where);
    require_disjoint(name, "outside", ref(*outside), "counts", const_ref(counts), where);
  }
  check_histogram_counts(p.x.extents[0], p.bins, std::is_void_v<OV> ? -1 : p.outside.extent,
                         static_cast<std::uint64_t>(std::numeric_limits<value_t<CV>>::max()), where);
  return p;
}

template <class Space, class XV, class L, class U, class CV, class OV>
void call_even_histogram(const Space& exec, const XV& x, const L& lower, const U& upper, const CV& counts,
                         const OV* outside, const HistogramOptions& options, const std::source_location& where) {
  using T = value_t<XV>;
  using Level = histogram_level_t<T>;
  auto p = histogram_problem(x, counts, outside, options, where);
  p.even = true;
  p.lower = histogram_level<T>(lower, where);
  p.upper = histogram_level<T>(upper, where);
  if constexpr (std::is_integral_v<T>)
    check_histogram_ends(p.lower, p.upper, static_cast<int>(sizeof(T)), where);
  else
    check_histogram_ends(static_cast<double>(p.lower), static_cast<double>(p.upper), static_cast<int>(sizeof(Level)),
                         where);
  run_histogram<T, Space>(exec, p, where);
}
template <class Space, class XV, class EV, class CV, class OV>
void call_edges_histogram(const Space& exec, const XV& x, const EV& edges, const CV& counts, const OV* outside,
                          const HistogramOptions& options, const std::source_location& where) {
  using T = value_t<XV>;
  auto p = histogram_problem(x, counts, outside, options, where);
  p.edges = const_ref(edges);
  check_histogram_edge_count(p.edges.extents[0], p.bins, where);
  require_disjoint("tessera::histogram", "counts", ref(counts), "edges", p.edges, where);
  if constexpr (!std::is_void_v<OV>)
    require_disjoint("tessera::histogram", "outside", ref(*outside), "edges", p.edges, where);
  run_histogram<T, Space>(exec, p, where);
}
}  // namespace detail

/// counts(i) = how many x lie in bin i of counts.extent(0) even bins on [lower, upper): edge_i <= x < edge_(i+1). A
/// value that equals an edge belongs to the bin above it; upper itself is counted only where options.last_closed.
/// Counts are overwritten, and are the same on every backend, for every stride and number of threads.
/// Edges: of integers lower + ceil(i (upper - lower) / bins), exactly; the bin of x is floor((x - lower) bins /
/// (upper - lower)), computed in integers. Of floats fma(i, (upper - lower) / bins, lower) in double, rounded to float
/// unless x is double, at most upper, and upper for the last; half and bfloat16 are compared as floats. Where bins are
/// narrower than the spacing of floats, edges coincide and bins between them stay empty.
/// \param exec     instance that runs it; the call returns at once
/// \param x        rank 1, any stride
/// \param lower    end of the first bin; of integers an integer of 64 bits at most (so that 128 bounds int8 from
///                 above), else rounded to float, of double to double
/// \param upper    end of the last bin
/// \param counts   rank 1, any stride, of int32, int64 or uint64, at most 2^31 - 8 of them; with none, nothing is
///                 counted
/// \param options  whether the last bin is closed
/// \throws Error   unless lower < upper and both and their difference are finite; of integers of up to 32 bits unless
///                 upper - lower <= 2^32; where x has more elements than a count can tell, or counts overlaps x
/// Values that lie outside, and NaN, are not counted (the forms with `outside` tell them). Bins that do not fit a
/// team's scratch (about 10,000 on a GPU) are counted by atomic additions in memory, which is several times slower.
/// Source: numpy.histogram, without its closed last bin; CUB's DeviceHistogram::HistogramEven.
template <ExecutionSpace Space, HistogramValues<Space> XV, HistogramLevel<value_t<XV>> L, HistogramLevel<value_t<XV>> U,
          HistogramCountsView<Space> CV>
void histogram(const Space& exec, const XV& x, const L& lower, const U& upper, const CV& counts,
               const HistogramOptions& options = {}, std::source_location where = std::source_location::current()) {
  detail::call_even_histogram(exec, x, lower, upper, counts, static_cast<const void*>(nullptr), options, where);
}

/// The same, and what was not counted.
/// \param outside  rank 1, three counts of the same type, overwritten: how many x lie below lower, how many above (at
///                 upper too, unless the last bin is closed), how many are NaN
template <ExecutionSpace Space, HistogramValues<Space> XV, HistogramLevel<value_t<XV>> L, HistogramLevel<value_t<XV>> U,
          HistogramCountsView<Space> CV, HistogramCountsView<Space> OV>
  requires(std::same_as<value_t<CV>, value_t<OV>>)
void histogram(const Space& exec, const XV& x, const L& lower, const U& upper, const CV& counts, const OV& outside,
               const HistogramOptions& options = {}, std::source_location where = std::source_location::current()) {
  detail::call_even_histogram(exec, x, lower, upper, counts, &outside, options, where);
}

/// counts(i) = how many x lie in [edges(i), edges(i + 1)), by binary search among edges that rise. Equal edges bound
/// empty bins. Edges that fall (or are NaN) are the caller's fault: each value is then counted in the one bin that the
/// search ends in, or as outside, and nothing else is touched; Debug builds refuse them (devices: abort).
/// \param edges  rank 1, one more than counts, any stride, of x's type; must not overlap counts
/// Otherwise as above. Source: numpy.histogram; CUB's DeviceHistogram::HistogramRange.
template <ExecutionSpace Space, HistogramValues<Space> XV, HistogramValues<Space> EV, HistogramCountsView<Space> CV>
  requires(std::same_as<value_t<XV>, value_t<EV>>)
void histogram(const Space& exec, const XV& x, const EV& edges, const CV& counts, const HistogramOptions& options = {},
               std::source_location where = std::source_location::current()) {
  detail::call_edges_histogram(exec, x, edges, counts, static_cast<const void*>(nullptr), options, where);
}

/// The same, and what was not counted: below the first edge, above the last, NaN.
template <ExecutionSpace Space, HistogramValues<Space> XV, HistogramValues<Space> EV, HistogramCountsView<Space> CV,
          HistogramCountsView<Space> OV>
  requires(std::same_as<value_t<XV>, value_t<EV>> && std::same_as<value_t<CV>, value_t<OV>>)
void histogram(const Space& exec, const XV& x, const EV& edges, const CV& counts, const OV& outside,
               const HistogramOptions& options = {}, std::source_location where = std::source_location::current()) {
  detail::call_edges_histogram(exec, x, edges, counts, &outside, options, where);
}

}  // namespace tessera
