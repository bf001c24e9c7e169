// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <tessera/core/portability.hpp>

namespace tessera {

/// Which random numbers: two that differ in seed or stream have nothing in common.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;
};

/// Philox4x32-10: 128 random bits for each counter and key, without a state. Any of them can be asked for at any time,
/// by any thread, on every backend, and is the same.
/// Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as easy as 1, 2, 3 (2011).
struct Philox {
  std::uint32_t word[4];

  /// N of them at once, word by word, so that hosts compute them in vectors.
  template <int N>
  struct Lanes {
    std::uint32_t word[4][N];

    TESSERA_INLINE_FUNCTION static std::uint32_t high(std::uint32_t a, std::uint32_t b) {
      return static_cast<std::uint32_t>(std::uint64_t{a} * b >> 32);
    }
    /// word holds the counters, and then the random bits.
    TESSERA_HOST_APART TESSERA_FUNCTION void cipher(std::uint32_t key0, std::uint32_t key1) {
      for (int round = 0; round < 10; ++round) {
        for (int l = 0; l < N; ++l) {
          // the halves of each product apart, as compilers know them in vectors
          const std::uint32_t a = word[0][l], b = word[2][l];
          word[0][l] = high(0xcd9e8d57u, b) ^ word[1][l] ^ key0;
          word[1][l] = 0xcd9e8d57u * b;
          word[2][l] = high(0xd2511f53u, a) ^ word[3][l] ^ key1;
          word[3][l] = 0xd2511f53u * a;
        }
        key0 += 0x9e3779b9u;  // of the golden ratio, and of the square root of 3 less 1
        key1 += 0xbb67ae85u;
      }
    }
  };

  TESSERA_INLINE_FUNCTION static Philox cipher(const Philox& counter, std::uint32_t key0, std::uint32_t key1) {
    Lanes<1> lane;
    for (int w = 0; w < 4; ++w) lane.word[w][0] = counter.word[w];
    lane.cipher(key0, key1);
    return {{lane.word[0][0], lane.word[1][0], lane.word[2][0], lane.word[3][0]}};
  }

  /// Block `number` of a stream: the counter is the number, then the stream; the key is the seed; low words first.
  TESSERA_INLINE_FUNCTION static Philox block(const RandomStream& from, std::uint64_t number) {
    return cipher({{static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32),
                    static_cast<std::uint32_t>(from.stream), static_cast<std::uint32_t>(from.stream >> 32)}},
                  static_cast<std::uint32_t>(from.seed), static_cast<std::uint32_t>(from.seed >> 32));
  }
  /// Blocks number, number + 1, ...
  template <int N>
  TESSERA_INLINE_FUNCTION static Lanes<N> blocks(const RandomStream& from, std::uint64_t number) {
    Lanes<N> lanes;
    for (int l = 0; l < N; ++l) {
      const std::uint64_t n = number + static_cast<std::uint64_t>(l);
      lanes.word[0][l] = static_cast<std::uint32_t>(n);
      lanes.word[1][l] = static_cast<std::uint32_t>(n >> 32);
      lanes.word[2][l] = static_cast<std::uint32_t>(from.stream);
      lanes.word[3][l] = static_cast<std::uint32_t>(from.stream >> 32);
    }
    lanes.cipher(static_cast<std::uint32_t>(from.seed), static_cast<std::uint32_t>(from.seed >> 32));
    return lanes;
  }

  /// Words 2 h and 2 h + 1 as one number, the first one low.
  [[nodiscard]] TESSERA_INLINE_FUNCTION std::uint64_t wide(int h) const {
    return static_cast<std::uint64_t>(word[2 * h + 1]) << 32 | word[2 * h];
  }
};

}  // namespace tessera
