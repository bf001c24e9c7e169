// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How the level-1 kernels go over their elements, written once: a worker walks its share of an index range by whole
/// vectors, several in flight, then what is left one by one. On hosts a worker is a thread and its share one stretch
/// of memory; on devices it is one of very many threads, and neighbours take neighbouring vectors.

#include <Kokkos_Core.hpp>

#include <tessera/core/machine.hpp>
#include <tessera/core/vec.hpp>

namespace tessera::detail {

/// unit: stride 1, and on devices aligned for the widest load. strided: anything, element by element.
enum class Access { unit, strided };

/// Elements of T that a kernel moves at once where it computes in lanes of Wide.
template <class Space, class T, class Wide, Access access>
inline constexpr int lanes_of = access == Access::strided ? 1
                                : machine<Space>::is_host ? machine<Space>::simd_bytes / static_cast<int>(sizeof(Wide))
                                                          : 16 / static_cast<int>(sizeof(T));

/// Vectors in flight in one worker: enough to cover the latency of memory (devices) or of sums (hosts).
inline constexpr int in_flight = 4;

/// How far ahead hosts ask for operands that no cache holds: less than a page, so that what is stored meanwhile lies
/// elsewhere in a cache.
template <class T>
inline constexpr index_t asked_ahead = 2048 / sizeof(T);

template <class Space, class T>
bool unit_access(const T* pointer, index_t stride) {
  return stride == 1 && (machine<Space>::is_host || reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0);
}

template <class Space, Access access, int N, class T>
TESSERA_INLINE_FUNCTION vec<T, N> fetch(const T* p, index_t stride, index_t i) {
  if constexpr (access == Access::strided)
    return vec<T, N>::load_strided(p + i * stride, stride);
  else if constexpr (machine<Space>::is_host)
    return vec<T, N>::load(p + i);
  else
    return vec<T, N>::load_aligned(p + i);
}
template <class Space, Access access, int N, class T>
TESSERA_INLINE_FUNCTION void put(const vec<T, N>& v, T* p, index_t stride, index_t i) {
  if constexpr (access == Access::strided)
    v.store_strided(p + i * stride, stride);
  else if constexpr (machine<Space>::is_host)
    v.store(p + i);
  else
    v.store_aligned(p + i);
}

/// Vectors first, first + step, ... of [begin, begin + length).
struct Share {
  index_t begin, length, first, step;
};

/// Share of one of `workers` workers of [0, n).
template <class Space>
TESSERA_INLINE_FUNCTION Share share_of(index_t worker, index_t workers, index_t n) {
  if constexpr (machine<Space>::is_host) {
    // whole cache lines, so that no two threads write one
    const index_t chunk = ((n + workers - 1) / workers + 63) / 64 * 64;
    const index_t begin = worker * chunk < n ? worker * chunk : n;
    return {begin, n - begin < chunk ? n - begin : chunk, 0, 1};
  } else {
    return {0, n, worker, workers};
  }
}

/// How many workers fill the space for n elements of which each takes at least `least`.
template <class Space>
index_t worker_count(const Space& exec, index_t n, index_t least) {
  index_t wanted = (n + least - 1) / least;
  if constexpr (machine<Space>::is_host) {
    const auto threads = static_cast<index_t>(exec.concurrency());
    wanted = wanted < threads ? wanted : threads;
  }
  return wanted < 1 ? 1 : wanted;
}

/// Body: group<U>(i, step) takes U vectors of N elements that start at i, i + step, ...; single(i) takes one element.
/// Vectors come in the order of the share's index, which bodies may count.
template <int N, class Body>
TESSERA_INLINE_FUNCTION void walk(const Share& s, Body& body) {
  const index_t vectors = s.length / N;
  index_t v = s.first;
  for (; v + (in_flight - 1) * s.step < vectors; v += in_flight * s.step)
    body.template group<in_flight>(s.begin + v * N, s.step * N);
  for (; v < vectors; v += s.step) body.template group<1>(s.begin + v * N, 0);
  for (index_t i = vectors * N + s.first; i < s.length; i += s.step) body.single(s.begin + i);
}

template <int N, class Body>
TESSERA_INLINE_FUNCTION void walk_remainder(const Share& s, Body& body) {
  index_t taken = 0;
  if (s.length >= N) {
    body.template group<1, N>(s.begin, 0);
    taken = N;
  }
  if constexpr (N > 1) walk_remainder<N / 2>(Share{s.begin + taken, s.length - taken, 0, 1}, body);
}

/// The same for bodies whose group<U, N>(i, step) takes vectors of any N: on hosts, what is left after whole vectors
/// goes by ever smaller ones.
template <class Space, int N, class Body>
TESSERA_INLINE_FUNCTION void walk_pieces(const Share& s, Body& body) {
  const index_t vectors = s.length / N;
  index_t v = s.first;
  for (; v + (in_flight - 1) * s.step < vectors; v += in_flight * s.step)
    body.template group<in_flight, N>(s.begin + v * N, s.step * N);
  for (; v < vectors; v += s.step) body.template group<1, N>(s.begin + v * N, 0);
  if constexpr (N > 1) {
    const Share rest{s.begin + vectors * N, s.length - vectors * N, s.first, s.step};
    if constexpr (machine<Space>::is_host)
      walk_remainder<N / 2>(rest, body);
    else
      for (index_t i = rest.first; i < rest.length; i += rest.step) body.template group<1, 1>(rest.begin + i, 0);
  }
}

/// The lanes of a vector as real numbers: pairs for complex ones.
template <class T, int N>
TESSERA_INLINE_FUNCTION const auto& parts_of(const vec<T, N>& v) {
  if constexpr (is_complex_v<T>)
    return v.parts;
  else
    return v;
}

/// The type in which level-1 sums run: fp64 for floats, 64 bits for integers.
template <class T>
struct SumType {
  using type = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;
};
template <class T>
  requires(is_complex_v<T>)
struct SumType<T> : SumType<typename T::value_type> {};
/// Always real: complex numbers are summed by parts.
template <class T>
using sum_t = typename SumType<T>::type;

}  // namespace tessera::detail
