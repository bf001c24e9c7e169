// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>

#include <tessera/core/overlap.hpp>
#include <tessera/core/types.hpp>
#include <tessera/core/views.hpp>
#include <tessera/gather/indices.hpp>
#include <tessera/scatter/problem.hpp>

namespace tessera {

/// What scatter_add adds: int32, int64, float, double, and complex of the two.
template <class T>
concept ScatterAddElement =
    std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> || std::same_as<T, float> ||
    std::same_as<T, double> || std::same_as<T, Kokkos::complex<float>> || std::same_as<T, Kokkos::complex<double>>;

namespace detail {
// defined in scatter/any_type.hpp
template <class Word, class Index, class Space>
void run_scatter(const Space& exec, const ScatterProblem<Word, Index>& problem, const std::source_location& where);
template <class T, class Index, class Space>
void run_scatter_add(const Space& exec, const ScatterAddProblem<T, Index>& problem, const std::source_location& where);

template <class X, class I, class Y>
void check_scatter(const char* name, const X& x, const I& index, const Y& y, const std::source_location& where) {
  check_same_extents(name, "x", box(x), "index", box(index), where);
  require_disjoint(name, "y", y, "x", x, where);
  require_disjoint(name, "y", y, "index", index, where);
}
}  // namespace detail

/// y[index_i] = x_i, bit for bit; elements of y that no index names keep theirs.
/// Where several indices are equal, y gets the x of one of them, and which may change from run to run (elements of 16
/// bytes: its halves may be of two). Where that matters, sort by index first, or use scatter_add.
/// \param exec   instance that runs it; the call returns at once
/// \param x      rank 1, any stride, any trivially copyable elements of 1, 2, 4, 8 or 16 bytes
/// \param index  rank 1, of x's extent, any stride, of int32 or int64, each in [0, y.extent(0)): that they are is the
///               caller's duty; Debug builds check (devices: abort)
/// \param y      rank 1, any stride, of x's type; overlaps neither x nor index
/// \throws Error where extents differ or y overlaps an input
/// Source: numpy.put; BLAS's sparse level 1 (SCTR).
template <ExecutionSpace Space, VectorView XV, IndexView<Space> IV, MutableVectorView YV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && std::same_as<value_t<XV>, value_t<YV>> &&
           MovedElement<value_t<YV>>)
void scatter(const Space& exec, const XV& x, const IV& index, const YV& y,
             std::source_location where = std::source_location::current()) {
  const auto from = const_ref(x);
  const auto positions = const_ref(index);
  const auto to = ref(y);
  detail::check_scatter("tessera::scatter", from, positions, to, where);
  if (from.extents[0] == 0) return;
  using Word = moved_word_t<sizeof(value_t<YV>)>;
  detail::run_scatter(
      exec, ScatterProblem<Word, value_t<IV>>{detail::moved_words(from), positions, detail::moved_words(to)}, where);
}

/// y[index_i] += x_i: every x is added, however often an index comes.
/// Determinism::fast adds atomically in any order: of integers (which wrap) the same bits always, of floats within
/// n eps sum |x_i| of the exact sum, for n equal indices. reproducible and portable give the same bits on every
/// backend and for any number of threads: the indices are sorted (by sort(), whose workspace of about four times the
/// index is the stream's, see there), then each y gets, in double, the sum of its x in the order of i, added at last to
/// y and rounded once. That takes several times as long, and one thread adds all x of one index.
/// \param exec     instance that runs it; the call returns at once
/// \param x        rank 1, any stride, of int32, int64, float, double, complex
/// \param index    rank 1, of x's extent, any stride, of int32 or int64, each in [0, y.extent(0)): that they are is the
///                 caller's duty; Debug builds check (devices: abort)
/// \param y        rank 1, any stride, of x's type; overlaps neither x nor index
/// \throws Error   where extents differ, y overlaps an input, or there is no memory to sort in
/// Source: numpy.add.at; torch.Tensor.index_add_.
template <ExecutionSpace Space, VectorView XV, IndexView<Space> IV, MutableVectorView YV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && std::same_as<value_t<XV>, value_t<YV>> &&
           ScatterAddElement<value_t<YV>>)
void scatter_add(const Space& exec, const XV& x, const IV& index, const YV& y, const ScatterAddOptions& options = {},
                 std::source_location where = std::source_location::current()) {
  const ScatterAddProblem<value_t<YV>, value_t<IV>> problem{const_ref(x), const_ref(index), ref(y),
                                                            options.determinism};
  detail::check_scatter("tessera::scatter_add", problem.x, problem.index, problem.y, where);
  if (problem.x.extents[0] > 0) detail::run_scatter_add(exec, problem, where);
}

}  // namespace tessera
