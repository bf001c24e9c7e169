// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/select/any_type.hpp>

/// \file
/// select and partition by a predicate of the elements. The kernels are compiled where they are called, as the
/// predicate is the caller's.

namespace tessera {

/// A predicate of elements of T: called as `predicate(const T&)` where the kernel runs (TESSERA_FUNCTION or
/// KOKKOS_LAMBDA), perhaps more than once an element, in any order; copied bit by bit.
template <class F, class T>
concept SelectPredicate = !View<F> && requires(const F& f, const T& element) {
  { f(element) } -> std::convertible_to<bool>;
};

namespace detail {
template <class XV, class F, class YV>
auto select_by_predicate(std::string_view function, const XV& x, const F& predicate, const YV& y,
                         const std::source_location& where) {
  return select_problem<value_t<XV>>(function, x, y, ByPredicate<F>{predicate}, where);
}
}  // namespace detail

/// y_0, y_1, ... = the elements of x for which the predicate holds, in their order; waits for their number and returns
/// it. Otherwise as select.
/// \param exec       instance that runs it
/// \param x          rank 1, any stride
/// \param predicate  of an element
/// \param y          rank 1, any extent and stride
/// \throws Error     where an output overlaps another argument
/// Source: std::copy_if.
template <ExecutionSpace Space, class XV, class F, class YV>
  requires(SelectInput<XV, Space> && SelectPredicate<F, value_t<XV>> && SelectOutput<YV, value_t<XV>, Space>)
[[nodiscard]] index_t select_if(const Space& exec, const XV& x, const F& predicate, const YV& y,
                                std::source_location where = std::source_location::current()) {
  auto problem = detail::select_by_predicate("tessera::select_if", x, predicate, y, where);
  index_t count = 0;
  problem.returned = &count;
  detail::run_select(exec, problem);
  return count;
}
/// The same with their number into a rank-0 view; returns at once.
template <ExecutionSpace Space, class XV, class F, class YV, class CV>
  requires(SelectInput<XV, Space> && SelectPredicate<F, value_t<XV>> && SelectOutput<YV, value_t<XV>, Space> &&
           SelectCount<CV, Space>)
void select_if(const Space& exec, const XV& x, const F& predicate, const YV& y, const CV& count,
               std::source_location where = std::source_location::current()) {
  constexpr auto name = "tessera::select_if";
  auto problem = detail::select_by_predicate(name, x, predicate, y, where);
  detail::put_count(name, problem, count, {{"x", detail::box(ref(x))}, {"y", detail::box(ref(y))}}, where);
  detail::run_select(exec, problem);
}

/// y = the elements of x for which the predicate holds in their order, then the others in theirs; waits for the number
/// of the first and returns it. Otherwise as partition.
/// Source: std::stable_partition.
template <ExecutionSpace Space, class XV, class F, class YV>
  requires(SelectInput<XV, Space> && SelectPredicate<F, value_t<XV>> && SelectOutput<YV, value_t<XV>, Space>)
[[nodiscard]] index_t partition_if(const Space& exec, const XV& x, const F& predicate, const YV& y,
                                   std::source_location where = std::source_location::current()) {
  constexpr auto name = "tessera::partition_if";
  auto problem = detail::select_by_predicate(name, x, predicate, y, where);
  detail::check_same_extents(name, "x", detail::box(ref(x)), "y", detail::box(ref(y)), where);
  index_t count = 0;
  problem.returned = &count;
  detail::run_partition(exec, problem);
  return count;
}
/// The same with their number into a rank-0 view; returns at once.
template <ExecutionSpace Space, class XV, class F, class YV, class CV>
  requires(SelectInput<XV, Space> && SelectPredicate<F, value_t<XV>> && SelectOutput<YV, value_t<XV>, Space> &&
           SelectCount<CV, Space>)
void partition_if(const Space& exec, const XV& x, const F& predicate, const YV& y, const CV& count,
                  std::source_location where = std::source_location::current()) {
  constexpr auto name = "tessera::partition_if";
  auto problem = detail::select_by_predicate(name, x, predicate, y, where);
  detail::check_same_extents(name, "x", detail::box(ref(x)), "y", detail::box(ref(y)), where);
  detail::put_count(name, problem, count, {{"x", detail::box(ref(x))}, {"y", detail::box(ref(y))}}, where);
  detail::run_partition(exec, problem);
}

}  // namespace tessera
