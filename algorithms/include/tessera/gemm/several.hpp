// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include <tessera/gemm/kernel.hpp>

/// \file
/// Batches of products so small that a device's team takes several at once. Their operands come to scratch in the order
/// in which they lie in memory, whatever the layout, a thread owns a square of one C, and C goes back the same way.

namespace tessera::detail {

/// A box of elements, walked in the order of memory by many threads.
struct GemmWalk {
  int extents[3];  // of the dimension with the smallest stride, ..., with the largest
  index_t strides[3];
  int places[3];  // strides in scratch
  int which[3];   // of 0: the product, 1: its line, 2: the depth
  std::uint32_t reciprocals[2];
  int size;

  GemmWalk() = default;
  GemmWalk(const int (&n)[3], const index_t (&s)[3], const int (&p)[3]) : size(n[0] * n[1] * n[2]) {
    int order[3] = {0, 1, 2};
    const auto before = [&](int x, int y) {
      if ((s[x] == 0 || n[x] == 1) != (s[y] == 0 || n[y] == 1)) return s[y] == 0 || n[y] == 1;
      return s[x] < s[y];
    };
    for (int i = 1; i < 3; ++i)
      for (int j = i; j > 0 && before(order[j], order[j - 1]); --j) {
        const int other = order[j];
        order[j] = order[j - 1];
        order[j - 1] = other;
      }
    for (int i = 0; i < 3; ++i) {
      extents[i] = n[order[i]];
      strides[i] = s[order[i]];
      places[i] = p[order[i]];
      which[i] = order[i];
    }
    for (int i = 0; i < 2; ++i)
      reciprocals[i] = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + extents[i] - 1) / extents[i]);
  }

  /// Exact for e below 2^16. 1 has no reciprocal in 32 bits.
  TESSERA_INLINE_FUNCTION static int divided(int e, int by, std::uint32_t reciprocal) {
    if (by == 1) return e;
    return static_cast<int>((static_cast<std::uint64_t>(static_cast<std::uint32_t>(e)) * reciprocal) >> 32);
  }
  /// Calls load() and then keep(number, offset in memory, place in scratch) for this thread's elements, of which so
  /// many products, lines and elements along the depth exist; a few at a time, so that their loads are on their way
  /// together.
  TESSERA_CALLS_ANYTHING
  template <int Together, class Load, class Keep>
  TESSERA_INLINE_FUNCTION void each(int thread, int threads, int products, int lines, int depth, const Load& load,
                                    const Keep& keep) const {
    int left[3];
    for (int i = 0; i < 3; ++i) left[i] = which[i] == 0 ? products : (which[i] == 1 ? lines : depth);
    for (int first = thread; first < size; first += Together * threads) {
      index_t offset[Together];
      int place[Together];
      unrolled<Together>([&](auto at) {
        constexpr int n = decltype(at)::value;
        const int e = first + n * threads;
        const int rest = divided(e, extents[0], reciprocals[0]), i0 = e - rest * extents[0];
        const int i2 = divided(rest, extents[1], reciprocals[1]), i1 = rest - i2 * extents[1];
        place[n] = e < size && i0 < left[0] && i1 < left[1] && i2 < left[2]
                       ? i0 * places[0] + i1 * places[1] + i2 * places[2]
                       : -1;
        offset[n] = i0 * strides[0] + i1 * strides[1] + i2 * strides[2];
      });
      unrolled<Together>([&](auto at) {
        constexpr int n = decltype(at)::value;
        if (place[n] >= 0) load(at, offset[n], place[n]);
      });
      unrolled<Together>([&](auto at) {
        constexpr int n = decltype(at)::value;
        if (place[n] >= 0) keep(at, offset[n], place[n]);
      });
    }
  }
};

template <class Types, class Space, class Config>
struct GemmSeveral {
  using In = typename Types::in;
  using Out = typename Types::out;
  using Accumulator = typename Types::accumulator;
  static constexpr int threads = 128, together = 4;
  static constexpr int bytes = static_cast<int>(sizeof(Accumulator));
  static constexpr int side = bytes >= 16 ? 1 : 16 / bytes;  // of a thread's square
  static constexpr int scratch_limit = 24 * 1024;            // of a team, for the operands
  using Line = vec<Accumulator, side>;
  using Policy = BoundedTeams<Space, threads, 8>;
  using Team = typename Policy::member_type;

  GemmTask<Types> task;
  int products;                     // of a team at a time
  int tiles_m, tiles_n;             // squares of a C
  int panel;                        // depth that is in scratch at a time
  int width_a, width_b, distance;   // of a line of k, and of a product, in scratch, elements
  GemmWalk walk_a, walk_b, walk_c;  // lines: rows of C; depth: its columns

  static int squares(index_t n) { return static_cast<int>((n + side - 1) / side); }
  static bool suits(const GemmTask<Types>& t) {
    constexpr index_t longest = threads * side;
    return t.batches > 1 && t.m > 0 && t.n > 0 && t.m <= longest && t.n <= longest &&
           squares(t.m) * squares(t.n) <= threads / 2;
  }

  GemmSeveral(const GemmTask<Types>& t, index_t units)
      : task(t), products(threads), tiles_m(squares(t.m)), tiles_n(squares(t.n)) {
    const auto least = [](index_t a, index_t b) { return static_cast<int>(a < b ? a : b); };
    // an odd number of squares a line, so that neither lines nor columns of scratch fall into one bank
    width_a = (tiles_m | 1) * side;
    width_b = (tiles_n | 1) * side;
    products = threads / (tiles_m * tiles_n);
    // few products are spread over the multiprocessors
    const index_t share = (t.batches + units - 1) / units;
    if (share < products) products = static_cast<int>(share);
    const int depth = t.k < 1 ? 1 : least(t.k, 32), line = (width_a + width_b) * bytes;
    panel = least(depth, scratch_limit / (products * line));
    if (panel < least(depth, 4)) {
      panel = least(depth, 4);
      products = scratch_limit / (panel * line);
    }
    const int of_operands = panel * (width_a + width_b), of_sums = tiles_m * side * width_b;
    distance = (of_operands > of_sums ? of_operands : of_sums) / side;
    while (distance % 8 != tiles_m % 8) ++distance;  // products that a warp reads lie side by side in the banks
    distance *= side;
    walk_a = GemmWalk({products, static_cast<int>(t.m), panel}, {t.a.batch_stride, t.a.line_stride, t.a.depth_stride},
                      {distance, 1, width_a});
    walk_b = GemmWalk({products, static_cast<int>(t.n), panel}, {t.b.batch_stride, t.b.line_stride, t.b.depth_stride},
                      {distance, 1, width_b});
    walk_c = GemmWalk({products, static_cast<int>(t.m), static_cast<int>(t.n)},
                      {t.c_batch, t.row_stride, t.column_stride}, {distance, width_b, 1});
  }
  static std::string text(const GemmTask<Types>& t, index_t units) {
    const GemmSeveral several(t, units);
    return std::to_string(several.products) + " products a team";
  }
  static void launch(const Space& exec, const GemmTask<Types>& t) {
    const GemmSeveral several(t, device_of(exec).units);
    constexpr index_t largest = index_t{1} << 30;
    const index_t groups = (t.batches + several.products - 1) / several.products;
    Policy policy(exec, static_cast<int>(groups < largest ? groups : largest), threads);
    policy.set_scratch_size(0, Kokkos::PerTeam(several.products * several.distance * bytes + 16));
    Kokkos::parallel_for("tessera::gemm::several", policy, several);
  }

  TESSERA_FUNCTION void operator()(const Team& team) const {
    char* const raw = static_cast<char*>(team.team_scratch(0).get_shmem(products * distance * bytes + 16));
    if (raw == nullptr) __builtin_unreachable();
    auto* const scratch = reinterpret_cast<Accumulator*>(raw + (-reinterpret_cast<std::uintptr_t>(raw) & 15));
    const Accumulator alpha = task.alpha.get(), beta = task.beta.get();
    const index_t depth = alpha == Accumulator{} ? 0 : task.k;
    const int thread = team.team_rank(), of_product = tiles_m * tiles_n;
    const int product = thread / of_product, square = thread % of_product;
    // threads side by side have rows side by side
    const int row = square % tiles_m * side, column = square / tiles_m * side;
    const int m = static_cast<int>(task.m), n = static_cast<int>(task.n);
    for (index_t group = team.league_rank(); group * products < task.batches; group += team.league_size()) {
      const index_t first = group * products, left = task.batches - first;
      const int here = left < products ? static_cast<int>(left) : products;
      Accumulator sums[side][side] = {};
      for (index_t done = 0; done < depth; done += panel) {
        const int of_panel = depth - done < panel ? static_cast<int>(depth - done) : panel;
        bring(walk_a, task.a, first, done, here, m, of_panel, scratch, thread);
        bring(walk_b, task.b, first, done, here, n, of_panel, scratch + panel * width_a, thread);
        team.team_barrier();
        if (product < here) multiply(sums, scratch + product * distance, row, column, of_panel);
        team.team_barrier();
      }
      if (product < here)
        unrolled<side>([&](auto at) {
          constexpr int i = decltype(at)::value;
          Line line;
          for (int j = 0; j < side; ++j) line.set(j, sums[i][j]);
          line.store_aligned(scratch + product * distance + (row + i) * width_b + column);
        });
      team.team_barrier();
      put(first, here, m, n, scratch, alpha, beta, thread);
      team.team_barrier();
    }
  }

 private:
  TESSERA_INLINE_FUNCTION static void bring(const GemmWalk& walk, const GemmOperand<In>& from, index_t first,
                                            index_t done, int here, int lines, int of_panel, Accumulator* to,
                                            int thread) {
    const In* const source = from.pointer + first * from.batch_stride + done * from.depth_stride;
    In held[together];
    walk.each<together>(
        thread, threads, here, lines, of_panel,
        [&](auto at, index_t offset, int) { held[decltype(at)::value] = source[offset]; },
        [&](auto at, index_t, int place) {
          if constexpr (is_complex_v<In>) {
            const In v = held[decltype(at)::value];
            to[place] = Accumulator(v.real(), from.conj ? -v.imag() : v.imag());
          } else {
            to[place] = static_cast<Accumulator>(held[decltype(at)::value]);
          }
        });
  }
  /// The squares' sums over a panel; `operands` is where a product's begin in scratch.
  TESSERA_INLINE_FUNCTION void multiply(Accumulator (&sums)[side][side], const Accumulator* operands, int row,
                                        int column, int depth) const {
    const Accumulator *a = operands + row, *b = operands + panel * width_a + column;
    for (int k = 0; k < depth; ++k, a += width_a, b += width_b) {
      const Line av = Line::load_aligned(a), bv = Line::load_aligned(b);
      unrolled<side * side>([&](auto at) {
        constexpr int i = decltype(at)::value / side, j = decltype(at)::value % side;
        sums[i][j] += av[i] * bv[j];
      });
    }
  }
  TESSERA_INLINE_FUNCTION void put(index_t first, int here, int m, int n, const Accumulator* sums,
                                   const Accumulator& alpha, const Accumulator& beta, int thread) const {
    const bool adds = beta != Accumulator{};
    Out* const c = task.c + first * task.c_batch;
    Out old[together];
    walk_c.each<together>(
        thread, threads, here, m, n,
        [&](auto at, index_t offset, int) {
          if (adds) old[decltype(at)::value] = c[offset];
        },
        [&](auto at, index_t offset, int place) {
          Accumulator result = alpha * sums[place];
          if (adds) result += beta * Accumulator(old[decltype(at)::value]);
          c[offset] = Out(result);
        });
  }
};

}  // namespace tessera::detail
