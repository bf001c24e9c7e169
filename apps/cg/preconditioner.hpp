// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cg/system.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace tessera::cg {

/// z = M^-1 r for a symmetric positive definite M that resembles A.
class Preconditioner {
 public:
  Preconditioner() = default;
  virtual ~Preconditioner() = default;
  Preconditioner(const Preconditioner&) = delete;
  Preconditioner& operator=(const Preconditioner&) = delete;
  Preconditioner(Preconditioner&&) = delete;
  Preconditioner& operator=(Preconditioner&&) = delete;

  /// \param r  own elements are read
  /// \param z  own elements are written; its ghosts may be
  /// Every rank must call it.
  virtual void apply(const Space& exec, const Vector& r, const Vector& z) = 0;
  /// Work of one application, over all ranks.
  [[nodiscard]] virtual double flops() const = 0;
  [[nodiscard]] virtual double bytes() const = 0;
  /// True for M = 1: z need not be formed.
  [[nodiscard]] virtual bool is_identity() const { return false; }
  [[nodiscard]] virtual std::string describe() const = 0;
  [[nodiscard]] virtual int colours() const { return 0; }
};

/// \param name  "none", "jacobi" or "symgs"
///   jacobi  M = D, the diagonal
///   symgs   M = (D + L) D^-1 (D + U), symmetric Gauss-Seidel in the order of one global colouring: the same operator
///           on any number of ranks
/// The diagonal must be positive; see diagonal_fault(). \throws Error where the name is none of these. Collective.
[[nodiscard]] std::unique_ptr<Preconditioner> make_preconditioner(std::string_view name, const Space& exec,
                                                                  const HostRows& rows, const GhostPlan& plan,
                                                                  const DistributedMatrix& matrix);

/// Why the matrix cannot be positive definite by its diagonal alone; empty where it may be. Collective.
[[nodiscard]] std::string diagonal_fault(const HostRows& rows, const Communicator& communicator);

}  // namespace tessera::cg
