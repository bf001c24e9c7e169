// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "threads.hpp"
#include <tuple>
#include <vector>

#include <tessera/backends/peers.hpp>

/// \file
/// The compactions that a careful user writes by hand: each thread counts its part, the counts are summed, each thread
/// copies its part. No branch asks whether an element is chosen (it would be guessed wrong every other time): it is
/// written in any case, until the last chosen one has its place.

namespace tessera::peers {
namespace {

/// chosen(i) says which elements are copied, by copy(begin, end, place, last, rest): those of [begin, end) to the
/// places [place, last), and in a partition the others from `rest` on.
template <class Chosen, class Copy>
Peers two_passes(index_t n, std::int64_t* count, const Chosen& chosen, const Copy& copy) {
  return {{"OpenMP loops", [=] {
             std::vector<index_t> parts(static_cast<std::size_t>(max_threads()) + 1);
#pragma omp parallel
             {
               const int thread = thread_number(), threads = threads_here();
               const index_t begin = n * thread / threads, end = n * (thread + 1) / threads;
               index_t here = 0;
#pragma omp simd reduction(+ : here)
               for (index_t i = begin; i < end; ++i) here += chosen(i) ? 1 : 0;
               parts[static_cast<std::size_t>(thread) + 1] = here;
#pragma omp barrier
               index_t place = 0, all = 0;
               for (int t = 0; t <= thread; ++t) place += parts[static_cast<std::size_t>(t)];
               for (int t = 0; t <= threads; ++t) all += parts[static_cast<std::size_t>(t)];
               copy(begin, end, place, place + here, all + begin - place);
               if (thread == 0) *count = all;
             }
           }}};
}

}  // namespace

template <class T>
Peers select_flagged(const Queue& /*queue*/, index_t n, const T* x, const std::uint8_t* flags, T* y,
                     std::int64_t* count) {
  return two_passes(
      n, count, [=](index_t i) { return flags[i] != 0; },
      [=](index_t begin, index_t, index_t place, index_t last, index_t) {
        for (index_t i = begin; place < last; ++i) {
          y[place] = x[i];
          place += flags[i] != 0 ? 1 : 0;
        }
      });
}
template <class T>
Peers select_above(const Queue& /*queue*/, index_t n, const T* x, T limit, T* y, std::int64_t* count) {
  return two_passes(
      n, count, [=](index_t i) { return x[i] > limit; },
      [=](index_t begin, index_t, index_t place, index_t last, index_t) {
        for (index_t i = begin; place < last; ++i) {
          y[place] = x[i];
          place += x[i] > limit ? 1 : 0;
        }
      });
}
template <class T>
Peers partition_flagged(const Queue& /*queue*/, index_t n, const T* x, const std::uint8_t* flags, T* y,
                        std::int64_t* count) {
  return two_passes(
      n, count, [=](index_t i) { return flags[i] != 0; },
      [=](index_t begin, index_t end, index_t place, index_t, index_t rest) {
        for (index_t i = begin; i < end; ++i) {
          const index_t is_chosen = flags[i] != 0 ? 1 : 0;
          y[rest + (place - rest) * is_chosen] = x[i];
          place += is_chosen;
          rest += 1 - is_chosen;
        }
      });
}
template <class T>
Peers unique(const Queue& /*queue*/, index_t n, const T* x, T* y, std::int64_t* count) {
  return two_passes(
      n, count, [=](index_t i) { return i == 0 || x[i - 1] != x[i]; },
      [=](index_t begin, index_t, index_t place, index_t last, index_t) {
        index_t i = begin;
        if (i == 0 && place < last) y[place++] = x[i++];
        for (; place < last; ++i) {
          y[place] = x[i];
          place += x[i - 1] != x[i] ? 1 : 0;
        }
      });
}
template <class T>
Peers run_length_encode(const Queue& /*queue*/, index_t n, const T* x, T* y, std::int32_t* lengths,
                        std::int64_t* count) {
  return two_passes(
      n, count, [=](index_t i) { return i == 0 || x[i - 1] != x[i]; },
      [=](index_t begin, index_t end, index_t place, index_t last, index_t) {
        // y[k] and the places where runs begin, then the lengths between these
        const index_t first = place;
        index_t i = begin;
        if (i == 0 && place < last) {
          y[place] = x[i++];
          lengths[place++] = 0;
        }
        for (; place < last; ++i) {
          y[place] = x[i];
          lengths[place] = static_cast<std::int32_t>(i);
          place += x[i - 1] != x[i] ? 1 : 0;
        }
        if (last == first) return;
        for (index_t k = first; k + 1 < last; ++k) lengths[k] = lengths[k + 1] - lengths[k];
        index_t behind = end;  // the last run, to its end, wherever that is
        while (behind < n && x[behind - 1] == x[behind]) ++behind;
        lengths[last - 1] = static_cast<std::int32_t>(behind - lengths[last - 1]);
      });
}

template <class T>
struct Instantiate {
  static constexpr auto all =
      std::tuple(&select_flagged<T>, &select_above<T>, &partition_flagged<T>, &unique<T>, &run_length_encode<T>);
};
template struct Instantiate<float>;
template struct Instantiate<double>;

}  // namespace tessera::peers
