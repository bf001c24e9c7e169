// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <omp.h>
#include <tuple>
#include <vector>

#include <tessera/backends/peers.hpp>

/// \file
/// The compactions that a careful user writes by hand: each thread counts its part, the counts are summed, each thread
/// copies its part.

namespace tessera::peers {
namespace {

/// chosen(i) says which elements are copied, by copy(i, place).
template <class Chosen, class Copy>
Peers two_passes(index_t n, std::int64_t* count, const Chosen& chosen, const Copy& copy) {
  return {{"OpenMP loops", [=] {
             std::vector<index_t> parts(static_cast<std::size_t>(omp_get_max_threads()) + 1);
#pragma omp parallel
             {
               const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
               const index_t begin = n * thread / threads, end = n * (thread + 1) / threads;
               index_t here = 0;
#pragma omp simd reduction(+ : here)
               for (index_t i = begin; i < end; ++i) here += chosen(i) ? 1 : 0;
               parts[static_cast<std::size_t>(thread) + 1] = here;
#pragma omp barrier
               index_t place = 0, all = 0;
               for (int t = 0; t <= thread; ++t) place += parts[static_cast<std::size_t>(t)];
               for (int t = 0; t <= threads; ++t) all += parts[static_cast<std::size_t>(t)];
               const index_t first_rest = all + begin - place;
               copy(begin, end, place, first_rest);
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
      [=](index_t begin, index_t end, index_t place, index_t) {
        for (index_t i = begin; i < end; ++i)
          if (flags[i] != 0) y[place++] = x[i];
      });
}
template <class T>
Peers select_above(const Queue& /*queue*/, index_t n, const T* x, T limit, T* y, std::int64_t* count) {
  return two_passes(
      n, count, [=](index_t i) { return x[i] > limit; },
      [=](index_t begin, index_t end, index_t place, index_t) {
        for (index_t i = begin; i < end; ++i)
          if (x[i] > limit) y[place++] = x[i];
      });
}
template <class T>
Peers partition_flagged(const Queue& /*queue*/, index_t n, const T* x, const std::uint8_t* flags, T* y,
                        std::int64_t* count) {
  return two_passes(
      n, count, [=](index_t i) { return flags[i] != 0; },
      [=](index_t begin, index_t end, index_t place, index_t rest) {
        for (index_t i = begin; i < end; ++i) {
          if (flags[i] != 0)
            y[place++] = x[i];
          else
            y[rest++] = x[i];
        }
      });
}
template <class T>
Peers unique(const Queue& /*queue*/, index_t n, const T* x, T* y, std::int64_t* count) {
  return two_passes(
      n, count, [=](index_t i) { return i == 0 || x[i - 1] != x[i]; },
      [=](index_t begin, index_t end, index_t place, index_t) {
        for (index_t i = begin; i < end; ++i)
          if (i == 0 || x[i - 1] != x[i]) y[place++] = x[i];
      });
}
template <class T>
Peers run_length_encode(const Queue& /*queue*/, index_t n, const T* x, T* y, std::int32_t* lengths,
                        std::int64_t* count) {
  return two_passes(
      n, count, [=](index_t i) { return i == 0 || x[i - 1] != x[i]; },
      [=](index_t begin, index_t end, index_t place, index_t) {
        index_t i = begin;
        while (i < end && i > 0 && x[i - 1] == x[i]) ++i;  // the rest of a run that began earlier
        while (i < end) {
          const index_t first = i++;
          while (i < n && x[i - 1] == x[i]) ++i;  // to its end, wherever that is
          y[place] = x[first];
          lengths[place++] = static_cast<std::int32_t>(i - first);
        }
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
