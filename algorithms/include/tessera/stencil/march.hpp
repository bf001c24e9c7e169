// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include <tessera/core/execution.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/core/vec.hpp>
#include <tessera/stencil/points.hpp>
#include <tessera/stencil/problem.hpp>

/// \file
/// The stencil kernel of hosts. Dimension 2 is the one of shortest stride, 0 of longest. A team owns a tile of
/// dimension 1 and walks along dimension 0, so that a plane that was read for one output plane is still close for the
/// next two.

namespace tessera::detail {

/// Whole lines of dimension 2 by one thread, in vectors where it is contiguous.
/// ByDistance: the 27 coefficients are four, those of the distance from the centre. Then the nine lines are added up
/// point by point, with the weights of the point itself and with those of its neighbours in the line, and a result is
/// the one sum at k and the other ones at k - 1 and k + 1: nine loads a point instead of 27.
template <class T, class Space, class Points, bool UnitStride, bool ByDistance = false>
struct StencilMarch : StencilOperands<T> {
  using StencilOperands<T>::u, StencilOperands<T>::v, StencilOperands<T>::n0, StencilOperands<T>::n1,
      StencilOperands<T>::n2, StencilOperands<T>::su, StencilOperands<T>::sv;
  using A = accumulator_t<T>;
  using Member = typename Teams<Space>::member_type;
  /// Three planes of a tile stay in a last-level cache's share of a core; longer tiles prefetch better.
  static constexpr index_t near_bytes = 4 << 20;

  index_t tile1, tiles1, chunks, planes;  // rows of a tile; planes: outputs in dimension 0 of a chunk
  bool far;
  A coefficients[27];

  explicit StencilMarch(const StencilProblem<T>& p) : StencilOperands<T>(p) {}
  /// `far`: u and v are more than the caches hold.
  static void launch(const Space& exec, const StencilProblem<T>& p, const char* name, bool far) {
    if constexpr (Points::has(0, 0, 0) && UnitStride && !ByDistance) {
      bool equal = true;
      for (int n = 0; n < 27; ++n) equal = equal && p.coefficients[n] == p.coefficients[at_distance[distance(n)]];
      if (equal) return StencilMarch<T, Space, Points, UnitStride, true>::launch(exec, p, name, far);
    }
    StencilMarch k(p);
    k.far = far;
    for (int n = 0; n < 27; ++n) k.coefficients[n] = p.coefficients[n];
    const index_t inner = k.n0 - 2;
    const index_t near = near_bytes / (3 * k.n2 * static_cast<index_t>(sizeof(T)));
    k.tile1 = near < 16 ? 16 : near < k.n1 - 2 ? near : k.n1 - 2;
    k.tiles1 = (k.n1 - 2 + k.tile1 - 1) / k.tile1;
    // a thread gets planes that follow each other, or rows where there are few planes
    const index_t workers = exec.concurrency();
    k.chunks = inner < workers ? inner : workers;
    k.planes = (inner + k.chunks - 1) / k.chunks;
    const index_t total = k.chunks * k.tiles1;
    constexpr index_t most = index_t{1} << 30;
    Kokkos::parallel_for(
        name, Teams<Space>(exec, static_cast<int>(total < most ? total : most), machine<Space>::team_threads), k);
  }

  TESSERA_INLINE_FUNCTION void operator()(const Member& team) const {
    const index_t total = chunks * tiles1;
    for (index_t t = team.league_rank(); t < total; t += team.league_size()) {
      const index_t chunk = t / tiles1, tile = t % tiles1;
      const index_t first0 = 1 + chunk * planes;
      const index_t last0 = first0 + planes < n0 - 1 ? first0 + planes : n0 - 1;
      const index_t first1 = 1 + tile * tile1;
      const index_t last1 = first1 + tile1 < n1 - 1 ? first1 + tile1 : n1 - 1;
      const StencilMarch here = *this;  // which no store to v can change
      for (index_t i = first0; i < last0; ++i)
        for (index_t j = first1; j < last1; ++j) {
          const T* const p = u + i * su[0] + j * su[1];
          T* const q = v + i * sv[0] + j * sv[1];
          if constexpr (!UnitStride)
            here.strided_line(p, q);
          else if (here.n2 - 2 < lanes)
            here.template pieces<lanes / 2>(p, q);
          else if (ByDistance)
            here.line_of_sums(p, q);
          else if (here.far)
            here.far_line(p, q);
          else
            here.near_line(p, q);
        }
      if (far) streaming_fence();
    }
  }

  /// Steps from the centre to neighbour n, and a neighbour for each number of them.
  TESSERA_FUNCTION static constexpr int distance(int n) {
    return (n / 9 != 1 ? 1 : 0) + (n / 3 % 3 != 1 ? 1 : 0) + (n % 3 != 1 ? 1 : 0);
  }
  static constexpr int at_distance[4] = {13, 14, 17, 26};

  /// Adds neighbour n of the points that p begins to their sums; chains of them, so that a sum is not one long wait.
  template <int n, int N>
  TESSERA_INLINE_FUNCTION void add(const T* p, index_t s2, vec<A, N> (&sums)[3]) const {
    if constexpr (Points::has(n / 9, n / 3 % 3, n % 3)) {
      auto& sum = sums[(n / 9 + n / 3 + n) % 3];
      p += (n / 9 - 1) * su[0] + (n / 3 % 3 - 1) * su[1] + (n % 3 - 1) * s2;
      sum = fma(vec<A, N>(coefficients[n]), convert<A>(vec<T, N>::load(p)), sum);
    }
  }
  /// Points k ... k + N - 1 of the line whose point 0 is p; `s2` is 1 where N is more.
  template <int N, int... n>
  TESSERA_INLINE_FUNCTION vec<T, N> points(const T* p, index_t k, index_t s2, std::integer_sequence<int, n...>) const {
    vec<A, N> sums[3] = {vec<A, N>(A{}), vec<A, N>(A{}), vec<A, N>(A{})};
    (add<n>(p + k * s2, s2, sums), ...);
    return convert<T>((sums[0] + sums[1]) + sums[2]);
  }
  template <int N>
  TESSERA_INLINE_FUNCTION vec<T, N> points(const T* p, index_t k, index_t s2 = 1) const {
    return points<N>(p, k, s2, std::make_integer_sequence<int, 27>());
  }
  static constexpr int lanes = machine<Space>::simd_bytes / static_cast<int>(sizeof(A));

  /// All of dimension 2 at one (i, j).
  TESSERA_INLINE_FUNCTION void strided_line(const T* __restrict__ p, T* __restrict__ q) const {
    for (index_t k = 1; k < n2 - 1; ++k) q[k * sv[2]] = points<1>(p, k, su[2])[0];
  }

  /// The same by vectors of N and smaller.
  template <int N>
  TESSERA_INLINE_FUNCTION void pieces(const T* __restrict__ p, T* __restrict__ q, index_t k = 1) const {
    for (; k + N <= n2 - 1; k += N) points<N>(p, k).store(q + k);
    if constexpr (N > 1) pieces<N / 2>(p, q, k);
  }

  /// How many points from 1 on lie before the first vector of v that does not straddle lines of cache.
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t head(const T* q) const {
    const auto past = (reinterpret_cast<std::uintptr_t>(q + 1) / sizeof(T)) % lanes;
    return past == 0 ? 0 : lanes - static_cast<index_t>(past);
  }

  /// Vectors overlap at both ends, where some points are computed twice.
  TESSERA_INLINE_FUNCTION void near_line(const T* __restrict__ p, T* __restrict__ q) const {
    const index_t end = n2 - 1;
    points<lanes>(p, 1).store(q + 1);
    for (index_t k = 1 + head(q); k + lanes <= end; k += lanes) points<lanes>(p, k).store(q + k);
    points<lanes>(p, end - lanes).store(q + end - lanes);
  }

  /// The line of the next plane that the next row will be the first to read; it need not exist.
  [[nodiscard]] TESSERA_INLINE_FUNCTION const T* next_line(const T* p) const {
    return p + su[0] + (Points::has(2, 2, 1) ? 2 : 1) * su[1];
  }

  static constexpr index_t part = 64 * lanes;  // points of a line whose sums wait in a level-1 cache

  /// The sums of the nine lines at N points from p on, with the weights of the points and of their neighbours.
  template <int N>
  TESSERA_INLINE_FUNCTION void sums_at(const T* p, A* own, A* beside) const {
    using V = vec<A, N>;
    const auto at = [&](int i, int j) { return convert<A>(vec<T, N>::load(p + i * su[0] + j * su[1])); };
    const auto weight = [&](int d) { return V(coefficients[at_distance[d]]); };
    const V centre = at(0, 0);
    const V sides = (at(-1, 0) + at(1, 0)) + (at(0, -1) + at(0, 1));
    const V corners = (at(-1, -1) + at(-1, 1)) + (at(1, -1) + at(1, 1));
    fma(weight(2), corners, fma(weight(1), sides, weight(0) * centre)).store(own);
    fma(weight(3), corners, fma(weight(2), sides, weight(1) * centre)).store(beside);
  }
  template <int N>
  TESSERA_INLINE_FUNCTION static vec<T, N> result_at(const A* own, const A* beside) {
    using V = vec<A, N>;
    return convert<T>(V::load(own) + (V::load(beside - 1) + V::load(beside + 1)));
  }

  TESSERA_INLINE_FUNCTION void line_of_sums(const T* __restrict__ p, T* __restrict__ q) const {
    A own[part + 2 * lanes], beside[part + 2 * lanes];
    const T* const next = next_line(p);
    const index_t end = n2 - 1;
    // parts begin where a vector of v does not straddle lines of cache, but for the first
    for (index_t begin = 1, length = head(q) == 0 ? part : head(q); begin < end; begin += length, length = part) {
      const index_t count = begin + length < end ? length : end - begin;
      // of points begin - 1 ... begin + count
      index_t k = 0;
      for (; k + lanes <= count + 2; k += lanes) {
        if (far) prefetch(next + begin - 1 + k);
        sums_at<lanes>(p + begin - 1 + k, own + k, beside + k);
      }
      for (; k < count + 2; ++k) sums_at<1>(p + begin - 1 + k, own + k, beside + k);
      for (k = 0; k + lanes <= count; k += lanes) {
        const auto v = result_at<lanes>(own + 1 + k, beside + 1 + k);
        if (sizeof(v) == machine<Space>::simd_bytes && far && length == part)
          v.store_streaming(q + begin + k);
        else
          v.store(q + begin + k);
      }
      for (; k < count; ++k) result_at<1>(own + 1 + k, beside + 1 + k).store(q + begin + k);
    }
  }

  /// `count` elements, fewer than 2 N, in a few moves.
  template <int N>
  TESSERA_INLINE_FUNCTION static void copy_few(const T* from, T* to, index_t count) {
    if ((count & N) != 0) {
      vec<T, N>::load(from).store(to);
      from += N;
      to += N;
    }
    if constexpr (N > 1) copy_few<N / 2>(from, to, count);
  }
  /// Lanes first ... last - 1 of v, fewer than all, to the same places from q on.
  TESSERA_INLINE_FUNCTION static void store_lanes(const vec<T, lanes>& v, T* q, index_t first, index_t last) {
    T lane[lanes];
    v.store(lane);
    copy_few<lanes / 2>(lane + first, q + first, last - first);
  }

  /// The next line of the plane that is read first is asked for meanwhile, and v does not pass through the caches: no
  /// line of it is stored to twice but at the ends.
  TESSERA_INLINE_FUNCTION void far_line(const T* __restrict__ p, T* __restrict__ q) const {
    const T* const next = next_line(p);
    const index_t end = n2 - 1, first = head(q);
    if (first != 0) store_lanes(points<lanes>(p, 1), q + 1, 0, first < end - 1 ? first : end - 1);
    index_t k = 1 + first;
    for (; k + lanes <= end; k += lanes) {
      prefetch(next + k);
      const auto v = points<lanes>(p, k);
      if constexpr (sizeof(v) == machine<Space>::simd_bytes)
        v.store_streaming(q + k);
      else
        v.store(q + k);
    }
    if (k < end) store_lanes(points<lanes>(p, end - lanes), q + end - lanes, lanes - (end - k), lanes);
  }
};

}  // namespace tessera::detail
