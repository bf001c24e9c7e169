// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cg/preconditioner.hpp>
#include <cg/sums.hpp>
#include <cg/system.hpp>
#include <functional>
#include <string>
#include <vector>

namespace tessera::cg {

/// All that the next iteration depends on. Saved and given back, the run goes on as if it had not stopped.
struct State {
  index_t iteration = 0;        ///< finished
  int replacements = 0;         ///< times that the residual was computed anew because the recurrence had drifted
  double rz = 0;                ///< r' M^-1 r
  double last_true = 0;         ///< relative residual at the last replacement
  std::vector<double> history;  ///< relative residual of the recurrence after 0, 1, ... iterations
  Vector x, r, p;               ///< with room for ghosts
};

struct SolveOptions {
  double tolerance = 1e-8;  ///< of ||b - A x||_2 / ||b||_2
  index_t max_iterations = 10000;
  SumKind sums = SumKind::compensated;
  /// Called between iterations with the state as it stands; true ends the run there. Every rank must answer alike.
  std::function<bool(const State&)> between = {};
};

enum class Ending { converged, too_many_iterations, breakdown, stagnated, stopped };

struct Outcome {
  Ending ending = Ending::converged;
  index_t iterations = 0;
  double relative_residual = 0;  ///< computed from x at the end, not the recurrence's
  double rhs_norm = 0;           ///< ||b||_2
  double first_residual = 0;     ///< ||b - A x0||_2
  std::string message;           ///< what happened, where it did not converge
  int replacements = 0;
  double flops = 0;  ///< over all ranks, of the iterations done here
  double bytes = 0;
  std::vector<double> history;

  [[nodiscard]] bool converged() const { return ending == Ending::converged; }
};

/// Solves A x = b by preconditioned conjugate gradients; x holds the start and the answer. Sums of the recurrence stay
/// in device memory; the host waits once an iteration, to see whether to stop (and once more with several ranks, whose
/// sums meet there).
/// Where the recurrence says "converged" and b - A x does not, the residual is replaced by the computed one and the
/// iteration goes on, so that `converged` is always true of x. Where b = 0, residuals are relative to ||b - A x0||.
/// A direction p with p'Ap <= 0 shows that A is not positive definite: x stays as it was before it.
/// \param b, x    as DistributedMatrix::make_vector makes them
/// \param resume  a state to go on from, or null; x is taken from it
/// Collective. Source: M. Hestenes, E. Stiefel, J. Res. Natl. Bur. Stand. 49 (1952) 409; residual replacement as in
/// H. van der Vorst, Q. Ye, SIAM J. Sci. Comput. 22 (2000) 835.
Outcome solve(const Space& exec, DistributedMatrix& a, Preconditioner& m, const Vector& b, const Vector& x,
              const SolveOptions& options, State* resume = nullptr);

/// ||b - A x||_2 / ||b||_2 by a plain loop over the rows that shares nothing with spmv and dot. Collective.
[[nodiscard]] double independent_residual(const Space& exec, DistributedMatrix& a, const Vector& b, const Vector& x);
/// ||v||_2 over all ranks. Collective.
[[nodiscard]] double norm(const Space& exec, const DistributedMatrix& a, const Vector& v);
/// The largest |x_i - 1|. Collective.
[[nodiscard]] double error_against_ones(const Space& exec, const DistributedMatrix& a, const Vector& x);

}  // namespace tessera::cg
