// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>

#include <tessera/axpby/problem.hpp>
#include <tessera/core/overlap.hpp>
#include <tessera/core/views.hpp>
#include <tessera/instantiated.hpp>

namespace tessera {
namespace detail {
template <class T, class Space>
void run_axpby(const Space& exec, const AxpbyProblem<T>& problem);  // defined in axpby/any_type.hpp
}  // namespace detail

/// y = alpha x + beta y, element by element; x may be y (in place).
/// Where beta is 0, y is overwritten and its old contents are not read; where alpha is 0, x is not read.
/// \param exec   instance that runs it; the call returns at once
/// \param alpha  host value, or rank-0 view in memory that exec reads, of accumulator_t<T>
/// \param x      rank 1 or 2, any strides, may be conjugated or transposed
/// \param beta   as alpha
/// \param y      same rank and extents as x
/// \throws Error where extents differ, or y partly overlaps x
/// Source: BLAS level 1 (axpby extension).
template <ExecutionSpace Space, View XV, MutableView YV, ScalarFor<accumulator_t<value_t<YV>>, Space> Alpha,
          ScalarFor<accumulator_t<value_t<YV>>, Space> Beta>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && std::same_as<value_t<XV>, value_t<YV>> &&
           (rank_v<XV> == 1 || rank_v<XV> == 2) && rank_v<XV> == rank_v<YV>)
void axpby(const Space& exec, const Alpha& alpha, const XV& x, const Beta& beta, const YV& y,
           std::source_location where = std::source_location::current()) {
  using T = value_t<YV>;
  AxpbyProblem<T> problem{scalar_ref<accumulator_t<T>>(alpha), as_matrix(const_ref(x)),
                          scalar_ref<accumulator_t<T>>(beta), as_matrix(ref(y))};
  detail::check_same_extents("tessera::axpby", "x", detail::box(const_ref(x)), "y", detail::box(ref(y)), where);
  detail::refuse_partial_overlap("tessera::axpby", "y", detail::box(problem.y), "x", detail::box(problem.x), where);
  detail::run_axpby<T, Space>(exec, problem);
}

}  // namespace tessera
