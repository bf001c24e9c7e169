// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Compaction on hosts. Each thread counts what is chosen of its stretch of a block, and when the counts are summed
/// copies it; blocks are as long as the caches keep what was read to count. One thread goes over everything once.
/// Chosen elements are gathered in a buffer without a branch, which would be guessed wrong every other time, and
/// nothing is written where no chosen element goes.

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

#include <tessera/core/execution.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/select/job.hpp>

namespace tessera::detail {

/// items[i], for i below `count`, to out[(at + i) * stride], as far as there is room.
template <class Job, class W>
TESSERA_INLINE_FUNCTION void put_stretch(const W* items, index_t count, W* out, index_t stride, index_t at,
                                         index_t room) {
  if (count > room - at) count = room - at;
  if (count <= 0) return;
  if constexpr (Job::access == Access::unit) {
    __builtin_memcpy(out + at, items, static_cast<std::size_t>(count) * sizeof(W));
  } else {
    for (index_t i = 0; i < count; ++i) out[(at + i) * stride] = items[i];
  }
}

/// Counts a stretch of the elements.
template <class Job>
TESSERA_FUNCTION typename Job::Carry count_stretch(const Job& job, index_t begin, index_t end) {
  std::uint64_t all = 0;
  index_t i = begin;
  if (Job::Choosing::compares && i == 0 && i < end) {  // which no loop need ask for
    all = 1;
    i = 1;
  }
  while (i < end) {
    const index_t stop = end - i < 65536 ? end : i + 65536;  // short enough to count in few bits, which vectors like
    std::uint32_t here = 0;
    for (; i < stop; ++i) here += job.choosing.chosen_at(job.x, job.xs, i) ? 1u : 0u;
    all += here;
  }
  std::int64_t last = -1;
  if constexpr (Job::lengths) {
    last = end - 1;
    while (last >= begin && !job.chosen(last)) --last;
  }
  return Job::carry(all, last);
}

/// Moves a stretch that comes after `carry`; gives what is chosen up to its end.
template <class Job>
TESSERA_FUNCTION typename Job::Carry move_stretch(const Job& job, index_t begin, index_t end,
                                                  typename Job::Carry carry) {
  using T = typename Job::Item;
  using W = typename Job::BesideItem;
  constexpr int fitting = 4096 / Job::widest, chunk = fitting < 16 ? 16 : fitting > 1024 ? 1024 : fitting;
  T chosen[chunk];
  T rest[Job::keeps_rest ? chunk : 1];
  W values[Job::Beside::values ? chunk : 1];
  index_t positions[Job::lengths ? chunk : 1];
  for (index_t from = begin; from < end; from += chunk) {
    const int length = static_cast<int>(end - from < chunk ? end - from : chunk);
    int k = 0;
    for (int i = 0; i < length; ++i) {
      const T element = job.x[Job::at(from + i, job.xs)];
      chosen[k] = element;
      if constexpr (Job::keeps_rest) rest[i - k] = element;
      if constexpr (Job::Beside::values) values[k] = job.beside.in[Job::at(from + i, job.beside.is)];
      if constexpr (Job::lengths) positions[k] = from + i;
      k += job.chosen(from + i) ? 1 : 0;
    }
    const index_t before = Job::number(carry);
    put_stretch<Job>(chosen, k, job.y, job.ys, before, job.room);
    if constexpr (Job::keeps_rest)
      put_stretch<Job>(rest, length - k, job.y, job.ys, *job.all + from - before, job.room);
    if constexpr (Job::Beside::values)
      put_stretch<Job>(values, k, job.beside.out, job.beside.os, before, job.beside.room);
    std::int64_t last = -1;
    if constexpr (Job::lengths) {
      last = carry.last;
      for (int j = 0; j < k; ++j) {
        job.beside.put_length(before + j, last, positions[j]);
        last = positions[j];
      }
    }
    carry = Job::join(carry, Job::carry(static_cast<std::uint64_t>(k), last));
  }
  return carry;
}

template <class Job>
struct SelectStretches {
  using Carry = typename Job::Carry;
  Job job;
  index_t first, each;  // of the block, and of one worker
  Carry* of_workers;    // totals, then what comes before
  bool moves;

  KOKKOS_FUNCTION void operator()(index_t worker) const {
    const Job mine = job;
    const index_t from = first + worker * each, begin = from < mine.n ? from : mine.n;
    const index_t end = mine.n - begin < each ? mine.n : begin + each;
    if (moves)
      (void)move_stretch(mine, begin, end, of_workers[worker]);
    else
      of_workers[worker] = count_stretch(mine, begin, end);
  }
};

/// All by one thread.
template <class Job>
struct SelectAlone {
  Job job;
  KOKKOS_FUNCTION void operator()(index_t /*only*/) const {
    Job mine = job;
    index_t all = 0;
    if constexpr (Job::keeps_rest) {
      all = Job::number(count_stretch(mine, 0, mine.n));
      mine.all = &all;
    }
    mine.finish(move_stretch(mine, 0, mine.n, Job::first()));
  }
};

/// Runs a job of n > 0 elements.
template <class Space, class Job>
void run_select_stretches(const Space& exec, const std::string& kernel_label, Job job) {
  using Carry = typename Job::Carry;
  constexpr index_t most = 256, least = 4096;  // workers, and elements of one
  index_t workers = static_cast<index_t>(exec.concurrency());
  workers = workers < most ? workers : most;
  workers = workers < job.n / least ? workers : job.n / least;
  if (workers < 2) {
    Kokkos::parallel_for(kernel_label, Range<Space>(exec, 0, 1), SelectAlone<Job>{job});
    return;
  }
  index_t each = (job.n + workers - 1) / workers;
  if constexpr (!Job::keeps_rest) {  // else the number of all must be known before anything is moved
    // several times a core's own cache: what all share holds it, and threads that others disturb wait less often
    constexpr auto kept = 8 * static_cast<index_t>(machine<Space>::l2_bytes) / Job::Choosing::looked_bytes;
    each = each < kept ? each : kept;
  }
  each = (each + 63) / 64 * 64;
  Carry of_workers[most];
  Carry before = Job::first();
  index_t all = 0;
  job.all = &all;
  for (index_t first = 0; first < job.n; first += workers * each) {
    const auto policy = Range<Space>(exec, 0, workers, Kokkos::ChunkSize(1));
    Kokkos::parallel_for(kernel_label, policy, SelectStretches<Job>{job, first, each, of_workers, false});
    for (index_t w = 0; w < workers; ++w) {
      const Carry total = of_workers[w];
      of_workers[w] = before;
      before = Job::join(before, total);
    }
    all = Job::number(before);
    Kokkos::parallel_for(kernel_label, policy, SelectStretches<Job>{job, first, each, of_workers, true});
  }
  job.finish(before);
}

}  // namespace tessera::detail
