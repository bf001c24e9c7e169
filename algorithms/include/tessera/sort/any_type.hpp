// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The sorts themselves. The library brings them compiled for every type of key, so users need tessera/sort.hpp alone.

#include <algorithm>
#include <tuple>
#include <typeinfo>

#include <tessera/core/instance_lock.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/sort.hpp>
#include <tessera/sort/device.hpp>
#include <tessera/sort/host.hpp>
#include <tessera/sort/layout.hpp>
#include <tessera/sort/segments.hpp>
#include <tessera/sort/workspace.hpp>

namespace tessera::detail {

/// Elements of any size, as `pieces` words of type W each, from one strided place to another: out(i) = in(from[i]), or
/// in(i) where `from` is null, or the position from[i] itself where `in` is null.
template <class W, class Index>
struct SortFetch {
  const W* in;
  index_t in_stride;
  W* out;
  index_t out_stride;
  int pieces;
  const Index* from;
  TESSERA_FUNCTION void operator()(index_t i) const {
    const index_t j = from != nullptr ? static_cast<index_t>(from[i]) : i;
    for (int q = 0; q < pieces; ++q) out[i * out_stride + q] = in[j * in_stride + q];
  }
};
template <class W, class Index>
struct SortPositions {
  W* out;
  index_t out_stride;
  const Index* from;
  TESSERA_FUNCTION void operator()(index_t i) const { out[i * out_stride] = static_cast<W>(from[i]); }
};
struct alignas(16) SixteenBytes {
  std::uint64_t parts[2];
};

template <class Space, class Index>
void sort_fetch(const Space& exec, index_t n, const SortValues<const void>& in, const SortValues<void>& out,
                const Index* from) {
  const auto launch = [&](const auto& body) {
    Kokkos::parallel_for("tessera::sort::fetch", Range<Space>(exec, 0, n), body);
  };
  if (in.pointer == nullptr) {
    if (out.bytes == 4)
      return launch(SortPositions<std::uint32_t, Index>{static_cast<std::uint32_t*>(out.pointer), out.stride, from});
    return launch(SortPositions<std::uint64_t, Index>{static_cast<std::uint64_t*>(out.pointer), out.stride, from});
  }
  const auto by = [&]<class W>(W) {
    const int pieces = out.bytes / static_cast<int>(sizeof(W));
    launch(SortFetch<W, Index>{static_cast<const W*>(in.pointer), in.stride * pieces, static_cast<W*>(out.pointer),
                               out.stride * pieces, pieces, from});
  };
  const auto bits = reinterpret_cast<std::uintptr_t>(in.pointer) | reinterpret_cast<std::uintptr_t>(out.pointer) |
                    static_cast<std::uintptr_t>(out.bytes);
  if (bits % 16 == 0)
    by(SixteenBytes{});
  else if (bits % 4 == 0)
    by(std::uint32_t{});
  else
    by(std::uint8_t{});
}

/// What the portable kernels leave to be laid out: contiguous keys, payloads of 4 or 8 bytes.
template <class Space, class Key>
class PortableSort {
  using Word = typename Key::word;

 public:
  /// Runs on `memory`, of the bytes that measure() gives.
  static void run(const Space& exec, const SortProblem<Key>& p, void* memory) { PortableSort(exec, p, memory, true); }
  static std::size_t measure(const Space& exec, const SortProblem<Key>& p) {
    return PortableSort(exec, p, nullptr, false).m_memory.used();
  }

 private:
  PortableSort(const Space& exec, const SortProblem<Key>& p, void* memory, bool runs)
      : m_exec(exec), m_problem(p), m_memory(memory), m_runs(runs), m_n(p.n()) {
    const auto& in = p.values_in;
    const auto& out = p.values_out;
    const auto direct = [&](const void* pointer, index_t stride) {
      return (m_n <= 1 || stride == 1) &&
             reinterpret_cast<std::uintptr_t>(pointer) % static_cast<unsigned>(out.bytes) == 0;
    };
    if (out.bytes == 0) {
      keys_with(static_cast<const NoPayload*>(nullptr), static_cast<NoPayload*>(nullptr));
    } else if (out.bytes == 4 && direct(in.pointer, in.stride) && direct(out.pointer, out.stride)) {
      keys_with(static_cast<const std::uint32_t*>(in.pointer), static_cast<std::uint32_t*>(out.pointer));
    } else if (out.bytes == 8 && direct(in.pointer, in.stride) && direct(out.pointer, out.stride)) {
      keys_with(static_cast<const std::uint64_t*>(in.pointer), static_cast<std::uint64_t*>(out.pointer));
    } else if (m_n <= index_t{1} << 32) {
      by_position<std::uint32_t>();
    } else {
      by_position<std::uint64_t>();
    }
  }

  template <class Index>
  void by_position() {
    auto* const positions = m_memory.take<Index>(m_n);
    const auto& in = m_problem.values_in;
    const auto& out = m_problem.values_out;
    const bool in_place = in.pointer != nullptr && in.pointer == out.pointer;
    void* const copy = in_place ? m_memory.take<char>(m_n * out.bytes) : nullptr;
    keys_with(static_cast<const Index*>(nullptr), positions);
    if (!m_runs) return;
    if (!in_place) return sort_fetch(m_exec, m_n, in, out, positions);
    sort_fetch(m_exec, m_n, in, {copy, 1, out.bytes}, static_cast<const Index*>(nullptr));
    sort_fetch(m_exec, m_n, {copy, 1, out.bytes}, out, positions);
  }

  template <class Payload>
  void keys_with(const Payload* values_in, Payload* values_out) {
    const auto& in = m_problem.keys_in;
    const auto& out = m_problem.keys_out;
    const bool wanted = out.pointer != nullptr;
    const bool gathers = m_n > 1 && in.strides[0] != 1, scatters = m_n > 1 && wanted && out.strides[0] != 1;
    Word* const spare = gathers || scatters || !wanted ? m_memory.take<Word>(m_n) : nullptr;
    SortArrays<Key, Payload> a{};
    a.n = m_n;
    a.keys_in = gathers ? spare : in.pointer;
    a.keys_out = scatters || !wanted ? spare : out.pointer;
    a.keys_tmp = m_memory.take<Word>(m_n);
    a.values_in = values_in;
    a.values_out = values_out;
    if constexpr (has_payload<Payload>) a.values_tmp = m_memory.take<Payload>(m_n);
    a.order = m_problem.order;
    a.first_bit = m_problem.first_bit;
    a.last_bit = m_problem.last_bit;
    a.keys_wanted = wanted;
    if (gathers && m_runs) copy(in.pointer, in.strides[0], spare, 1);
    if constexpr (machine<Space>::is_host) {
      const index_t workers = HostSort<Key, Payload>::workers(m_n, static_cast<index_t>(m_exec.concurrency()));
      auto* const digits = m_memory.template take<HostDigits<Key>>(workers);
      if (m_runs)
        HostSort<Key, Payload>::run(a, digits, workers, [&](index_t all, const auto& work) {
          if (all == 1) return work(0);
          Kokkos::parallel_for("tessera::sort::pass", Range<Space>(m_exec, 0, all, Kokkos::ChunkSize(1)), work);
        });
    } else {
      const SortTables<Space, Key, Payload, tuned_sort<Key, Payload>()> tables(m_memory, m_n, a.passes());
      if (m_runs) sort_on_device(m_exec, a, tables);
    }
    if (scatters && m_runs) copy(spare, 1, out.pointer, out.strides[0]);
  }

  void copy(const Word* from, index_t from_stride, Word* to, index_t to_stride) const {
    Kokkos::parallel_for("tessera::sort::strided", Range<Space>(m_exec, 0, m_n),
                         SortFetch<Word, std::uint32_t>{from, from_stride, to, to_stride, 1, nullptr});
  }

  const Space& m_exec;
  const SortProblem<Key>& m_problem;
  SortMemory m_memory;
  bool m_runs;
  index_t m_n;
};

struct SortPortable {
  static constexpr std::string_view name = "portable";
  template <class Key, class Space>
  static constexpr bool supports = true;
  template <class Key>
  static Verdict can_run(const SortProblem<Key>&, const DeviceInfo&) {
    return Verdict::yes();
  }
  template <class Key>
  static std::string configuration(const SortProblem<Key>&, const DeviceInfo&) {
    return {};
  }
  template <class Key, class Space>
  static std::size_t workspace_bytes(const Space& exec, const SortProblem<Key>& p) {
    return PortableSort<Space, Key>::measure(exec, p);
  }
  template <class Key, class Space>
  static void run(const Space& exec, const SortProblem<Key>& p, const SortWorkspace& workspace) {
    PortableSort<Space, Key>::run(exec, p, workspace.pointer);
  }
};

template <class Space>
using sort_provider_list = decltype(std::tuple_cat(std::declval<backends::sort_providers_before_portable<Space>>(),
                                                   std::declval<std::tuple<SortPortable>>()));

template <class Key, class Space>
const Selection& SortEntry<Key, Space>::select(const Space& exec, const SortProblem<Key>& problem,
                                               std::string_view path, const std::source_location& where) {
  static const std::string types = typeid(Key).name();
  const SortSignature signature = signature_of(problem);
  return select_provider<Key, Space>("sort", problem, device_of(exec), types, signature_bytes(signature), path,
                                     sort_provider_list<Space>{}, where);
}

template <class Key, class Space>
std::size_t SortEntry<Key, Space>::workspace_bytes(const Space& exec, const Selection& selection,
                                                   const SortProblem<Key>& problem) {
  std::size_t bytes = 0;
  with_provider<Key, Space>(selection.provider, sort_provider_list<Space>{},
                            [&]<class Provider>() { bytes = Provider::workspace_bytes(exec, problem); });
  return bytes;
}

/// Calls f(workspace) with the one lent, or with the stream's own.
template <class Space, class F>
void with_sort_workspace(const Space& exec, const SortWorkspace& lent, std::size_t bytes, const F& f) {
  const auto lock = lock_instance(exec);
  if (lent.pointer != nullptr || bytes == 0) return f(lent);
  auto& store = SortStore<Space>::of(exec);
  const auto held = store.lock();
  f(SortWorkspace{store.reserve(exec, bytes), bytes});
}

template <class Key, class Space>
void SortEntry<Key, Space>::run(const Space& exec, const SortProblem<Key>& problem, const Selection& selection,
                                SortWorkspace workspace) {
  const Region region(selection.region);
  with_provider<Key, Space>(selection.provider, sort_provider_list<Space>{}, [&]<class Provider>() {
    const std::size_t bytes = workspace.pointer != nullptr ? 0 : Provider::workspace_bytes(exec, problem);
    with_sort_workspace(exec, workspace, bytes,
                        [&](const SortWorkspace& memory) { Provider::run(exec, problem, memory); });
  });
}

template <class Space>
void release_sort_workspace(const Space& exec) {
  const auto lock = lock_instance(exec);
  auto& store = SortStore<Space>::of(exec);
  const auto held = store.lock();
  store.release(exec);
}

template <bool all_bits, class Key, class Offset, class Space>
void sort_segments_on_device(const Space& exec, const SegmentedSortProblem<Key, Offset>& p) {
  using Word = typename Key::word;
  using Sort = SegmentSort<Key, Offset, Space, all_bits>;
  SortMemory counting(nullptr);
  (void)Sort(p, counting);
  with_sort_workspace(exec, {}, counting.used(), [&](const SortWorkspace& workspace) {
    SortMemory memory(workspace.pointer);
    const Sort sort(p, memory);
    sort.run(exec);
    if (sort.keys != p.sort.keys_out.pointer)
      Kokkos::parallel_for("tessera::segmented_sort::strided", Range<Space>(exec, 0, p.sort.n()),
                           SortFetch<Word, std::uint32_t>{sort.keys, 1, p.sort.keys_out.pointer,
                                                          p.sort.keys_out.strides[0], 1, nullptr});
  });
}

/// On hosts: each thread sorts the segments that begin in its stretch of the keys; long ones are sorted by all.
template <class Key, class Offset, class Space>
void sort_segments_on_host(const Space& exec, const SegmentedSortProblem<Key, Offset>& p) {
  using Word = typename Key::word;
  using Sort = HostSort<Key, NoPayload>;
  const index_t n = p.sort.n(), count = p.offsets.extents[0];
  const auto offset = [&](index_t s) {  // of segment s; segment 0 lies before the first offset
    return s == 0 ? index_t{0} : s > count ? n : static_cast<index_t>(p.offsets(s - 1));
  };
  for (index_t s = 0; s < count; ++s) {
    const index_t here = offset(s + 1), before = offset(s);
    require(here >= before && here <= n, [&] {
      return Error("tessera::segmented_sort", "offsets(" + std::to_string(s) + ") is " + std::to_string(here),
                   "offsets rise: from " + std::to_string(before) + " at this place to at most " + std::to_string(n) +
                       ", the number of keys",
                   "Sort them first");
    });
  }
  const bool strided = p.sort.keys_in.strides[0] != 1 || p.sort.keys_out.strides[0] != 1;
  const index_t threads = Sort::workers(n, static_cast<index_t>(exec.concurrency()));
  const index_t longest = threads > 1 ? n / (2 * threads) : n;
  SortMemory counting(nullptr);
  const auto lay_out = [&](SortMemory& memory) {
    auto* const keys = strided ? memory.take<Word>(n) : p.sort.keys_out.pointer;
    auto* const tmp = memory.take<Word>(n);
    return std::tuple(keys, tmp, memory.take<HostDigits<Key>>(threads));
  };
  lay_out(counting);
  with_sort_workspace(exec, {}, counting.used(), [&](const SortWorkspace& workspace) {
    SortMemory memory(workspace.pointer);
    const auto [keys, tmp, digits] = lay_out(memory);
    const auto copy = [&](const Word* from, index_t from_stride, Word* to, index_t to_stride) {
      Kokkos::parallel_for("tessera::segmented_sort::strided", Range<Space>(exec, 0, n),
                           SortFetch<Word, std::uint32_t>{from, from_stride, to, to_stride, 1, nullptr});
    };
    if (strided) copy(p.sort.keys_in.pointer, p.sort.keys_in.strides[0], keys, 1);
    const Word* const source = strided ? keys : p.sort.keys_in.pointer;
    const auto segment = [&, keys = keys, tmp = tmp](index_t begin, index_t end) {
      SortArrays<Key, NoPayload> a{};
      a.n = end - begin;
      a.keys_in = source + begin;
      a.keys_out = keys + begin;
      a.keys_tmp = tmp + begin;
      a.order = p.sort.order;
      a.first_bit = p.sort.first_bit;
      a.last_bit = p.sort.last_bit;
      a.keys_wanted = true;
      return a;
    };
    const auto parallel = [&](index_t all, const auto& work) {
      if (all == 1) return work(0);
      Kokkos::parallel_for("tessera::segmented_sort::pass", Range<Space>(exec, 0, all, Kokkos::ChunkSize(1)), work);
    };
    const index_t pieces = threads > 1 ? 8 * threads : 1;
    const auto first_from = [&](index_t key) {  // the first segment that begins at `key` or later
      index_t low = 0, high = count + 1;
      while (low < high) {
        const index_t middle = low + (high - low) / 2;
        if (offset(middle) < key)
          low = middle + 1;
        else
          high = middle;
      }
      return low;
    };
    Kokkos::parallel_for("tessera::segmented_sort::segments",
                         Kokkos::RangePolicy<Space, Kokkos::IndexType<index_t>, Kokkos::Schedule<Kokkos::Dynamic>>(
                             exec, 0, pieces, Kokkos::ChunkSize(1)),
                         [&](index_t piece) {
                           HostDigits<Key> mine;
                           const index_t last = first_from((piece + 1) * n / pieces);
                           for (index_t s = first_from(piece * n / pieces); s < last; ++s) {
                             const index_t begin = offset(s), end = offset(s + 1);
                             if (end - begin == 1) keys[begin] = source[begin];
                             if (end - begin < 2 || end - begin > longest) continue;
                             Sort::run(segment(begin, end), &mine, 1, [](index_t, const auto& work) { work(0); });
                           }
                         });
    if (longest < n)
      for (index_t s = 0; s <= count; ++s) {
        const index_t begin = offset(s), end = offset(s + 1);
        if (end - begin > longest)
          Sort::run(segment(begin, end), digits, Sort::workers(end - begin, threads), parallel);
      }
    if (strided) copy(keys, 1, p.sort.keys_out.pointer, p.sort.keys_out.strides[0]);
  });
}

template <class Key, class Space>
template <class Offset>
void SortEntry<Key, Space>::run_segments(const Space& exec, const SegmentedSortProblem<Key, Offset>& problem) {
  const Region region("tessera::segmented_sort[portable]");
  if constexpr (machine<Space>::is_host)
    sort_segments_on_host(exec, problem);
  else if (problem.sort.first_bit == 0 && problem.sort.last_bit == Key::bits)
    sort_segments_on_device<true>(exec, problem);
  else
    sort_segments_on_device<false>(exec, problem);
}

}  // namespace tessera::detail
