// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>

#include <tessera/core/overlap.hpp>
#include <tessera/core/views.hpp>
#include <tessera/instantiated.hpp>
#include <tessera/stencil/problem.hpp>

namespace tessera {

/// Coefficients of the centre and of the neighbours below [0] and above [1] in the first (x), second (y) and third (z)
/// dimension of the views.
template <class T>
struct Stencil7Coefficients {
  T center;
  T x[2];
  T y[2];
  T z[2];
};

/// Coefficients by distance: the centre, 6 faces, 12 edges, 8 corners.
template <class T>
struct Stencil27Distances {
  T center;
  T face;
  T edge;
  T corner;
};

/// All 27: c[di + 1][dj + 1][dk + 1] multiplies u(i + di, j + dj, k + dk).
template <class T>
struct Stencil27Coefficients {
  T c[3][3][3];
};

namespace detail {

template <class T, class Space>
void run_stencil(const Space& exec, const StencilProblem<T>& problem);  // defined in stencil/any_type.hpp

template <class Space, class UV, class VV>
void launch_stencil(const Space& exec, StencilProblem<value_t<VV>>& problem, const char* function, const UV& u,
                    const VV& v, const std::source_location& where) {
  problem.u = const_ref(u);
  problem.v = ref(v);
  check_same_extents(function, "u", box(problem.u), "v", box(problem.v), where);
  require_disjoint(function, "v", problem.v, "u", problem.u, where);
  run_stencil<value_t<VV>, Space>(exec, problem);
}

}  // namespace detail

/// v(i,j,k) = center u(i,j,k) + x[0] u(i-1,j,k) + x[1] u(i+1,j,k) + y[0] u(i,j-1,k) + ... over the interior 1..n-2 of
/// every dimension; v's outermost layer is not touched. Views with an extent below 3 have no interior.
/// Sums are formed in accumulator_t. Element types compiled in: float, double, half, bfloat16.
/// \param exec  instance that runs it; the call returns at once
/// \param u, v  rank 3, same extents, ghost layer of 1 included, any strides; fastest where both have the same
///              dimension of unit stride
/// \throws Error where extents differ or v overlaps u
template <ExecutionSpace Space, class C, View UV, MutableView VV>
  requires(AccessibleFrom<UV, Space> && AccessibleFrom<VV, Space> && std::same_as<value_t<UV>, value_t<VV>> &&
           rank_v<UV> == 3 && rank_v<VV> == 3 && std::convertible_to<C, accumulator_t<value_t<VV>>>)
void stencil7(const Space& exec, const Stencil7Coefficients<C>& coefficients, const UV& u, const VV& v,
              std::source_location where = std::source_location::current()) {
  using A = accumulator_t<value_t<VV>>;
  StencilProblem<value_t<VV>> problem;
  problem.faces_only = true;
  problem.coefficients[13] = static_cast<A>(coefficients.center);
  for (int side = 0; side < 2; ++side) {
    problem.coefficients[13 + (2 * side - 1) * 9] = static_cast<A>(coefficients.x[side]);
    problem.coefficients[13 + (2 * side - 1) * 3] = static_cast<A>(coefficients.y[side]);
    problem.coefficients[13 + (2 * side - 1)] = static_cast<A>(coefficients.z[side]);
  }
  detail::launch_stencil(exec, problem, "tessera::stencil7", u, v, where);
}

/// The same over all 27 neighbours.
template <ExecutionSpace Space, class C, View UV, MutableView VV>
  requires(AccessibleFrom<UV, Space> && AccessibleFrom<VV, Space> && std::same_as<value_t<UV>, value_t<VV>> &&
           rank_v<UV> == 3 && rank_v<VV> == 3 && std::convertible_to<C, accumulator_t<value_t<VV>>>)
void stencil27(const Space& exec, const Stencil27Coefficients<C>& coefficients, const UV& u, const VV& v,
               std::source_location where = std::source_location::current()) {
  StencilProblem<value_t<VV>> problem;
  for (int n = 0; n < 27; ++n)
    problem.coefficients[n] = static_cast<accumulator_t<value_t<VV>>>(coefficients.c[n / 9][n / 3 % 3][n % 3]);
  detail::launch_stencil(exec, problem, "tessera::stencil27", u, v, where);
}
template <ExecutionSpace Space, class C, View UV, MutableView VV>
  requires(AccessibleFrom<UV, Space> && AccessibleFrom<VV, Space> && std::same_as<value_t<UV>, value_t<VV>> &&
           rank_v<UV> == 3 && rank_v<VV> == 3 && std::convertible_to<C, accumulator_t<value_t<VV>>>)
void stencil27(const Space& exec, const Stencil27Distances<C>& distances, const UV& u, const VV& v,
               std::source_location where = std::source_location::current()) {
  Stencil27Coefficients<C> all;
  const C by_distance[] = {distances.center, distances.face, distances.edge, distances.corner};
  for (int n = 0; n < 27; ++n) {
    const int i = n / 9, j = n / 3 % 3, k = n % 3;
    all.c[i][j][k] = by_distance[(i != 1) + (j != 1) + (k != 1)];
  }
  stencil27(exec, all, u, v, where);
}

}  // namespace tessera
