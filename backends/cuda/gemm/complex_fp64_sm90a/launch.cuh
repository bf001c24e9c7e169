// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "complex_fp64_sm90a.hpp"
#include "kernel.cuh"
#include <cuda/gemm/fp64_launch_sm90a.cuh>
#include <cuda/gemm/tensor_map.cuh>

namespace tessera::cuda::sm90a {

template <class C>
const char* complex_double_launch_configuration(const ComplexDoubleGemm& p, int units, cudaStream_t stream) {
  CUtensorMap a, b;
  // of doubles, two a number
  constexpr auto type = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  const bool made = make_map(&a, C::a_mn_major ? MapOf{p.a, p.k, 2 * p.m, 2 * p.lda, type, 8, C::BK}
                                               : MapOf{p.a, p.m, 2 * p.k, 2 * p.lda, type, 8, C::BM}) &&
                    make_map(&b, C::b_mn_major ? MapOf{p.b, p.k, 2 * p.n, 2 * p.ldb, type, 8, C::BK}
                                               : MapOf{p.b, p.n, 2 * p.k, 2 * p.ldb, type, 8, C::BN});
  if (!made) return "the driver refused a tensor map of an operand";
  ComplexDoubleArguments args{};
  args.d = p.d;
  args.ldd = p.ldd;
  args.m = static_cast<int>(p.m);
  args.n = static_cast<int>(p.n);
  args.k = static_cast<int>(p.k);
  args.whole = reinterpret_cast<std::uintptr_t>(p.d) % 16 == 0;
  args.a_sign = p.a_conj ? 0x80000000u : 0;
  args.b_sign = p.b_conj ? 0x80000000u : 0;
  args.alpha = p.alpha;
  args.beta = p.beta;
  args.alpha_pointer = p.alpha_pointer;
  args.beta_pointer = p.beta_pointer;
  const std::int64_t tiles = ((p.m + C::BM - 1) / C::BM) * ((p.n + C::BN - 1) / C::BN);
  return launch_fp64<C>(complex_double_gemm_kernel<C>, a, b, args, tiles < units ? tiles : units, stream);
}

/// The order is that of `shapes` in select.cu.
template <bool AMnMajor, bool BMnMajor>
const char* complex_double_launch_majors(const ComplexDoubleGemm& p, int configuration, int units,
                                         cudaStream_t stream) {
  const auto with = [&]<int BM, int BN, int Stages, int WarpsM>() {
    return complex_double_launch_configuration<ComplexDoubleConfiguration<BM, BN, Stages, WarpsM, AMnMajor, BMnMajor>>(
        p, units, stream);
  };
  switch (configuration) {
    case 0:
      return with.template operator()<128, 64, 9, 4>();
    case 1:
      return with.template operator()<64, 64, 12, 4>();
    case 2:
      return with.template operator()<64, 32, 16, 4>();
    default:
      return "no such configuration";
  }
}

// One translation unit each, by the majors of A and B.
const char* complex_double_launch_kk(const ComplexDoubleGemm& p, int configuration, int units, cudaStream_t stream);
const char* complex_double_launch_kn(const ComplexDoubleGemm& p, int configuration, int units, cudaStream_t stream);
const char* complex_double_launch_mk(const ComplexDoubleGemm& p, int configuration, int units, cudaStream_t stream);
const char* complex_double_launch_mn(const ComplexDoubleGemm& p, int configuration, int units, cudaStream_t stream);

}  // namespace tessera::cuda::sm90a
