// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"
#include <cuda/gemm/fp64_shapes_sm90a.hpp>
#include <iterator>

namespace tessera::cuda::sm90a {
namespace {

constexpr Fp64Shape shapes[] = {
    {"128x64x8 s9", 128, 64, 0.97}, {"64x64x8 s12", 64, 64, 0.94}, {"64x32x8 s16", 64, 32, 0.91}};
constexpr Fp64Family family{8, 32, 20};  // complex multiply-adds

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
  return expected_share(p, shapes[configuration], family, units);
}

int choose_complex_double_configuration(const ComplexDoubleGemm& p, int units) {
  return choose_shape(p, shapes, family, units);
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
