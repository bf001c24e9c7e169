// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <limits>
#include <source_location>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/core/overlap.hpp>
#include <tessera/core/plan.hpp>
#include <tessera/core/views.hpp>
#include <tessera/sort/problem.hpp>

namespace tessera {

/// What keys may be: integers of 8 to 64 bits (not bool), half, bfloat16, float, double.
template <class T>
concept SortableKey = (std::is_integral_v<T> && !std::is_same_v<T, bool>) || std::is_same_v<T, half> ||
                      std::is_same_v<T, bfloat16> || std::is_same_v<T, float> || std::is_same_v<T, double>;

/// What values may be.
template <class T>
concept SortableValue = std::is_trivially_copyable_v<T> && sizeof(T) <= 16;

/// What argsort may write.
template <class T>
concept SortIndex = std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

namespace detail {

template <std::size_t Bytes>
using sort_word_t = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;
template <SortableKey T>
using sort_key_t = SortKey<sort_word_t<sizeof(T)>, !std::is_integral_v<T>>;

/// What is compiled once for each kind of key and space; defined in sort/any_type.hpp.
template <class Key, class Space>
struct SortEntry {
  static const Selection& select(const Space& exec, const SortProblem<Key>& problem, std::string_view path,
                                 const std::source_location& where);
  static std::size_t workspace_bytes(const Space& exec, const Selection& selection, const SortProblem<Key>& problem);
  /// With an empty workspace, the stream's own is used.
  static void run(const Space& exec, const SortProblem<Key>& problem, const Selection& selection,
                  SortWorkspace workspace);
  template <class Offset>
  static void run_segments(const Space& exec, const SegmentedSortProblem<Key, Offset>& problem);
};
template <class Space>
void release_sort_workspace(const Space& exec);  // defined in sort/any_type.hpp

void check_sort_bits(const char* function, int first_bit, int& last_bit, int bits, const std::source_location& where);
void check_sort_plan(const SortSignature& planned, const SortSignature& given, std::size_t needed_bytes,
                     const SortWorkspace& given_workspace, const std::source_location& where);
void check_sort_positions(index_t n, index_t most, const std::source_location& where);
void check_sort_offsets(index_t offsets, const std::source_location& where);

/// A call's keys as words, with their order. `out` may be a null pointer of any view.
template <class T>
SortProblem<sort_key_t<T>> sort_problem(const char* function, const VectorRef<const T>& in, const VectorRef<T>& out,
                                        const SortOptions& options, const std::source_location& where) {
  using Key = sort_key_t<T>;
  using Word = typename Key::word;
  SortProblem<Key> p;
  p.keys_in = as_words<const Word>(in);
  p.keys_out = as_words<Word>(out);
  if (out.pointer != nullptr || in.extents[0] == 0) {
    check_same_extents(function, "keys_in", box(in), "keys_out", box(out), where);
    refuse_partial_overlap(function, "keys_out", box(out), "keys_in", box(in), where);
  }
  if constexpr (Key::is_float)
    p.order.infinity = detail::bit_cast<Word>(std::numeric_limits<T>::infinity());
  else if constexpr (std::is_signed_v<T>)
    p.order.flip = Key::sign;
  if (options.order == Order::descending) p.order.flip = static_cast<Word>(~p.order.flip);
  p.first_bit = options.first_bit;
  p.last_bit = options.last_bit;
  check_sort_bits(function, p.first_bit, p.last_bit, Key::bits, where);
  return p;
}

template <class Key, class In, class Out>
void add_sort_values(const char* function, SortProblem<Key>& p, const VectorRef<const In>& in,
                     const VectorRef<Out>& out, const std::source_location& where) {
  check_same_extents(function, "keys", box(p.keys_in), "values_in", box(in), where);
  check_same_extents(function, "keys", box(p.keys_in), "values_out", box(out), where);
  refuse_partial_overlap(function, "values_out", box(out), "values_in", box(in), where);
  refuse_overlap(function, "values_out", box(out), "keys_in", box(p.keys_in), where);
  if (p.keys_out.pointer != nullptr) {
    refuse_overlap(function, "values_out", box(out), "keys_out", box(p.keys_out), where);
    refuse_overlap(function, "keys_out", box(p.keys_out), "values_in", box(in), where);
  }
  p.values_in = {in.pointer, in.strides[0], static_cast<int>(sizeof(In))};
  p.values_out = {out.pointer, out.strides[0], static_cast<int>(sizeof(Out))};
}

/// The calls that a plan may be of: each turns its views into a problem.
struct SortCall {
  static constexpr const char* function = "tessera::sort";
  template <class KV>
  static auto problem(const SortOptions& options, const std::source_location& where, const KV& keys) {
    return problem(options, where, keys, keys);
  }
  template <class KI, class KO>
  static auto problem(const SortOptions& options, const std::source_location& where, const KI& in, const KO& out) {
    return sort_problem(function, const_ref(in), ref(out), options, where);
  }
};
struct SortByKeyCall {
  static constexpr const char* function = "tessera::sort_by_key";
  template <class KV, class VV>
  static auto problem(const SortOptions& options, const std::source_location& where, const KV& keys, const VV& values) {
    return problem(options, where, keys, values, keys, values);
  }
  template <class KI, class VI, class KO, class VO>
  static auto problem(const SortOptions& options, const std::source_location& where, const KI& keys_in,
                      const VI& values_in, const KO& keys_out, const VO& values_out) {
    auto p = sort_problem(function, const_ref(keys_in), ref(keys_out), options, where);
    add_sort_values(function, p, const_ref(values_in), ref(values_out), where);
    return p;
  }
};
struct ArgsortCall {
  static constexpr const char* function = "tessera::argsort";
  template <class KV, class IV>
  static auto problem(const SortOptions& options, const std::source_location& where, const KV& keys, const IV& index) {
    using Index = value_t<IV>;
    const auto in = const_ref(keys);
    const auto out = ref(index);
    VectorRef<value_t<KV>> none;
    none.extents[0] = in.extents[0];
    auto p = sort_problem(function, in, none, options, where);
    check_same_extents(function, "keys", box(in), "index", box(out), where);
    refuse_overlap(function, "index", box(out), "keys", box(in), where);
    check_sort_positions(p.n(), static_cast<index_t>(std::numeric_limits<std::make_signed_t<Index>>::max()), where);
    p.values_in = {nullptr, 1, static_cast<int>(sizeof(Index))};
    p.values_out = {out.pointer, out.strides[0], static_cast<int>(sizeof(Index))};
    return p;
  }
};

template <class Call, class Space, class... Views>
void call_sort(const Space& exec, const SortOptions& options, const std::source_location& where,
               const Views&... views) {
  const auto problem = Call::problem(options, where, views...);
  if (problem.n() == 0) return;
  using Key = typename decltype(problem.order)::key;
  using Entry = SortEntry<Key, Space>;
  Entry::run(exec, problem, Entry::select(exec, problem, options.path, where), {});
}

}  // namespace detail

/// Keys that are sorted where they are, and in views that Space reads and writes.
template <class V, class Space>
concept SortKeys = MutableVectorView<V> && AccessibleFrom<V, Space> && SortableKey<value_t<V>>;
template <class V, class Space>
concept SortKeysIn = VectorView<V> && AccessibleFrom<V, Space> && SortableKey<value_t<V>>;
template <class V, class Space>
concept SortedValues = MutableVectorView<V> && AccessibleFrom<V, Space> && SortableValue<value_t<V>>;

/// Sorts keys in place: -inf < finite < +inf < NaN, the two zeros and all NaNs each equal among themselves; stable, and
/// every bit of the keys is kept. Radix sort: the time grows with n and with the bits compared.
/// The workspace (about the size of the keys) belongs to the instance's stream, grows with the largest sort and lives
/// until release_sort_workspace() or the end of Kokkos; a call that makes it grow allocates and waits, every other one
/// does neither. A plan takes the caller's memory instead.
/// \param exec     instance that runs it; the call returns at once
/// \param keys     rank 1, any stride
/// \param options  order, the bits that count, a path to force
/// \throws Error   where the range of bits is not one, or a forced path cannot run
/// Source: A. Adinets and D. Merrill, Onesweep (2022), on devices; least significant digit first on hosts.
template <ExecutionSpace Space, SortKeys<Space> KV>
void sort(const Space& exec, const KV& keys, const SortOptions& options = {},
          std::source_location where = std::source_location::current()) {
  detail::call_sort<detail::SortCall, Space>(exec, options, where, keys);
}

/// The same from one view into another, which has the same extent and is the same or shares no element.
template <ExecutionSpace Space, SortKeysIn<Space> KI, SortKeys<Space> KO>
  requires(std::same_as<value_t<KI>, value_t<KO>>)
void sort(const Space& exec, const KI& keys_in, const KO& keys_out, const SortOptions& options = {},
          std::source_location where = std::source_location::current()) {
  detail::call_sort<detail::SortCall, Space>(exec, options, where, keys_in, keys_out);
}

/// Sorts keys as sort() does, and moves each key's value with it. Values of 4 and 8 bytes that lie side by side move
/// with the keys; all others are fetched once at the end, by their positions.
/// \param values  rank 1, as many as keys, any stride; any trivially copyable type of at most 16 bytes
template <ExecutionSpace Space, SortKeys<Space> KV, SortedValues<Space> VV>
void sort_by_key(const Space& exec, const KV& keys, const VV& values, const SortOptions& options = {},
                 std::source_location where = std::source_location::current()) {
  detail::call_sort<detail::SortByKeyCall, Space>(exec, options, where, keys, values);
}
template <ExecutionSpace Space, SortKeysIn<Space> KI, VectorView VI, SortKeys<Space> KO, SortedValues<Space> VO>
  requires(std::same_as<value_t<KI>, value_t<KO>> && std::same_as<value_t<VI>, value_t<VO>> &&
           AccessibleFrom<VI, Space>)
void sort_by_key(const Space& exec, const KI& keys_in, const VI& values_in, const KO& keys_out, const VO& values_out,
                 const SortOptions& options = {}, std::source_location where = std::source_location::current()) {
  detail::call_sort<detail::SortByKeyCall, Space>(exec, options, where, keys_in, values_in, keys_out, values_out);
}

/// The positions of the keys in the order of sort(): index(r) is where the r-th smallest key stands. The keys stay.
/// \param index  rank 1, as many as keys, of 32- or 64-bit integers
/// \throws Error also where a position does not fit the index's type
template <ExecutionSpace Space, SortKeysIn<Space> KV, MutableVectorView IV>
  requires(AccessibleFrom<IV, Space> && SortIndex<value_t<IV>>)
void argsort(const Space& exec, const KV& keys, const IV& index, const SortOptions& options = {},
             std::source_location where = std::source_location::current()) {
  detail::call_sort<detail::ArgsortCall, Space>(exec, options, where, keys, index);
}

/// Sorts each segment [offsets(s), offsets(s + 1)) of the keys by itself, in place and stable. Keys before the first
/// offset and from the last one on are segments too.
/// \param offsets  rank 1, of 32- or 64-bit integers, rising from 0 to the number of keys; empty: one segment
template <ExecutionSpace Space, SortKeys<Space> KV, VectorView OV>
  requires(AccessibleFrom<OV, Space> && SortIndex<value_t<OV>>)
void segmented_sort(const Space& exec, const KV& keys, const OV& offsets, const SortOptions& options = {},
                    std::source_location where = std::source_location::current()) {
  segmented_sort(exec, keys, offsets, keys, options, where);
}

/// The same from one view into another, which has the same extent and is the same or shares no element.
template <ExecutionSpace Space, SortKeysIn<Space> KI, VectorView OV, SortKeys<Space> KO>
  requires(AccessibleFrom<OV, Space> && SortIndex<value_t<OV>> && std::same_as<value_t<KI>, value_t<KO>>)
void segmented_sort(const Space& exec, const KI& keys_in, const OV& offsets, const KO& keys_out,
                    const SortOptions& options = {}, std::source_location where = std::source_location::current()) {
  constexpr const char* function = "tessera::segmented_sort";
  using Key = detail::sort_key_t<value_t<KI>>;
  using Offset = std::make_signed_t<detail::sort_word_t<sizeof(value_t<OV>)>>;
  SegmentedSortProblem<Key, Offset> problem;
  problem.sort = detail::sort_problem(function, const_ref(keys_in), ref(keys_out), options, where);
  problem.offsets = as_words<const Offset>(const_ref(offsets));
  detail::check_sort_offsets(problem.offsets.extents[0], where);
  require(options.path.empty() || options.path == "portable", [&] {
    return Error(function, "there is no path '" + options.path + "'", "segments have the path portable alone",
                 "Leave the option out", where);
  });
  detail::refuse_overlap(function, "keys", detail::box(ref(keys_out)), "offsets", detail::box(problem.offsets), where);
  if (problem.sort.n() > 0) detail::SortEntry<Key, Space>::run_segments(exec, problem);
}

/// Gives back what the sorts on this instance's stream keep, when its work is done.
template <ExecutionSpace Space>
void release_sort_workspace(const Space& exec) {
  detail::release_sort_workspace(exec);
}

/// A choice of path for sorts of one shape, made once and run many times with the caller's workspace: run() allocates
/// nothing. Holds no view, no instance and no memory.
template <class Call, class Key, ExecutionSpace Space>
class SortPlan {
 public:
  SortPlan(const Space& exec, const SortProblem<Key>& problem, const Selection& selection, SortOptions options)
      : m_selection(&selection),
        m_signature(signature_of(problem)),
        m_workspace_bytes(detail::SortEntry<Key, Space>::workspace_bytes(exec, selection, problem)),
        m_options(std::move(options)) {}

  [[nodiscard]] const std::string& path() const { return m_selection->path; }  ///< "sort[portable]"
  [[nodiscard]] const std::vector<Refusal>& reasons() const { return m_selection->refusals; }
  /// What run() needs on the instance that was planned on, or on any other of no more threads.
  [[nodiscard]] std::size_t workspace_bytes() const { return m_workspace_bytes; }

  /// The call with views of the extents, strides and alignment that were planned for.
  /// \throws Error where they are not, or where the workspace is too small
  template <class... Views>
  void run(const Space& exec, const SortWorkspace& workspace, const Views&... views) const {
    const auto where = std::source_location::current();
    const SortProblem<Key> problem = Call::problem(m_options, where, views...);
    using Entry = detail::SortEntry<Key, Space>;
    // hosts: an instance of more threads than the one planned for needs more
    const std::size_t needed = Entry::workspace_bytes(exec, *m_selection, problem);
    detail::check_sort_plan(m_signature, signature_of(problem), needed, workspace, where);
    if (problem.n() > 0) Entry::run(exec, problem, *m_selection, workspace);
  }

 private:
  const Selection* m_selection;
  SortSignature m_signature;
  std::size_t m_workspace_bytes;
  SortOptions m_options;
};

namespace detail {
template <class Call, class Space, class... Views>
auto plan_sort_call(const Space& exec, const SortOptions& options, const std::source_location& where,
                    const Views&... views) {
  const auto problem = Call::problem(options, where, views...);
  using Key = typename decltype(problem.order)::key;
  return SortPlan<Call, Key, Space>(exec, problem, SortEntry<Key, Space>::select(exec, problem, options.path, where),
                                    options);
}
}  // namespace detail

/// Plans sort(exec, keys); reads no element.
template <ExecutionSpace Space, SortKeys<Space> KV>
[[nodiscard]] auto plan_sort(const Space& exec, const KV& keys, const SortOptions& options = {},
                             std::source_location where = std::source_location::current()) {
  return detail::plan_sort_call<detail::SortCall>(exec, options, where, keys);
}
/// Plans sort(exec, keys_in, keys_out).
template <ExecutionSpace Space, SortKeysIn<Space> KI, SortKeys<Space> KO>
  requires(std::same_as<value_t<KI>, value_t<KO>>)
[[nodiscard]] auto plan_sort(const Space& exec, const KI& keys_in, const KO& keys_out, const SortOptions& options = {},
                             std::source_location where = std::source_location::current()) {
  return detail::plan_sort_call<detail::SortCall>(exec, options, where, keys_in, keys_out);
}
/// Plans sort_by_key(exec, keys, values).
template <ExecutionSpace Space, SortKeys<Space> KV, SortedValues<Space> VV>
[[nodiscard]] auto plan_sort_by_key(const Space& exec, const KV& keys, const VV& values,
                                    const SortOptions& options = {},
                                    std::source_location where = std::source_location::current()) {
  return detail::plan_sort_call<detail::SortByKeyCall>(exec, options, where, keys, values);
}
/// Plans argsort(exec, keys, index).
template <ExecutionSpace Space, SortKeysIn<Space> KV, MutableVectorView IV>
  requires(AccessibleFrom<IV, Space> && SortIndex<value_t<IV>>)
[[nodiscard]] auto plan_argsort(const Space& exec, const KV& keys, const IV& index, const SortOptions& options = {},
                                std::source_location where = std::source_location::current()) {
  return detail::plan_sort_call<detail::ArgsortCall>(exec, options, where, keys, index);
}

}  // namespace tessera
