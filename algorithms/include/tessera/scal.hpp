// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>

#include <tessera/core/views.hpp>
#include <tessera/instantiated.hpp>
#include <tessera/scal/problem.hpp>

namespace tessera {
namespace detail {
template <class T, class Space>
void run_scal(const Space& exec, const ScalProblem<T>& problem);  // defined in scal/any_type.hpp
}  // namespace detail

/// x = alpha x, element by element. Where alpha is 0, x is overwritten with zeros and its old contents are not read.
/// \param exec   instance that runs it; the call returns at once
/// \param alpha  host value, or rank-0 view in memory that exec reads, of accumulator_t<T>
/// \param x      rank 1 or 2, any strides
/// Source: BLAS level 1 (scal).
template <ExecutionSpace Space, MutableView XV, ScalarFor<accumulator_t<value_t<XV>>, Space> Alpha>
  requires(AccessibleFrom<XV, Space> && (rank_v<XV> == 1 || rank_v<XV> == 2))
void scal(const Space& exec, const Alpha& alpha, const XV& x,
          std::source_location /*where*/ = std::source_location::current()) {
  using T = value_t<XV>;
  detail::run_scal<T, Space>(exec, {scalar_ref<accumulator_t<T>>(alpha), as_matrix(ref(x))});
}

}  // namespace tessera
