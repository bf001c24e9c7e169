// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/gemm_checks.hpp>

TEST_CASE("gemm of floats: edges, ops, layouts, strides, scalars, bounds", "[gemm]") {
  gemm_checks::check_all<float, float>();
}
TEST_CASE("gemm of doubles: edges, ops, layouts, strides, scalars, bounds", "[gemm]") {
  gemm_checks::check_all<double, double>();
}
