// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>

#include <tessera/core/overlap.hpp>
#include <tessera/core/views.hpp>
#include <tessera/gather/indices.hpp>
#include <tessera/gather/problem.hpp>

namespace tessera {

namespace detail {
template <class Word, class Index, class Space>
void run_gather(const Space& exec, const GatherProblem<Word, Index>& problem,
                const std::source_location& where);  // defined in gather/any_type.hpp
}  // namespace detail

/// y_i = x[index_i], bit for bit.
/// \param exec   instance that runs it; the call returns at once
/// \param x      rank 1, any stride, any trivially copyable elements of 1, 2, 4, 8 or 16 bytes
/// \param index  rank 1, any stride, of int32 or int64, each in [0, x.extent(0)): that they are is the caller's duty;
///               Debug builds check (devices: abort)
/// \param y      rank 1, any stride, of index's extent and x's type; overlaps neither x nor index
/// \throws Error where extents differ or y overlaps an input
/// Source: numpy.take; std::gather of parallel STL proposals; BLAS's sparse level 1 (GTHR).
template <ExecutionSpace Space, VectorView XV, IndexView<Space> IV, MutableVectorView YV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && std::same_as<value_t<XV>, value_t<YV>> &&
           MovedElement<value_t<YV>>)
void gather(const Space& exec, const XV& x, const IV& index, const YV& y,
            std::source_location where = std::source_location::current()) {
  constexpr const char* name = "tessera::gather";
  const auto from = const_ref(x);
  const auto positions = const_ref(index);
  const auto to = ref(y);
  detail::check_same_extents(name, "index", detail::box(positions), "y", detail::box(to), where);
  require_disjoint(name, "y", to, "x", from, where);
  require_disjoint(name, "y", to, "index", positions, where);
  if (to.extents[0] == 0) return;
  using Word = moved_word_t<sizeof(value_t<YV>)>;
  detail::run_gather(
      exec, GatherProblem<Word, value_t<IV>>{detail::moved_words(from), positions, detail::moved_words(to)}, where);
}

}  // namespace tessera
