// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"
#include <cuda/gemm/fp64_shapes_sm90a.hpp>
#include <iterator>

namespace tessera::cuda::sm90a {
namespace {

constexpr Fp64Shape shapes[] = {{"128x128x16 s7", 128, 128, 0.96},
                                {"128x96x16 s8", 128, 96, 0.95},
                                {"128x64x16 s9", 128, 64, 0.94},
                                {"64x64x16 s12", 64, 64, 0.92},
                                {"64x32x16 s16", 64, 32, 0.55}};
constexpr Fp64Family family{16, 128, 10};

bool aligned(const void* pointer, std::int64_t stride) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0 && stride % 2 == 0;
}

}  // namespace

int double_configurations() { return static_cast<int>(std::size(shapes)); }
const char* double_configuration_name(int configuration) { return shapes[configuration].name; }

const char* double_refusal(const DoubleGemm& p) {
  constexpr std::int64_t largest = std::int64_t{1} << 30;
  if (p.m > largest || p.n > largest || p.k > largest) return "an extent is above 2^30";
  if (p.m < 1 || p.n < 1 || p.k < 1) return "an extent is 0";
  if (!aligned(p.a, p.lda)) return "A's base or leading dimension is not a multiple of 16 bytes (2 elements)";
  if (!aligned(p.b, p.ldb)) return "B's base or leading dimension is not a multiple of 16 bytes (2 elements)";
  return nullptr;
}

double double_expected_share(const DoubleGemm& p, int configuration, int units) {
  return expected_share(p, shapes[configuration], family, units);
}

int choose_double_configuration(const DoubleGemm& p, int units) { return choose_shape(p, shapes, family, units); }

const char* double_launch(const DoubleGemm& p, int configuration, int units, void* stream) {
  auto* const s = static_cast<cudaStream_t>(stream);
  if (p.a_mn_major)
    return p.b_mn_major ? double_launch_mn(p, configuration, units, s) : double_launch_mk(p, configuration, units, s);
  if (!p.b_mn_major) return double_launch_kk(p, configuration, units, s);
  DoubleGemm q = p;
  q.m = p.n;
  q.n = p.m;
  q.a = p.b;
  q.lda = p.ldb;
  q.a_mn_major = true;
  q.b = p.a;
  q.ldb = p.lda;
  q.b_mn_major = false;
  return double_launch_mk_transposed(q, configuration, units, s);
}

}  // namespace tessera::cuda::sm90a
