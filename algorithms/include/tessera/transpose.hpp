// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>

#include <tessera/core/overlap.hpp>
#include <tessera/core/views.hpp>
#include <tessera/instantiated.hpp>
#include <tessera/transpose/problem.hpp>

namespace tessera {
namespace detail {
template <class T, class Space>
void run_transpose(const Space& exec, const TransposeProblem<T>& problem);  // defined in transpose/any_type.hpp
}  // namespace detail

/// B = A^T, every bit of the elements kept; B = A^H of conjugated(A). A square A may be transposed in place: pass the
/// same view twice.
/// \param exec  instance that runs it; the call returns at once
/// \param A     rank 2, m x n, any strides, may be conjugated or transposed
/// \param B     rank 2, n x m
/// \throws Error where B's extents are not those of A^T, or B overlaps A without being it
template <ExecutionSpace Space, MatrixView AV, MutableMatrixView BV>
  requires(AccessibleFrom<AV, Space> && AccessibleFrom<BV, Space> && std::same_as<value_t<AV>, value_t<BV>>)
void transpose(const Space& exec, const AV& A, const BV& B,
               std::source_location where = std::source_location::current()) {
  using T = value_t<BV>;
  const TransposeProblem<T> problem{const_ref(A), ref(B)};
  detail::check_same_extents("tessera::transpose", "A^T", detail::box(transpose_ref(problem.a)), "B",
                             detail::box(problem.b), where);
  detail::refuse_partial_overlap("tessera::transpose", "B", detail::box(problem.b), "A", detail::box(problem.a), where);
  detail::run_transpose<T, Space>(exec, problem);
}

}  // namespace tessera
