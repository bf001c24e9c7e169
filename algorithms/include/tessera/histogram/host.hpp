// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Histograms on host threads: each thread counts its stretch of the values in tables of its own and adds them up at
/// the end. Slots of a block of values are found first, in vectors where that goes, then counted.

#include <cstring>

#include <tessera/core/execution.hpp>
#include <tessera/histogram/bins.hpp>
#include <tessera/level1/walk.hpp>

namespace tessera::detail {

struct HostHistogramShape {
  static constexpr int words = (1 << 16) + 64;  // of a thread's tables, on its stack: 16-bit images have 2^16 bins
  static constexpr int tables = 4;              // small ones, since equal slots in a row wait for one another's counts
  static constexpr int block = 512;
  static constexpr index_t least = 1 << 14;           // values of a thread
  static constexpr index_t piece = index_t{1} << 30;  // 32 bits count so far
};

template <class T, class Space, class Bins>
struct HistogramStretch {
  using Shape = HostHistogramShape;
  const T* x;
  index_t stride, n, workers;
  Bins bins;
  HistogramSink sink;

  void operator()(index_t worker) const {
    const Share share = share_of<Space>(worker, workers, n);
    if (bins.bins > Shape::words - HistogramSlots::count) {
      for_each_block(share.begin, share.begin + share.length, [&](const int* slot, int m) {
        for (int k = 0; k < m; ++k) add(slot[k], 1);
      });
      return;
    }
    std::uint32_t table[Shape::words];
    const int slots = bins.bins + HistogramSlots::count;
    const int tables = slots * Shape::tables <= Shape::words / 8 ? Shape::tables : 1;
    const int pitch = tables > 1 ? slots : 0;
    for (index_t done = 0; done < share.length; done += Shape::piece) {
      const index_t rest = share.length - done;
      const index_t begin = share.begin + done, end = begin + (rest < Shape::piece ? rest : Shape::piece);
      std::memset(table, 0, sizeof(std::uint32_t) * static_cast<std::size_t>(slots) * static_cast<std::size_t>(tables));
      for_each_block(begin, end, [&](const int* slot, int m) {
        int k = 0;
        for (; k + Shape::tables <= m; k += Shape::tables)
          for (int t = 0; t < Shape::tables; ++t) ++table[t * pitch + slot[k + t]];
        for (; k < m; ++k) ++table[slot[k]];
      });
      for (int i = 0; i < slots; ++i) {
        std::uint64_t sum = 0;
        for (int t = 0; t < tables; ++t) sum += table[t * slots + i];
        if (sum != 0) add(i, sum);
      }
    }
  }

 private:
  void add(int slot, std::uint64_t amount) const {
    if (workers == 1)
      sink.add<false>(slot, amount);
    else
      sink.add(slot, amount);
  }
  template <class F>
  void for_each_block(index_t begin, index_t end, const F& f) const {
    int slot[Shape::block];
    T gathered[Shape::block];
    for (index_t i = begin; i < end; i += Shape::block) {
      const int m = end - i < Shape::block ? static_cast<int>(end - i) : Shape::block;
      const T* from = x + i;
      if (stride != 1) {
        for (int k = 0; k < m; ++k) gathered[k] = x[(i + k) * stride];
        from = gathered;
      }
      bins.slots(from, m, slot);
      f(slot, m);
    }
  }
};

template <class T, class Space, class Bins>
void histogram_on_host(const Space& exec, const HistogramProblem<T>& p, const Bins& bins, const HistogramSink& sink) {
  const index_t n = p.x.extents[0];
  // adding a thread's table costs as much as counting some values
  const index_t least = HostHistogramShape::least > bins.bins ? HostHistogramShape::least : bins.bins;
  const index_t workers = worker_count(exec, n, least);
  Kokkos::parallel_for(
      "tessera::histogram::count", Range<Space>(exec, 0, workers, Kokkos::ChunkSize(1)),
      HistogramStretch<T, Space, Bins>{p.x.pointer, n > 1 ? p.x.strides[0] : 1, n, workers, bins, sink});
}

}  // namespace tessera::detail
