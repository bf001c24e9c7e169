// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <string>

#include <tessera/core/types.hpp>

using Matrix = Kokkos::View<tessera::bfloat16**, Kokkos::LayoutRight>;

/// C = clamp(A B + row - column); the path taken, and why no other.
std::string clamped_product(const Matrix& a, const Matrix& b, const Matrix& c);
