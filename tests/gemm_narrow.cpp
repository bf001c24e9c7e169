// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/gemm_checks.hpp>

TEST_CASE("gemm of half into half", "[gemm]") { gemm_checks::check_all<tessera::half, tessera::half>(); }
TEST_CASE("gemm of half into float", "[gemm]") { gemm_checks::check_all<tessera::half, float>(); }
TEST_CASE("gemm of bfloat16 into bfloat16", "[gemm]") {
  gemm_checks::check_all<tessera::bfloat16, tessera::bfloat16>();
}
TEST_CASE("gemm of bfloat16 into float", "[gemm]") { gemm_checks::check_all<tessera::bfloat16, float>(); }
