// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <concepts>
#include <limits>
#include <source_location>
#include <string>
#include <type_traits>

#include <tessera/select.hpp>
#include <tessera/unique/problem.hpp>

/// \file
/// Runs of equal elements side by side: the first of each (unique), with the value that stands beside it
/// (unique_by_key), or with its length (run_length_encode). Sort first where equal elements do not stand side by side.
///
/// A run ends where an element is not equal to the one before it. Equal has it as ==: every NaN is a run of its own,
/// as with std::unique, and -0 continues a run of +0 (the first of the run is kept, bit for bit). An equality of the
/// caller's own must be reflexive, symmetric and transitive for "equal to the one before" and "equal to the first" to
/// be the same.
///
/// The number of runs is returned, or written, as select does with its count.
///
/// Compiled with Equal. unique: every integer, half, bfloat16, float, double, complex. run_length_encode: every
/// integer, float and double, lengths of 32 and 64 bits. unique_by_key: keys int32, uint32, int64, uint64, float and
/// double, values of 4 and 8 bytes aligned to their size. For other types and equalities include
/// tessera/unique/any_type.hpp instead.

namespace tessera {

/// An equality of elements of T: called as `equal(const T&, const T&)` where the kernel runs, and copied bit by bit.
template <class E, class T>
concept RunEquality = !View<E> && requires(const E& e, const T& a) {
  { e(a, a) } -> std::convertible_to<bool>;
};

/// Where lengths of runs go: integers of 32 or 64 bits.
template <class V, class Space>
concept RunLengths = MutableVectorView<V> && AccessibleFrom<V, Space> && std::is_integral_v<value_t<V>> &&
                     (sizeof(value_t<V>) == 4 || sizeof(value_t<V>) == 8);

namespace detail {
template <class T, class Equality, class Space>
void run_unique(const Space& exec, const SelectProblem<T, FirstOfRuns<Equality>>& problem);
template <class T, class W, class Equality, class Space>
void run_unique_by_key(const Space& exec, const SelectProblem<T, FirstOfRuns<Equality>, WithValues<W>>& problem);
template <class T, class Length, class Equality, class Space>
void run_lengths(const Space& exec, const SelectProblem<T, FirstOfRuns<Equality>, WithLengths<Length>>& problem);

template <class Along = Alone, class XV, class YV, class E>
auto runs_problem(const XV& x, const YV& y, const E& equal, const Along& along = {}) {
  using T = run_element_t<value_t<XV>, E>;
  SelectProblem<T, FirstOfRuns<E>, Along> p{as_words<const T>(const_ref(x)), as_words<T>(ref(y)), {equal}, along};
  return p;
}
template <class KI, class VI, class KO, class VO, class E>
auto unique_pairs(std::string_view function, const KI& keys_in, const VI& values_in, const KO& keys_out,
                  const VO& values_out, const E& equal, const std::source_location& where) {
  check_same_extents(function, "keys_in", box(ref(keys_in)), "values_in", box(ref(values_in)), where);
  require_disjoint(function, "keys_out", ref(keys_out), "keys_in", ref(keys_in), where);
  require_disjoint(function, "keys_out", ref(keys_out), "values_in", ref(values_in), where);
  require_disjoint(function, "values_out", ref(values_out), "keys_in", ref(keys_in), where);
  require_disjoint(function, "values_out", ref(values_out), "values_in", ref(values_in), where);
  require_disjoint(function, "values_out", ref(values_out), "keys_out", ref(keys_out), where);
  using W = select_word_t<value_t<VI>>;
  return runs_problem<WithValues<W>>(keys_in, keys_out, equal,
                                     {as_words<const W>(const_ref(values_in)), as_words<W>(ref(values_out))});
}
template <class XV, class YV, class LV, class E>
auto encoded_runs(std::string_view function, const XV& x, const YV& values, const LV& lengths, const E& equal,
                  const std::source_location& where) {
  using Length = signed_word_t<sizeof(value_t<LV>)>;
  const index_t n = ref(x).extents[0];
  require(n <= index_t{std::numeric_limits<Length>::max()}, [&] {
    return Error(function,
                 std::to_string(n) + " elements with lengths of " + std::to_string(8 * sizeof(Length)) + " bits",
                 "such a length counts to " + std::to_string(std::numeric_limits<Length>::max()),
                 "Pass lengths of 64 bits", where);
  });
  require_disjoint(function, "values", ref(values), "x", ref(x), where);
  require_disjoint(function, "lengths", ref(lengths), "x", ref(x), where);
  require_disjoint(function, "lengths", ref(lengths), "values", ref(values), where);
  return runs_problem<WithLengths<Length>>(x, values, equal, {as_words<Length>(ref(lengths))});
}
}  // namespace detail

/// y_0, y_1, ... = the first element of each run of x; waits for the number of runs and returns it. Elements of y
/// behind them keep what they were; where there are more runs than y has elements, the rest is left out, and the number
/// is of all.
/// \param exec   instance that runs it
/// \param x      rank 1, any stride
/// \param y      rank 1, any extent and stride; not x itself
/// \param equal  Equal, or the caller's own
/// \throws Error where an output overlaps another argument
/// Source: std::unique_copy.
template <ExecutionSpace Space, class XV, class YV, class E = Equal>
  requires(SelectInput<XV, Space> && SelectOutput<YV, value_t<XV>, Space> && RunEquality<E, value_t<XV>>)
[[nodiscard]] index_t unique(const Space& exec, const XV& x, const YV& y, const E& equal = {},
                             std::source_location where = std::source_location::current()) {
  require_disjoint("tessera::unique", "y", ref(y), "x", ref(x), where);
  auto problem = detail::runs_problem(x, y, equal);
  index_t count = 0;
  problem.returned = &count;
  detail::run_unique(exec, problem);
  return count;
}
/// The same with the number of runs into a rank-0 view; returns at once.
template <ExecutionSpace Space, class XV, class YV, class CV, class E = Equal>
  requires(SelectInput<XV, Space> && SelectOutput<YV, value_t<XV>, Space> && SelectCount<CV, Space> &&
           RunEquality<E, value_t<XV>>)
void unique(const Space& exec, const XV& x, const YV& y, const CV& count, const E& equal = {},
            std::source_location where = std::source_location::current()) {
  constexpr auto name = "tessera::unique";
  require_disjoint(name, "y", ref(y), "x", ref(x), where);
  auto problem = detail::runs_problem(x, y, equal);
  detail::put_count(name, problem, count, {{"x", detail::box(ref(x))}, {"y", detail::box(ref(y))}}, where);
  detail::run_unique(exec, problem);
}

/// The first key of each run of keys_in into keys_out, the value beside it into values_out; waits for the number of
/// runs and returns it.
/// \param keys_in, values_in    rank 1, of equal extents, any strides
/// \param keys_out, values_out  rank 1, any extents and strides; none overlaps another argument
/// Otherwise as unique. Source: std::unique_copy of pairs, compared by their keys.
template <ExecutionSpace Space, class KI, class VI, class KO, class VO, class E = Equal>
  requires(SelectInput<KI, Space> && SelectInput<VI, Space> && SelectOutput<KO, value_t<KI>, Space> &&
           SelectOutput<VO, value_t<VI>, Space> && RunEquality<E, value_t<KI>>)
[[nodiscard]] index_t unique_by_key(const Space& exec, const KI& keys_in, const VI& values_in, const KO& keys_out,
                                    const VO& values_out, const E& equal = {},
                                    std::source_location where = std::source_location::current()) {
  auto problem = detail::unique_pairs("tessera::unique_by_key", keys_in, values_in, keys_out, values_out, equal, where);
  index_t count = 0;
  problem.returned = &count;
  detail::run_unique_by_key(exec, problem);
  return count;
}
/// The same with the number of runs into a rank-0 view; returns at once.
template <ExecutionSpace Space, class KI, class VI, class KO, class VO, class CV, class E = Equal>
  requires(SelectInput<KI, Space> && SelectInput<VI, Space> && SelectOutput<KO, value_t<KI>, Space> &&
           SelectOutput<VO, value_t<VI>, Space> && SelectCount<CV, Space> && RunEquality<E, value_t<KI>>)
void unique_by_key(const Space& exec, const KI& keys_in, const VI& values_in, const KO& keys_out, const VO& values_out,
                   const CV& count, const E& equal = {}, std::source_location where = std::source_location::current()) {
  constexpr auto name = "tessera::unique_by_key";
  auto problem = detail::unique_pairs(name, keys_in, values_in, keys_out, values_out, equal, where);
  using detail::box;
  detail::put_count(name, problem, count,
                    {{"keys_in", box(ref(keys_in))},
                     {"values_in", box(ref(values_in))},
                     {"keys_out", box(ref(keys_out))},
                     {"values_out", box(ref(values_out))}},
                    where);
  detail::run_unique_by_key(exec, problem);
}

/// The first element of each run of x into values, and how many elements the run has into lengths; waits for the number
/// of runs and returns it.
/// \param x                rank 1, any stride
/// \param values, lengths  rank 1, any extents and strides; what does not fit is left out
/// \throws Error where an output overlaps another argument, or x has more elements than a length counts
/// Otherwise as unique.
template <ExecutionSpace Space, class XV, class YV, class LV, class E = Equal>
  requires(SelectInput<XV, Space> && SelectOutput<YV, value_t<XV>, Space> && RunLengths<LV, Space> &&
           RunEquality<E, value_t<XV>>)
[[nodiscard]] index_t run_length_encode(const Space& exec, const XV& x, const YV& values, const LV& lengths,
                                        const E& equal = {},
                                        std::source_location where = std::source_location::current()) {
  auto problem = detail::encoded_runs("tessera::run_length_encode", x, values, lengths, equal, where);
  index_t count = 0;
  problem.returned = &count;
  detail::run_lengths(exec, problem);
  return count;
}
/// The same with the number of runs into a rank-0 view; returns at once.
template <ExecutionSpace Space, class XV, class YV, class LV, class CV, class E = Equal>
  requires(SelectInput<XV, Space> && SelectOutput<YV, value_t<XV>, Space> && RunLengths<LV, Space> &&
           SelectCount<CV, Space> && RunEquality<E, value_t<XV>>)
void run_length_encode(const Space& exec, const XV& x, const YV& values, const LV& lengths, const CV& count,
                       const E& equal = {}, std::source_location where = std::source_location::current()) {
  constexpr auto name = "tessera::run_length_encode";
  auto problem = detail::encoded_runs(name, x, values, lengths, equal, where);
  using detail::box;
  detail::put_count(name, problem, count,
                    {{"x", box(ref(x))}, {"values", box(ref(values))}, {"lengths", box(ref(lengths))}}, where);
  detail::run_lengths(exec, problem);
}

}  // namespace tessera
