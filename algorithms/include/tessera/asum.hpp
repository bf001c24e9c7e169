// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>

#include <tessera/asum/problem.hpp>
#include <tessera/core/views.hpp>
#include <tessera/instantiated.hpp>

namespace tessera {
namespace detail {
template <class T, class Space>
norm_result_t<T> run_asum(const Space& exec, const AsumProblem<T>& problem);  // defined in asum/any_type.hpp
}  // namespace detail

/// The sum of |x_i|, for complex numbers of |re| + |im|, as a host value; waits for it. Sums run in fp64 (integers: in
/// 64 bits, modulo 2^64) and are rounded once; 0 for no elements; NaN where any element is NaN.
/// \param exec  instance that runs it
/// \param x     rank 1, any strides (0 too)
/// \param options  how far the bits are promised
/// Source: BLAS level 1 (asum).
template <ExecutionSpace Space, VectorView XV>
  requires(AccessibleFrom<XV, Space>)
[[nodiscard]] norm_result_t<value_t<XV>> asum(const Space& exec, const XV& x, const ReductionOptions& options = {},
                                              std::source_location /*where*/ = std::source_location::current()) {
  return detail::run_asum<value_t<XV>, Space>(exec, {const_ref(x), nullptr, options.determinism});
}

/// The same into a rank-0 view in memory that exec writes; returns at once, and waits for nothing.
/// \param result  rank-0 view of norm_result_t<T>
template <ExecutionSpace Space, VectorView XV, MutableScalarView RV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<RV, Space> &&
           std::same_as<value_t<RV>, norm_result_t<value_t<XV>>>)
void asum(const Space& exec, const XV& x, const RV& result, const ReductionOptions& options = {},
          std::source_location /*where*/ = std::source_location::current()) {
  detail::run_asum<value_t<XV>, Space>(exec, {const_ref(x), ref(result).pointer, options.determinism});
}

}  // namespace tessera
