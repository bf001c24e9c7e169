// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>

#include <tessera/core/overlap.hpp>
#include <tessera/core/views.hpp>
#include <tessera/dot/problem.hpp>
#include <tessera/instantiated.hpp>

namespace tessera {
namespace detail {
template <class T, class Space>
dot_result_t<T> run_dot(const Space& exec, const DotProblem<T>& problem);  // defined in dot/any_type.hpp

template <View XV, View YV>
DotProblem<value_t<XV>> dot_problem(const XV& x, const YV& y, const std::source_location& where) {
  DotProblem<value_t<XV>> problem{const_ref(x), const_ref(y)};
  check_same_extents("tessera::dot", "x", box(problem.x), "y", box(problem.y), where);
  return problem;
}
}  // namespace detail

/// The sum of x_i y_i as a host value; waits for it. Nothing is conjugated by itself: pass conjugated(x) for x^H y.
/// Sums run in fp64 (integers: in 64 bits, modulo 2^64) and are rounded once to dot_result_t<T>; 0 for no elements.
/// \param exec  instance that runs it
/// \param x, y  rank 1, equal extents, any strides (0 too); may be one another
/// \param options  how far the bits are promised
/// \throws Error where extents differ
/// Source: BLAS level 1 (dot, dotu, dotc).
template <ExecutionSpace Space, VectorView XV, VectorView YV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && std::same_as<value_t<XV>, value_t<YV>>)
[[nodiscard]] dot_result_t<value_t<XV>> dot(const Space& exec, const XV& x, const YV& y,
                                            const ReductionOptions& options = {},
                                            std::source_location where = std::source_location::current()) {
  auto problem = detail::dot_problem(x, y, where);
  problem.determinism = options.determinism;
  return detail::run_dot<value_t<XV>, Space>(exec, problem);
}

/// The same into a rank-0 view in memory that exec writes; returns at once, and waits for nothing.
/// \param result  rank-0 view of dot_result_t<T>
template <ExecutionSpace Space, VectorView XV, VectorView YV, MutableScalarView RV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && AccessibleFrom<RV, Space> &&
           std::same_as<value_t<XV>, value_t<YV>> && std::same_as<value_t<RV>, dot_result_t<value_t<XV>>>)
void dot(const Space& exec, const XV& x, const YV& y, const RV& result, const ReductionOptions& options = {},
         std::source_location where = std::source_location::current()) {
  auto problem = detail::dot_problem(x, y, where);
  problem.result = ref(result).pointer;
  problem.determinism = options.determinism;
  detail::run_dot<value_t<XV>, Space>(exec, problem);
}

}  // namespace tessera
