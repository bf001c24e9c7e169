// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/vec.hpp>
#include <tessera/gemm/micro.hpp>

/// \file
/// How parts of A and B come into scratch. Both operands look alike here: "lines" (rows of A, columns of B) of K
/// elements each. A packed panel holds, for each k, first the real parts of `Width` lines, then the imaginary ones.

namespace tessera::detail {

/// One operand of a product as the kernel sees it.
template <class T>
struct GemmOperand {
  const T* pointer = nullptr;
  index_t line_stride = 0;
  index_t depth_stride = 0;
  bool conj = false;
  index_t batch_stride = 0;
};

/// In which direction consecutive threads load, and whether each loads several elements at once.
enum class GemmAccess { lines_wide, depth_wide, lines_single, depth_single };

/// Writes one element at its place in a packed panel.
template <class Real, int Width, class T>
TESSERA_INLINE_FUNCTION void put_packed(Real* at, const T& value, bool conj) {
  if constexpr (is_complex_v<T>) {
    at[0] = static_cast<Real>(value.real());
    at[Width] = static_cast<Real>(conj ? -value.imag() : value.imag());
  } else {
    at[0] = static_cast<Real>(value);
  }
}

/// Packs for a team of one thread: panels of Lines lines each, so deep as the block is, zeros behind the last line.
template <class Config, int Lines>
struct GemmPacker {
  using Real = typename Config::Real;
  using In = typename Config::In;
  static constexpr int planes = Config::planes, lanes = Config::lanes;

  /// \param from   the block's first element
  /// \param lines  lines that exist, depth: elements of each
  TESSERA_FUNCTION static void pack(Real* to, const GemmOperand<In>& from, index_t lines, int depth) {
    for (index_t first = 0; first < lines; first += Lines, to += planes * Lines * depth) {
      const int count = lines - first < Lines ? static_cast<int>(lines - first) : Lines;
      const In* const start = from.pointer + first * from.line_stride;
      if (count < Lines)
        for (int at = 0; at < planes * Lines * depth; ++at) to[at] = Real{};
      if (from.line_stride == 1 && count == Lines)
        along_lines(to, start, from.depth_stride, depth, from.conj);
      else if (from.depth_stride == 1)
        along_depth(to, start, from.line_stride, count, depth, from.conj);
      else
        for (int k = 0; k < depth; ++k)
          for (int line = 0; line < count; ++line)
            put_packed<Real, Lines>(to + k * planes * Lines + line,
                                    start[line * from.line_stride + k * from.depth_stride], from.conj);
    }
  }

 private:
  TESSERA_FUNCTION static void along_lines(Real* to, const In* from, index_t stride, int depth, bool conj) {
    for (int k = 0; k < depth; ++k, to += planes * Lines, from += stride) {
      if constexpr (planes == 1 && Lines % lanes == 0) {
        unrolled<Lines / lanes>([&](auto at) {
          constexpr int first = decltype(at)::value * lanes;
          convert<Real>(vec<In, lanes>::load(from + first)).store(to + first);
        });
      } else {
        for (int line = 0; line < Lines; ++line) put_packed<Real, Lines>(to + line, from[line], conj);
      }
    }
  }

  // A cache line of each of the lines in turn: every one is touched once, however far apart they are
  TESSERA_FUNCTION static void along_depth(Real* to, const In* from, index_t stride, int count, int depth, bool conj) {
    constexpr int step = 64 / static_cast<int>(sizeof(In)) > lanes ? 64 / static_cast<int>(sizeof(In)) : lanes;
    int k = 0;
    for (; k + step <= depth; k += step, to += planes * Lines * step)
      for (int line = 0; line < count; ++line) {
        const In* const source = from + line * stride + k;
        if constexpr (planes == 1 && sizeof(In) < sizeof(Real)) {
          unrolled<step / lanes>([&](auto at) {
            constexpr int first = decltype(at)::value * lanes;
            convert<Real>(vec<In, lanes>::load(source + first)).store_strided(to + first * Lines + line, Lines);
          });
        } else {
          for (int i = 0; i < step; ++i) put_packed<Real, Lines>(to + i * planes * Lines + line, source[i], conj);
        }
      }
    for (; k < depth; ++k, to += planes * Lines)
      for (int line = 0; line < count; ++line) put_packed<Real, Lines>(to + line, from[line * stride + k], conj);
  }
};

/// Loads for a team of many threads: fetch() brings a panel's part of this thread into registers, commit() writes it,
/// converted, to scratch. Lines beyond the block and depth beyond K become zeros and are not read.
template <class Config, int Lines, int Width, GemmAccess Access>
struct GemmLoader {
  using Real = typename Config::Real;
  using In = typename Config::In;
  static constexpr int planes = Config::planes, bk = Config::bk, threads = Config::threads;
  static constexpr bool wide = Access == GemmAccess::lines_wide || Access == GemmAccess::depth_wide;
  static constexpr bool along_lines = Access == GemmAccess::lines_wide || Access == GemmAccess::lines_single;
  static constexpr int elements = Lines * bk / threads;
  static constexpr int widest = Config::load_bytes / static_cast<int>(sizeof(In));
  static constexpr int chunk = !wide ? 1 : (elements < widest ? elements : widest);
  static constexpr int chunks = elements / chunk;
  // Along depth: how many chunks of a line lie side by side in a warp: those of a sector of 32 bytes, where the writes
  // to scratch then still fall into different banks (32 of 4 bytes).
  static constexpr int chunk_bytes = chunk * static_cast<int>(sizeof(In));
  static constexpr int sector = chunk_bytes < 32 ? 32 / chunk_bytes : 1;
  static constexpr int fitting = sector < bk / chunk ? sector : bk / chunk;
  static constexpr int hop = chunk * planes * Width * static_cast<int>(sizeof(Real)) / 4 % 32;
  static constexpr int abreast = along_lines || (wide && (hop == 0 || hop * fitting % 32 != 0)) ? 1 : fitting;
  static_assert(chunks >= 1 && chunks * chunk == elements && (along_lines ? Lines : bk) % chunk == 0);

  using Chunk = vec<In, chunk>;
  Chunk held[chunks];
  const In* at;  ///< this thread's first chunk of the next panel

  /// Line and depth of chunk c of thread t.
  TESSERA_INLINE_FUNCTION static int line_of(int c, int t) {
    const int n = c * threads + t;
    if constexpr (along_lines) return n % (Lines / chunk) * chunk;
    return n / abreast % Lines;
  }
  TESSERA_INLINE_FUNCTION static int depth_of(int c, int t) {
    const int n = c * threads + t;
    if constexpr (along_lines) return n / (Lines / chunk);
    return (n / (abreast * Lines) * abreast + n % abreast) * chunk;
  }

  TESSERA_INLINE_FUNCTION void aim(const GemmOperand<In>& from, index_t batch, index_t first_line, int thread) {
    at = from.pointer + batch * from.batch_stride + (first_line + line_of(0, thread)) * from.line_stride +
         depth_of(0, thread) * from.depth_stride;
  }

  /// \param lines  that exist from the block's first on, at most Lines; depth: that is left, at most bk
  TESSERA_INLINE_FUNCTION void fetch(const GemmOperand<In>& from, int lines, int depth, int thread) {
    if (lines == Lines && depth == bk)
      fetch_chunks<false>(from, lines, depth, thread);
    else
      fetch_chunks<true>(from, lines, depth, thread);
    at += bk * from.depth_stride;
  }

  TESSERA_INLINE_FUNCTION void commit(Real* to, bool conj, int thread) const {
    unrolled<chunks>([&](auto number) {
      constexpr int c = decltype(number)::value;
      Real* const start = to + depth_of(c, thread) * planes * Width + line_of(c, thread);
      if constexpr (along_lines && planes == 1 && chunk * sizeof(Real) % 16 == 0) {
        constexpr int part = 16 / static_cast<int>(sizeof(Real));
        unrolled<chunk / part>([&](auto p) {
          constexpr int first = decltype(p)::value * part;
          vec<Real, part> v;
          for (int i = 0; i < part; ++i) v.set(i, static_cast<Real>(held[c][first + i]));
          v.store_aligned(start + first);
        });
      } else {
        unrolled<chunk>([&](auto e) {
          constexpr int i = decltype(e)::value;
          put_packed<Real, Width>(start + i * (along_lines ? 1 : planes * Width), held[c][i], conj);
        });
      }
    });
  }

 private:
  template <bool Guarded>
  TESSERA_INLINE_FUNCTION void fetch_chunks(const GemmOperand<In>& from, int lines, int depth, int thread) {
    unrolled<chunks>([&](auto number) {
      constexpr int c = decltype(number)::value;
      const int line = line_of(c, thread), k = depth_of(c, thread);
      const In* const source =
          at + (line - line_of(0, thread)) * from.line_stride + (k - depth_of(0, thread)) * from.depth_stride;
      if constexpr (!Guarded) {
        held[c] = load(source);
      } else {
        const int left = along_lines ? (k < depth ? lines - line : 0) : (line < lines ? depth - k : 0);
        if (left >= chunk)
          held[c] = load(source);
        else
          held[c] = Chunk::load(source, left);
      }
    });
  }

  TESSERA_INLINE_FUNCTION static Chunk load(const In* from) {
    if constexpr (wide)
      return Chunk::load_aligned(from);
    else
      return Chunk::load(from);
  }
};

}  // namespace tessera::detail
