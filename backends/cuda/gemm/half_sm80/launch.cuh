// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda/gemm/half_sm80/kernel.cuh>

namespace tessera::cuda::sm80 {

/// One for each type of A and B, in a source of its own.
const char* launch_bf16(const Arguments& arguments, bool a_m_major, bool b_n_major, unsigned blocks, unsigned batches,
                        bool for_hopper, void* stream);
const char* launch_fp16(const Arguments& arguments, bool a_m_major, bool b_n_major, unsigned blocks, unsigned batches,
                        bool for_hopper, void* stream);

namespace {
template <class In>
const char* launch_kernel(const Arguments& arguments, bool a_m_major, bool b_n_major, unsigned blocks, unsigned batches,
                          bool for_hopper, void* stream) {
  using Kernel = void (*)(Arguments);
  const auto of = [&]<bool a, bool b>(bool aligned) -> Kernel {
    if (batches > 1)
      return aligned ? gemm_half_sm80<In, a, b, true, true, 1> : gemm_half_sm80<In, a, b, false, true, 1>;
    if (arguments.k <= 64 * arguments.splits)
      return aligned ? gemm_half_sm80<In, a, b, true, false, 1> : gemm_half_sm80<In, a, b, false, false, 1>;
    return aligned ? gemm_half_sm80<In, a, b, true, false, 2> : gemm_half_sm80<In, a, b, false, false, 2>;
  };
  const auto whole = [](const void* p, std::int64_t leading, std::int64_t batch, std::int64_t length) {
    return reinterpret_cast<std::uintptr_t>(p) % 16 == 0 && leading % 8 == 0 && batch % 8 == 0 && length % 8 == 0;
  };
  const bool aligned = whole(arguments.a, arguments.lda, arguments.a_batch, a_m_major ? arguments.m : arguments.k) &&
                       whole(arguments.b, arguments.ldb, arguments.b_batch, b_n_major ? arguments.n : arguments.k);
  const Kernel kernel =
      a_m_major
          ? (b_n_major ? of.template operator()<true, true>(aligned) : of.template operator()<true, false>(aligned))
          : (b_n_major ? of.template operator()<false, true>(aligned) : of.template operator()<false, false>(aligned));
  return start(kernel, arguments, dim3(blocks, batches), 32 * (batches > 1 ? warps_of<true> : warps_of<false>),
               arguments.splits, for_hopper, stream);
}
}  // namespace

}  // namespace tessera::cuda::sm80
