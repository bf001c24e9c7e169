// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// transpose for element types that the library does not bring compiled: include this instead of
/// tessera/transpose.hpp. Everywhere below, y(i, j) = x(i, j) with i the dimension in which y is closest; x is closest
/// in j, or else this is a copy.

#include <tessera/core/device.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/level1/elementwise.hpp>
#include <tessera/transpose.hpp>

namespace tessera::detail {

template <class T>
TESSERA_INLINE_FUNCTION T conj_if(bool conj, const T& x) {
  if constexpr (is_complex_v<T>) return conj ? conj_value(x) : x;
  return x;
}

/// What is close in x is close in y too: a copy, bit by bit.
template <class T, class Space, Access access>
struct CopyBody {
  static constexpr int lanes = lanes_of<Space, T, T, access>;
  const T* x;
  T* y;
  index_t xs, ys;
  bool conj;

  TESSERA_INLINE_FUNCTION void move(index_t in_x, index_t in_y) {
    x += in_x;
    y += in_y;
  }
  template <int U, int N>
  TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) const {
    vec<T, N> v[U];
    for (int u = 0; u < U; ++u) v[u] = fetch<Space, access, N>(x, xs, i + u * step);
    if constexpr (is_complex_v<T>)
      if (conj)
        for (int u = 0; u < U; ++u) v[u] = tessera::conj(v[u]);
    for (int u = 0; u < U; ++u) put<Space, access>(v[u], y, ys, i + u * step);
  }
};
template <class T, class Space, Access access>
struct CopyKernel {
  CopyBody<T, Space, access> body;
  template <class Visitor>
  TESSERA_INLINE_FUNCTION void visit(const Visitor& visitor) const {
    CopyBody<T, Space, access> here = body;
    visitor(here);
  }
};

/// The tile of a team. A block of `block` x `block` elements is turned round in one thread's registers, so that every
/// move of memory is a whole vector. On hosts blocks go from memory to memory, a cache line wide, along x, whose lines
/// the hardware fetches ahead; whole lines of y need not be fetched at all where they are streamed. Where lines of y
/// are no aligned blocks, tiles of hosts are turned into a buffer first, from which long stretches of y are written:
/// streamed but for their ends, two lines of a stretch, where no cache holds y. On devices through scratch, where the
/// tile lies transposed in chunks of one vector, spread over the banks by a swizzle of the chunk's number, so that both
/// sides of memory are read and written in stretches of 256 bytes or more.
template <class Space, class T, bool Vectors>
struct TransposeShape {
  static constexpr bool is_host = machine<Space>::is_host;
  static constexpr int bytes = static_cast<int>(sizeof(T));
  TESSERA_FUNCTION static constexpr int at_most(int a, int b) { return a < b ? a : b; }
  TESSERA_FUNCTION static constexpr int at_least(int a, int b) { return a > b ? a : b; }
  static constexpr int block = is_host
                                   ? at_most(machine<Space>::simd_bytes / bytes, machine<Space>::vector_registers / 2)
                                   : at_most(16 / bytes, 8);
  // hosts: a page of x and eight lines of y
  static constexpr int width = is_host     ? at_least(4096 / bytes / block, 1) * block
                               : Vectors   ? (bytes < 4 ? 16 : 32) * block
                               : bytes < 2 ? 128
                                           : at_most(512 / bytes, 64);  // of the tile in j
  static constexpr int height = is_host     ? at_least(512 / bytes / block, 1) * block
                                : Vectors   ? at_least(128 / bytes, 32)
                                : bytes < 2 ? 128
                                            : at_least(at_most(256 / bytes, 64), 32);  // in i
  static constexpr int across = width / block;                                         // blocks in j
  static constexpr int down = height / block;                                          // in i
  static constexpr int threads = is_host ? 1 : Vectors ? at_most(across * down, 256) : 256;
  static constexpr int teams_at_once = 1024 / threads;  // 64 registers a thread
  /// Distance of the columns of a tile whose elements are moved one by one: against bank conflicts.
  static constexpr int pitch = height + at_least(4 / bytes, 1);
  static constexpr int scratch = is_host ? 0 : width * pitch * bytes;
  // hosts: blocks whose stores follow each other in y
  static constexpr int deep = 4;
  // hosts, through the buffer: 8 lines of x, 16 of y; the pitch keeps the places of one vector off each other's sets
  static constexpr int buffer_width = at_least(at_most(512 / bytes, 256) / block, 1) * block;
  static constexpr int buffer_height = at_least(at_most(1024 / bytes, 512) / block, 1) * block;
  static constexpr int buffer_pitch = buffer_height + block;
  static constexpr int buffer_bytes = buffer_width * buffer_pitch * bytes;
};

template <class Space, class T, bool Vectors>
struct TransposeTiles {
  using Shape = TransposeShape<Space, T, Vectors>;
  static constexpr int block = Shape::block;
  using V = vec<T, block>;
  PairOfMatrices<T> p;
  int height, width;
  index_t tiles_down, tiles;
  bool streaming;  // y past the caches
  bool buffered;   // hosts: tiles go through a buffer

  KOKKOS_FUNCTION void operator()(const typename Teams<Space>::member_type& team) const {
    if constexpr (Shape::is_host) {
      // neighbouring tiles by one thread, which then goes on in the same pages
      const index_t size = team.league_size(), rank = team.league_rank();
      const index_t first = tiles * rank / size, end = tiles * (rank + 1) / size;
      T* buffer = nullptr;
      if (Vectors && buffered)
        buffer = static_cast<T*>(team.team_scratch(1).get_shmem_aligned(std::size_t{Shape::buffer_bytes}, 64));
      const index_t across = tiles / tiles_down;
      for (index_t tile = first; tile < end; ++tile)
        if (Vectors && buffered && streaming)
          through_buffer<true>(buffer, tile / across * height, tile % across * width);
        else if (Vectors && buffered)
          through_buffer<false>(buffer, tile % tiles_down * height, tile / tiles_down * width);
        else if (streaming)
          from_memory_to_memory<true>(tile % tiles_down * height, tile / tiles_down * width);
        else
          from_memory_to_memory<false>(tile % tiles_down * height, tile / tiles_down * width);
      if (streaming) streaming_fence();
    } else {
      // one tile a team: nothing that a loop would keep in registers
      const auto tile = static_cast<unsigned>(team.league_rank()), down = static_cast<unsigned>(tiles_down);
      const index_t i = index_t{tile % down} * Shape::height, j = index_t{tile / down} * Shape::width;
      const auto rows = static_cast<int>(p.rows - i < Shape::height ? p.rows - i : Shape::height);
      const auto columns = static_cast<int>(p.columns - j < Shape::width ? p.columns - j : Shape::width);
      const T* const x = p.x + i * p.xs0 + j * p.xs1;
      T* const y = p.y + i * p.ys0 + j * p.ys1;
      T* const scratch = static_cast<T*>(team.team_shmem().get_shmem_aligned(std::size_t{Shape::scratch}, 16));
      if (Vectors && rows == Shape::height && columns == Shape::width)
        whole_through_scratch(team, scratch, x, y);
      else
        part_through_scratch(team, scratch, x, y, rows, columns);
    }
  }

  TESSERA_INLINE_FUNCTION void turn(V (&rows)[block]) const {
    tessera::transpose(rows);
    if constexpr (is_complex_v<T>)
      if (p.conj)
        for (int r = 0; r < block; ++r) rows[r] = tessera::conj(rows[r]);
  }

  /// The first `rows` rows and `columns` columns of a block; a row of x is read whole.
  template <bool Streaming>
  TESSERA_INLINE_FUNCTION void turn_block(const T* x, T* y, int rows, int columns, index_t pitch) const {
    V v[block];
    for (int r = 0; r < block; ++r) v[r] = r < rows ? V::load(x + r * p.xs0) : V(T{});
    turn(v);
    for (int r = 0; r < block; ++r)
      if (r < columns) {
        if constexpr (Streaming)
          v[r].store_streaming(y + r * pitch);
        else
          v[r].store(y + r * pitch);
      }
  }

  template <bool Streaming>
  TESSERA_INLINE_FUNCTION void from_memory_to_memory(index_t i0, index_t j0) const {
    const T* const x = p.x + i0 * p.xs0 + j0 * p.xs1;
    T* const y = p.y + i0 * p.ys0 + j0 * p.ys1;
    const auto rows = static_cast<int>(p.rows - i0 < height ? p.rows - i0 : height);
    const auto columns = static_cast<int>(p.columns - j0 < width ? p.columns - j0 : width);
    int done_rows = 0, done_columns = 0;
    if constexpr (Vectors) {
      // where lines of x follow each other without gaps, a read may run on from one into the next
      const index_t readable = p.xs0 == p.columns ? (p.rows - i0) * p.xs0 - j0 : 0;
      while (done_rows + block <= rows) {
        const int left = (rows - done_rows) / block, deep = left < Shape::deep ? left : Shape::deep;
        const T* from = x + done_rows * p.xs0;
        T* to = y + done_rows;
        int whole = 0;
        for (; whole + block <= columns; whole += block)
          for (int d = 0; d < deep; ++d)
            turn_block<Streaming>(from + d * block * p.xs0 + whole, to + d * block + whole * p.ys1, block, block,
                                  p.ys1);
        for (int d = 0; d < deep && whole < columns; ++d, from += block * p.xs0, to += block)
          if ((done_rows + (d + 1) * block - 1) * p.xs0 + whole + block <= readable)
            turn_block<Streaming>(from + whole, to + whole * p.ys1, block, columns - whole, p.ys1);
          else
            turn_columns(from, to, whole, columns, p.ys1);
        done_rows += deep * block;
      }
      // columns of y shorter than a block and without gaps: what is stored behind one is the next one's to overwrite
      if (rows < block && p.rows == rows && p.ys1 == rows)
        for (; (done_columns + block - 1) * p.ys1 + block <= columns * p.ys1; done_columns += block)
          turn_block<false>(x + done_columns, y + done_columns * p.ys1, rows, block, p.ys1);
    }
    for (int j = done_columns; j < columns; ++j)
      for (int i = done_rows; i < rows; ++i) y[i * p.ys0 + j * p.ys1] = conj_if(p.conj, x[i * p.xs0 + j * p.xs1]);
  }

  /// Columns [j, end) of a row of blocks, too few for a block.
  TESSERA_INLINE_FUNCTION void turn_columns(const T* x, T* y, int j, int end, index_t pitch) const {
    for (; j < end; ++j) {
      V v = V::load_strided(x + j, p.xs0);
      if constexpr (is_complex_v<T>)
        if (p.conj) v = tessera::conj(v);
      v.store(y + j * pitch);
    }
  }

  template <bool Streaming>
  TESSERA_INLINE_FUNCTION void through_buffer(T* buffer, index_t i0, index_t j0) const {
    if constexpr (Vectors) {
      constexpr int pitch = Shape::buffer_pitch;
      const T* const x = p.x + i0 * p.xs0 + j0 * p.xs1;
      T* const y = p.y + i0 * p.ys0 + j0 * p.ys1;
      const auto rows = static_cast<int>(p.rows - i0 < height ? p.rows - i0 : height);
      const auto columns = static_cast<int>(p.columns - j0 < width ? p.columns - j0 : width);
      int i = 0;
      for (; i + block <= rows; i += block) {
        const T* const from = x + i * p.xs0;
        int j = 0;
        for (; j + block <= columns; j += block)
          turn_block<false>(from + j, buffer + i + j * pitch, block, block, pitch);
        turn_columns(from, buffer + i, j, columns, pitch);
      }
      for (; i < rows; ++i)
        for (int j = 0; j < columns; ++j) buffer[i + j * pitch] = conj_if(p.conj, x[i * p.xs0 + j]);
      for (int j = 0; j < columns; ++j) write_stretch<Streaming>(buffer + j * pitch, y + j * p.ys1, rows);
    }
  }

  /// Streaming: whole lines past the caches.
  template <bool Streaming>
  TESSERA_INLINE_FUNCTION static void write_stretch(const T* from, T* to, int count) {
    constexpr auto line = static_cast<std::uintptr_t>(block) * sizeof(T);
    const std::uintptr_t behind = reinterpret_cast<std::uintptr_t>(to) % line;
    int i = 0;
    if (Streaming && behind % sizeof(T) == 0) {
      const int lead = behind == 0 ? 0 : static_cast<int>((line - behind) / sizeof(T));
      for (; i < lead && i < count; ++i) to[i] = from[i];
      for (; i + block <= count; i += block) V::load(from + i).store_streaming(to + i);
    }
    for (; i + block <= count; i += block) V::load(from + i).store(to + i);
    for (; i < count; ++i) to[i] = from[i];
  }

  template <class Member>
  TESSERA_INLINE_FUNCTION void whole_through_scratch(const Member& team, T* scratch, const T* x, T* y) const {
    if constexpr (Vectors) {
      constexpr int chunks = Shape::down, threads = Shape::threads;  // chunks: in a row of the transposed tile
      constexpr int height = Shape::height;
      constexpr int share = Shape::across * chunks / threads;  // blocks of a thread; all are loaded before one is used
      const auto place = [](int chunk, int j) { return j * height + (chunk ^ (j / block & (chunks - 1))) * block; };
      const int id = static_cast<int>(team.team_rank());
      V v[share][block];
      for (int m = 0; m < share; ++m) {
        const int b = id + m * threads, bj = b % Shape::across, bi = b / Shape::across;
        for (int r = 0; r < block; ++r) v[m][r] = V::load_aligned(x + (bi * block + r) * p.xs0 + bj * block);
      }
      for (int m = 0; m < share; ++m) {
        const int b = id + m * threads, bj = b % Shape::across, bi = b / Shape::across;
        turn(v[m]);
        for (int r = 0; r < block; ++r) v[m][r].store_aligned(scratch + place(bi, bj * block + r));
      }
      team.team_barrier();
      for (int m = 0; m < share * block; ++m) {
        const int u = id + m * threads, chunk = u % chunks, j = u / chunks;
        V::load_aligned(scratch + place(chunk, j)).store_aligned(y + j * p.ys1 + chunk * block);
      }
    }
  }

  /// Element by element, several under way.
  template <class Member>
  TESSERA_INLINE_FUNCTION void part_through_scratch(const Member& team, T* scratch, const T* x, T* y, int rows,
                                                    int columns) const {
    constexpr int threads = Shape::threads, pitch = Shape::pitch;
    constexpr int width = Shape::width, height = Shape::height;
    static_assert(threads % width == 0 && threads % height == 0 && width % (threads / height) == 0);
    constexpr int step_i = threads / width, step_j = threads / height;
    constexpr int group = Shape::at_most(height / step_i, Vectors ? 4 : 8);
    const int id = static_cast<int>(team.team_rank());
    if (const int j = id % width; j < columns) {
      const T* from = x + id / width * p.xs0 + j * p.xs1;
      const index_t step = step_i * p.xs0;
      for (int first = id / width; first < height; first += group * step_i) {
        T v[group];
        TESSERA_UNROLL
        for (int m = 0; m < group; ++m) {
          if (first + m * step_i < rows) v[m] = *from;
          from += step;
        }
        TESSERA_UNROLL
        for (int m = 0; m < group; ++m)
          if (first + m * step_i < rows) scratch[j * pitch + first + m * step_i] = conj_if(p.conj, v[m]);
      }
    }
    team.team_barrier();
    if (const int i = id % height; i < rows) {
      T* to = y + i * p.ys0 + id / height * p.ys1;
      const index_t step = step_j * p.ys1;
      TESSERA_UNROLL
      for (int m = 0; m < width / step_j; ++m) {
        const int j = id / height + m * step_j;
        if (j < columns) *to = scratch[j * pitch + i];
        to += step;
      }
    }
  }
};

/// A square matrix onto itself: a team swaps two tiles that mirror each other, or turns one of the diagonal.
template <class Space, class T>
struct TransposeInPlace {
  static constexpr int side = sizeof(T) > 8 ? 16 : 32;
  static constexpr int pitch = side + 1;  // against bank conflicts
  static constexpr int scratch = 2 * side * pitch * static_cast<int>(sizeof(T));
  T* a;
  index_t n, s0, s1;
  index_t across;  // tiles in a row
  bool conj;

  KOKKOS_FUNCTION void operator()(const typename Teams<Space>::member_type& team) const {
    T* const upper = static_cast<T*>(team.team_shmem().get_shmem_aligned(std::size_t{scratch}, 16));
    T* const lower = upper + side * pitch;
    const int id = static_cast<int>(team.team_rank()), size = static_cast<int>(team.team_size());
    for (index_t tile = team.league_rank(); tile < across * across; tile += team.league_size()) {
      const index_t i0 = tile % across * side, j0 = tile / across * side;
      if (i0 > j0) continue;  // the team of the mirrored tile does both
      for (int e = id; e < side * side; e += size) {
        const int i = e % side, j = e / side;
        if (i0 + i < n && j0 + j < n) upper[j * pitch + i] = a[(i0 + i) * s0 + (j0 + j) * s1];
        if (j0 + i < n && i0 + j < n) lower[j * pitch + i] = a[(j0 + i) * s0 + (i0 + j) * s1];
      }
      team.team_barrier();
      for (int e = id; e < side * side; e += size) {
        const int i = e % side, j = e / side;
        if (i0 + i < n && j0 + j < n) a[(i0 + i) * s0 + (j0 + j) * s1] = conj_if(conj, lower[i * pitch + j]);
        if (i0 != j0 && j0 + i < n && i0 + j < n)
          a[(j0 + i) * s0 + (i0 + j) * s1] = conj_if(conj, upper[i * pitch + j]);
      }
      team.team_barrier();
    }
  }
};

/// Teams for `tiles`: all of them on devices (within the launch limit), a few a thread on hosts.
template <class Space>
index_t league_of(const Space& exec, index_t tiles) {
  const index_t most = machine<Space>::is_host ? 8 * static_cast<index_t>(exec.concurrency()) : (index_t{1} << 31) - 1;
  return tiles < most ? tiles : most;
}

template <class T, class Space>
void transpose_in_place(const Space& exec, const TransposeProblem<T>& p) {
  using Kernel = TransposeInPlace<Space, T>;
  const index_t n = p.b.extents[0];
  // dimension 0 is the closer one, along which neighbours work
  const bool swap = p.b.strides[1] == 1;
  const index_t across = (n + Kernel::side - 1) / Kernel::side;
  auto policy = Teams<Space>(exec, league_of(exec, across * across), machine<Space>::team_threads)
                    .set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch + 16));
  Kokkos::parallel_for("tessera::transpose::in_place", policy,
                       Kernel{p.b.pointer, n, p.b.strides[swap ? 1 : 0], p.b.strides[swap ? 0 : 1], across, p.a.conj});
}

template <class T, class Space, bool Vectors>
void transpose_tiles(const Space& exec, const PairOfMatrices<T>& pair) {
  using Shape = TransposeShape<Space, T, Vectors>;
  TransposeTiles<Space, T, Vectors> kernel{pair, Shape::height, Shape::width, 0, 0, false, false};
  const auto count = [&] {
    kernel.tiles_down = (pair.rows + kernel.height - 1) / kernel.height;
    kernel.tiles = kernel.tiles_down * ((pair.columns + kernel.width - 1) / kernel.width);
  };
  if constexpr (Shape::is_host) {
    const auto line = static_cast<std::uintptr_t>(Shape::block * Shape::bytes);
    const double bytes = 2.0 * Shape::bytes * static_cast<double>(pair.rows * pair.columns);
    const auto l2 = static_cast<double>(device_of(exec).l2_bytes) * exec.concurrency();
    const bool aligned = reinterpret_cast<std::uintptr_t>(pair.y) % line == 0 && pair.ys1 % Shape::block == 0;
    kernel.streaming = Vectors && past_caches(exec, bytes);
    // where single lines of y are not written at once, long stretches make the hardware fetch the next ones ahead;
    // in stretches shorter than that the ends count for more than the rest
    kernel.buffered = Vectors && !(kernel.streaming && aligned) && bytes > l2 &&
                      pair.rows >= Shape::buffer_height / 4 && pair.columns >= Shape::block;
    kernel.streaming = kernel.streaming && (aligned || kernel.buffered);
    const auto enough = [&, wanted = 4 * index_t{exec.concurrency()}] {
      count();
      return kernel.tiles >= wanted;
    };
    if (kernel.buffered) {
      kernel.height = Shape::buffer_height;
      kernel.width = Shape::buffer_width;
      while (kernel.width > Shape::block && !enough()) kernel.width /= 2;
    } else {
      // few columns: tiles of as many elements; but enough tiles for all threads
      int pages = pair.columns < Shape::width ? static_cast<int>(Shape::width / pair.columns) : 1;
      for (kernel.height = Shape::height * pages; pages > 1 && !enough(); kernel.height = Shape::height * pages)
        pages /= 2;
      while (kernel.width > 8 * Shape::block && !enough()) kernel.width /= 2;
    }
  }
  count();
  auto policy =
      BoundedTeams<Space, Shape::threads, Shape::teams_at_once>(exec, league_of(exec, kernel.tiles), Shape::threads)
          .set_scratch_size(0, Kokkos::PerTeam(Shape::scratch + 16));
  if (kernel.buffered) policy.set_scratch_size(1, Kokkos::PerTeam(Shape::buffer_bytes + 64));
  Kokkos::parallel_for("tessera::transpose::tiles", policy, kernel);
}

template <class T, class Space>
void run_transpose(const Space& exec, const TransposeProblem<T>& p) {
  const Region region("tessera::transpose[portable]");
  if (p.b.size() == 0) return;
  if (p.a.pointer == p.b.pointer && p.b.size() > 1) return transpose_in_place<T, Space>(exec, p);
  const MatrixRef<const T> x = transpose_ref(p.a);
  PairOfMatrices<T> pair{x.pointer,    p.b.pointer,    p.b.extents[0], p.b.extents[1], x.strides[0],
                         x.strides[1], p.b.strides[0], p.b.strides[1], x.conj};
  pair.simplify();
  const auto distance = [](index_t s) { return s < 0 ? -s : s; };
  if (pair.columns == 1 || distance(pair.xs0) <= distance(pair.xs1)) {
    const auto copy = [&]<Access access>(std::integral_constant<Access, access>) {
      using Body = CopyBody<T, Space, access>;
      static const ElementwiseLabels labels("transpose");
      run_elementwise(exec, labels, pair,
                      CopyKernel<T, Space, access>{Body{pair.x, pair.y, pair.xs0, pair.ys0, pair.conj}}, Body::lanes);
    };
    if (pair.template unit<Space>())
      copy(std::integral_constant<Access, Access::unit>{});
    else
      copy(std::integral_constant<Access, Access::strided>{});
    return;
  }
  constexpr index_t block = TransposeShape<Space, T, true>::block;
  const bool vectors = unit_access<Space>(pair.x, pair.xs1) && unit_access<Space>(pair.y, pair.ys0) &&
                       (machine<Space>::is_host || (pair.xs0 % block == 0 && pair.ys1 % block == 0));
  if (vectors)
    transpose_tiles<T, Space, true>(exec, pair);
  else
    transpose_tiles<T, Space, false>(exec, pair);
}

}  // namespace tessera::detail
