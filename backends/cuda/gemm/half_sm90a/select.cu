// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"
#include <algorithm>
#include <iterator>

namespace tessera::cuda::sm90a {
namespace {

struct Shape {
  const char* name;
  int bm, bn, cluster;
  double efficiency;  ///< share of the tensor pipe's rate that the main loop reaches, measured on an H200
};
constexpr Shape shapes[] = {{"128x256x64 s4 multicast 2", 128, 256, 2, 1.00},
                            {"128x256x64 s4", 128, 256, 1, 0.97},
                            {"128x128x64 s5", 128, 128, 1, 0.79},
                            {"128x64x64 s7", 128, 64, 1, 0.53}};

bool aligned(const void* pointer, std::int64_t stride) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0 && stride % 8 == 0;
}

}  // namespace

int configurations() { return static_cast<int>(std::size(shapes)); }
const char* configuration_name(int configuration) { return shapes[configuration].name; }

const char* refusal(const HalfGemm& p) {
  constexpr std::int64_t largest = std::int64_t{1} << 30;
  if (p.m > largest || p.n > largest || p.k > largest) return "an extent is above 2^30";
  if (p.m < 1 || p.n < 1 || p.k < 1) return "an extent is 0";
  if (!aligned(p.a, p.lda)) return "A's base or leading dimension is not a multiple of 16 bytes (8 elements)";
  if (!aligned(p.b, p.ldb)) return "B's base or leading dimension is not a multiple of 16 bytes (8 elements)";
  return nullptr;
}

int choose_configuration(const HalfGemm& p, int units) {
  // Cycles: the tensor pipe does 2048 multiply-adds a cycle and multiprocessor for 16-bit operands; the waves of tiles
  // times a tile's main loop and store, behind a fixed cost for filling the pipeline.
  int best = 0;
  double least = 1e300;
  for (int c = 0; c < configurations(); ++c) {
    const Shape& s = shapes[c];
    const auto tiles = ((p.m + s.bm * s.cluster - 1) / (s.bm * s.cluster)) * ((p.n + s.bn - 1) / s.bn);
    const auto at_once = units / s.cluster;
    const auto waves = (tiles + at_once - 1) / at_once;
    const double k_tiles = static_cast<double>((p.k + 63) / 64);
    const double tile = k_tiles * s.bm * s.bn * 64 / 2048.0 / s.efficiency + 6.0 * s.bn;
    const double cycles = 2500 + (s.cluster > 1 ? 1500 : 0) + static_cast<double>(waves) * tile;
    if (cycles < least) {
      least = cycles;
      best = c;
    }
  }
  return best;
}

const char* launch(const HalfGemm& p, int configuration, int units, void* stream) {
  auto* const s = static_cast<cudaStream_t>(stream);
  if (p.in == Element::bf16)
    return p.out == Element::fp32 ? launch_bf16_fp32(p, configuration, units, s)
                                  : launch_bf16(p, configuration, units, s);
  return p.out == Element::fp32 ? launch_fp16_fp32(p, configuration, units, s)
                                : launch_fp16(p, configuration, units, s);
}

}  // namespace tessera::cuda::sm90a
