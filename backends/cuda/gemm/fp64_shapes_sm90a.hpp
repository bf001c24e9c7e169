// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

/// \file
/// How the kernels of fp64, real and complex, choose among their tiles.

namespace tessera::cuda::sm90a {

/// A tile of D.
struct Fp64Shape {
  const char* name;
  int bm, bn;
  double efficiency;  ///< share of the tensor pipe's rate that the main loop reaches, measured on an H200
};

/// What a family of such kernels has in common.
struct Fp64Family {
  int bk;                 ///< of a panel, along K
  double rate;            ///< multiply-adds a cycle and multiprocessor of the tensor pipe
  double store_a_column;  ///< cycles behind the main loop for each column of a tile
};

/// The share of the tensor pipe's rate that a product is expected to reach on so many multiprocessors: waves of tiles,
/// behind a fixed cost.
template <class Gemm>
double expected_share(const Gemm& p, const Fp64Shape& s, const Fp64Family& family, int units) {
  const auto tiles = ((p.m + s.bm - 1) / s.bm) * ((p.n + s.bn - 1) / s.bn);
  const auto waves = (tiles + units - 1) / units;
  const double tile =
      static_cast<double>((p.k + family.bk - 1) / family.bk) * s.bm * s.bn * family.bk / family.rate / s.efficiency +
      family.store_a_column * s.bn;
  const double cycles = 2500 + static_cast<double>(waves) * tile;
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) / (family.rate * units) /
         cycles;
}

/// The shape of the largest share.
template <class Gemm, int Shapes>
int choose_shape(const Gemm& p, const Fp64Shape (&shapes)[Shapes], const Fp64Family& family, int units) {
  int best = 0;
  for (int c = 1; c < Shapes; ++c)
    if (expected_share(p, shapes[c], family, units) > expected_share(p, shapes[best], family, units)) best = c;
  return best;
}

}  // namespace tessera::cuda::sm90a
