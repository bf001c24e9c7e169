// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/execution.hpp>
#include <tessera/gemm/micro.hpp>
#include <tessera/gemm/operand.hpp>

/// \file
/// The portable kernel: one text for hosts and devices. See config.hpp for how it is shaped.

namespace tessera::detail {

/// What every team knows of the product. C's columns lie side by side in memory where any direction does.
template <class Types>
struct GemmTask {
  using In = typename Types::in;
  using Out = typename Types::out;
  using Accumulator = typename Types::accumulator;

  index_t m = 0, n = 0, k = 0;
  GemmOperand<In> a;  ///< lines are rows
  GemmOperand<In> b;  ///< lines are columns
  Out* c = nullptr;
  index_t row_stride = 0, column_stride = 0;
  index_t batches = 1, c_batch = 0;
  ScalarRef<Accumulator> alpha, beta;
  index_t block_m = 0, block_n = 0;  ///< of C, for a team; hosts only
  bool wide_c = false;               ///< whole vectors of C may be loaded and stored

  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t blocks_m() const { return (m + block_m - 1) / block_m; }
  [[nodiscard]] TESSERA_INLINE_FUNCTION index_t blocks_n() const { return (n + block_n - 1) / block_n; }
};

/// The part of a team's block of C that is being computed: where it starts and how much of it exists.
template <class Out>
struct GemmPart {
  Out* c;
  index_t rows, columns;
};

template <class Types, class Space, class Config, GemmAccess AccessA, GemmAccess AccessB>
struct GemmKernel {
  using In = typename Types::in;
  using Out = typename Types::out;
  using Accumulator = typename Types::accumulator;
  using Real = typename Config::Real;
  using Sums = GemmAccumulators<Config>;
  using Vec = typename Sums::Vec;
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::IndexType<index_t>,
                                    Kokkos::LaunchBounds<Config::threads, Config::teams_per_unit>>;
  using Team = typename Policy::member_type;
  static constexpr int planes = Config::planes, mr = Config::mr, nv = Config::nv, lanes = Config::lanes;
  static constexpr bool resident = Config::resident;

  GemmTask<Types> task;

  /// Elements of scratch for the packed parts of A and B, and for sums that wait.
  TESSERA_FUNCTION static index_t scratch_a() {
    return index_t{Config::bk} * planes * (resident ? Config::width_a : Config::mc);
  }
  TESSERA_FUNCTION static index_t scratch_b(const GemmTask<Types>& t) {
    const index_t columns = resident ? Config::width_b : (t.block_n + Config::nr - 1) / Config::nr * Config::nr;
    return index_t{Config::bk} * planes * columns;
  }
  TESSERA_FUNCTION static index_t scratch_sums(const GemmTask<Types>& t) {
    if (!Config::waits_in_scratch || t.k <= Config::bk) return 0;
    return planes * ((t.block_m + Config::mc - 1) / Config::mc * Config::mc) *
           ((t.block_n + Config::nr - 1) / Config::nr * Config::nr);
  }
  TESSERA_FUNCTION static index_t scratch_bytes(const GemmTask<Types>& t) {
    return static_cast<index_t>(sizeof(Real)) * (Config::stages * (scratch_a() + scratch_b(t)) + scratch_sums(t)) +
           alignment;
  }

  TESSERA_FUNCTION void operator()(const Team& team) const {
    Real* const scratch = scratch_of(team);
    const index_t blocks_m = task.blocks_m(), blocks_n = task.blocks_n(), blocks = blocks_m * blocks_n;
    for (index_t at = team.league_rank(); at < blocks * task.batches; at += team.league_size()) {
      const index_t batch = task.batches > 1 ? at / blocks : 0, block = at - batch * blocks;
      // Teams that run at the same time share rows of A and columns of B: down eight blocks, then to the right.
      constexpr index_t together = 8;
      const index_t stripe = block / (together * blocks_n), within = block % (together * blocks_n);
      const index_t height = blocks_m - stripe * together < together ? blocks_m - stripe * together : together;
      compute(team, scratch, batch, (stripe * together + within % height) * task.block_m,
              within / height * task.block_n);
      if constexpr (resident) team.team_barrier();
    }
  }

 private:
  static constexpr index_t alignment = 64;

  /// Once for a team, since each get_shmem() gives what lies behind the last.
  TESSERA_INLINE_FUNCTION Real* scratch_of(const Team& team) const {
    if constexpr (resident) {
      constexpr int panels = Config::bk * planes * (Config::width_a + Config::width_b);
      // get_shmem_aligned() hides from the compiler which memory this is, and costs it the loads made for scratch
      char* const raw =
          static_cast<char*>(team.team_scratch(0).get_shmem(sizeof(Real) * Config::stages * panels + alignment));
      if (raw == nullptr) __builtin_unreachable();
      return reinterpret_cast<Real*>(raw + (-reinterpret_cast<std::uintptr_t>(raw) & (alignment - 1)));
    } else {
      return static_cast<Real*>(team.team_scratch(1).get_shmem_aligned(scratch_bytes(task) - alignment, alignment));
    }
  }

  TESSERA_INLINE_FUNCTION void compute(const Team& team, Real* scratch, index_t batch, index_t first_row,
                                       index_t first_column) const {
    const index_t rows_left = task.m - first_row, columns_left = task.n - first_column;
    GemmPart<Out> part{task.c + batch * task.c_batch + first_row * task.row_stride + first_column * task.column_stride,
                       rows_left < task.block_m ? rows_left : task.block_m,
                       columns_left < task.block_n ? columns_left : task.block_n};
    const Accumulator alpha = task.alpha.get(), beta = task.beta.get();
    if (alpha == Accumulator{} || task.k == 0) {
      scale(team, part, beta);
      return;
    }
    if constexpr (resident)
      compute_resident(team, scratch, part, batch, first_row, first_column, alpha, beta);
    else
      compute_blocked(scratch, part, batch, first_row, first_column, alpha, beta);
  }

  /// One micro-tile a thread, sums in registers along K; the next panel travels while this one is multiplied.
  TESSERA_INLINE_FUNCTION void compute_resident(const Team& team, Real* scratch, const GemmPart<Out>& part,
                                                index_t batch, index_t first_row, index_t first_column,
                                                const Accumulator& alpha, const Accumulator& beta) const {
    constexpr int size_a = Config::bk * planes * Config::width_a, size_b = Config::bk * planes * Config::width_b;
    const int thread = team.team_rank();
    const int warp = thread / (Config::warp_m * Config::warp_n), lane = thread % (Config::warp_m * Config::warp_n);
    constexpr int warps_n = Config::threads_n / Config::warp_n;
    const int row = (warp / warps_n * Config::warp_m + lane / Config::warp_n) * Config::group;
    const int column = (warp % warps_n * Config::warp_n + lane % Config::warp_n) * lanes;

    GemmLoader<Config, Config::tile_m, Config::width_a, AccessA> a;
    GemmLoader<Config, Config::tile_n, Config::width_b, AccessB> b;
    a.aim(task.a, batch, first_row, thread);
    b.aim(task.b, batch, first_column, thread);
    const int rows = static_cast<int>(part.rows), columns = static_cast<int>(part.columns);
    const auto fetch = [&](index_t left) {
      const int depth = left < Config::bk ? static_cast<int>(left) : Config::bk;
      a.fetch(task.a, rows, depth, thread);
      b.fetch(task.b, columns, depth, thread);
    };
    const auto commit = [&](int stage) {
      a.commit(scratch + stage, task.a.conj, thread);
      b.commit(scratch + stage + size_a, task.b.conj, thread);
      team.team_barrier();
    };
    fetch(task.k);
    commit(0);

    Sums sums;
    sums.clear();
    int here = 0;  // where the panel that is multiplied starts in scratch
    for (index_t left = task.k; left > 0; left -= Config::bk) {
      const bool more = left > Config::bk;
      if (more) fetch(left - Config::bk);
      sums.multiply(scratch + here + row, scratch + here + size_a + column, Config::bk);
      if (more) {
        here = size_a + size_b - here;
        commit(here);
      }
    }
    put(sums, part, row, column, alpha, beta);
  }

  /// A team of one: micro-tiles in turn, each from zero through one long panel into C.
  TESSERA_INLINE_FUNCTION void compute_blocked(Real* scratch, const GemmPart<Out>& part, index_t batch,
                                               index_t first_row, index_t first_column, const Accumulator& alpha,
                                               const Accumulator& beta) const {
    using PackA = GemmPacker<Config, Config::width_a>;
    using PackB = GemmPacker<Config, Config::width_b>;
    Real* const packed_b = scratch;
    Real* const packed_a = packed_b + scratch_b(task);
    Real* const waiting = packed_a + scratch_a();
    GemmOperand<In> a = task.a, b = task.b;
    a.pointer += batch * a.batch_stride + first_row * a.line_stride;
    b.pointer += batch * b.batch_stride + first_column * b.line_stride;
    const Accumulator one(1);
    for (index_t done = 0; done < task.k; done += Config::bk) {
      const int depth = task.k - done < Config::bk ? static_cast<int>(task.k - done) : Config::bk;
      const bool first = done == 0, last = done + Config::bk >= task.k;
      PackB::pack(packed_b, b, part.columns, depth);
      b.pointer += Config::bk * b.depth_stride;
      GemmOperand<In> a_rows = a;
      Real* wait = waiting;
      for (index_t top = 0; top < part.rows; top += Config::mc) {
        const index_t rows = part.rows - top < Config::mc ? part.rows - top : Config::mc;
        PackA::pack(packed_a, a_rows, rows, depth);
        a_rows.pointer += Config::mc * a.line_stride;
        for (index_t column = 0; column < part.columns; column += Config::nr)
          for (index_t row = 0; row < rows; row += Config::mr) {
            Sums sums;
            sums.clear();
            sums.multiply(packed_a + row * planes * depth, packed_b + column * planes * depth, depth);
            if constexpr (Config::waits_in_scratch) {
              if (!(first && last)) {
                pass_through(sums, wait, first, last);
                wait += planes * mr * Config::nr;
                if (!last) continue;
              }
              put(sums, part, top + row, column, alpha, beta);
            } else {
              put(sums, part, top + row, column, alpha, first ? beta : one);
            }
          }
      }
      a.pointer += Config::bk * a.depth_stride;
    }
  }

  /// Adds what waits for this micro-tile to its sums, and leaves them waiting unless they are complete.
  TESSERA_INLINE_FUNCTION static void pass_through(Sums& sums, Real* wait, bool first, bool last) {
    unrolled<planes * mr * nv>([&](auto at) {
      constexpr int n = decltype(at)::value, p = n / (mr * nv), i = n / nv % mr, v = n % nv;
      if (!first) sums.sum[p][i][v] += Vec::load_aligned(wait + n * lanes);
      if (!last) sums.sum[p][i][v].store_aligned(wait + n * lanes);
    });
  }

  /// C = alpha sums + beta C for the micro-tile whose first element is (row, column) of the part.
  TESSERA_INLINE_FUNCTION void put(const Sums& sums, const GemmPart<Out>& part, index_t row, index_t column,
                                   const Accumulator& alpha, const Accumulator& beta) const {
    const bool keep = beta != Accumulator{};
    unrolled<mr>([&](auto at) {
      constexpr int i = decltype(at)::value, down = i / Config::group * Config::group_stride + i % Config::group;
      if (row + down >= part.rows) return;
      Out* const line = part.c + (row + down) * task.row_stride;
      unrolled<nv>([&](auto which) {
        constexpr int v = decltype(which)::value;
        const index_t left = part.columns - (column + v * Config::vector_stride);
        Out* const to = line + (column + v * Config::vector_stride) * task.column_stride;
        if (task.wide_c && left >= lanes) {
          put_whole(sums.sum[0][i][v], sums.sum[planes - 1][i][v], to, alpha, beta, keep);
        } else {
          for (int l = 0; l < lanes; ++l)
            if (l < left) {
              Out* const element = to + l * task.column_stride;
              *element =
                  combined(value(sums.sum[0][i][v][l], sums.sum[planes - 1][i][v][l]), element, alpha, beta, keep);
            }
        }
      });
    });
  }

  TESSERA_INLINE_FUNCTION static void put_whole(const Vec& re, const Vec& im, Out* to, const Accumulator& alpha,
                                                const Accumulator& beta, bool keep) {
    if constexpr (std::is_same_v<Out, Real>) {
      Vec result = Vec(alpha) * re;
      if (keep) result = fma(Vec(beta), load_line<Vec>(to), result);
      store_line(result, to);
    } else {
      using Line = vec<Out, lanes>;
      Line old{}, result;
      if (keep) old = load_line<Line>(to);
      for (int l = 0; l < lanes; ++l) {
        Accumulator sum = alpha * value(re[l], im[l]);
        if (keep) sum += beta * Accumulator(old[l]);
        result.set(l, Out(sum));
      }
      store_line(result, to);
    }
  }

  template <class Line>
  TESSERA_INLINE_FUNCTION static Line load_line(const Out* from) {
    if constexpr (resident)
      return Line::load_aligned(from);
    else
      return Line::load(from);
  }
  template <class Line>
  TESSERA_INLINE_FUNCTION static void store_line(const Line& line, Out* to) {
    if constexpr (resident)
      line.store_aligned(to);
    else
      line.store(to);
  }

  TESSERA_INLINE_FUNCTION static Accumulator value(Real re, Real im) {
    if constexpr (planes == 2)
      return Accumulator(re, im);
    else
      return Accumulator(re);
  }

  TESSERA_INLINE_FUNCTION static Out combined(const Accumulator& sum, const Out* old, const Accumulator& alpha,
                                              const Accumulator& beta, bool keep) {
    Accumulator result = alpha * sum;
    if (keep) result += beta * Accumulator(*old);
    return Out(result);
  }

  /// C = beta C, where there is nothing to multiply.
  TESSERA_INLINE_FUNCTION void scale(const Team& team, const GemmPart<Out>& part, const Accumulator& beta) const {
    const bool keep = beta != Accumulator{};
    for (index_t at = team.team_rank(); at < part.rows * part.columns; at += team.team_size()) {
      Out* const element = part.c + at / part.columns * task.row_stride + at % part.columns * task.column_stride;
      *element = keep ? Out(beta * Accumulator(*element)) : Out(Accumulator{});
    }
  }
};

}  // namespace tessera::detail
