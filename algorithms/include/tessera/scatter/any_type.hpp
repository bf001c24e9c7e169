// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// scatter and scatter_add themselves. The library brings them compiled for every type that they take, so users need
/// tessera/scatter.hpp alone.

#include <tessera/core/instance_lock.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/gather/runs.hpp>
#include <tessera/scatter.hpp>
#include <tessera/sort.hpp>
#include <tessera/sort/layout.hpp>
#include <tessera/sort/workspace.hpp>

namespace tessera::detail {

/// y[index] = value.
template <class T>
struct PutAt {
  TESSERA_INLINE_FUNCTION static void at(T* place, const T& value) { *place = value; }
};
/// y[index] += value, atomically or by the only thread there is; complex numbers by parts.
template <class T, bool Atomic>
struct AddAt {
  TESSERA_INLINE_FUNCTION static void at(T* place, const T& value) {
    if constexpr (is_complex_v<T>) {
      using R = typename T::value_type;
      AddAt<R, Atomic>::at(reinterpret_cast<R*>(place), value.real());
      AddAt<R, Atomic>::at(reinterpret_cast<R*>(place) + 1, value.imag());
    } else if constexpr (std::is_integral_v<T>) {
      using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
      if constexpr (Atomic)
        Kokkos::atomic_add(reinterpret_cast<U*>(place), static_cast<U>(value));
      else
        *place = static_cast<T>(static_cast<U>(*place) + static_cast<U>(value));
    } else {
      if constexpr (Atomic)
        Kokkos::atomic_add(place, value);
      else
        *place += value;
    }
  }
};

template <class T, class Index, class Space, Access access, class Put>
struct ScatterKernel {
  static constexpr int lanes = index_lanes<Space, Index, access>;
  const T* x;
  const Index* index;
  T* y;
  index_t xs, is, ys;
  index_t n, workers;

  template <int U>
  TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) const {
    vec<Index, lanes> j[U];
    T v[U][lanes];
    for (int u = 0; u < U; ++u) j[u] = fetch<Space, access, lanes>(index, is, i + u * step);
    for (int u = 0; u < U; ++u) fetch_run<access>(x, xs, i + u * step, v[u]);
    for (int u = 0; u < U; ++u) {
      for (int l = 0; l < lanes; ++l) Put::at(y + static_cast<index_t>(j[u][l]) * ys, v[u][l]);
    }
  }
  TESSERA_INLINE_FUNCTION void single(index_t i) const {
    Put::at(y + static_cast<index_t>(index[i * is]) * ys, x[i * xs]);
  }
  TESSERA_INLINE_FUNCTION void operator()(index_t worker) const {
    const Share share = share_of<Space>(worker, workers, n);
    if constexpr (!machine<Space>::is_host) {
      walk<lanes>(share, *this);
    } else {
      for (index_t i = share.begin; i < share.begin + share.length; ++i) single(i);
    }
  }
};

template <class Put, class T, class Index, class Space>
void scatter_by(const Space& exec, const std::string& name, const VectorRef<const T>& x,
                const VectorRef<const Index>& index, const VectorRef<T>& y) {
  const index_t n = x.extents[0];
  const auto run = [&]<Access access>(std::integral_constant<Access, access>) {
    using Kernel = ScatterKernel<T, Index, Space, access, Put>;
    const index_t workers = moving_workers(exec, n, Kernel::lanes);
    Kokkos::parallel_for(
        name, Range<Space>(exec, 0, workers),
        Kernel{x.pointer, index.pointer, y.pointer, x.strides[0], index.strides[0], y.strides[0], n, workers});
  };
  with_access<Space>(index, x, run);
}

template <class Word, class Index, class Space>
void run_scatter(const Space& exec, const ScatterProblem<Word, Index>& p, const std::source_location& where) {
  const Region region("tessera::scatter[portable]");
  check_indices(exec, "tessera::scatter", p.index, p.y.extents[0], where);
  static const std::string name = label("scatter", "range");
  scatter_by<PutAt<Word>>(exec, name, p.x, p.index, p.y);
}

/// Adds the run of equal indices that begins at k, in the order in which they came.
template <class T, class Index, class Position>
struct ScatterAddRuns {
  using Sum = std::conditional_t<is_complex_v<T>, Kokkos::complex<double>, double>;
  const Index* sorted;
  const Position* position;
  index_t n;
  const T* x;
  index_t xs;
  T* y;
  index_t ys;
  TESSERA_FUNCTION void operator()(index_t k) const {
    const Index at = sorted[k];
    if (k > 0 && sorted[k - 1] == at) return;
    T& place = y[static_cast<index_t>(at) * ys];
    Sum sum{};
    for (index_t m = k; m < n && sorted[m] == at; ++m) sum += Sum(x[static_cast<index_t>(position[m]) * xs]);
    place = static_cast<T>(Sum(place) + sum);
  }
};

template <class Position, class T, class Index, class Space>
void scatter_add_in_order(const Space& exec, const ScatterAddProblem<T, Index>& p, const std::source_location& where) {
  using Key = sort_key_t<Index>;
  using Entry = SortEntry<Key, Space>;
  const index_t n = p.x.extents[0];
  SortProblem<Key> sort;
  sort.keys_in = as_words<const typename Key::word>(p.index);
  sort.keys_out.extents[0] = n;
  sort.keys_out.strides[0] = 1;
  sort.order.flip = Key::sign;
  int bits = 1;  // those above are zeros
  while (bits < Key::bits && (p.y.extents[0] - 1) >> bits > 0) ++bits;
  sort.last_bit = bits;
  const auto lay_out = [&](SortMemory& memory) {
    sort.keys_out.pointer = memory.take<typename Key::word>(n);
    sort.values_in = {nullptr, 1, static_cast<int>(sizeof(Position))};
    sort.values_out = {memory.take<Position>(n), 1, static_cast<int>(sizeof(Position))};
  };
  const auto lock = lock_instance(exec);
  auto& store = SortStore<Space>::of(exec);
  const auto held = store.lock();
  SortMemory counting(nullptr);
  lay_out(counting);
  // a path is chosen by what the arrays are like, not by where they are
  alignas(16) static char some_memory[16];
  sort.keys_out.pointer = reinterpret_cast<typename Key::word*>(some_memory);
  sort.values_out.pointer = some_memory;
  const Selection& selection = Entry::select(exec, sort, {}, where);
  const std::size_t bytes = Entry::workspace_bytes(exec, selection, sort);
  auto* const base = static_cast<char*>(store.reserve(exec, counting.used() + bytes + 256));
  SortMemory memory(base);
  lay_out(memory);
  Entry::run(exec, sort, selection, {base + memory.used(), bytes});
  Kokkos::parallel_for("tessera::scatter_add::runs", Range<Space>(exec, 0, n),
                       ScatterAddRuns<T, Index, Position>{reinterpret_cast<const Index*>(sort.keys_out.pointer),
                                                          static_cast<const Position*>(sort.values_out.pointer), n,
                                                          p.x.pointer, p.x.strides[0], p.y.pointer, p.y.strides[0]});
}

template <class T, class Index, class Space>
void run_scatter_add(const Space& exec, const ScatterAddProblem<T, Index>& p, const std::source_location& where) {
  const Region region("tessera::scatter_add[portable]");
  check_indices(exec, "tessera::scatter_add", p.index, p.y.extents[0], where);
  if constexpr (!std::is_integral_v<T>)
    if (p.determinism != Determinism::fast) {
      if (p.x.extents[0] <= index_t{1} << 32)
        scatter_add_in_order<std::uint32_t>(exec, p, where);
      else
        scatter_add_in_order<std::uint64_t>(exec, p, where);
      return;
    }
  static const std::string name = label("scatter_add", "range");
  if constexpr (machine<Space>::is_host)
    if (exec.concurrency() == 1) return scatter_by<AddAt<T, false>>(exec, name, p.x, p.index, p.y);
  scatter_by<AddAt<T, true>>(exec, name, p.x, p.index, p.y);
}

}  // namespace tessera::detail
