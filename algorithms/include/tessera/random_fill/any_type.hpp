// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The fills themselves. The library brings them compiled for every element type that there is, so users need
/// tessera/random_fill.hpp alone.

#include <Kokkos_Core.hpp>
#include <cmath>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/level1/walk.hpp>
#include <tessera/random_fill.hpp>

namespace tessera::detail {

/// Numbers in [0, 1): 4 floats or 2 doubles a block.
template <class T>
TESSERA_INLINE_FUNCTION T unit_uniform(const Philox& b, int lane) {
  if constexpr (sizeof(T) == 4)
    return static_cast<T>(b.word[lane] >> 8) * static_cast<T>(0x1p-24);
  else
    return static_cast<T>(b.wide(lane) >> 11) * static_cast<T>(0x1p-53);
}

/// A draw makes `per_block` elements of a block of random bits.
template <class T>
struct DrawUniform {
  static constexpr int per_block = 16 / static_cast<int>(sizeof(T));
  T lower, width, upper, below;  // below: the last number before upper
  explicit DrawUniform(const RandomFillProblem<T>& p)
      : lower(p.first), width(p.second - p.first), upper(p.second), below(std::nextafter(p.second, p.first)) {}
  TESSERA_INLINE_FUNCTION void operator()(const Philox& b, T (&y)[per_block]) const {
    for (int l = 0; l < per_block; ++l) {
      const T v = Kokkos::fma(unit_uniform<T>(b, l), width, lower);
      y[l] = v < upper ? v : below;
    }
  }
};

template <class T>
struct DrawNormal {
  static constexpr int per_block = 16 / static_cast<int>(sizeof(T));
  T mean, deviation;
  explicit DrawNormal(const RandomFillProblem<T>& p) : mean(p.first), deviation(p.second) {}
  TESSERA_INLINE_FUNCTION void operator()(const Philox& b, T (&y)[per_block]) const {
    for (int l = 0; l < per_block; l += 2) {
      T u;
      if constexpr (sizeof(T) == 4)
        u = Kokkos::fma(static_cast<T>(b.word[l]), static_cast<T>(0x1p-32), static_cast<T>(0x1p-33));
      else
        u = static_cast<T>((b.wide(l) >> 11) + 1) * static_cast<T>(0x1p-53);
      const T r = Kokkos::sqrt(T(-2) * Kokkos::log(u));
      const T a = static_cast<T>(6.283185307179586476925286766559) * unit_uniform<T>(b, l + 1);
      y[l] = Kokkos::fma(r * Kokkos::cos(a), deviation, mean);
      y[l + 1] = Kokkos::fma(r * Kokkos::sin(a), deviation, mean);
    }
  }
};

template <class T>
struct DrawAny {
  static constexpr int per_block = 16 / static_cast<int>(sizeof(T));
  explicit DrawAny(const RandomFillProblem<T>&) {}
  TESSERA_INLINE_FUNCTION void operator()(const Philox& b, T (&y)[per_block]) const {
    for (int l = 0; l < per_block; ++l) {
      if constexpr (sizeof(T) == 4)
        y[l] = static_cast<T>(b.word[l]);
      else
        y[l] = static_cast<T>(b.wide(l));
    }
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
  TESSERA_INLINE_FUNCTION void operator()(const Philox& b, T (&y)[per_block]) const {
    for (int l = 0; l < per_block; ++l) y[l] = static_cast<T>(lower + scaled_bits(b.wide(l), range));
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

  TESSERA_INLINE_FUNCTION void put(const Philox& bits, index_t block) const {
    T v[per_block];
    draw(bits, v);
    const index_t first = block * per_block;
    if (unit && first + per_block <= n) {
      if constexpr (machine<Space>::is_host) {
        for (int l = 0; l < per_block; ++l) y[first + l] = v[l];
      } else {
        vec<T, per_block> whole;
        for (int l = 0; l < per_block; ++l) whole.set(l, v[l]);
        whole.store_aligned(y + first);
      }
      return;
    }
    // one row of many columns where it is a vector
    index_t i = columns >= n ? 0 : first / columns, j = first - i * columns;
    for (int l = 0; l < per_block; ++l) {
      if (first + l >= n) return;
      y[i * rs + j * cs] = v[l];
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
      for (; b + lanes <= end; b += lanes) {
        const auto bits = Philox::blocks<lanes>(from, static_cast<std::uint64_t>(b));
        for (int l = 0; l < lanes; ++l)
          put({{bits.word[0][l], bits.word[1][l], bits.word[2][l], bits.word[3][l]}}, b + l);
      }
      for (; b < end; ++b) put(Philox::block(from, static_cast<std::uint64_t>(b)), b);
    } else {
      for (index_t b = share.first; b < share.length; b += share.step)
        put(Philox::block(from, static_cast<std::uint64_t>(b)), b);
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
