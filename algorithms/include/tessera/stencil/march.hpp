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
template <class T, class Space, class Points, bool UnitStride>
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
          else if (here.far)
            here.far_line(p, q);
          else
            here.near_line(p, q);
        }
      if (far) streaming_fence();
    }
  }

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
    const T* const next = p + su[0] + su[1];
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
