// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <common/app.hpp>
#include <cstdint>
#include <memory>

#include <tessera/core/communicator.hpp>
#include <tessera/core/decomposition.hpp>
#include <tessera/core/halo.hpp>

/// \file
/// du/dt = laplacian(u) on the unit cube, u = 0 on its surface, u(0) = sin(pi x) sin(pi y) sin(pi z): explicit Euler
/// in time, 7 points in space, on n^3 points inside the cube (h = 1 / (n + 1)), cut into boxes over the ranks.
///
/// The start is an eigenvector of the discrete operator too, so two answers are known:
///   of the equation   exp(-3 pi^2 t) times the start
///   of the scheme     G^s times the start after s steps, G = 1 - 12 r sin^2(pi h / 2), r = dt / h^2
/// The computed field must equal the second to rounding, and hence the first to |G^s - exp(-3 pi^2 t)| = O(h^2).

namespace tessera::heat {

/// dt / h^2: stable up to 1/6, and at 1/8 every coefficient is a power of two or near it: center 1/4, others 1/8.
inline constexpr double time_ratio = 0.125;

struct Problem {
  index_t n = 0;      ///< points inside the cube along an edge
  index_t steps = 0;  ///< to do in all
  [[nodiscard]] double h() const { return 1.0 / static_cast<double>(n + 1); }
  [[nodiscard]] double dt() const { return time_ratio * h() * h(); }
  [[nodiscard]] double decay_of_equation(index_t step) const;
  [[nodiscard]] double decay_of_scheme(index_t step) const;
  /// Most that rounding may add: each step sums seven terms whose factors add up to 1, so errors grow by at most
  /// that of one sum, 8 eps of values below 1; and the start rounds once.
  [[nodiscard]] double rounding_bound(index_t step, double eps) const {
    return (8.0 * static_cast<double>(step) + 4) * eps;
  }
};

/// Largest distances over all points.
struct Errors {
  double to_equation = 0;
  double to_scheme = 0;
};

template <class T>
class Solver {
 public:
  using Space = app::Space;
  /// The first dimensions are cut first (see factor_3d), so that most faces are contiguous.
  using Field = Kokkos::View<T***, Kokkos::LayoutRight, Space>;

  /// Memory that a rank needs [bytes].
  static double bytes_needed(const CartesianBlock& block);

  /// Sets the field to the start. Collective.
  Solver(const Space& exec, const Communicator& world, const Problem& problem, bool overlap);

  /// One time step; returns before the device is done.
  void advance();
  [[nodiscard]] Errors errors() const;
  /// A sum over all points of a hash of place and bits: equal exactly where the fields are equal bit by bit, on any
  /// number of ranks (but for collisions, 1 in 2^64).
  [[nodiscard]] std::uint64_t hash() const;

  [[nodiscard]] index_t step() const { return m_step; }
  void set_step(index_t step) { m_step = step; }
  [[nodiscard]] const Problem& problem() const { return m_problem; }
  [[nodiscard]] const CartesianBlock& block() const { return m_block; }
  [[nodiscard]] const Communicator& world() const { return m_world; }
  [[nodiscard]] const Space& exec() const { return m_exec; }
  /// With a layer of ghosts on each side.
  [[nodiscard]] const Field& field() const { return m_u; }
  [[nodiscard]] const char* halo_path() const { return m_halo->path(); }
  void wait() const { m_exec.fence("tessera::heat::wait"); }

 private:
  void apply(const std::array<IndexRange, 3>& cells) const;

  Space m_exec;
  Communicator m_world;
  Problem m_problem;
  CartesianBlock m_block;
  bool m_overlap;
  std::unique_ptr<HaloExchange<T, Space>> m_halo;
  std::vector<std::array<int, 2>> m_faces;  // of the halo's neighbours: dimension, side
  Kokkos::View<double*, Space> m_sines;     // sin(pi h i), i = 0 .. n + 1
  Field m_u, m_next;
  index_t m_step = 0;
};

extern template class Solver<float>;
extern template class Solver<double>;

}  // namespace tessera::heat
