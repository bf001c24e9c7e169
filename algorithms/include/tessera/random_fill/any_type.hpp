// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The fills themselves. The library brings them compiled for every element type that there is, so users need
/// tessera/random_fill.hpp alone.

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstring>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/level1/walk.hpp>
#include <tessera/random_fill.hpp>
#include <tessera/random_fill/normal.hpp>

namespace tessera::detail {

/// Number `at` of a block as T's own number of bits, of lane l.
template <class T, int N>
TESSERA_INLINE_FUNCTION auto bits_of(const Philox::Lanes<N>& b, int at, int l) {
  if constexpr (sizeof(T) == 4)
    return b.word[at][l];
  else
    return static_cast<std::uint64_t>(b.word[2 * at + 1][l]) << 32 | b.word[2 * at][l];
}
/// Numbers in [0, 1).
template <class T, int N>
TESSERA_INLINE_FUNCTION T unit_uniform(const Philox::Lanes<N>& b, int at, int l) {
  if constexpr (sizeof(T) == 4)
    return static_cast<T>(bits_of<T>(b, at, l) >> 8) * static_cast<T>(0x1p-24);
  else
    return static_cast<T>(bits_of<T>(b, at, l) >> 11) * static_cast<T>(0x1p-53);
}

// A draw makes `per_block` elements of each of N blocks of random bits; lanes are innermost, for the sake of vectors.

template <class T>
struct DrawUniform {
  static constexpr int per_block = 16 / static_cast<int>(sizeof(T));
  T lower, width, upper, below;  // below: the last number before upper
  explicit DrawUniform(const RandomFillProblem<T>& p)
      : lower(p.first), width(p.second - p.first), upper(p.second), below(std::nextafter(p.second, p.first)) {}
  template <int N>
  TESSERA_HOST_APART TESSERA_FUNCTION void operator()(const Philox::Lanes<N>& b, T (&y)[per_block][N]) const {
    for (int at = 0; at < per_block; ++at)
      for (int l = 0; l < N; ++l) {
        const T v = Kokkos::fma(unit_uniform<T>(b, at, l), width, lower);
        y[at][l] = v < upper ? v : below;
      }
  }
};

template <class T>
struct DrawNormal {
  static constexpr int per_block = 16 / static_cast<int>(sizeof(T));
  T mean, deviation;
  explicit DrawNormal(const RandomFillProblem<T>& p) : mean(p.first), deviation(p.second) {}
  template <int N>
  TESSERA_HOST_APART TESSERA_FUNCTION void operator()(const Philox::Lanes<N>& b, T (&y)[per_block][N]) const {
    for (int at = 0; at < per_block; at += 2)
      for (int l = 0; l < N; ++l) {
        T u;
        if constexpr (sizeof(T) == 4)
          u = Kokkos::fma(static_cast<T>(bits_of<T>(b, at, l)), static_cast<T>(0x1p-32), static_cast<T>(0x1p-33));
        else
          u = static_cast<T>((bits_of<T>(b, at, l) >> 11) + 1) * static_cast<T>(0x1p-53);
        const T r = Kokkos::sqrt(T(-2) * log_of_uniform(u));
        T sine, cosine;
        sine_and_cosine_of_turns(unit_uniform<T>(b, at + 1, l), sine, cosine);
        y[at][l] = Kokkos::fma(r * cosine, deviation, mean);
        y[at + 1][l] = Kokkos::fma(r * sine, deviation, mean);
      }
  }
};

template <class T>
struct DrawAny {
  static constexpr int per_block = 16 / static_cast<int>(sizeof(T));
  explicit DrawAny(const RandomFillProblem<T>&) {}
  template <int N>
  TESSERA_HOST_APART TESSERA_FUNCTION void operator()(const Philox::Lanes<N>& b, T (&y)[per_block][N]) const {
    for (int at = 0; at < per_block; ++at)
      for (int l = 0; l < N; ++l) y[at][l] = static_cast<T>(bits_of<T>(b, at, l));
  }
};

/// floor(bits range / 2^64), by halves.
TESSERA_INLINE_FUNCTION std::uint64_t scaled_bits(std::uint64_t bits, std::uint64_t range) {
  using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(bits) * range >> 64);
}

template <class T>
struct DrawRange {
  static constexpr int per_block = 2;
  std::uint64_t lower, range;
  explicit DrawRange(const RandomFillProblem<T>& p)
      : lower(static_cast<std::uint64_t>(p.first)),
        range(static_cast<std::uint64_t>(p.second) - static_cast<std::uint64_t>(p.first)) {}
  template <int N>
  TESSERA_HOST_APART TESSERA_FUNCTION void operator()(const Philox::Lanes<N>& b, T (&y)[per_block][N]) const {
    for (int at = 0; at < per_block; ++at)
      for (int l = 0; l < N; ++l)
        y[at][l] = static_cast<T>(lower + scaled_bits(bits_of<std::uint64_t>(b, at, l), range));
  }
};

template <class T, class Space, class Draw>
struct RandomFill {
  static constexpr int per_block = Draw::per_block;
  static constexpr int lanes = 16;  // blocks that hosts compute at once
  Draw draw;
  RandomStream from;
  T* y;
  index_t n, columns, rs, cs;
  index_t blocks, workers;
  bool unit;  // stride 1 (devices: and aligned)

  /// The elements of one block.
  TESSERA_INLINE_FUNCTION void put(index_t block) const {
    T v[per_block][1];
    draw(Philox::blocks<1>(from, static_cast<std::uint64_t>(block)), v);
    const index_t first = block * per_block;
    if (!machine<Space>::is_host && unit && first + per_block <= n) {
      vec<T, per_block> whole;
      for (int l = 0; l < per_block; ++l) whole.set(l, v[l][0]);
      whole.store_aligned(y + first);
      return;
    }
    // one row of many columns where it is a vector
    index_t i = columns >= n ? 0 : first / columns, j = first - i * columns;
    for (int l = 0; l < per_block; ++l) {
      if (first + l >= n) return;
      y[i * rs + j * cs] = v[l][0];
      if (++j == columns) {
        j = 0;
        ++i;
      }
    }
  }

  TESSERA_INLINE_FUNCTION void operator()(index_t worker) const {
    const Share share = share_of<Space>(worker, workers, blocks);
    if constexpr (machine<Space>::is_host) {
      index_t b = share.begin;
      const index_t end = share.begin + share.length;
      for (; unit && b + lanes <= end && (b + lanes) * per_block <= n; b += lanes) {
        T drawn[per_block][lanes];
        draw(Philox::blocks<lanes>(from, static_cast<std::uint64_t>(b)), drawn);
        T* const to = y + b * per_block;
        for (int l = 0; l < lanes; ++l)
          for (int at = 0; at < per_block; ++at) to[l * per_block + at] = drawn[at][l];
      }
      for (; b < end; ++b) put(b);
    } else {
      for (index_t b = share.first; b < share.length; b += share.step) put(b);
    }
  }
};

template <class T, class Space>
void run_random_fill(const Space& exec, const RandomFillProblem<T>& p) {
  const Region region("tessera::random_fill[portable]");
  const index_t rows = p.y.extents[0], n = p.y.size();
  if (n == 0) return;
  const auto fill = [&]<class Draw>(const Draw& draw) {
    using Kernel = RandomFill<T, Space, Draw>;
    Kernel kernel{draw, p.from, p.y.pointer, n, p.y.extents[1], p.y.strides[0], p.y.strides[1], 0, 0, false};
    if (kernel.columns == 1 || (rows > 1 && kernel.rs == kernel.columns * kernel.cs)) {  // one row
      kernel.cs = kernel.columns == 1 ? kernel.rs : kernel.cs;
      kernel.columns = n;
    }
    kernel.unit = kernel.columns == n && unit_access<Space>(p.y.pointer, n > 1 ? kernel.cs : 1);
    kernel.blocks = (n + Kernel::per_block - 1) / Kernel::per_block;
    kernel.workers = worker_count(exec, kernel.blocks, machine<Space>::is_host ? 256 : 4);
    Kokkos::parallel_for("tessera::random_fill::range", Range<Space>(exec, 0, kernel.workers), kernel);
  };
  if constexpr (std::is_integral_v<T>) {
    if (p.distribution == Distribution::any)
      fill(DrawAny<T>(p));
    else
      fill(DrawRange<T>(p));
  } else {
    if (p.distribution == Distribution::normal)
      fill(DrawNormal<T>(p));
    else
      fill(DrawUniform<T>(p));
  }
}

}  // namespace tessera::detail
