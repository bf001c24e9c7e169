// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>

#include <tessera/core/error.hpp>
#include <tessera/core/overlap.hpp>
#include <tessera/core/views.hpp>
#include <tessera/merge/problem.hpp>

/// \file
/// Merging of sorted ranges. Keys that come compiled: float, double, 32- and 64-bit integers, with values of 4 and 8
/// bytes or without, in the order of KeyBefore. For other keys (trivially copyable, of up to 128 bytes, aligned to 16
/// at most), values and orders include tessera/merge/any_type.hpp instead.

namespace tessera {

/// A strict weak order of keys, callable where the kernel runs.
template <class Before, class Key>
concept KeyOrdering = requires(const Before& before, const Key& key) {
  { before(key, key) } -> std::convertible_to<bool>;
};

namespace detail {

template <class Key, class Value, class Before, class Space>
void run_merge(const Space& exec, const MergeProblem<Key, Value, Before>& problem);  // defined in merge/any_type.hpp

/// What values are moved as: words, where they are of the size of one.
template <class T>
using merge_word_t = std::conditional_t<sizeof(T) == 4 && alignof(T) == 4, std::uint32_t,
                                        std::conditional_t<sizeof(T) == 8 && alignof(T) == 8, std::uint64_t, T>>;

void check_merge_extents(const char* function, const char* a_name, index_t a, const char* b_name, index_t b,
                         const char* out_name, index_t out, const std::source_location& where);

template <class Key, class Value, class Before>
MergeProblem<Key, Value, Before> merge_problem(const char* function, const VectorRef<const Key>& a,
                                               const VectorRef<const Key>& b, const VectorRef<Key>& out,
                                               const Before& before, const std::source_location& where) {
  check_merge_extents(function, "a", a.extents[0], "b", b.extents[0], "out", out.extents[0], where);
  require_disjoint(function, "out", out, "a", a, where);
  require_disjoint(function, "out", out, "b", b, where);
  MergeProblem<Key, Value, Before> problem{};
  problem.a = a;
  problem.b = b;
  problem.out = out;
  problem.before = before;
  return problem;
}

}  // namespace detail

/// out = the elements of a and of b in their common order; stable: of equal ones those of a come first, each range's in
/// their own order. Every bit of the keys is kept.
/// \param exec    instance that runs it; the call returns at once. On devices a stream keeps 8 bytes for each few KiB
///                of keys of long ranges; a call that makes that grow allocates, every other one does not
/// \param a, b    rank 1, any strides, each sorted as `before` has it (the caller's duty: of unsorted ranges some
///                elements come twice and others not at all; nothing outside out is written)
/// \param out     rank 1, any stride, of extent(a) + extent(b) elements; shares none with a or b
/// \param before  KeyBefore{} (ascending), KeyBefore{true} (descending), or a user's own strict weak order
/// \throws Error  where extents do not add up or out overlaps an input
/// Source: Odeh, Green, Mwassi, Shmueli, Birk, Merge Path - Parallel Merging Made Simple (2012); std::merge.
template <ExecutionSpace Space, VectorView AV, VectorView BV, MutableVectorView OV, class Before = KeyBefore>
  requires(AccessibleFrom<AV, Space> && AccessibleFrom<BV, Space> && AccessibleFrom<OV, Space> &&
           std::same_as<value_t<AV>, value_t<OV>> && std::same_as<value_t<BV>, value_t<OV>> &&
           KeyOrdering<Before, value_t<OV>> && std::is_trivially_copyable_v<value_t<OV>>)
void merge(const Space& exec, const AV& a, const BV& b, const OV& out, const Before& before = {},
           std::source_location where = std::source_location::current()) {
  const auto problem = detail::merge_problem<value_t<OV>, NoValues>("tessera::merge", const_ref(a), const_ref(b),
                                                                    ref(out), before, where);
  if (problem.out.extents[0] > 0) detail::run_merge(exec, problem);
}

/// Merges keys as merge() does, and moves each key's value with it.
/// \param a_values, b_values, out_values  rank 1, as many as their keys, any strides, trivially copyable
template <ExecutionSpace Space, VectorView AK, VectorView AW, VectorView BK, VectorView BW, MutableVectorView OK,
          MutableVectorView OW, class Before = KeyBefore>
  requires(AccessibleFrom<AK, Space> && AccessibleFrom<AW, Space> && AccessibleFrom<BK, Space> &&
           AccessibleFrom<BW, Space> && AccessibleFrom<OK, Space> && AccessibleFrom<OW, Space> &&
           std::same_as<value_t<AK>, value_t<OK>> && std::same_as<value_t<BK>, value_t<OK>> &&
           std::same_as<value_t<AW>, value_t<OW>> && std::same_as<value_t<BW>, value_t<OW>> &&
           std::is_trivially_copyable_v<value_t<OW>> && KeyOrdering<Before, value_t<OK>> &&
           std::is_trivially_copyable_v<value_t<OK>>)
void merge_by_key(const Space& exec, const AK& a_keys, const AW& a_values, const BK& b_keys, const BW& b_values,
                  const OK& out_keys, const OW& out_values, const Before& before = {},
                  std::source_location where = std::source_location::current()) {
  constexpr const char* function = "tessera::merge_by_key";
  using Word = detail::merge_word_t<value_t<OW>>;
  auto problem = detail::merge_problem<value_t<OK>, Word>(function, const_ref(a_keys), const_ref(b_keys), ref(out_keys),
                                                          before, where);
  problem.a_values = as_words<const Word>(const_ref(a_values));
  problem.b_values = as_words<const Word>(const_ref(b_values));
  problem.out_values = as_words<Word>(ref(out_values));
  detail::check_same_extents(function, "a_keys", detail::box(problem.a), "a_values", detail::box(problem.a_values),
                             where);
  detail::check_same_extents(function, "b_keys", detail::box(problem.b), "b_values", detail::box(problem.b_values),
                             where);
  detail::check_same_extents(function, "out_keys", detail::box(problem.out), "out_values",
                             detail::box(problem.out_values), where);
  require_disjoint(function, "out_values", problem.out_values, "a_values", problem.a_values, where);
  require_disjoint(function, "out_values", problem.out_values, "b_values", problem.b_values, where);
  require_disjoint(function, "out_values", problem.out_values, "a_keys", problem.a, where);
  require_disjoint(function, "out_values", problem.out_values, "b_keys", problem.b, where);
  require_disjoint(function, "out_values", problem.out_values, "out_keys", problem.out, where);
  require_disjoint(function, "out_keys", problem.out, "a_values", problem.a_values, where);
  require_disjoint(function, "out_keys", problem.out, "b_values", problem.b_values, where);
  if (problem.out.extents[0] > 0) detail::run_merge(exec, problem);
}

}  // namespace tessera
