// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cg/solver.hpp>
#include <cmath>
#include <fmt/format.h>
#include <span>
#include <utility>

#include <tessera/axpby.hpp>

namespace tessera::cg {
namespace {

/// alpha = r'z / p'Ap; 0 where p'Ap is not positive, so that x keeps its last good value.
struct StepLength {
  Vector s;
  KOKKOS_FUNCTION void operator()(index_t) const {
    const double alpha = s(Scalars::pap) > 0 ? s(Scalars::rz) / s(Scalars::pap) : 0;
    s(Scalars::alpha) = alpha;
    s(Scalars::minus_alpha) = -alpha;
    s(Scalars::old_rz) = s(Scalars::rz);
  }
};
/// beta = new r'z / old r'z
struct Direction {
  Vector s;
  bool identity;  ///< z is r
  KOKKOS_FUNCTION void operator()(index_t) const {
    if (identity) s(Scalars::rz) = s(Scalars::rr);
    s(Scalars::beta) = s(Scalars::rz) / s(Scalars::old_rz);
  }
};

class Solver {
 public:
  Solver(const Space& exec, DistributedMatrix& a, Preconditioner& m, const Vector& b, const SolveOptions& options,
         State& state)
      : m_exec(exec),
        m_a(a),
        m_m(m),
        m_b(b),
        m_options(options),
        m_state(state),
        m_scalars(exec, a.communicator(), options.sums) {
    m_q = a.make_vector(exec, "q");
    m_z = m.is_identity() ? m_state.r : a.make_vector(exec, "z");
  }

  Outcome run(bool fresh) {
    Outcome out;
    out.rhs_norm = std::sqrt(dot_now(m_b, m_b));
    if (fresh) {
      out.first_residual = compute_residual();
      m_reference = out.rhs_norm > 0 ? out.rhs_norm : out.first_residual;
      m_state.history.push_back(relative(out.first_residual));
      if (m_state.history.back() <= m_options.tolerance) return finish(out, Ending::converged, {});
      new_direction();
    } else {
      m_reference = out.rhs_norm > 0 ? out.rhs_norm : 1;
      m_scalars.set(m_exec, Scalars::rz, m_state.rz);
    }
    if (!std::isfinite(m_state.history.back()) || !std::isfinite(out.rhs_norm))
      return finish(out, Ending::breakdown, "the norm of the right-hand side or of the first residual is not finite");
    if (!(m_state.rz > 0)) return finish(out, Ending::breakdown, indefinite_preconditioner());
    for (;;) {
      if (m_state.iteration >= m_options.max_iterations)
        return finish(out, Ending::too_many_iterations,
                      fmt::format("not converged in {} iterations", m_state.iteration));
      if (m_options.between && m_options.between(m_state))
        return finish(out, Ending::stopped, fmt::format("stopped after {} iterations", m_state.iteration));
      const double residual = iterate(out);
      const double pap = m_scalars.host(Scalars::pap);
      if (!(pap > 0))
        return finish(
            out, Ending::breakdown,
            fmt::format("the matrix is not positive definite: p'Ap = {} in iteration {}", pap, m_state.iteration + 1));
      ++m_state.iteration;
      m_state.history.push_back(residual);
      if (!std::isfinite(residual))
        return finish(out, Ending::breakdown,
                      fmt::format("the residual is {} after iteration {}", residual, m_state.iteration));
      if (residual <= m_options.tolerance) {
        const double found = relative(compute_residual());
        if (found <= m_options.tolerance) return finish(out, Ending::converged, {}, found);
        if (m_state.replacements > 0 && found > 0.5 * m_state.last_true)
          return finish(out, Ending::stagnated,
                        fmt::format("the residual {} cannot be reduced further in double precision", found), found);
        ++m_state.replacements;
        m_state.last_true = found;
        new_direction();
        continue;
      }
      if (!(m_scalars.host(m_m.is_identity() ? Scalars::rr : Scalars::rz) > 0))
        return finish(out, Ending::breakdown, indefinite_preconditioner());
      Kokkos::parallel_for("tessera::cg::beta", Range<Space>(m_exec, 0, 1),
                           Direction{m_scalars.device(), m_m.is_identity()});
      m_state.rz = m_scalars.host(m_m.is_identity() ? Scalars::rr : Scalars::rz);
      axpby(m_exec, 1.0, own(m_z), m_scalars.at(Scalars::beta), own(m_state.p));
    }
  }

 private:
  [[nodiscard]] Vector own(const Vector& v) const { return m_a.own(v); }
  [[nodiscard]] double relative(double norm) const { return m_reference > 0 ? norm / m_reference : 0; }
  [[nodiscard]] std::string indefinite_preconditioner() const {
    return fmt::format("the matrix or its preconditioner is not positive definite: r'z = {} after iteration {}",
                       m_state.rz, m_state.iteration);
  }

  double dot_now(const Vector& x, const Vector& y) { return m_scalars.dot_now(m_exec, own(x), own(y)); }
  /// r = b - A x; its norm.
  double compute_residual() {
    m_a.apply(m_exec, m_state.x, own(m_q));
    Kokkos::deep_copy(m_exec, own(m_state.r), own(m_b));
    axpby(m_exec, -1.0, own(m_q), 1.0, own(m_state.r));
    return std::sqrt(dot_now(m_state.r, m_state.r));
  }
  /// z = M^-1 r, p = z, rz = r'z
  void new_direction() {
    if (!m_m.is_identity()) m_m.apply(m_exec, m_state.r, m_z);
    Kokkos::deep_copy(m_exec, own(m_state.p), own(m_z));
    m_state.rz = dot_now(m_state.r, m_z);
    m_scalars.set(m_exec, Scalars::rz, m_state.rz);
  }
  /// One step of x and r, and z for the new r; the relative residual that the recurrence gives.
  double iterate(Outcome& out) {
    m_a.apply(m_exec, m_state.p, own(m_q));
    m_scalars.dot(m_exec, own(m_state.p), own(m_q), Scalars::pap);
    m_scalars.complete(m_exec, Scalars::pap, 1);
    Kokkos::parallel_for("tessera::cg::alpha", Range<Space>(m_exec, 0, 1), StepLength{m_scalars.device()});
    axpby(m_exec, m_scalars.at(Scalars::alpha), own(m_state.p), 1.0, own(m_state.x));
    axpby(m_exec, m_scalars.at(Scalars::minus_alpha), own(m_q), 1.0, own(m_state.r));
    m_scalars.dot(m_exec, own(m_state.r), own(m_state.r), Scalars::rr);
    if (!m_m.is_identity()) {
      m_m.apply(m_exec, m_state.r, m_z);
      m_scalars.dot(m_exec, own(m_state.r), own(m_z), Scalars::rz);
    }
    m_scalars.complete(m_exec, Scalars::rr, m_m.is_identity() ? 1 : 2);
    m_scalars.fetch(m_exec);

    // per iteration: a product, two or three dots, three axpbys, the preconditioner
    const auto n = static_cast<double>(m_a.global_rows());
    const double nnz = m_a.global_nnz();
    const bool identity = m_m.is_identity();
    out.flops += 2 * nnz + (identity ? 4 : 6) * n + 6 * n + m_m.flops();
    out.bytes += 12 * nnz + 24 * n + (identity ? 24 : 40) * n + 72 * n + m_m.bytes();
    return relative(std::sqrt(m_scalars.host(Scalars::rr)));
  }

  Outcome finish(Outcome& out, Ending ending, std::string message, double residual = -1) {
    out.ending = ending;
    out.message = std::move(message);
    out.iterations = m_state.iteration;
    out.replacements = m_state.replacements;
    // the state must stay what the next iteration needs: its r is the recurrence's
    if (residual < 0) {
      m_a.apply(m_exec, m_state.x, own(m_q));
      axpby(m_exec, 1.0, own(m_b), -1.0, own(m_q));
      residual = relative(std::sqrt(dot_now(m_q, m_q)));
    }
    out.relative_residual = residual;
    out.history = m_state.history;
    return out;
  }

  const Space& m_exec;
  DistributedMatrix& m_a;
  Preconditioner& m_m;
  const Vector& m_b;
  const SolveOptions& m_options;
  State& m_state;
  Scalars m_scalars;
  Vector m_q, m_z;
  double m_reference = 0;
};

struct RowResidual {
  Matrix a;
  Vector b, x;
  KOKKOS_FUNCTION void operator()(index_t i, double& residual, double& right) const {
    double sum = b(i);
    for (std::int64_t k = a.row_offsets(i); k < a.row_offsets(i + 1); ++k) sum -= a.values(k) * x(a.columns(k));
    residual += sum * sum;
    right += b(i) * b(i);
  }
};
struct FromOne {
  Vector x;
  KOKKOS_FUNCTION void operator()(index_t i, double& largest) const {
    const double e = x(i) > 1 ? x(i) - 1 : 1 - x(i);
    if (e > largest) largest = e;
  }
};

}  // namespace

Outcome solve(const Space& exec, DistributedMatrix& a, Preconditioner& m, const Vector& b, const Vector& x,
              const SolveOptions& options, State* resume) {
  const Region region("tessera::cg::solve");
  State fresh;
  State& state = resume ? *resume : fresh;
  if (resume) {
    Kokkos::deep_copy(exec, x, state.x);
  } else {
    state.r = a.make_vector(exec, "r");
    state.p = a.make_vector(exec, "p");
  }
  state.x = x;
  return Solver(exec, a, m, b, options, state).run(resume == nullptr);
}

double independent_residual(const Space& exec, DistributedMatrix& a, const Vector& b, const Vector& x) {
  const Region region("tessera::cg::verify");
  // apply fetches the ghosts of x; its product is not used
  const Vector unused = a.make_vector(exec, "unused");
  a.apply(exec, x, a.own(unused));
  double sums[2] = {0, 0};
  Kokkos::parallel_reduce("tessera::cg::verify", Range<Space>(exec, 0, a.rows()), RowResidual{a.local(), b, x}, sums[0],
                          sums[1]);
  exec.fence("tessera::cg::verify");
  a.communicator().all_reduce(std::span<double>(sums), Reduction::sum);
  return sums[1] > 0 ? std::sqrt(sums[0] / sums[1]) : std::sqrt(sums[0]);
}

double norm(const Space& exec, const DistributedMatrix& a, const Vector& v) {
  Scalars scalars(exec, a.communicator(), SumKind::compensated);
  return std::sqrt(scalars.dot_now(exec, a.own(v), a.own(v)));
}

double error_against_ones(const Space& exec, const DistributedMatrix& a, const Vector& x) {
  double largest = 0;
  Kokkos::parallel_reduce("tessera::cg::error", Range<Space>(exec, 0, a.rows()), FromOne{x},
                          Kokkos::Max<double>(largest));
  exec.fence("tessera::cg::error");
  return a.communicator().all_reduce(a.rows() > 0 ? largest : 0.0, Reduction::max);
}

}  // namespace tessera::cg
