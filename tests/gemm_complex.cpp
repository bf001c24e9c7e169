// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <support/gemm_checks.hpp>

TEST_CASE("gemm of complex<float>: edges, ops, layouts, strides, scalars, bounds", "[gemm]") {
  gemm_checks::check_all<Kokkos::complex<float>, Kokkos::complex<float>>();
}
TEST_CASE("gemm of complex<double>: edges, ops, layouts, strides, scalars, bounds", "[gemm]") {
  gemm_checks::check_all<Kokkos::complex<double>, Kokkos::complex<double>>();
}
