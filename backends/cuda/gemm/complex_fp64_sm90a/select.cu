// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"
#include <iterator>

namespace tessera::cuda::sm90a {
namespace {

struct Shape {
  const char* name;
  int bm, bn;
  double efficiency;  ///< share of the tensor pipe's rate that the main loop reaches, measured on an H200
};
constexpr Shape shapes[] = {
    {"128x64x8 s9", 128, 64, 0.97}, {"64x64x8 s12", 64, 64, 0.94}, {"64x32x8 s16", 64, 32, 0.91}};

}  // namespace

int complex_double_configurations() { return static_cast<int>(std::size(shapes)); }
const char* complex_double_configuration_name(int configuration) { return shapes[configuration].name; }

const char* complex_double_refusal(const ComplexDoubleGemm& p) {
  constexpr std::int64_t largest = std::int64_t{1} << 29;  // the copy engine's coordinates count doubles
  if (p.m > largest || p.n > largest || p.k > largest) return "an extent is above 2^29";
  if (p.m < 1 || p.n < 1 || p.k < 1) return "an extent is 0";
  if (reinterpret_cast<std::uintptr_t>(p.a) % 16 != 0) return "A's base is not a multiple of 16 bytes";
  if (reinterpret_cast<std::uintptr_t>(p.b) % 16 != 0) return "B's base is not a multiple of 16 bytes";
  return nullptr;
}

double complex_double_expected_share(const ComplexDoubleGemm& p, int configuration, int units) {
  // Cycles: the tensor pipe does 32 complex multiply-adds a cycle and multiprocessor; waves of tiles, behind a fixed
  const Shape& s = shapes[configuration];
  const auto tiles = ((p.m + s.bm - 1) / s.bm) * ((p.n + s.bn - 1) / s.bn);
  const auto waves = (tiles + units - 1) / units;
  const double tile = static_cast<double>((p.k + 7) / 8) * s.bm * s.bn * 8 / 32.0 / s.efficiency + 20.0 * s.bn;
  const double cycles = 2500 + static_cast<double>(waves) * tile;
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) / (32.0 * units) / cycles;
}

int choose_complex_double_configuration(const ComplexDoubleGemm& p, int units) {
  int best = 0;
  for (int c = 1; c < complex_double_configurations(); ++c)
    if (complex_double_expected_share(p, c, units) > complex_double_expected_share(p, best, units)) best = c;
  return best;
}

const char* complex_double_launch(const ComplexDoubleGemm& p, int configuration, int units, void* stream) {
  auto* const s = static_cast<cudaStream_t>(stream);
  if (p.a_mn_major)
    return p.b_mn_major ? complex_double_launch_mn(p, configuration, units, s)
                        : complex_double_launch_mk(p, configuration, units, s);
  return p.b_mn_major ? complex_double_launch_kn(p, configuration, units, s)
                      : complex_double_launch_kk(p, configuration, units, s);
}

}  // namespace tessera::cuda::sm90a
