// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>
#include <string>

#include <tessera/core/overlap.hpp>
#include <tessera/core/views.hpp>
#include <tessera/gemv/problem.hpp>
#include <tessera/instantiated.hpp>

namespace tessera {
namespace detail {
template <class T, class Space>
void run_gemv(const Space& exec, const GemvProblem<T>& problem);  // defined in gemv/any_type.hpp
}  // namespace detail

/// y = alpha * A * x + beta * y; pass transposed(A), conjugated(A) or adjoint(A) for the other products.
/// Where beta is 0, y is overwritten and not read; where alpha is 0, neither A nor x is read; an A of no columns leaves
/// y = beta * y. Sums are split over many lanes and formed in fp32 for 8- and 16-bit floats and for float, in fp64 for
/// double, in 64 bits for integers; |error| of an element <= c K eps (|A||x|), K the number of columns, and in
/// practice K over the number of lanes (64 at least for K above 1000). Few long rows are split among teams that add to
/// y atomically, in any order: bits may differ from run to run there.
/// \param exec   instance that runs it; the call returns at once
/// \param alpha  host value, or rank-0 view in memory that exec reads, of accumulator_t<T>
/// \param a      m x n, any strides
/// \param x      n elements, any stride, may be conjugated
/// \param beta   as alpha
/// \param y      m elements, any stride
/// \throws Error where extents differ, or y overlaps A or x
/// Source: BLAS level 2 (gemv).
template <ExecutionSpace Space, MatrixView AV, VectorView XV, MutableVectorView YV,
          ScalarFor<accumulator_t<value_t<YV>>, Space> Alpha, ScalarFor<accumulator_t<value_t<YV>>, Space> Beta>
  requires(AccessibleFrom<AV, Space> && AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> &&
           std::same_as<value_t<AV>, value_t<YV>> && std::same_as<value_t<XV>, value_t<YV>>)
void gemv(const Space& exec, const Alpha& alpha, const AV& a, const XV& x, const Beta& beta, const YV& y,
          std::source_location where = std::source_location::current()) {
  using T = value_t<YV>;
  constexpr const char* function = "tessera::gemv";
  const GemvProblem<T> p{scalar_ref<accumulator_t<T>>(alpha), const_ref(a), const_ref(x),
                         scalar_ref<accumulator_t<T>>(beta), ref(y)};
  require(p.a.extents[1] == p.x.extents[0] && p.a.extents[0] == p.y.extents[0], [&] {
    return Error(function,
                 "A is " + detail::extents_text(detail::box(p.a)) + ", x has " + std::to_string(p.x.extents[0]) +
                     " and y has " + std::to_string(p.y.extents[0]) + " elements",
                 "x must have as many elements as A has columns, y as many as A has rows",
                 "Pass transposed(A) where its extents are the other way round", where);
  });
  require_disjoint(function, "y", p.y, "A", p.a, where);
  require_disjoint(function, "y", p.y, "x", p.x, where);
  detail::run_gemv<T, Space>(exec, p);
}

}  // namespace tessera
