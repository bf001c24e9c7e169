// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "solver.hpp"
#include <span>
#include <vector>

/// \file
/// The whole field plane by plane on rank 0, which holds one plane at a time: for pictures and files that must not
/// depend on how the cube is cut.

namespace tessera::heat {

/// Plane z = k (0 .. n-1, points inside the cube) as values[y * n + x]; on rank 0, empty elsewhere. Collective.
template <class T>
std::vector<T> gather_plane(const Solver<T>& solver, index_t k);

/// The reverse: rank 0's plane into every rank's field (elsewhere `plane` is not read). Collective.
template <class T>
void scatter_plane(Solver<T>& solver, index_t k, std::span<const T> plane);

extern template std::vector<float> gather_plane(const Solver<float>&, index_t);
extern template std::vector<double> gather_plane(const Solver<double>&, index_t);
extern template void scatter_plane(Solver<float>&, index_t, std::span<const float>);
extern template void scatter_plane(Solver<double>&, index_t, std::span<const double>);

}  // namespace tessera::heat
