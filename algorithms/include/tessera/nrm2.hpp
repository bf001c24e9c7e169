// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>

#include <tessera/core/views.hpp>
#include <tessera/instantiated.hpp>
#include <tessera/nrm2/problem.hpp>

namespace tessera {
namespace detail {
template <class T, class Space>
norm_result_t<T> run_nrm2(const Space& exec, const Nrm2Problem<T>& problem);  // defined in nrm2/any_type.hpp
}  // namespace detail

/// The Euclidean norm sqrt(sum of |x_i|^2) as a host value; waits for it. Neither over- nor underflows unless the norm
/// itself does: fp32 and narrower are squared in fp64; fp64 in three ranges of magnitude. NaN where any element is NaN
/// (also beside infinities), else infinity where any is infinite; 0 for no elements. One pass over x, and a second by
/// the threads whose sum of fp64 squares leaves the range.
/// \param exec  instance that runs it
/// \param x     rank 1 of floats or complex numbers, any strides (0 too)
/// \param options  how far the bits are promised
/// Source: BLAS level 1 (nrm2); the ranges after J. L. Blue, ACM TOMS 4 (1978) 15.
template <ExecutionSpace Space, VectorView XV>
  requires(AccessibleFrom<XV, Space> && !std::integral<value_t<XV>>)
[[nodiscard]] norm_result_t<value_t<XV>> nrm2(const Space& exec, const XV& x, const ReductionOptions& options = {},
                                              std::source_location /*where*/ = std::source_location::current()) {
  return detail::run_nrm2<value_t<XV>, Space>(exec, {const_ref(x), nullptr, options.determinism});
}

/// The same into a rank-0 view in memory that exec writes; returns at once, and waits for nothing.
/// \param result  rank-0 view of norm_result_t<T>
template <ExecutionSpace Space, VectorView XV, MutableScalarView RV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<RV, Space> && !std::integral<value_t<XV>> &&
           std::same_as<value_t<RV>, norm_result_t<value_t<XV>>>)
void nrm2(const Space& exec, const XV& x, const RV& result, const ReductionOptions& options = {},
          std::source_location /*where*/ = std::source_location::current()) {
  detail::run_nrm2<value_t<XV>, Space>(exec, {const_ref(x), ref(result).pointer, options.determinism});
}

}  // namespace tessera
