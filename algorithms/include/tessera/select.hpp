// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <initializer_list>
#include <source_location>
#include <string_view>
#include <type_traits>

#include <tessera/core/overlap.hpp>
#include <tessera/core/views.hpp>
#include <tessera/select/problem.hpp>

/// \file
/// select copies the elements whose flag is not zero, partition puts them before all others; by a predicate:
/// tessera/select_if.hpp. Both are stable, and copy every bit.
///
/// The count. Each call comes in two forms: with a rank-0 view of int64 it returns at once, and the number of chosen
/// elements is there when the work is done; without, it waits and returns the number.
///
/// On devices a stream keeps what the teams of a call tell each other, some bytes for each few KiB of elements; a call
/// that makes it grow allocates, every other one does not.
///
/// Compiled: elements of 1, 2, 4, 8 and 16 bytes that are aligned to their size (every integer, half, bfloat16, float,
/// double, complex, structs alike) with flags of 1 and 4 bytes (bool, int8, uint8, int32, uint32). For any other
/// trivially copyable element of up to 128 bytes, or flags of 2 and 8 bytes, include tessera/select/any_type.hpp
/// instead.

namespace tessera {

/// Elements that are chosen from: of trivially copyable type, and not conjugated (they keep their bits).
template <class V, class Space>
concept SelectInput = VectorView<V> && AccessibleFrom<V, Space> && !view_traits<std::remove_cvref_t<V>>::conjugates &&
                      std::is_trivially_copyable_v<value_t<V>> && std::is_default_constructible_v<value_t<V>> &&
                      sizeof(value_t<V>) <= 128;

/// Where chosen elements of T go.
template <class V, class T, class Space>
concept SelectOutput = MutableVectorView<V> && AccessibleFrom<V, Space> && std::same_as<value_t<V>, T>;

/// Flags: integers or bools, one an element.
template <class V, class Space>
concept SelectFlags = VectorView<V> && AccessibleFrom<V, Space> && std::is_integral_v<value_t<V>>;

/// Where the number of chosen elements goes: a rank-0 view of int64 in memory that Space writes.
template <class V, class Space>
concept SelectCount = MutableScalarView<V> && AccessibleFrom<V, Space> && std::same_as<value_t<V>, index_t>;

namespace detail {
template <class T, class Choice, class Space>
void run_select(const Space& exec, const SelectProblem<T, Choice>& problem);  // both defined in select/any_type.hpp
template <class T, class Choice, class Space>
void run_partition(const Space& exec, const SelectProblem<T, Choice>& problem);

/// The problem of a choice in elements, all checks but the choice's own done.
template <class Word, class XV, class YV, class Choice>
SelectProblem<Word, Choice> select_problem(std::string_view function, const XV& x, const YV& y, const Choice& choice,
                                           const std::source_location& where) {
  require_disjoint(function, "y", ref(y), "x", ref(x), where);
  SelectProblem<Word, Choice> p{as_words<const Word>(const_ref(x)), as_words<Word>(ref(y)), choice, {}};
  return p;
}
template <class XV, class FV, class YV>
auto select_by_flags(std::string_view function, const XV& x, const FV& flags, const YV& y,
                     const std::source_location& where) {
  using Word = select_word_t<value_t<XV>>;
  using Flag = select_word_t<value_t<FV>>;
  check_same_extents(function, "x", box(ref(x)), "flags", box(ref(flags)), where);
  require_disjoint(function, "y", ref(y), "flags", ref(flags), where);
  return select_problem<Word>(function, x, y, ByFlag<Flag>{as_words<const Flag>(const_ref(flags))}, where);
}
struct NamedBox {
  std::string_view name;
  Box box;
};
template <class Problem, class CV>
void put_count(std::string_view function, Problem& problem, const CV& count, std::initializer_list<NamedBox> others,
               const std::source_location& where) {
  for (const NamedBox& other : others) refuse_overlap(function, "count", box(ref(count)), other.name, other.box, where);
  problem.count = ref(count).pointer;
}
}  // namespace detail

/// y_0, y_1, ... = the elements of x whose flag is not 0, in their order; waits for their number and returns it.
/// Elements of y behind them keep what they were. Where more are chosen than y has elements, the rest is left out, and
/// the number is of all.
/// \param exec   instance that runs it
/// \param x      rank 1, any stride
/// \param flags  rank 1, of x's extent, any stride
/// \param y      rank 1, any extent and stride
/// \throws Error where extents differ or an output overlaps another argument
/// Source: std::copy_if; Merrill and Garland 2016 (devices).
template <ExecutionSpace Space, class XV, class FV, class YV>
  requires(SelectInput<XV, Space> && SelectFlags<FV, Space> && SelectOutput<YV, value_t<XV>, Space>)
[[nodiscard]] index_t select(const Space& exec, const XV& x, const FV& flags, const YV& y,
                             std::source_location where = std::source_location::current()) {
  auto problem = detail::select_by_flags("tessera::select", x, flags, y, where);
  index_t count = 0;
  problem.returned = &count;
  detail::run_select(exec, problem);
  return count;
}
/// The same with their number into a rank-0 view; returns at once.
template <ExecutionSpace Space, class XV, class FV, class YV, class CV>
  requires(SelectInput<XV, Space> && SelectFlags<FV, Space> && SelectOutput<YV, value_t<XV>, Space> &&
           SelectCount<CV, Space>)
void select(const Space& exec, const XV& x, const FV& flags, const YV& y, const CV& count,
            std::source_location where = std::source_location::current()) {
  constexpr auto name = "tessera::select";
  auto problem = detail::select_by_flags(name, x, flags, y, where);
  using detail::box;
  detail::put_count(name, problem, count, {{"x", box(ref(x))}, {"flags", box(ref(flags))}, {"y", box(ref(y))}}, where);
  detail::run_select(exec, problem);
}

/// y = the elements of x whose flag is not 0 in their order, then the others in theirs; waits for the number of the
/// first and returns it.
/// \param exec, x, flags  as for select
/// \param y               rank 1, of x's extent, any stride
/// \throws Error where extents differ or an output overlaps another argument
/// Source: std::stable_partition.
template <ExecutionSpace Space, class XV, class FV, class YV>
  requires(SelectInput<XV, Space> && SelectFlags<FV, Space> && SelectOutput<YV, value_t<XV>, Space>)
[[nodiscard]] index_t partition(const Space& exec, const XV& x, const FV& flags, const YV& y,
                                std::source_location where = std::source_location::current()) {
  constexpr auto name = "tessera::partition";
  auto problem = detail::select_by_flags(name, x, flags, y, where);
  detail::check_same_extents(name, "x", detail::box(ref(x)), "y", detail::box(ref(y)), where);
  index_t count = 0;
  problem.returned = &count;
  detail::run_partition(exec, problem);
  return count;
}
/// The same with their number into a rank-0 view; returns at once.
template <ExecutionSpace Space, class XV, class FV, class YV, class CV>
  requires(SelectInput<XV, Space> && SelectFlags<FV, Space> && SelectOutput<YV, value_t<XV>, Space> &&
           SelectCount<CV, Space>)
void partition(const Space& exec, const XV& x, const FV& flags, const YV& y, const CV& count,
               std::source_location where = std::source_location::current()) {
  constexpr auto name = "tessera::partition";
  auto problem = detail::select_by_flags(name, x, flags, y, where);
  detail::check_same_extents(name, "x", detail::box(ref(x)), "y", detail::box(ref(y)), where);
  using detail::box;
  detail::put_count(name, problem, count, {{"x", box(ref(x))}, {"flags", box(ref(flags))}, {"y", box(ref(y))}}, where);
  detail::run_partition(exec, problem);
}

}  // namespace tessera
