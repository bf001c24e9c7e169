// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/execution.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/core/vec.hpp>
#include <tessera/gemv/output.hpp>
#include <tessera/gemv/problem.hpp>
#include <tessera/gemv/split.hpp>

namespace tessera::detail {

/// Sums of `Rows` rows, as one value of a reduction.
template <class S, int Rows>
struct GemvSums {
  S sum[Rows] = {};
  TESSERA_INLINE_FUNCTION GemvSums& operator+=(const GemvSums& other) {
    for (int r = 0; r < Rows; ++r) sum[r] += other.sum[r];
    return *this;
  }
};

}  // namespace tessera::detail

template <class S, int Rows>
struct Kokkos::reduction_identity<tessera::detail::GemvSums<S, Rows>> {
  KOKKOS_FORCEINLINE_FUNCTION static tessera::detail::GemvSums<S, Rows> sum() { return {}; }
};

namespace tessera::detail {

/// Rows that are contiguous, or nearly: each is a dot product with x, read by the lanes of a thread, or of several
/// threads where rows are few. On devices a thread sums `AtOnce` rows, so that it reads x once for them all.
/// `Packed`: unit strides, and on devices 16-byte alignment of every row and of x.
template <class T, class Space, bool Packed, int AtOnce>
struct GemvRows {
  using S = product_sum_t<T>;
  /// Told how many threads a team has, device compilers keep all of a lane's loads in flight.
  using Policy =
      Kokkos::TeamPolicy<Space, Kokkos::IndexType<index_t>, Kokkos::LaunchBounds<machine<Space>::team_threads, 2>>;
  using Member = typename Policy::member_type;
  using Scratch = Kokkos::View<S*, typename Space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr bool host = machine<Space>::is_host;
  /// Elements a lane loads at once, and loads in flight.
  static constexpr int pack = !Packed ? 1
                              : host  ? machine<Space>::simd_bytes / static_cast<int>(sizeof(S))
                                      : 16 / static_cast<int>(sizeof(T));
  static constexpr int loads = host || AtOnce == 1 ? 4 : 8 / AtOnce;
  using Sums = GemvSums<S, AtOnce>;
  static_assert(!host || AtOnce == 1);

  ProductOutput<T> out;
  const T* a;
  const T* x;
  index_t m, n, row_stride, column_stride, x_stride;
  bool conj_x, conj_sum;  // sum conj(a) x = conj(sum a conj(x))
  GemvSplit split;
  bool far;  // a is more than the caches hold

  static GemvSplit choose(const Space& exec, const GemvProblem<T>& p) {
    const index_t rows = p.a.extents[0], columns = p.a.extents[1];
    const index_t places = exec.concurrency();
    GemvSplit s;
    if constexpr (host) {
      s.rows = at_most(at_least(ceil_div(rows, places), 1), 64);
      // few long rows: the threads share each
      if (adds_atomically<T> && rows < places) s.segments = at_least(at_most(places / rows, columns / 16384), 1);
      s.part = ceil_div(columns, s.segments);
    } else {
      constexpr index_t warp = machine<Space>::warp_width, team = machine<Space>::team_threads;
      s.lanes =
          static_cast<int>(at_most(power_of_two_below(at_least(columns / ((AtOnce == 1 ? 2 : 4) * pack), 1)), warp));
      s.threads = static_cast<int>(team / s.lanes);
      const index_t turn = index_t{pack} * loads * s.lanes;  // columns that the lanes have in flight
      const index_t groups = ceil_div(rows, AtOnce);
      // the threads of a team share rows where a lane still goes round a few times; several teams do where rows are few
      const index_t wanted = ceil_div(places, groups * s.lanes), useful = at_least(columns / (4 * turn), 1);
      s.per_row = static_cast<int>(power_of_two_below(at_most(useful, s.threads)));
      const index_t spread = at_least(wanted / s.per_row, 1);
      if (adds_atomically<T>) s.segments = at_least(at_most(spread, useful / s.per_row), 1);
      s.rows = s.threads / s.per_row * AtOnce;
      const index_t step = index_t{pack} * s.lanes;
      s.part = ceil_div(ceil_div(columns, s.segments * s.per_row), step) * step;
    }
    s.row_blocks = ceil_div(rows, s.rows);
    return s;
  }

  static void launch(const Space& exec, const GemvProblem<T>& p, const GemvSplit& s) {
    const GemvRows kernel{ProductOutput<T>(p.alpha, p.beta, p.y),
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
    Kokkos::parallel_for(Packed ? "tessera::gemv::rows" : "tessera::gemv::rows_strided",
                         Policy(exec, s.league(), s.threads, s.lanes)
                             .set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size(s.threads * AtOnce))),
                         kernel);
  }

  TESSERA_INLINE_FUNCTION void operator()(const Member& team) const {
    const S alpha = S(out.alpha.get()), beta = S(out.beta.get());
    const int lanes = host ? 1 : split.lanes;
    const int per_row = host ? 1 : split.per_row;
    const index_t items = split.row_blocks * split.segments;
    const Scratch partial(team.team_scratch(0), split.threads * AtOnce);
    const int groups = static_cast<int>(split.rows) / AtOnce;
    for (index_t item = team.league_rank(); item < items; item += team.league_size()) {
      const index_t segment = split.segments == 1 ? 0 : item % split.segments;
      const index_t first = (split.segments == 1 ? item : item / split.segments) * split.rows;
      if constexpr (Packed && host) {
        if (alpha != S{}) {
          if (far)
            host_rows<true>(first, segment, alpha, beta);
          else
            host_rows<false>(first, segment, alpha, beta);
          continue;
        }
      }
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, groups * per_row), [&](int t) {
        const index_t row = first + index_t{t / per_row} * AtOnce;
        const index_t begin = (segment * per_row + t % per_row) * split.part;
        const index_t end = begin + split.part < n ? begin + split.part : n;
        Sums sums;
        if (row < m && alpha != S{})
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, lanes),
              [&](int lane, Sums& s) {
                if constexpr (AtOnce == 1)
                  s.sum[0] += lane_sum(a + row * row_stride, begin, end, lane, lanes);
                else
                  s += lane_sums(row, begin, end, lane, lanes);
              },
              sums);
        Kokkos::single(Kokkos::PerThread(team), [&] {
          for (int r = 0; r < AtOnce; ++r)
            if (per_row > 1)
              partial(t * AtOnce + r) = sums.sum[r];
            else if (row + r < m)
              write(row + r, alpha, beta, sums.sum[r]);
        });
      });
      if (per_row > 1) {
        team.team_barrier();
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, groups * AtOnce), [&](int r) {
          S sum{};
          for (int w = 0; w < per_row; ++w) sum += partial((r / AtOnce * per_row + w) * AtOnce + r % AtOnce);
          if (first + r < m) write(first + r, alpha, beta, sum);
        });
        team.team_barrier();
      }
    }
  }

  /// Rows at once: as many streams of memory, and loads of x shared.
  static constexpr int together = machine<Space>::vector_registers >= 32 ? 4 : 2;

  /// The rows of a block; from memory several at once, where they are so long that each is a stream of its own.
  template <bool Far>
  TESSERA_INLINE_FUNCTION void host_rows(index_t first, index_t segment, const S& alpha, const S& beta) const {
    const index_t begin = segment * split.part, end = at_most(begin + split.part, n);
    const index_t last = at_most(first + split.rows, m);
    index_t row = first;
    if (Far && (end - begin) * static_cast<index_t>(sizeof(T)) > 4096)
      for (; row + together <= last; row += together) {
        S sums[together];
        sums_of_rows<together, Far>(a + row * row_stride, begin, end, sums);
        for (int r = 0; r < together; ++r) write(row + r, alpha, beta, sums[r]);
      }
    for (; row < last; ++row) {
      S sum[1];
      sums_of_rows<1, Far>(a + row * row_stride, begin, end, sum);
      write(row, alpha, beta, sum[0]);
    }
  }
  /// Hosts; a row's sum is formed in the same order however many go together.
  template <int Rows, bool Far>
  TESSERA_INLINE_FUNCTION void sums_of_rows(const T* row, index_t begin, index_t end, S (&result)[Rows]) const {
    using V = vec<S, pack>;
    constexpr index_t ahead = 4096 / sizeof(T);
    V sums[Rows][loads];
    for (int r = 0; r < Rows; ++r)
      for (int l = 0; l < loads; ++l) sums[r][l] = V(S{});
    index_t j = begin;
    for (; j + loads * pack <= end; j += loads * pack)
      for (int l = 0; l < loads; ++l)
        for (int r = 0; r < Rows; ++r) {
          const T* const p = row + r * row_stride + j + l * pack;
          if constexpr (Far) prefetch(p + ahead);
          sums[r][l] = add_products(sums[r][l], p, x + j + l * pack);
        }
    for (; j + pack <= end; j += pack)
      for (int r = 0; r < Rows; ++r) sums[r][0] = add_products(sums[r][0], row + r * row_stride + j, x + j);
    for (int r = 0; r < Rows; ++r) {
      S tail{};
      for (index_t k = j; k < end; ++k) tail += S(row[r * row_stride + k]) * factor(k);
      result[r] = reduce_add((sums[r][0] + sums[r][1]) + (sums[r][2] + sums[r][3])) + tail;
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

  [[nodiscard]] TESSERA_INLINE_FUNCTION S factor(index_t j) const { return factor_of(x[j * x_stride]); }
  [[nodiscard]] TESSERA_INLINE_FUNCTION S factor_of(const T& v) const {
    if constexpr (is_complex_v<T>)
      return conj_x ? conj_value(v) : v;
    else
      return S(v);
  }

  /// Devices: as lane_sum for `AtOnce` rows; behind the last row, it again.
  [[nodiscard]] TESSERA_INLINE_FUNCTION Sums lane_sums(index_t row, index_t begin, index_t end, int lane,
                                                       int lanes) const {
    const index_t step = index_t{pack} * lanes;
    const T* rows[AtOnce];
    for (int r = 0; r < AtOnce; ++r) rows[r] = a + (row + r < m ? row + r : m - 1) * row_stride;
    Sums sums;
    const index_t whole = begin + (end - begin) / pack * pack;
    index_t j = begin + lane * pack;
    for (; j + (loads - 1) * step < whole; j += loads * step) add_loads<loads>(sums, rows, j, step);
    for (; j < whole; j += step) add_loads<1>(sums, rows, j, step);
    if constexpr (pack > 1)
      for (j = whole + lane; j < end; j += lanes)
        for (int r = 0; r < AtOnce; ++r) sums.sum[r] += S(rows[r][j]) * factor(j);
    return sums;
  }
  template <int Loads>
  TESSERA_INLINE_FUNCTION void add_loads(Sums& sums, const T* const (&rows)[AtOnce], index_t j, index_t step) const {
    vec<T, pack> av[Loads][AtOnce];
    S xv[Loads][pack];
    for (int l = 0; l < Loads; ++l) {
      for (int r = 0; r < AtOnce; ++r) {
        if constexpr (Packed)
          av[l][r] = vec<T, pack>::load_aligned(rows[r] + j + l * step);
        else
          av[l][r].set(0, rows[r][(j + l * step) * column_stride]);
      }
      if constexpr (Packed) {
        const auto v = vec<T, pack>::load_aligned(x + j + l * step);
        for (int i = 0; i < pack; ++i) xv[l][i] = factor_of(v[i]);
      } else {
        xv[l][0] = factor(j + l * step);
      }
    }
    for (int l = 0; l < Loads; ++l)
      for (int r = 0; r < AtOnce; ++r)
        for (int i = 0; i < pack; ++i) sums.sum[r] += S(av[l][r][i]) * xv[l][i];
  }

  /// Elements begin + lane * pack, ... of one row: `loads` packs in flight, a sum for each.
  [[nodiscard]] TESSERA_INLINE_FUNCTION S lane_sum(const T* row, index_t begin, index_t end, int lane,
                                                   int lanes) const {
    [[maybe_unused]] const index_t step = index_t{pack} * lanes;
    [[maybe_unused]] index_t j = begin + lane * pack;
    [[maybe_unused]] S tail{};
    if constexpr (Packed && host) {
      S sum[1];
      sums_of_rows<1, false>(row, begin, end, sum);
      return sum[0];
    } else if constexpr (Packed) {
      S sums[loads] = {};
      const index_t whole = begin + (end - begin) / pack * pack;
      for (; j < whole; j += loads * step) {
        vec<T, pack> av[loads], xv[loads];
        for (int l = 0; l < loads; ++l)
          if (j + l * step < whole) {
            av[l] = vec<T, pack>::load_aligned(row + j + l * step);
            xv[l] = vec<T, pack>::load_aligned(x + j + l * step);
          }
        for (int l = 0; l < loads; ++l)
          if (j + l * step < whole)
            for (int i = 0; i < pack; ++i) sums[l] += S(av[l][i]) * factor_of(xv[l][i]);
      }
      for (j = whole + lane; j < end; j += lanes) tail += S(row[j]) * factor(j);
      return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + tail;
    } else {
      S sums[loads] = {};
      for (; j + (loads - 1) * step < end; j += loads * step) {
        S av[loads], xv[loads];
        for (int l = 0; l < loads; ++l) {
          av[l] = S(row[(j + l * step) * column_stride]);
          xv[l] = factor(j + l * step);
        }
        for (int l = 0; l < loads; ++l) sums[l] += av[l] * xv[l];
      }
      for (; j < end; j += step) tail += S(row[j * column_stride]) * factor(j);
      return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + tail;
    }
  }

  template <class V>
  TESSERA_INLINE_FUNCTION V add_products(const V& sum, const T* p, const T* q) const {
    const auto left = convert<S>(vec<T, pack>::load(p));
    auto right = convert<S>(vec<T, pack>::load(q));
    if constexpr (is_complex_v<T>)
      if (conj_x) right = conj(right);
    return fma(left, right, sum);
  }
};

}  // namespace tessera::detail
