// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "clamped.hpp"

#include "clamp.cuh"

#include <tessera/gemm.hpp>

std::string clamped_product(const Matrix& a, const Matrix& b, const Matrix& c) {
  const Kokkos::DefaultExecutionSpace exec;
  const Clamp f{-20, 20};
  tessera::gemm(exec, 1.0F, a, b, 0.0F, c, f);
  const auto plan = tessera::plan_gemm(exec, a, b, c, f);
  return plan.path() + (plan.reasons().empty() ? "" : "\n" + plan.reasons().back().reason);
}
