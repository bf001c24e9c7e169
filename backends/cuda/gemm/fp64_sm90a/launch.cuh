// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fp64_sm90a.hpp"
#include "kernel.cuh"
#include <cuda/gemm/fp64_launch_sm90a.cuh>
#include <cuda/gemm/tensor_map.cuh>

namespace tessera::cuda::sm90a {

template <class C>
const char* double_launch_configuration(const DoubleGemm& p, int units, cudaStream_t stream) {
  CUtensorMap a, b;
  constexpr auto type = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  const bool made = make_map(&a, C::a_mn_major ? MapOf{p.a, p.k, p.m, p.lda, type, 8, C::BK}
                                               : MapOf{p.a, p.m, p.k, p.lda, type, 8, C::BM}) &&
                    make_map(&b, C::b_mn_major ? MapOf{p.b, p.k, p.n, p.ldb, type, 8, C::BK}
                                               : MapOf{p.b, p.n, p.k, p.ldb, type, 8, C::BN});
  if (!made) return "the driver refused a tensor map of an operand";
  DoubleArguments args{};
  args.d = p.d;
  args.ldd = p.ldd;
  args.m = static_cast<int>(p.m);
  args.n = static_cast<int>(p.n);
  args.k = static_cast<int>(p.k);
  args.pairs = reinterpret_cast<std::uintptr_t>(p.d) % 16 == 0 && p.ldd % 2 == 0;
  args.alpha = p.alpha;
  args.beta = p.beta;
  args.alpha_pointer = p.alpha_pointer;
  args.beta_pointer = p.beta_pointer;
  const std::int64_t tiles = ((p.m + C::BM - 1) / C::BM) * ((p.n + C::BN - 1) / C::BN);
  return launch_fp64<C>(double_gemm_kernel<C>, a, b, args, tiles < units ? tiles : units, stream);
}

/// The order is that of `shapes` in select.cu.
template <bool AMnMajor, bool BMnMajor, bool TransposedD>
const char* double_launch_transposes(const DoubleGemm& p, int configuration, int units, cudaStream_t stream) {
  const auto with = [&]<int BM, int BN, int Stages, int WarpsM>() {
    return double_launch_configuration<DoubleConfiguration<BM, BN, Stages, WarpsM, AMnMajor, BMnMajor, TransposedD>>(
        p, units, stream);
  };
  switch (configuration) {
    case 0:
      return with.template operator()<128, 128, 7, 2>();
    case 1:
      return with.template operator()<128, 96, 8, 4>();
    case 2:
      return with.template operator()<128, 64, 9, 4>();
    case 3:
      return with.template operator()<64, 64, 12, 2>();
    case 4:
      return with.template operator()<64, 32, 16, 4>();
    default:
      return "no such configuration";
  }
}

// One translation unit each, by the majors of A and B. Of a K-major A and an N-major B the transposed product is taken,
// whose A is M-major and whose B is K-major.
const char* double_launch_kk(const DoubleGemm& p, int configuration, int units, cudaStream_t stream);
const char* double_launch_mk(const DoubleGemm& p, int configuration, int units, cudaStream_t stream);
const char* double_launch_mk_transposed(const DoubleGemm& p, int configuration, int units, cudaStream_t stream);
const char* double_launch_mn(const DoubleGemm& p, int configuration, int units, cudaStream_t stream);

}  // namespace tessera::cuda::sm90a
