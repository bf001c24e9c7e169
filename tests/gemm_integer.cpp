// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/gemm_checks.hpp>

TEST_CASE("gemm of int8 into int32", "[gemm]") { gemm_checks::check_all<std::int8_t, std::int32_t>(); }
TEST_CASE("gemm of int32", "[gemm]") { gemm_checks::check_all<std::int32_t, std::int32_t>(); }
TEST_CASE("gemm of int64", "[gemm]") { gemm_checks::check_all<std::int64_t, std::int64_t>(); }
