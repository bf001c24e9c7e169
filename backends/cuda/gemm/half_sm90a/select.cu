// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <random>

namespace tessera::cuda::sm90a {
namespace {

struct Shape {
  const char* name;
  Tile tile;
  double efficiency;  ///< share of the tensor pipe's rate that the main loop reaches, measured on an H200
};
constexpr Shape shapes[] = {{"128x256x64 s4 multicast 2", {128, 256, 2, 0}, 1.00},
                            {"128x256x64 s4", {128, 256, 1, 0}, 0.97},
                            {"128x128x64 s5", {128, 128, 1, 0}, 0.79},
                            {"128x64x64 s7", {128, 64, 1, 0}, 0.53},
                            {"192x192x64 s4 multicast 2", {192, 192, 2, 0}, 0.99},
                            {"128x192x64 s5", {128, 192, 1, 0}, 0.91},
                            {"128x192x64 s5 multicast 2", {128, 192, 2, 0}, 0.91},
                            {"64x128x64 s8", {64, 128, 1, 0}, 0.66},
                            {"64x128x64 s8 multicast 2", {64, 128, 2, 0}, 0.66},
                            {"128x64x64", {128, 64, 1, 1}, 0.53},
                            {"128x64x64 split 2", {128, 64, 1, 2}, 0.53},
                            {"128x64x64 split 4", {128, 64, 1, 4}, 0.53},
                            {"128x64x64 split 8", {128, 64, 1, 8}, 0.53},
                            {"128x32x64", {128, 32, 1, 1}, 0.30},
                            {"128x32x64 split 2", {128, 32, 1, 2}, 0.30},
                            {"128x32x64 split 4", {128, 32, 1, 4}, 0.30},
                            {"128x32x64 split 8", {128, 32, 1, 8}, 0.30},
                            {"128x16x64", {128, 16, 1, 1}, 0.15},
                            {"128x16x64 split 2", {128, 16, 1, 2}, 0.15},
                            {"128x16x64 split 4", {128, 16, 1, 4}, 0.15},
                            {"128x16x64 split 8", {128, 16, 1, 8}, 0.15},
                            {"64x64x64", {64, 64, 1, 1}, 0.32},
                            {"64x64x64 split 2", {64, 64, 1, 2}, 0.32},
                            {"64x64x64 split 4", {64, 64, 1, 4}, 0.32},
                            {"64x64x64 split 8", {64, 64, 1, 8}, 0.32},
                            {"64x32x64", {64, 32, 1, 1}, 0.18},
                            {"64x32x64 split 2", {64, 32, 1, 2}, 0.18},
                            {"64x32x64 split 4", {64, 32, 1, 4}, 0.18},
                            {"64x32x64 split 8", {64, 32, 1, 8}, 0.18},
                            {"64x16x64", {64, 16, 1, 1}, 0.09},
                            {"64x16x64 split 2", {64, 16, 1, 2}, 0.09},
                            {"64x16x64 split 4", {64, 16, 1, 4}, 0.09},
                            {"64x16x64 split 8", {64, 16, 1, 8}, 0.09},
                            {"128x256x64 s4 multicast 2 stream", {128, 256, 2, 0, true}, 1.00},
                            {"128x256x64 s4 stream", {128, 256, 1, 0, true}, 0.97},
                            {"128x128x64 s5 stream", {128, 128, 1, 0, true}, 0.79},
                            {"64x128x64 s8 stream", {64, 128, 1, 0, true}, 0.66}};

}  // namespace

int configurations() { return static_cast<int>(std::size(shapes)); }
const Tile& tile_of(int configuration) { return shapes[configuration].tile; }
const char* configuration_name(int configuration) { return shapes[configuration].name; }

const char* refusal(const HalfGemm& p) {
  constexpr std::int64_t largest = std::int64_t{1} << 30;
  if (p.m > largest || p.n > largest || p.k > largest) return "an extent is above 2^30";
  if (p.m < 1 || p.n < 1 || p.k < 1) return "an extent is 0";
  if (!is_aligned(p.a, p.lda)) return "A's base or leading dimension is not a multiple of 16 bytes (8 elements)";
  if (!is_aligned(p.b, p.ldb)) return "B's base or leading dimension is not a multiple of 16 bytes (8 elements)";
  if (p.batches > 1) {
    if (p.a_batch % 8 != 0 || p.b_batch % 8 != 0)
      return "the stride of A's or B's batch is not a multiple of 16 bytes (8 elements)";
    if (p.batches * ((p.m + 63) / 64) * ((p.n + 15) / 16) > std::int64_t{1} << 30)
      return "a batch of more tiles than a kernel counts";
  }
  return nullptr;
}

bool configuration_fits(const HalfGemm& p, int configuration) {
  const Tile& tile = shapes[configuration].tile;
  if (p.batches > 1 && (p.functor != nullptr || p.epilogue.residual != nullptr)) return false;
  if (tile.streamed) {
    if (!p.has_workspace || p.epilogue.any || p.functor != nullptr || p.d_column_major) return false;
    // the streamed K tiles of all clusters are counted by an int
    return (p.k + 63) / 64 < std::int64_t{1} << 22;
  }
  if (p.functor != nullptr && !compiled_with_functors(tile)) return false;
  if (tile.split > 0) return (p.k + 63) / 64 >= tile.split;
  if (p.d_column_major || (tile.between() && p.epilogue.any)) return false;
  const auto pairs = [&](const void* pointer, std::int64_t down, std::int64_t right) {
    const std::uintptr_t bytes = p.out == Element::fp32 ? 8 : 4;
    return right == 1 && down % 2 == 0 && p.n % 2 == 0 && reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
  };
  const Epilogue& e = p.epilogue;
  if (e.residual != nullptr && !pairs(e.residual, e.residual_strides[0], e.residual_strides[1])) return false;
  return !(e.any || p.functor != nullptr) || (p.beta_pointer == nullptr && p.beta == 0) || pairs(p.d, p.ldd, 1);
}

double expected_cycles(const HalfGemm& p, int configuration, int units) {
  // As measured on an H200: the tensor pipe does 2048 multiply-adds a cycle and multiprocessor for 16-bit operands; L2
  // gives all multiprocessors 8000 bytes a cycle, less than half of that where lines of 128 bytes lie across its own. A
  // tile of K takes the longer of the two, and part of the other where lines lie so; the waves of tiles times a tile's
  // main loop and store add up, behind a start that is the same for all.
  const auto bytes = [](std::int64_t leading) { return leading % 64 == 0 ? 128.0 : 2.25 * 128; };
  const auto& [rows, columns, multicast, split, streamed] = shapes[configuration].tile;
  const std::int64_t tiles = tiles_of(p, rows, columns, multicast);
  // clusters of 4 and 8 blocks leave multiprocessors of a group free
  const int blocks = split > 1 ? split : multicast;
  const std::int64_t at_once = (blocks > 2 ? units * 10 / 11 : units) / blocks;
  const std::int64_t waves = (tiles + at_once - 1) / at_once;
  const std::int64_t k_tiles = (p.k + 63) / 64, k_here = split > 1 ? (k_tiles + split - 1) / split : k_tiles;
  const auto running = static_cast<double>((streamed ? at_once : std::min(tiles, at_once)) * blocks);
  const double from_l2 = running * (rows * bytes(p.lda) + columns * bytes(p.ldb) / multicast) / 8000;
  const double pipe = rows * columns * 64 / 2048.0 / shapes[configuration].efficiency;
  const bool across = p.lda % 64 != 0 || p.ldb % 64 != 0;
  const double step = std::max(pipe, from_l2) + (across ? std::min(pipe, from_l2) / 4 : 0);
  const double store = 9.0 * columns * rows / 128;
  if (streamed) {
    const std::int64_t clusters = stream_clusters(tiles, k_tiles, multicast, units),
                       wave = streamed_tiles(static_cast<int>(tiles), static_cast<int>(clusters));
    const std::int64_t whole = (tiles - wave) / clusters;  // tiles of a cluster besides its part
    const double share = std::ceil(static_cast<double>(wave * k_tiles) / static_cast<double>(clusters));
    // Blocks are at different places of K, so that they share no loads: a step takes a quarter longer. A tile's sums go
    // to L2 and come back, or all of them do and another kernel starts
    const double through = tiles < clusters ? 12000 : 8000;
    return (multicast > 1 ? 1500 : 0) + (1.25 * share + static_cast<double>(whole * k_tiles)) * step +
           static_cast<double>(whole + 1) * store + through;
  }
  double tile = static_cast<double>(k_here) * step + store;
  if (split > 0) tile += split > 1 ? 4000 : 2500;
  return (multicast > 1 && (p.batches == 1 || rows * columns < 128 * 256) ? 1500 : 0) +
         static_cast<double>(waves) * tile;
}

int choose_configuration(const HalfGemm& p, int units) {
  int best = -1;
  double least = 1e300;
  for (int c = 0; c < configurations(); ++c) {
    if (!configuration_fits(p, c)) continue;
    const double cycles = expected_cycles(p, c, units);
    if (cycles < least) {
      least = cycles;
      best = c;
    }
  }
  return best;
}

std::size_t stream_bytes(const HalfGemm& p, int configuration) {
  const Tile& tile = shapes[configuration].tile;
  return tile.streamed ? stream_plan(p, tile, most_units).bytes() : 0;
}

std::uint64_t next_raised() {
  static std::atomic<std::uint64_t> next = [] {
    std::random_device device;
    return static_cast<std::uint64_t>(device()) << 32 | device();
  }();
  const std::uint64_t value = next.fetch_add(1, std::memory_order_relaxed);
  return value != 0 ? value : next_raised();
}

double expected_cycles_of_any_tile(const HalfGemm& p, int units) {
  double least = 1e300;
  for (const int rows : {128, 192, 256})
    for (int columns = 64; columns <= 256; columns += 16) {
      if (rows * columns > 192 * 224) continue;  // their sums are beyond the registers
      const std::int64_t tiles = tiles_of(p, rows, columns, 1);
      const std::int64_t waves = (tiles + units - 1) / units;
      const double pipe = rows * columns / 128.0;  // cycles of 16 of K
      // bytes that wgmma reads and the copy engine writes meanwhile, at 128 a cycle
      const double shared = (rows / 64.0 * (64 + columns) * 32 + (rows + columns) * 32) / 128;
      const auto steps = static_cast<double>((p.k + 15) / 16);
      least =
          std::min(least, static_cast<double>(waves) * (steps * std::max(pipe, shared) + 9.0 * columns * rows / 128));
    }
  return least;
}

const char* launch(const HalfGemm& p, int configuration, int units, void* stream) {
  auto* const s = static_cast<cudaStream_t>(stream);
  if (!configuration_fits(p, configuration)) return "the configuration does not fit the problem";
  const Tile& tile = shapes[configuration].tile;
  const bool bf16 = p.in == Element::bf16, to_fp32 = p.out == Element::fp32;
  const auto of = [&](auto* same, auto* wide) { return to_fp32 ? wide : same; };
  if (tile.streamed && units > most_units) return "the device is larger than the workspace was asked for";
  const auto start = tile.streamed    ? (bf16 ? of(launch_bf16_streamed, launch_bf16_fp32_streamed)
                                              : of(launch_fp16_streamed, launch_fp16_fp32_streamed))
                     : tile.split > 0 ? (bf16 ? of(launch_bf16_split, launch_bf16_fp32_split)
                                              : of(launch_fp16_split, launch_fp16_fp32_split))
                     : tile.between() ? (bf16 ? of(launch_bf16_between, launch_bf16_fp32_between)
                                              : of(launch_fp16_between, launch_fp16_fp32_between))
                     : p.epilogue.any ? (bf16 ? of(launch_bf16_finished, launch_bf16_fp32_finished)
                                              : of(launch_fp16_finished, launch_fp16_fp32_finished))
                                      : (bf16 ? of(launch_bf16, launch_bf16_fp32) : of(launch_fp16, launch_fp16_fp32));
  return start(p, tile, units, s);
}

}  // namespace tessera::cuda::sm90a
