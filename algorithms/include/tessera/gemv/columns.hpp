// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/execution.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/core/vec.hpp>
#include <tessera/gemv/output.hpp>
#include <tessera/gemv/problem.hpp>
#include <tessera/gemv/split.hpp>

namespace tessera::detail {

/// Columns that are contiguous, or nearly: a team owns a block of rows and walks along the columns, sums of its rows
/// at hand (devices: in registers, groups of threads taking every so manieth column; hosts: in a level-1 buffer,
/// several columns at once). `Packed`: unit stride along the rows, and on devices 16-byte alignment of every column.
template <class T, class Space, bool Packed>
struct GemvColumns {
  using S = product_sum_t<T>;
  /// Told how many threads a team has, device compilers keep all of a lane's loads in flight.
  using Policy =
      Kokkos::TeamPolicy<Space, Kokkos::IndexType<index_t>, Kokkos::LaunchBounds<machine<Space>::team_threads, 2>>;
  using Member = typename Policy::member_type;
  using Scratch = Kokkos::View<S*, typename Space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr bool host = machine<Space>::is_host;
  static constexpr int pack = !Packed ? 1
                              : host  ? machine<Space>::simd_bytes / static_cast<int>(sizeof(S))
                                      : (sizeof(T) <= 2 ? 8 : 16) / static_cast<int>(sizeof(T));
  static constexpr int loads = 8;  ///< columns in flight
  static constexpr index_t host_rows = 8192 / sizeof(S);
  static constexpr index_t ahead = 32;  ///< columns, that are asked for before they are needed
  static constexpr int narrow = 32;     ///< threads side by side along the rows of a large matrix (devices)

  ProductOutput<T> out;
  const T* a;
  const T* x;
  index_t m, n, row_stride, column_stride, x_stride;
  bool conj_x, conj_sum;
  GemvSplit split;
  bool far;  // a is more than the caches hold

  static GemvSplit choose(const Space& exec, const GemvProblem<T>& p) {
    const index_t rows = p.a.extents[0], columns = p.a.extents[1];
    const index_t places = exec.concurrency();
    GemvSplit s;
    if constexpr (host) {
      s.rows = at_most(ceil_div(ceil_div(rows, places), pack) * pack, host_rows);
      s.row_blocks = ceil_div(rows, s.rows);
      if (adds_atomically<T> && s.row_blocks < places)
        s.segments = at_least(at_most(places / s.row_blocks, rows * columns / 65536), 1);
    } else {
      constexpr index_t team = machine<Space>::team_threads;
      s.threads = static_cast<int>(team);
      // threads side by side: all of a team's where rows are enough for every place; few in a small matrix of many
      // rows, so that no row needs several teams, and their additions to y a launch of their own
      const index_t lines = ceil_div(rows, pack), units = places / (8 * team);
      const bool small = rows * columns <= 16 * places && lines >= 2 * units;
      s.lanes = static_cast<int>(lines >= places ? team : power_of_two_below(at_most(2 * lines - 1, narrow)));
      while (small && s.lanes > 4 && lines < units * s.lanes) s.lanes /= 2;
      s.per_row = s.threads / s.lanes;
      s.rows = index_t{s.lanes} * pack;
      s.row_blocks = ceil_div(rows, s.rows);
      const index_t useful = at_least(columns / (2 * loads * s.per_row), 1);
      if (adds_atomically<T> && !small) s.segments = at_least(at_most(places / (s.row_blocks * s.threads), useful), 1);
    }
    s.part = ceil_div(columns, s.segments);
    return s;
  }

  static void launch(const Space& exec, const GemvProblem<T>& p, const GemvSplit& s) {
    const GemvColumns kernel{ProductOutput<T>(p.alpha, p.beta, p.y),
                             p.a.pointer,
                             p.x.pointer,
                             p.a.extents[0],
                             p.a.extents[1],
                             p.a.strides[0],
                             p.a.strides[1],
                             p.x.strides[0],
                             p.a.conj != p.x.conj,
                             p.a.conj,
                             s,
                             gemv_far(exec, p)};
    Kokkos::parallel_for(
        Packed ? "tessera::gemv::columns" : "tessera::gemv::columns_strided",
        Policy(exec, s.league(), s.threads)
            .set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(static_cast<std::size_t>(held_sums(s))))),
        kernel);
  }

  /// Sums in scratch: none where a thread has its rows to itself.
  [[nodiscard]] TESSERA_INLINE_FUNCTION static index_t held_sums(const GemvSplit& s) {
    return host || s.per_row > 1 ? s.rows * s.per_row : 0;
  }

  TESSERA_INLINE_FUNCTION void operator()(const Member& team) const {
    const S alpha = S(out.alpha.get()), beta = S(out.beta.get());
    const index_t items = split.row_blocks * split.segments;
    const Scratch sums(team.team_scratch(0), held_sums(split));
    for (index_t item = team.league_rank(); item < items; item += team.league_size()) {
      const index_t segment = split.segments == 1 ? 0 : item % split.segments;
      const index_t first = (split.segments == 1 ? item : item / split.segments) * split.rows;
      const index_t begin = segment * split.part;
      const index_t end = alpha == S{} ? begin : begin + split.part < n ? begin + split.part : n;
      const index_t count = m - first < split.rows ? m - first : split.rows;
      if constexpr (host) {
        if (far)
          add_columns<true>(sums.data(), first, count, begin, end);
        else
          add_columns<false>(sums.data(), first, count, begin, end);
        for (index_t i = 0; i < count; ++i) write(first + i, alpha, beta, sums(i));
      } else {
        const int across = split.lanes;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, split.threads), [&](int thread) {
          const int group = thread / across, place = thread % across * pack;
          S sum[pack] = {};
          walk(sum, first + place, begin + group, end);
          for (int i = 0; i < pack; ++i)
            if (split.per_row > 1)
              sums(group * split.rows + place + i) = sum[i];
            else if (place + i < count)
              write(first + place + i, alpha, beta, sum[i]);
        });
        if (split.per_row == 1) continue;
        team.team_barrier();
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](index_t i) {
          S sum{};
          for (int g = 0; g < split.per_row; ++g) sum += sums(g * split.rows + i);
          write(first + i, alpha, beta, sum);
        });
        team.team_barrier();
      }
    }
  }

  TESSERA_INLINE_FUNCTION void write(index_t row, const S& alpha, const S& beta, S sum) const {
    if constexpr (is_complex_v<T>)
      if (conj_sum) sum = conj_value(sum);
    if (split.segments == 1)
      out.store(row, alpha, beta, sum);
    else
      out.add(row, alpha * sum);
  }

  [[nodiscard]] TESSERA_INLINE_FUNCTION S factor(index_t j) const {
    if constexpr (is_complex_v<T>) {
      const T v = x[j * x_stride];
      return conj_x ? conj_value(v) : v;
    } else {
      return S(x[j * x_stride]);
    }
  }

  /// Devices: `pack` rows of a thread over the columns j, j + per_row, ...
  TESSERA_INLINE_FUNCTION void walk(S (&sum)[pack], index_t row, index_t j, index_t end) const {
    const index_t step = split.per_row;
    if (row + pack <= m) {
      const T* const p = a + row * row_stride;
      for (; j + (loads - 1) * step < end; j += loads * step) add_loads<loads>(sum, p, j, step);
      for (; j < end; j += step) add_loads<1>(sum, p, j, step);
    } else {
      for (int i = 0; i < pack; ++i)
        if (row + i < m)
          for (index_t k = j; k < end; k += step)
            sum[i] += S(a[(row + i) * row_stride + k * column_stride]) * factor(k);
    }
  }
  template <int Loads>
  TESSERA_INLINE_FUNCTION void add_loads(S (&sum)[pack], const T* p, index_t j, index_t step) const {
    vec<T, pack> av[Loads];
    S xv[Loads];
    for (int l = 0; l < Loads; ++l) {
      if constexpr (Packed)
        av[l] = vec<T, pack>::load_aligned(p + (j + l * step) * column_stride);
      else
        av[l].set(0, p[(j + l * step) * column_stride]);
      xv[l] = factor(j + l * step);
    }
    for (int l = 0; l < Loads; ++l)
      for (int i = 0; i < pack; ++i) sum[i] += S(av[l][i]) * xv[l];
  }

  /// Hosts: rows first to first + count over the columns begin to end, `loads` columns at once.
  template <bool Far>
  TESSERA_INLINE_FUNCTION void add_columns(S* __restrict__ sums, index_t first, index_t count, index_t begin,
                                           index_t end) const {
    const T* const p = a + first * row_stride;
    for (index_t i = 0; i < count; ++i) sums[i] = S{};
    index_t j = begin;
    for (; j + loads <= end; j += loads) add_group<loads, Far>(sums, p + j * column_stride, count, j);
    if constexpr (loads > 4)
      for (; j + 4 <= end; j += 4) add_group<4, Far>(sums, p + j * column_stride, count, j);
    for (; j < end; ++j) add_group<1, Far>(sums, p + j * column_stride, count, j);
  }
  template <int Columns, bool Far>
  TESSERA_INLINE_FUNCTION void add_group(S* __restrict__ sums, const T* p, index_t count, index_t j) const {
    S xv[Columns];
    for (int l = 0; l < Columns; ++l) xv[l] = factor(j + l);
    if constexpr (Packed) {
      index_t i = 0;
      add_lanes<Columns, Far, pack>(sums, p, i, count, xv);
    } else {
      for (index_t i = 0; i < count; ++i) {
        S sum = sums[i];
        for (int l = 0; l < Columns; ++l) sum += S(p[l * column_stride + i * row_stride]) * xv[l];
        sums[i] = sum;
      }
    }
  }
  /// Rows from i on by vectors of Width, what is left by narrower ones.
  template <int Columns, bool Far, int Width>
  TESSERA_INLINE_FUNCTION void add_lanes(S* __restrict__ sums, const T* p, index_t& i, index_t count,
                                         const S* xv) const {
    using V = vec<S, Width>;
    if (i + Width <= count) {
      V factors[Columns];
      for (int l = 0; l < Columns; ++l) factors[l] = V(xv[l]);
      for (; i + Width <= count; i += Width) {
        V sum = V::load(sums + i);
        for (int l = 0; l < Columns; ++l) {
          if constexpr (Far) prefetch(p + (ahead + l) * column_stride + i);
          sum = fma(factors[l], convert<S>(vec<T, Width>::load(p + l * column_stride + i)), sum);
        }
        sum.store(sums + i);
      }
    }
    if constexpr (Width > 1) add_lanes<Columns, Far, Width / 2>(sums, p, i, count, xv);
  }
};

}  // namespace tessera::detail
