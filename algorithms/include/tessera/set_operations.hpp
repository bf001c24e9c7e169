// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>
#include <type_traits>

#include <tessera/merge.hpp>
#include <tessera/select.hpp>
#include <tessera/set_operations/problem.hpp>

/// \file
/// Operations of sets, and of multisets, on sorted ranges: as the standard library's of the same names, element for
/// element. Two elements are equal where neither comes before the other; every bit of those that stay is kept.
///
/// Where an element comes m times in a and n times in b, out has it
///   set_union                 max(m, n) times: a's m, then the last n - m of b's
///   set_intersection          min(m, n) times: the first of a's
///   set_difference            max(m - n, 0) times: the last of a's
///   set_symmetric_difference  |m - n| times: the last of a's, or of b's
///
/// Each call comes in two forms: with a rank-0 view of int64 it returns at once, and the number of elements that stay
/// is there when the work is done; without, it waits and returns the number. Elements of out behind them keep what they
/// were; where more stay than out has elements, the rest is left out, and the number is of all. Extents of
/// a + b (union, symmetric difference) and of a (the others) always suffice.
///
/// On devices a stream keeps what the teams of a call tell each other, some bytes for each few KiB of keys; a call that
/// makes it grow allocates, every other one does not.
///
/// Compiled: float, double, 32- and 64-bit integers in the order of KeyBefore. For other keys (trivially copyable, of
/// up to 128 bytes, aligned to 16 at most) and orders include tessera/set_operations/any_type.hpp instead.

namespace tessera {

/// Two sorted ranges and what of them stays, in memory that Space reads and writes.
template <class AV, class BV, class OV, class Before, class Space>
concept SetOperands = VectorView<AV> && VectorView<BV> && MutableVectorView<OV> && AccessibleFrom<AV, Space> &&
                      AccessibleFrom<BV, Space> && AccessibleFrom<OV, Space> &&
                      std::same_as<value_t<AV>, value_t<OV>> && std::same_as<value_t<BV>, value_t<OV>> &&
                      std::is_trivially_copyable_v<value_t<OV>> && KeyOrdering<Before, value_t<OV>>;

namespace detail {

template <class Key, class Before, class Space>
void run_set_operation(const Space& exec, const SetProblem<Key, Before>& problem);  // in set_operations/any_type.hpp

inline constexpr SetRule union_rule{true, true, true}, intersection_rule{true, false, false},
    difference_rule{false, true, false}, symmetric_difference_rule{false, true, true};

template <class AV, class BV, class OV, class Before>
auto set_problem(const char* function, const SetRule& rule, const AV& a, const BV& b, const OV& out,
                 const Before& before, const std::source_location& where) {
  require_disjoint(function, "out", ref(out), "a", ref(a), where);
  require_disjoint(function, "out", ref(out), "b", ref(b), where);
  return SetProblem<value_t<OV>, Before>{const_ref(a), const_ref(b), ref(out), before, rule};
}
template <class Space, class AV, class BV, class OV, class Before>
index_t counted_set(const Space& exec, const char* function, const SetRule& rule, const AV& a, const BV& b,
                    const OV& out, const Before& before, const std::source_location& where) {
  auto problem = set_problem(function, rule, a, b, out, before, where);
  index_t count = 0;
  problem.returned = &count;
  run_set_operation(exec, problem);
  return count;
}
template <class Space, class AV, class BV, class OV, class CV, class Before>
void put_set(const Space& exec, const char* function, const SetRule& rule, const AV& a, const BV& b, const OV& out,
             const CV& count, const Before& before, const std::source_location& where) {
  auto problem = set_problem(function, rule, a, b, out, before, where);
  put_count(function, problem, count, {{"a", box(ref(a))}, {"b", box(ref(b))}, {"out", box(ref(out))}}, where);
  run_set_operation(exec, problem);
}

}  // namespace detail

/// out = the elements that a or b has.
/// \param exec    instance that runs it
/// \param a, b    rank 1, any strides, each sorted as `before` has it (the caller's duty: of unsorted ranges it is not
///                said what stays; nothing outside out is written)
/// \param out     rank 1, any extent and stride; shares no element with a or b
/// \param before  KeyBefore{} (ascending), KeyBefore{true} (descending), or a user's own strict weak order
/// \return        how many elements the union has
/// \throws Error  where out overlaps an input
/// Source: std::set_union; S. Baxter, moderngpu (2013), on set operations along the merge path.
template <ExecutionSpace Space, class AV, class BV, class OV, class Before = KeyBefore>
  requires(SetOperands<AV, BV, OV, Before, Space>)
[[nodiscard]] index_t set_union(const Space& exec, const AV& a, const BV& b, const OV& out, const Before& before = {},
                                std::source_location where = std::source_location::current()) {
  return detail::counted_set(exec, "tessera::set_union", detail::union_rule, a, b, out, before, where);
}
/// The same with their number into a rank-0 view; returns at once.
template <ExecutionSpace Space, class AV, class BV, class OV, class CV, class Before = KeyBefore>
  requires(SetOperands<AV, BV, OV, Before, Space> && SelectCount<CV, Space>)
void set_union(const Space& exec, const AV& a, const BV& b, const OV& out, const CV& count, const Before& before = {},
               std::source_location where = std::source_location::current()) {
  detail::put_set(exec, "tessera::set_union", detail::union_rule, a, b, out, count, before, where);
}

/// out = the elements of a that b has too. Otherwise as set_union. Source: std::set_intersection.
template <ExecutionSpace Space, class AV, class BV, class OV, class Before = KeyBefore>
  requires(SetOperands<AV, BV, OV, Before, Space>)
[[nodiscard]] index_t set_intersection(const Space& exec, const AV& a, const BV& b, const OV& out,
                                       const Before& before = {},
                                       std::source_location where = std::source_location::current()) {
  return detail::counted_set(exec, "tessera::set_intersection", detail::intersection_rule, a, b, out, before, where);
}
/// The same with their number into a rank-0 view; returns at once.
template <ExecutionSpace Space, class AV, class BV, class OV, class CV, class Before = KeyBefore>
  requires(SetOperands<AV, BV, OV, Before, Space> && SelectCount<CV, Space>)
void set_intersection(const Space& exec, const AV& a, const BV& b, const OV& out, const CV& count,
                      const Before& before = {}, std::source_location where = std::source_location::current()) {
  detail::put_set(exec, "tessera::set_intersection", detail::intersection_rule, a, b, out, count, before, where);
}

/// out = the elements of a that b does not have. Otherwise as set_union. Source: std::set_difference.
template <ExecutionSpace Space, class AV, class BV, class OV, class Before = KeyBefore>
  requires(SetOperands<AV, BV, OV, Before, Space>)
[[nodiscard]] index_t set_difference(const Space& exec, const AV& a, const BV& b, const OV& out,
                                     const Before& before = {},
                                     std::source_location where = std::source_location::current()) {
  return detail::counted_set(exec, "tessera::set_difference", detail::difference_rule, a, b, out, before, where);
}
/// The same with their number into a rank-0 view; returns at once.
template <ExecutionSpace Space, class AV, class BV, class OV, class CV, class Before = KeyBefore>
  requires(SetOperands<AV, BV, OV, Before, Space> && SelectCount<CV, Space>)
void set_difference(const Space& exec, const AV& a, const BV& b, const OV& out, const CV& count,
                    const Before& before = {}, std::source_location where = std::source_location::current()) {
  detail::put_set(exec, "tessera::set_difference", detail::difference_rule, a, b, out, count, before, where);
}

/// out = the elements that only one of a and b has. Otherwise as set_union. Source: std::set_symmetric_difference.
template <ExecutionSpace Space, class AV, class BV, class OV, class Before = KeyBefore>
  requires(SetOperands<AV, BV, OV, Before, Space>)
[[nodiscard]] index_t set_symmetric_difference(const Space& exec, const AV& a, const BV& b, const OV& out,
                                               const Before& before = {},
                                               std::source_location where = std::source_location::current()) {
  return detail::counted_set(exec, "tessera::set_symmetric_difference", detail::symmetric_difference_rule, a, b, out,
                             before, where);
}
/// The same with their number into a rank-0 view; returns at once.
template <ExecutionSpace Space, class AV, class BV, class OV, class CV, class Before = KeyBefore>
  requires(SetOperands<AV, BV, OV, Before, Space> && SelectCount<CV, Space>)
void set_symmetric_difference(const Space& exec, const AV& a, const BV& b, const OV& out, const CV& count,
                              const Before& before = {}, std::source_location where = std::source_location::current()) {
  detail::put_set(exec, "tessera::set_symmetric_difference", detail::symmetric_difference_rule, a, b, out, count,
                  before, where);
}

}  // namespace tessera
