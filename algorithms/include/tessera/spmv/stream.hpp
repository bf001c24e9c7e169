// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cmath>
#include <cstdint>

#include <tessera/spmv/terms.hpp>

namespace tessera::detail {

/// Row sums through scratch: a team copies a chunk of consecutive entries there, in 16-byte loads without gaps whatever
/// the lengths of the rows, and then `width` threads sum a row from scratch. So neighbouring threads read x at the
/// columns of neighbouring rows, which are neighbours themselves where a matrix comes from a grid. A team has several
/// blocks of rows, one after the other. Rows that would keep a thread much longer than the others are listed, and more
/// threads share each.
/// Source: after the CSR-Stream kernel of Greathouse and Daga, "Efficient sparse matrix-vector multiplication on GPUs
/// using the CSR storage format", SC 2014; here entries are kept instead of products, and the chunk is walked, so that
/// no row blocks need be made beforehand.
/// \tparam InFlight entries that a thread copies at once
template <class Types, class Space, int InFlight>
struct SpmvStream {
  using Scalar = typename Types::scalar;
  using Ordinal = typename Types::ordinal;
  using Offset = typename Types::offset;
  using A = product_sum_t<Scalar>;
  template <class T>
  using Scratch = Kokkos::View<T*, typename Space::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr bool host = machine<Space>::is_host;
  static constexpr int places = host ? 1 : 128;  ///< threads of a team
  static constexpr int sharing = host ? 1 : 32;  ///< threads that share a listed row
  template <class T>
  static constexpr int pack = sizeof(T) < 16 ? 16 / static_cast<int>(sizeof(T)) : 1;  ///< elements of one load
  template <class T>
  using Pack = vec<T, pack<T>>;
  static constexpr int granule = pack<Scalar> > pack<Ordinal> ? pack<Scalar> : pack<Ordinal>;
  static constexpr int wanted = (sizeof(Scalar) <= 8 ? InFlight : 8) * (host ? 4 : 1);
  static constexpr int in_flight = wanted < granule ? granule : wanted;
  static constexpr int most = in_flight * places - granule;  ///< entries of a chunk
  static constexpr int v_loads = in_flight / pack<Scalar>, c_loads = in_flight / pack<Ordinal>;
  static constexpr int batch = 8;  ///< terms of a row in flight
  /// As many teams a processor as keep their registers. (Five of 8-byte entries, with more first-level cache for x,
  /// were 4 % slower on an H200.)
  static constexpr int teams_at_once = in_flight == 8 ? 7 : 6;
  using Policy = Kokkos::TeamPolicy<Space, Kokkos::IndexType<index_t>, Kokkos::LaunchBounds<places, teams_at_once>>;
  using Member = typename Policy::member_type;

  SpmvTerms<Types> terms;
  ProductOutput<Scalar> out;
  const Offset* offsets;
  index_t rows, nnz, blocks, per_team, longest;
  int rows_per_block, width, capacity, shared_length;
  bool skewed;   // scratch skips a pack every 32 entries
  bool aligned;  // to packs

  /// What a launch is shaped by, beside the problem.
  struct Shape {
    int rows_per_block, capacity, shared_length;
    index_t per_team;
    bool skewed;
  };

  static Shape choose(const Space& exec, const SpmvProblem<Types>& p) {
    const double mean = p.a.rows > 0 ? static_cast<double>(p.a.nnz) / static_cast<double>(p.a.rows) : 0.0;
    Shape s{};
    s.rows_per_block = places;
    while (s.rows_per_block > 1 && s.rows_per_block * mean > 0.9 * most) s.rows_per_block /= 2;
    // most blocks are one chunk: a few entries more than the rows' mean share
    const double share = 1.06 * mean * s.rows_per_block + 64;
    s.capacity = (share < most ? static_cast<int>(share) : most) / granule * granule;
    s.shared_length = static_cast<int>(2 * mean) < 32 ? 32 : static_cast<int>(2 * mean);
    // rows of lengths with a common factor with the number of banks would meet in few of them
    s.skewed = !host && std::llround(mean) % 4 == 0;
    const index_t blocks = (p.a.rows + s.rows_per_block - 1) / s.rows_per_block;
    const index_t wave = exec.concurrency() / places;
    s.per_team = blocks / (2 * wave);
    s.per_team = s.per_team < 1 ? 1 : s.per_team > 8 ? 8 : s.per_team;
    return s;
  }

  static void launch(const Space& exec, const SpmvProblem<Types>& p) { launch(exec, p, choose(exec, p)); }

  static void launch(const Space& exec, const SpmvProblem<Types>& p, const Shape& s) {
    const auto at_pack = [](const void* at, std::size_t to) { return reinterpret_cast<std::uintptr_t>(at) % to == 0; };
    const index_t blocks = (p.a.rows + s.rows_per_block - 1) / s.rows_per_block;
    const index_t teams = (blocks + s.per_team - 1) / s.per_team;
    constexpr index_t most_teams = index_t{1} << 30;
    const SpmvStream kernel{
        SpmvTerms<Types>(p),
        ProductOutput<Scalar>(p.alpha, p.beta, p.y),
        p.a.row_offsets,
        p.a.rows,
        p.a.nnz,
        blocks,
        s.per_team,
        p.shape.long_rows ? p.shape.long_row_length : p.a.nnz,
        s.rows_per_block,
        places / s.rows_per_block,
        s.capacity,
        s.shared_length,
        s.skewed,
        host || (at_pack(p.a.values, alignof(Pack<Scalar>)) && at_pack(p.a.columns, alignof(Pack<Ordinal>)))};
    const std::size_t bytes = Scratch<Pack<Scalar>>::shmem_size(packs<Scalar>(s.capacity)) +
                              Scratch<Pack<Ordinal>>::shmem_size(packs<Ordinal>(s.capacity)) +
                              Scratch<A>::shmem_size(2 * places) + Scratch<int>::shmem_size(places + 2);
    Kokkos::parallel_for("tessera::spmv::stream",
                         Policy(exec, static_cast<int>(teams < most_teams ? teams : most_teams), places)
                             .set_scratch_size(0, Kokkos::PerTeam(bytes)),
                         kernel);
  }

 private:
  /// Packs that hold a chunk, which may begin in the middle of a granule.
  template <class T>
  [[nodiscard]] TESSERA_INLINE_FUNCTION static int packs(int capacity) {
    return (capacity + granule) / pack<T> + (capacity + granule) / 32 + 1;
  }

  /// Where entry k of a chunk lies in scratch.
  template <class T, bool Skewed>
  [[nodiscard]] TESSERA_INLINE_FUNCTION static int place(int k) {
    return Skewed ? k + (k >> 5) * pack<T> : k;
  }

  /// A block's rows and entries, and the entries of the thread's own row.
  struct Rows {
    index_t first, at, end, own_begin, own_end;
    int count;
  };
  [[nodiscard]] TESSERA_INLINE_FUNCTION Rows rows_of(index_t block, int own) const {
    Rows r{};
    r.first = block * rows_per_block;
    r.count = static_cast<int>(rows - r.first < rows_per_block ? rows - r.first : rows_per_block);
    const int mine = own < r.count ? own : r.count - 1;
    r.at = static_cast<index_t>(offsets[r.first]);
    r.end = static_cast<index_t>(offsets[r.first + r.count]);
    r.own_begin = static_cast<index_t>(offsets[r.first + mine]);
    r.own_end = static_cast<index_t>(offsets[r.first + mine + 1]);
    return r;
  }
  /// Consecutive entries, those of a chunk and up to a granule around it.
  struct Chunk {
    index_t base;
    int count;
  };
  [[nodiscard]] TESSERA_INLINE_FUNCTION Chunk chunk_at(index_t at, index_t stop) const {
    const index_t base = aligned ? at & ~index_t{granule - 1} : at;
    return {base, static_cast<int>((stop - at < capacity ? stop : at + capacity) - base)};
  }
  /// A team's scratch: the entries of a chunk, parts of sums, listed rows.
  struct Held {
    Scalar* values;
    Ordinal* columns;
    A *parts, *shared;
    int *counters, *list;
  };

  template <bool Skewed>
  TESSERA_INLINE_FUNCTION void walk(const Member& team, const Held& held) const {
    const A alpha = A(out.alpha.get()), beta = A(out.beta.get());
    const int t = team.team_rank(), own = t / width, part = t % width;
    int turn = 0;  // of the two counters
    if (t == 0) held.counters[0] = 0;
    for (index_t from = team.league_rank() * per_team; from < blocks; from += team.league_size() * per_team) {
      const index_t last = from + per_team < blocks ? from + per_team : blocks;
      Rows next = rows_of(from, own);
      for (index_t block = from; block < last; ++block) {
        const Rows now = next;
        if (block + 1 < last) next = rows_of(block + 1, own);  // asked for before this block's sums
        const index_t length = now.own_end - now.own_begin;
        const bool mine = own < now.count && length > 0 && length <= longest;
        // only a block with many entries can hold a long row, which another kernel sums
        const bool search = now.end - now.at > longest;
        int row = 0;  // the search for long rows has passed those before
        bool fresh = true;
        A sum{};
        index_t at = now.at;
        while (alpha != A{} && at < now.end) {
          index_t stop = now.end;
          if (search) {
            stop = next_long_row(now, at, row);
            if (at >= now.end) break;
          }
          const Chunk chunk = chunk_at(at, stop);
          const index_t to = chunk.base + chunk.count;
          copy<Skewed>(held, chunk, t);
          team.team_barrier();
          if (t == 0) held.counters[1 - turn] = 0;
          int slot = -1;
          if (mine && now.own_begin < to && now.own_end > at) {
            const int begin = static_cast<int>((now.own_begin > at ? now.own_begin : at) - chunk.base);
            const int end = static_cast<int>((now.own_end < to ? now.own_end : to) - chunk.base);
            if (end - begin <= shared_length * width) {
              sum += sum_terms<Skewed>(held, begin + part, end, width);
            } else if (part == 0) {
              slot = Kokkos::atomic_fetch_add(held.counters + turn, 1);
              held.list[slot] = own;
            }
          }
          if (width > 1) held.parts[t] = sum;
          team.team_barrier();
          const int listed = held.counters[turn];
          turn = 1 - turn;
          if (listed > 0) sum += share_rows<Skewed>(team, held, now, at, chunk, listed, slot);
          if (mine && part == 0 && now.own_end > at && now.own_end <= to) {
            for (int w = 1; w < width; ++w) sum += held.parts[t + w];
            out.store(now.first + own, alpha, beta, terms.finish(sum));
          }
          at = to;
          fresh = false;
        }
        if (part == 0 && own < now.count && (fresh || !mine)) out.store(now.first + own, alpha, beta, A{});
      }
    }
  }

 public:
  TESSERA_INLINE_FUNCTION void operator()(const Member& team) const {
    const Scratch<Pack<Scalar>> values(team.team_scratch(0), packs<Scalar>(capacity));
    const Scratch<Pack<Ordinal>> columns(team.team_scratch(0), packs<Ordinal>(capacity));
    const Scratch<A> sums(team.team_scratch(0), 2 * places);
    const Scratch<int> list(team.team_scratch(0), places + 2);
    const Held held{reinterpret_cast<Scalar*>(values.data()),
                    reinterpret_cast<Ordinal*>(columns.data()),
                    sums.data(),
                    sums.data() + places,
                    list.data(),
                    list.data() + 2};
    if (skewed)
      walk<true>(team, held);
    else
      walk<false>(team, held);
  }

 private:
  /// Moves `at` out of a long row; returns where the next long row begins, or the block's end.
  TESSERA_INLINE_FUNCTION index_t next_long_row(const Rows& block, index_t& at, int& row) const {
    for (; row < block.count; ++row) {
      const index_t b = static_cast<index_t>(offsets[block.first + row]),
                    e = static_cast<index_t>(offsets[block.first + row + 1]);
      if (e - b <= longest) continue;
      if (at < b) return b;
      at = e;
    }
    return block.end;
  }

  /// Entries that are copied as whole packs: those of the chunk's granules that the matrix has to the end.
  [[nodiscard]] TESSERA_INLINE_FUNCTION int whole_packs(const Chunk& chunk) const {
    const int up = (chunk.count + granule - 1) & ~(granule - 1);
    return chunk.base + up <= nnz ? up : up - granule;
  }

  template <bool Skewed>
  TESSERA_INLINE_FUNCTION void copy(const Held& held, const Chunk& chunk, int t) const {
    const Scalar* const __restrict__ values = terms.values + chunk.base;
    const Ordinal* const __restrict__ columns = terms.columns + chunk.base;
    const int whole = aligned ? whole_packs(chunk) : 0;
    Pack<Scalar> v[v_loads];
    Pack<Ordinal> c[c_loads];
    // zeros where nothing is loaded: what is not written keeps its registers occupied from far before
    for (int u = 0; u < c_loads; ++u) {
      const int k = (t + u * places) * pack<Ordinal>;
      c[u] = Pack<Ordinal>(Ordinal{});
      if (k < whole) c[u] = Pack<Ordinal>::load_aligned(columns + k);
    }
    for (int u = 0; u < v_loads; ++u) {
      const int k = (t + u * places) * pack<Scalar>;
      v[u] = Pack<Scalar>(Scalar{});
      if (k < whole) v[u] = Pack<Scalar>::load_aligned(values + k);
    }
    // a turn of the whole team is a constant distance in scratch
    Ordinal* const c_to = held.columns + place<Ordinal, Skewed>(t * pack<Ordinal>);
    Scalar* const v_to = held.values + place<Scalar, Skewed>(t * pack<Scalar>);
    for (int u = 0; u < c_loads; ++u)
      if ((t + u * places) * pack<Ordinal> < whole)
        c[u].store_aligned(c_to + place<Ordinal, Skewed>(u * places * pack<Ordinal>));
    for (int u = 0; u < v_loads; ++u)
      if ((t + u * places) * pack<Scalar> < whole)
        v[u].store_aligned(v_to + place<Scalar, Skewed>(u * places * pack<Scalar>));
    // the rest: nothing but the matrix's last entries where it is aligned
    for (int k = whole + t; k < chunk.count; k += 4 * places) {
      Ordinal column[4];
      Scalar value[4];
      for (int u = 0; u < 4; ++u) {
        const int at = k + u * places < chunk.count ? k + u * places : k;
        column[u] = columns[at];
        value[u] = values[at];
      }
      for (int u = 0; u < 4; ++u)
        if (k + u * places < chunk.count) {
          held.columns[place<Ordinal, Skewed>(k + u * places)] = column[u];
          held.values[place<Scalar, Skewed>(k + u * places)] = value[u];
        }
    }
  }

  /// Terms begin, begin + step, ... below end of a chunk.
  template <bool Skewed>
  [[nodiscard]] TESSERA_INLINE_FUNCTION A sum_terms(const Held& held, int begin, int end, int step) const {
    A sum{};
    int k = begin;
    for (; k + (batch - 1) * step < end; k += batch * step) add_terms<Skewed, true>(sum, held, k, end, step);
    if (k < end) add_terms<Skewed, false>(sum, held, k, end, step);
    return sum;
  }
  /// Terms k, k + step, ... below end, a batch at most. All of x is asked for before any is used, and never
  /// conditionally: compilers move a conditional load to its use.
  template <bool Skewed, bool Full>
  TESSERA_INLINE_FUNCTION void add_terms(A& sum, const Held& held, int k, int end, int step) const {
    A other[batch];
    for (int u = 0; u < batch; ++u) {
      const int at = Full || k + u * step < end ? k + u * step : k;
      other[u] = terms.template gather<false>(held.columns[place<Ordinal, Skewed>(at)]);
    }
    for (int u = 0; u < batch; ++u)
      if (Full || k + u * step < end) sum += A(held.values[place<Scalar, Skewed>(k + u * step)]) * other[u];
  }

  /// Sums the listed rows, `sharing` threads each; gives the thread whose row is in `slot` its sum.
  template <bool Skewed>
  TESSERA_INLINE_FUNCTION A share_rows(const Member& team, const Held& held, const Rows& block, index_t from,
                                       const Chunk& chunk, int listed, int slot) const {
    constexpr int at_once = places / sharing;
    const int t = team.team_rank();
    const index_t to = chunk.base + chunk.count;
    A sum{};
    for (int i = 0; i < listed; i += at_once) {
      if (i + t / sharing < listed) {
        const int r = held.list[i + t / sharing];
        const index_t b = static_cast<index_t>(offsets[block.first + r]),
                      e = static_cast<index_t>(offsets[block.first + r + 1]);
        held.shared[t] = sum_terms<Skewed>(held, static_cast<int>((b > from ? b : from) - chunk.base) + t % sharing,
                                           static_cast<int>((e < to ? e : to) - chunk.base), sharing);
      }
      team.team_barrier();
      if (slot >= i && slot < i + at_once)
        for (int w = 0; w < sharing; ++w) sum += held.shared[(slot - i) * sharing + w];
      team.team_barrier();
    }
    return sum;
  }
};

}  // namespace tessera::detail
