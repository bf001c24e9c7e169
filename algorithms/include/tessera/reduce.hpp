// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>
#include <string_view>

#include <tessera/core/overlap.hpp>
#include <tessera/core/views.hpp>
#include <tessera/instantiated.hpp>
#include <tessera/reduce/problem.hpp>

/// \file
/// Reductions by any operation. Compiled in: Sum and Product of every InstantiatedElement, Minimum, Maximum and
/// locations of the real ones. For other element types and for operations of your own, include
/// tessera/reduce/any_type.hpp instead of this; for reductions of a function, tessera/transform_reduce.hpp.

namespace tessera {

/// What reduce combines elements of T with: associative and commutative, since elements are taken in an order that
/// suits the machine. Minimum and Maximum need an order, which complex numbers have not.
template <class Op, class T>
concept Reduction =
    !View<Op> && Operation<Op, T> && !(is_complex_v<T> && (std::same_as<Op, Minimum> || std::same_as<Op, Maximum>));

namespace detail {
template <class T, class Op, class Space>
reduce_result_t<T, Op> run_reduce(const Space& exec, const ReduceProblem<T, Op>& problem);  // in reduce/any_type.hpp
template <bool largest, class T, class Space>
Location<T> run_location(const Space& exec, const LocationProblem<T>& problem);  // in reduce/any_type.hpp
template <class T, class Offset, class Op, class Space>
void run_segmented_reduce(const Space& exec, const SegmentedReduceProblem<T, Offset, Op>& problem);  // there too

/// Refuses the portable order for operations whose rounding is not known.
template <class T, class Op>
void check_determinism(std::string_view function, const ReductionOptions& options, const std::source_location& where) {
  if constexpr (!portable_operation<T, Op>)
    require(options.determinism != Determinism::portable, [&] {
      return Error(function, "Determinism::portable was asked for with an operation that may round differently",
                   "portable bits are promised for Sum, and for Product, Minimum and Maximum of real elements",
                   "Ask for Determinism::reproducible, or use one of these", where);
    });
}

template <View XV, class Op>
ReduceProblem<value_t<XV>, Op> reduce_problem(const XV& x, const Op& op, const ReductionOptions& options,
                                              const std::source_location& where) {
  check_determinism<value_t<XV>, Op>("tessera::reduce", options, where);
  return {as_matrix(const_ref(x)), op, nullptr, options.determinism};
}
}  // namespace detail

/// x_0 op x_1 op ... as a host value; waits for it. Sums and products run in fp64 (integers: in 64 bits, modulo 2^64)
/// and are rounded once to dot_result_t<T>; other operations run in T. The operation's identity for no elements. The
/// smallest or largest is NaN where any element is NaN; of +0 and -0 either.
/// \param exec     instance that runs it
/// \param x        rank 1 or 2, any strides (0 too); fastest where it is one stretch of memory
/// \param op       Sum, Product, Minimum, Maximum, or your own: see Reduction and tessera/core/operations.hpp
/// \param options  how far the bits are promised
/// \throws Error   where portable bits are asked of an operation that cannot promise them
/// Source: C++ std::reduce, P0024.
template <ExecutionSpace Space, View XV, class Op>
  requires(AccessibleFrom<XV, Space> && (rank_v<XV> == 1 || rank_v<XV> == 2) && Reduction<Op, value_t<XV>>)
[[nodiscard]] reduce_result_t<value_t<XV>, Op> reduce(const Space& exec, const XV& x, const Op& op,
                                                      const ReductionOptions& options = {},
                                                      std::source_location where = std::source_location::current()) {
  return detail::run_reduce<value_t<XV>, Op, Space>(exec, detail::reduce_problem(x, op, options, where));
}

/// The same into a rank-0 view in memory that exec writes; returns at once, and waits for nothing.
/// \param result  rank-0 view of reduce_result_t<T, Op>
template <ExecutionSpace Space, View XV, class Op, MutableScalarView RV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<RV, Space> && (rank_v<XV> == 1 || rank_v<XV> == 2) &&
           Reduction<Op, value_t<XV>> && std::same_as<value_t<RV>, reduce_result_t<value_t<XV>, Op>>)
void reduce(const Space& exec, const XV& x, const Op& op, const RV& result, const ReductionOptions& options = {},
            std::source_location where = std::source_location::current()) {
  auto problem = detail::reduce_problem(x, op, options, where);
  problem.result = ref(result).pointer;
  detail::run_reduce<value_t<XV>, Op, Space>(exec, problem);
}

/// The sum.
template <ExecutionSpace Space, View XV>
  requires(AccessibleFrom<XV, Space> && (rank_v<XV> == 1 || rank_v<XV> == 2))
[[nodiscard]] reduce_result_t<value_t<XV>, Sum> reduce(const Space& exec, const XV& x,
                                                       const ReductionOptions& options = {},
                                                       std::source_location where = std::source_location::current()) {
  return reduce(exec, x, Sum{}, options, where);
}
template <ExecutionSpace Space, View XV, MutableScalarView RV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<RV, Space> && (rank_v<XV> == 1 || rank_v<XV> == 2) &&
           std::same_as<value_t<RV>, reduce_result_t<value_t<XV>, Sum>>)
void reduce(const Space& exec, const XV& x, const RV& result, const ReductionOptions& options = {},
            std::source_location where = std::source_location::current()) {
  reduce(exec, x, Sum{}, result, options, where);
}

/// The smallest element and its index (from 0) as a host value; waits for it. Of equal ones the first, +0 and -0 being
/// equal; the first NaN where there is any. No elements: Minimum's identity and -1.
/// \param exec  instance that runs it
/// \param x     rank 1 of real numbers, any strides (0 too)
template <ExecutionSpace Space, VectorView XV>
  requires(AccessibleFrom<XV, Space> && !is_complex_v<value_t<XV>>)
[[nodiscard]] Location<value_t<XV>> min_location(const Space& exec, const XV& x) {
  return detail::run_location<false, value_t<XV>, Space>(exec, {const_ref(x)});
}
/// The same into a rank-0 view of Location<T> in memory that exec writes; returns at once, and waits for nothing.
template <ExecutionSpace Space, VectorView XV, MutableScalarView RV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<RV, Space> && !is_complex_v<value_t<XV>> &&
           std::same_as<value_t<RV>, Location<value_t<XV>>>)
void min_location(const Space& exec, const XV& x, const RV& result) {
  detail::run_location<false, value_t<XV>, Space>(exec, {const_ref(x), ref(result).pointer});
}

/// The largest element and its index, otherwise as min_location.
template <ExecutionSpace Space, VectorView XV>
  requires(AccessibleFrom<XV, Space> && !is_complex_v<value_t<XV>>)
[[nodiscard]] Location<value_t<XV>> max_location(const Space& exec, const XV& x) {
  return detail::run_location<true, value_t<XV>, Space>(exec, {const_ref(x)});
}
template <ExecutionSpace Space, VectorView XV, MutableScalarView RV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<RV, Space> && !is_complex_v<value_t<XV>> &&
           std::same_as<value_t<RV>, Location<value_t<XV>>>)
void max_location(const Space& exec, const XV& x, const RV& result) {
  detail::run_location<true, value_t<XV>, Space>(exec, {const_ref(x), ref(result).pointer});
}

/// out_s = x_i op ... over offsets_s <= i < offsets_(s + 1), each as reduce gives it; the identity for an empty
/// segment. Returns at once, and waits for nothing. The same bits from run to run.
/// \param exec     instance that runs it
/// \param x        rank 1, any strides
/// \param offsets  rank 1 of 32- or 64-bit signed integers, one more than out, ascending, within [0, extent of x]
///                 (not checked, since it may lie on the device)
/// \param op       as for reduce
/// \param out      rank 1 of reduce_result_t<T, Op>, any strides; must not overlap x or offsets
/// \throws Error   where extents do not fit or out overlaps an input
/// Meant for segments of like length: on devices one of far more than the mean is walked by few threads.
template <ExecutionSpace Space, VectorView XV, VectorView OV, class Op, MutableVectorView RV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<OV, Space> && AccessibleFrom<RV, Space> &&
           IntegerElement<value_t<OV>> && Reduction<Op, value_t<XV>> &&
           std::same_as<value_t<RV>, reduce_result_t<value_t<XV>, Op>>)
void segmented_reduce(const Space& exec, const XV& x, const OV& offsets, const Op& op, const RV& out,
                      std::source_location where = std::source_location::current()) {
  const SegmentedReduceProblem<value_t<XV>, value_t<OV>, Op> problem{const_ref(x), const_ref(offsets), ref(out), op};
  require(problem.offsets.extents[0] == problem.out.extents[0] + 1, [&] {
    return Error("tessera::segmented_reduce",
                 "offsets has " + std::to_string(problem.offsets.extents[0]) + " elements and out " +
                     std::to_string(problem.out.extents[0]),
                 "offsets must have one element more than out: segment s ends where segment s + 1 begins", {}, where);
  });
  require_disjoint("tessera::segmented_reduce", "out", problem.out, "x", problem.x, where);
  require_disjoint("tessera::segmented_reduce", "out", problem.out, "offsets", problem.offsets, where);
  detail::run_segmented_reduce(exec, problem);
}

}  // namespace tessera
