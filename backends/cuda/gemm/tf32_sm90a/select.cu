// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"
#include <algorithm>
#include <iterator>
#include <utility>

namespace tessera::cuda::sm90a {
namespace {

struct Shape {
  const char* name;
  Tf32Tile tile;
  double efficiency;  ///< share of the tensor pipe's rate that the main loop reaches
};
constexpr Shape shapes[] = {{"128x256x32 s4 multicast 2", {128, 256, 2, 0}, 1.00},
                            {"128x256x32 s4", {128, 256, 1, 0}, 0.97},
                            {"128x128x32 s6", {128, 128, 1, 0}, 0.79},
                            {"128x64x32 s8", {128, 64, 1, 0}, 0.53},
                            {"128x128x32", {128, 128, 1, 1}, 0.79},
                            {"128x128x32 split 2", {128, 128, 1, 2}, 0.79},
                            {"128x128x32 split 4", {128, 128, 1, 4}, 0.79},
                            {"128x128x32 split 8", {128, 128, 1, 8}, 0.79},
                            {"128x64x32", {128, 64, 1, 1}, 0.53},
                            {"128x64x32 split 2", {128, 64, 1, 2}, 0.53},
                            {"128x64x32 split 4", {128, 64, 1, 4}, 0.53},
                            {"128x64x32 split 8", {128, 64, 1, 8}, 0.53},
                            {"128x32x32", {128, 32, 1, 1}, 0.30},
                            {"128x32x32 split 2", {128, 32, 1, 2}, 0.30},
                            {"128x32x32 split 4", {128, 32, 1, 4}, 0.30},
                            {"128x32x32 split 8", {128, 32, 1, 8}, 0.30},
                            {"128x16x32", {128, 16, 1, 1}, 0.15},
                            {"128x16x32 split 2", {128, 16, 1, 2}, 0.15},
                            {"128x16x32 split 4", {128, 16, 1, 4}, 0.15},
                            {"128x16x32 split 8", {128, 16, 1, 8}, 0.15},
                            {"64x128x32", {64, 128, 1, 1}, 0.53},
                            {"64x128x32 split 2", {64, 128, 1, 2}, 0.53},
                            {"64x128x32 split 4", {64, 128, 1, 4}, 0.53},
                            {"64x128x32 split 8", {64, 128, 1, 8}, 0.53},
                            {"64x64x32", {64, 64, 1, 1}, 0.32},
                            {"64x64x32 split 2", {64, 64, 1, 2}, 0.32},
                            {"64x64x32 split 4", {64, 64, 1, 4}, 0.32},
                            {"64x64x32 split 8", {64, 64, 1, 8}, 0.32},
                            {"64x32x32", {64, 32, 1, 1}, 0.18},
                            {"64x32x32 split 2", {64, 32, 1, 2}, 0.18},
                            {"64x32x32 split 4", {64, 32, 1, 4}, 0.18},
                            {"64x32x32 split 8", {64, 32, 1, 8}, 0.18},
                            {"64x16x32", {64, 16, 1, 1}, 0.09},
                            {"64x16x32 split 2", {64, 16, 1, 2}, 0.09},
                            {"64x16x32 split 4", {64, 16, 1, 4}, 0.09},
                            {"64x16x32 split 8", {64, 16, 1, 8}, 0.09}};

/// What the copy engine asks of an operand.
bool is_aligned(const float* pointer, std::int64_t leading) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0 && leading % 4 == 0;
}

Tf32Gemm transposed(Tf32Gemm p) {
  std::swap(p.m, p.n);
  std::swap(p.a, p.b);
  std::swap(p.lda, p.ldb);
  std::swap(p.a_mn_major, p.b_mn_major);
  p.d_column_major = !p.d_column_major;
  return p;
}

}  // namespace

int tf32_configurations() { return static_cast<int>(std::size(shapes)); }
const char* tf32_configuration_name(int configuration) { return shapes[configuration].name; }

Tf32Gemm tf32_oriented(const Tf32Gemm& p) {
  if (p.a_mn_major != p.b_mn_major) return p.b_mn_major ? transposed(p) : p;
  // the smaller operand is copied
  if (p.a_mn_major) return p.n > p.m ? transposed(p) : p;
  // the narrow side of a skinny product is the tiles' columns, of which there may be as few as 16; else rows are stored
  if (std::min(p.m, p.n) <= 64) return p.m < p.n ? transposed(p) : p;
  return p.d_column_major ? transposed(p) : p;
}

const char* tf32_refusal(const Tf32Gemm& p) {
  constexpr std::int64_t largest = std::int64_t{1} << 30;
  if (p.m > largest || p.n > largest || p.k > largest) return "an extent is above 2^30";
  if (p.m < 1 || p.n < 1 || p.k < 1) return "an extent is 0";
  if (p.b_mn_major) return "neither operand has unit stride along K, which tf32 tensor cores ask of one";
  if (!is_aligned(p.a, p.lda)) return "A's base or leading dimension is not a multiple of 16 bytes (4 elements)";
  if (!is_aligned(p.b, p.ldb)) return "B's base or leading dimension is not a multiple of 16 bytes (4 elements)";
  return nullptr;
}

bool tf32_configuration_fits(const Tf32Gemm& p, int configuration) {
  const Tf32Tile& tile = shapes[configuration].tile;
  return (p.k + 31) / 32 >= tile.split;
}

int choose_tf32_configuration(const Tf32Gemm& p, int units) {
  // Cycles: the tensor pipe does 1024 multiply-adds a cycle and multiprocessor; L2 gives all multiprocessors 8000 bytes
  // a cycle, less than half of that where lines of 128 bytes lie across its own. A tile of K takes the longer of the
  // two; the waves of tiles times a tile's main loop and store add up, behind a start that is the same for all.
  const auto bytes = [](std::int64_t leading) {
    return leading % 32 == 0 ? 128.0 : leading % 8 == 0 ? 1.8 * 128 : 2.9 * 128;
  };
  int best = -1;
  double least = 1e300;
  for (int c = 0; c < tf32_configurations(); ++c) {
    if (!tf32_configuration_fits(p, c)) continue;
    const auto& [rows, columns, multicast, split] = shapes[c].tile;
    const std::int64_t row_tiles = (p.m + rows * multicast - 1) / (rows * multicast);
    const std::int64_t tiles = row_tiles * ((p.n + columns - 1) / columns);
    // clusters of 4 and 8 blocks leave multiprocessors of a group free
    const int blocks = split > 1 ? split : multicast;
    const std::int64_t at_once = (blocks > 2 ? units * 10 / 11 : units) / blocks;
    const std::int64_t waves = (tiles + at_once - 1) / at_once;
    const std::int64_t k_tiles = (p.k + 31) / 32, k_here = split > 1 ? (k_tiles + split - 1) / split : k_tiles;
    const auto running = static_cast<double>(std::min(tiles, at_once) * blocks);
    const double from_l2 = running * (rows * bytes(p.lda) + columns * bytes(p.ldb) / multicast) / 8000;
    const double step = std::max(rows * columns * 32 / 1024.0 / shapes[c].efficiency, from_l2);
    double tile = static_cast<double>(k_here) * step + 9.0 * columns;
    if (split > 1) tile += 6000;
    const double cycles = (multicast > 1 ? 1500 : 0) + static_cast<double>(waves) * tile;
    if (cycles < least) {
      least = cycles;
      best = c;
    }
  }
  return best;
}

const char* tf32_launch(const Tf32Gemm& p, int configuration, int units, void* stream) {
  auto* const s = static_cast<cudaStream_t>(stream);
  if (!tf32_configuration_fits(p, configuration)) return "the configuration does not fit the problem";
  const Tf32Tile& tile = shapes[configuration].tile;
  const auto start = tile.split > 0 ? (p.a_mn_major ? tf32_launch_mn_split : tf32_launch_k_split)
                                    : (p.a_mn_major ? tf32_launch_mn : tf32_launch_k);
  return start(p, tile, units, s);
}

}  // namespace tessera::cuda::sm90a
