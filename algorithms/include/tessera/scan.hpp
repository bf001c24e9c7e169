// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>

#include <tessera/core/operations.hpp>
#include <tessera/core/overlap.hpp>
#include <tessera/core/views.hpp>
#include <tessera/instantiated.hpp>
#include <tessera/scan/problem.hpp>

/// \file
/// Running sums and other running combinations. Every scan follows one fixed tree over the indices
/// (tessera/scan/tree.hpp), whatever the backend, the number of threads and the moment, so that its bits are the same
/// from run to run under every option; Determinism::portable also promises them across backends, and is refused for
/// operations whose own arithmetic a compiler may contract (user's ones on floats, products of complex numbers).
///
/// Arithmetic: elements of y, computed in accumulator_t of it (so half and bfloat16 in fp32, rounded at each output;
/// integers modulo 2^bits). Sums of fp32 and narrower carry from row to row, of 128 elements, in fp64. A sum errs by at
/// most 16 u (|x_0| + ... + |x_i|), u the unit roundoff of the accumulator, where that is fp32; by at most
/// (56 + n / 65,536) u (...) where it is fp64.
///
/// Element types that come compiled: float, double, complex of them, half, bfloat16, int8 to int64 onto themselves;
/// int8 and int16 into int32 and int64, int32 into int64; with Sum. Minimum and Maximum for float, double, int32 and
/// int64. For others include tessera/scan/any_type.hpp instead.

namespace tessera {

/// What a scan of TIn into TOut with Op needs.
template <class Op, class TIn, class TOut>
concept ScanOperation =
    !View<Op> && Operation<Op, accumulator_t<TOut>> && std::constructible_from<accumulator_t<TOut>, TIn>;

namespace detail {
template <class TIn, class TOut, class Op, class Space>
void run_scan(const Space& exec, const ScanProblem<TIn, TOut, Op>& problem);  // defined in scan/any_type.hpp
template <class T, class Flag, class Space>
void run_segmented_scan(const Space& exec, const SegmentedScanProblem<T, Flag>& problem);

template <class Op>
inline constexpr bool is_house_operation = std::is_same_v<Op, tessera::Sum> || std::is_same_v<Op, Product> ||
                                           std::is_same_v<Op, Minimum> || std::is_same_v<Op, Maximum>;

template <class T, class Op>
void check_determinism(std::string_view function, const ScanOptions& options, const std::source_location& where) {
  constexpr bool portable =
      std::is_integral_v<T> || (is_house_operation<Op> && !(is_complex_v<T> && std::is_same_v<Op, Product>));
  require(portable || options.determinism != Determinism::portable, [&] {
    return Error(function, "Determinism::portable was asked for with an operation that rounds in its own way",
                 "portable is promised for integers, and for Sum, Product (of real numbers), Minimum and Maximum",
                 "Ask for Determinism::reproducible", where);
  });
}

template <View XV, View YV, class Op>
ScanProblem<value_t<XV>, value_t<YV>, Op> scan_problem(std::string_view function, const XV& x, const YV& y,
                                                       const Op& op, const ScanOptions& options,
                                                       const std::source_location& where) {
  ScanProblem<value_t<XV>, value_t<YV>, Op> problem{const_ref(x), ref(y), op, false, {}, nullptr, nullptr};
  check_same_extents(function, "x", box(problem.x), "y", box(problem.y), where);
  refuse_partial_overlap(function, "y", box(problem.y), "x", box(problem.x), where);
  check_determinism<value_t<YV>, Op>(function, options, where);
  return problem;
}
template <class Problem, View RV>
void put_total(std::string_view function, Problem& problem, const RV& total, const std::source_location& where) {
  require_disjoint(function, "total", ref(total), "x", problem.x, where);
  require_disjoint(function, "total", ref(total), "y", problem.y, where);
  problem.total = ref(total).pointer;
}
}  // namespace detail

/// y_i = x_0 op x_1 op ... op x_i.
/// \param exec  instance that runs it; the call returns at once
/// \param x, y  rank 1, equal extents, any strides; y's elements may be wider than x's (int8 into int64). They may be
///              the same view
/// \param op    Sum, Product, Minimum, Maximum, or a user's own (tessera/core/operations.hpp); associative
/// \throws Error where extents differ, y overlaps x without being it, or the options ask for what cannot be promised
/// Source: Blelloch, Prefix Sums and Their Applications, 1990; std::inclusive_scan.
template <ExecutionSpace Space, VectorView XV, MutableVectorView YV, class Op = Sum>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && ScanOperation<Op, value_t<XV>, value_t<YV>>)
void inclusive_scan(const Space& exec, const XV& x, const YV& y, const Op& op = {}, const ScanOptions& options = {},
                    std::source_location where = std::source_location::current()) {
  detail::run_scan(exec, detail::scan_problem("tessera::inclusive_scan", x, y, op, options, where));
}
template <ExecutionSpace Space, VectorView XV, MutableVectorView YV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && ScanOperation<Sum, value_t<XV>, value_t<YV>>)
void inclusive_scan(const Space& exec, const XV& x, const YV& y, const ScanOptions& options,
                    std::source_location where = std::source_location::current()) {
  inclusive_scan(exec, x, y, Sum{}, options, where);
}

/// The same, and the combination of all elements (of none: the identity) into a rank-0 view.
/// \param total  rank-0 view of y's element type in memory that exec writes
template <ExecutionSpace Space, VectorView XV, MutableVectorView YV, MutableScalarView RV, class Op = Sum>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && AccessibleFrom<RV, Space> &&
           std::same_as<value_t<RV>, value_t<YV>> && ScanOperation<Op, value_t<XV>, value_t<YV>>)
void inclusive_scan(const Space& exec, const XV& x, const YV& y, const RV& total, const Op& op = {},
                    const ScanOptions& options = {}, std::source_location where = std::source_location::current()) {
  constexpr auto name = "tessera::inclusive_scan";
  auto problem = detail::scan_problem(name, x, y, op, options, where);
  detail::put_total(name, problem, total, where);
  detail::run_scan(exec, problem);
}

/// The same with the combination of all elements as a host value; waits for it.
template <ExecutionSpace Space, VectorView XV, MutableVectorView YV, class Op = Sum>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && ScanOperation<Op, value_t<XV>, value_t<YV>>)
[[nodiscard]] value_t<YV> inclusive_scan_total(const Space& exec, const XV& x, const YV& y, const Op& op = {},
                                               const ScanOptions& options = {},
                                               std::source_location where = std::source_location::current()) {
  auto problem = detail::scan_problem("tessera::inclusive_scan_total", x, y, op, options, where);
  value_t<YV> total{};
  problem.returned = &total;
  detail::run_scan(exec, problem);
  return total;
}

/// y_i = init op x_0 op ... op x_(i-1); y_0 = init.
/// \param init  a value, or a rank-0 view that is read when the work runs
/// Otherwise as inclusive_scan. Source: std::exclusive_scan.
template <ExecutionSpace Space, VectorView XV, MutableVectorView YV, ScalarFor<value_t<YV>, Space> IV, class Op = Sum>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && ScanOperation<Op, value_t<XV>, value_t<YV>>)
void exclusive_scan(const Space& exec, const XV& x, const YV& y, const IV& init, const Op& op = {},
                    const ScanOptions& options = {}, std::source_location where = std::source_location::current()) {
  auto problem = detail::scan_problem("tessera::exclusive_scan", x, y, op, options, where);
  problem.exclusive = true;
  problem.init = scalar_ref<value_t<YV>>(init);
  detail::run_scan(exec, problem);
}
template <ExecutionSpace Space, VectorView XV, MutableVectorView YV, ScalarFor<value_t<YV>, Space> IV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && ScanOperation<Sum, value_t<XV>, value_t<YV>>)
void exclusive_scan(const Space& exec, const XV& x, const YV& y, const IV& init, const ScanOptions& options,
                    std::source_location where = std::source_location::current()) {
  exclusive_scan(exec, x, y, init, Sum{}, options, where);
}

/// The same, and init op x_0 op ... op x_(n-1) (of no elements: init) into a rank-0 view.
template <ExecutionSpace Space, VectorView XV, MutableVectorView YV, ScalarFor<value_t<YV>, Space> IV,
          MutableScalarView RV, class Op = Sum>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && AccessibleFrom<RV, Space> &&
           std::same_as<value_t<RV>, value_t<YV>> && ScanOperation<Op, value_t<XV>, value_t<YV>>)
void exclusive_scan(const Space& exec, const XV& x, const YV& y, const IV& init, const RV& total, const Op& op = {},
                    const ScanOptions& options = {}, std::source_location where = std::source_location::current()) {
  constexpr auto name = "tessera::exclusive_scan";
  auto problem = detail::scan_problem(name, x, y, op, options, where);
  problem.exclusive = true;
  problem.init = scalar_ref<value_t<YV>>(init);
  detail::put_total(name, problem, total, where);
  detail::run_scan(exec, problem);
}

/// The same with that total as a host value; waits for it.
template <ExecutionSpace Space, VectorView XV, MutableVectorView YV, ScalarFor<value_t<YV>, Space> IV, class Op = Sum>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && ScanOperation<Op, value_t<XV>, value_t<YV>>)
[[nodiscard]] value_t<YV> exclusive_scan_total(const Space& exec, const XV& x, const YV& y, const IV& init,
                                               const Op& op = {}, const ScanOptions& options = {},
                                               std::source_location where = std::source_location::current()) {
  auto problem = detail::scan_problem("tessera::exclusive_scan_total", x, y, op, options, where);
  problem.exclusive = true;
  problem.init = scalar_ref<value_t<YV>>(init);
  value_t<YV> total{};
  problem.returned = &total;
  detail::run_scan(exec, problem);
  return total;
}

/// Inclusive sums that begin anew at every i with heads_i != 0 (and at 0, whatever its flag).
/// \param heads  rank 1, of x's extent, of integers; must not overlap y
/// Compiled for float, double, int32 and int64 with heads of uint8 and int32. Otherwise as inclusive_scan.
/// Source: Blelloch 1990, section 1.5.
template <ExecutionSpace Space, VectorView XV, VectorView FV, MutableVectorView YV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<FV, Space> && AccessibleFrom<YV, Space> &&
           std::same_as<value_t<XV>, value_t<YV>> && std::integral<value_t<FV>>)
void segmented_inclusive_scan(const Space& exec, const XV& x, const FV& heads, const YV& y,
                              const ScanOptions& /*options*/ = {},
                              std::source_location where = std::source_location::current()) {
  constexpr auto name = "tessera::segmented_inclusive_scan";
  const SegmentedScanProblem<value_t<YV>, value_t<FV>> problem{const_ref(x), const_ref(heads), ref(y)};
  detail::check_same_extents(name, "x", detail::box(problem.x), "y", detail::box(problem.y), where);
  detail::check_same_extents(name, "x", detail::box(problem.x), "heads", detail::box(problem.heads), where);
  detail::refuse_partial_overlap(name, "y", detail::box(problem.y), "x", detail::box(problem.x), where);
  require_disjoint(name, "y", problem.y, "heads", problem.heads, where);
  detail::run_segmented_scan(exec, problem);
}

}  // namespace tessera
