// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>

#include <tessera/core/views.hpp>
#include <tessera/iamax/problem.hpp>
#include <tessera/instantiated.hpp>

namespace tessera {
namespace detail {
template <class T, class Space>
index_t run_iamax(const Space& exec, const IamaxProblem<T>& problem);  // defined in iamax/any_type.hpp
}  // namespace detail

/// The index (from 0) of the element with the largest |x_i|, for complex numbers |re| + |im| in their own precision, as
/// a host value; waits for it. Of equal ones the first. A NaN counts as larger than everything, so the first NaN wins;
/// -1 for no elements.
/// \param exec  instance that runs it
/// \param x     rank 1, any strides (0 too)
/// Source: BLAS level 1 (iamax), which leaves NaN open.
template <ExecutionSpace Space, VectorView XV>
  requires(AccessibleFrom<XV, Space>)
[[nodiscard]] index_t iamax(const Space& exec, const XV& x,
                            std::source_location /*where*/ = std::source_location::current()) {
  return detail::run_iamax<value_t<XV>, Space>(exec, {const_ref(x)});
}

/// The same into a rank-0 view in memory that exec writes; returns at once, and waits for nothing.
/// \param result  rank-0 view of index_t
template <ExecutionSpace Space, VectorView XV, MutableScalarView RV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<RV, Space> && std::same_as<value_t<RV>, index_t>)
void iamax(const Space& exec, const XV& x, const RV& result,
           std::source_location /*where*/ = std::source_location::current()) {
  detail::run_iamax<value_t<XV>, Space>(exec, {const_ref(x), ref(result).pointer});
}

}  // namespace tessera
