// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <tessera/core/overlap.hpp>
#include <tessera/core/plan.hpp>
#include <tessera/core/views.hpp>
#include <tessera/csr_matrix.hpp>
#include <tessera/instantiated.hpp>

namespace tessera {

struct SpmvOptions {
  Op op = Op::none;
  SpmvShape shape = {};   ///< what is left automatic is chosen
  std::string path = {};  ///< forces a path by name ("portable"); empty: TESSERA_SPMV, else free choice
};

namespace detail {

template <class Types, class Space>
void run_spmv(const Space& exec, const SpmvProblem<Types>& problem);  // defined in spmv/any_type.hpp
template <class Offset, class Space>
RowStatistics row_statistics(const Space& exec, index_t rows, const Offset* row_offsets);  // as above; waits

/// Fills what is automatic in a shape. `longest` is -1 where nothing but the mean is known.
SpmvShape choose_spmv_shape(SpmvShape wanted, bool host, index_t rows, index_t nnz, index_t longest, bool transposed,
                            const std::source_location& where);
/// \throws Error where a path is forced that this build does not have
void check_spmv_path(const std::string& forced, const std::source_location& where);
void check_spmv_operands(Op op, index_t rows, index_t cols, index_t x, index_t y, const std::source_location& where);

inline bool transposes(Op op) { return op == Op::transpose || op == Op::adjoint; }
inline bool conjugates(Op op) { return op == Op::conjugate || op == Op::adjoint; }

template <class Space, class Alpha, class Matrix, class XV, class Beta, class YV>
void launch_spmv(const Space& exec, const Alpha& alpha, const Matrix& a, const XV& x, const Beta& beta, const YV& y,
                 Op op, const SpmvShape& shape, const std::source_location& where) {
  using Types = typename Matrix::types;
  using Scalar = typename Types::scalar;
  using A = accumulator_t<Scalar>;
  const SpmvProblem<Types> problem{
      scalar_ref<A>(alpha), a.ref(), transposes(op), conjugates(op) && is_complex_v<Scalar>, const_ref(x),
      scalar_ref<A>(beta),  ref(y),  shape};
  check_spmv_operands(op, a.rows, a.cols, problem.x.extents[0], problem.y.extents[0], where);
  require_disjoint("tessera::spmv", "y", problem.y, "x", problem.x, where);
  VectorRef<const Scalar> values;
  values.pointer = problem.a.values;
  values.extents[0] = problem.a.nnz;
  values.strides[0] = 1;
  require_disjoint("tessera::spmv", "y", problem.y, "A's values", values, where);
  run_spmv<Types, Space>(exec, problem);
}

}  // namespace detail

namespace detail {
struct SpmvPlanData {
  std::string path;
  std::vector<Refusal> reasons;
  RowStatistics statistics;
  SpmvShape shape;
  Op op = Op::none;
  index_t rows = 0, cols = 0, nnz = 0;
  const void* row_offsets = nullptr;
};
}  // namespace detail

/// A choice of kernel for one matrix structure and op, made from the lengths of its rows. Owns no memory; fits every
/// matrix with the same row_offsets array, whatever its values.
class SpmvPlan {
 public:
  explicit SpmvPlan(detail::SpmvPlanData data) : m_data(std::move(data)) {}
  [[nodiscard]] const std::string& path() const { return m_data.path; }  ///< "spmv[portable vector=4]"
  [[nodiscard]] const std::vector<Refusal>& reasons() const { return m_data.reasons; }
  [[nodiscard]] const RowStatistics& statistics() const { return m_data.statistics; }
  [[nodiscard]] const SpmvShape& shape() const { return m_data.shape; }
  [[nodiscard]] static std::size_t workspace_bytes() { return 0; }

  /// As tessera::spmv with the plan's op.
  /// \throws Error where A is not the matrix that was planned for
  template <ExecutionSpace Space, class Scalar, class Ordinal, class Offset, class MemorySpace, VectorView XV,
            MutableVectorView YV, ScalarFor<accumulator_t<Scalar>, Space> Alpha,
            ScalarFor<accumulator_t<Scalar>, Space> Beta>
    requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && std::same_as<value_t<XV>, Scalar> &&
             std::same_as<value_t<YV>, Scalar>)
  void run(const Space& exec, const Alpha& alpha, const CsrMatrix<Scalar, Ordinal, Offset, MemorySpace>& a, const XV& x,
           const Beta& beta, const YV& y, std::source_location where = std::source_location::current()) const {
    check(a.rows, a.cols, a.nnz(), a.row_offsets.data(), where);
    detail::launch_spmv(exec, alpha, a, x, beta, y, m_data.op, m_data.shape, where);
  }

 private:
  void check(index_t rows, index_t cols, index_t nnz, const void* row_offsets, const std::source_location& where) const;

  detail::SpmvPlanData m_data;
};

/// Reads the lengths of the rows once, on the device, and chooses a kernel by them. Waits for the statistics.
/// \throws Error where the options force a path that cannot run
template <ExecutionSpace Space, class Scalar, class Ordinal, class Offset, class MemorySpace>
[[nodiscard]] SpmvPlan plan_spmv(const Space& exec, const CsrMatrix<Scalar, Ordinal, Offset, MemorySpace>& a,
                                 const SpmvOptions& options,
                                 std::source_location where = std::source_location::current()) {
  static_assert(Kokkos::SpaceAccessibility<Space, MemorySpace>::accessible,
                "tessera::plan_spmv: the matrix must be in memory that exec reads");
  detail::check_spmv_path(options.path, where);
  detail::SpmvPlanData plan;
  if (a.rows > 0) plan.statistics = detail::row_statistics<Offset, Space>(exec, a.rows, a.row_offsets.data());
  plan.shape = detail::choose_spmv_shape(options.shape, is_host_space<Space>, a.rows, a.nnz(), plan.statistics.longest,
                                         detail::transposes(options.op), where);
  plan.path = "spmv[portable " + plan.shape.text() + "]";
  plan.op = options.op;
  plan.rows = a.rows;
  plan.cols = a.cols;
  plan.nnz = a.nnz();
  plan.row_offsets = a.row_offsets.data();
  return SpmvPlan(std::move(plan));
}
template <ExecutionSpace Space, class Scalar, class Ordinal, class Offset, class MemorySpace>
[[nodiscard]] SpmvPlan plan_spmv(const Space& exec, const CsrMatrix<Scalar, Ordinal, Offset, MemorySpace>& a,
                                 Op op = Op::none, std::source_location where = std::source_location::current()) {
  return plan_spmv(exec, a, SpmvOptions{.op = op}, where);
}

/// y = alpha * op(A) * x + beta * y for a CSR matrix; the kernel is chosen by the mean length of a row alone (a plan
/// knows more).
/// Where beta is 0, y is overwritten and not read; where alpha is 0, neither A nor x is read. The sums of a row are
/// formed in accumulator_t<Scalar>, split over lanes. Bits may differ from run to run where atomic additions are used:
/// with transpose and adjoint, and for rows longer than the shape's long_row_length.
/// \param exec   instance that runs it; the call returns at once
/// \param alpha  host value, or rank-0 view in memory that exec reads
/// \param x      as many elements as op(A) has columns, any stride, may be conjugated
/// \param y      as many elements as op(A) has rows, any stride
/// \throws Error where sizes differ, y overlaps x or A, or a path is forced that cannot run
/// Source: sparse BLAS level 2 (usmv).
template <ExecutionSpace Space, class Scalar, class Ordinal, class Offset, class MemorySpace, VectorView XV,
          MutableVectorView YV, ScalarFor<accumulator_t<Scalar>, Space> Alpha,
          ScalarFor<accumulator_t<Scalar>, Space> Beta>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> && std::same_as<value_t<XV>, Scalar> &&
           std::same_as<value_t<YV>, Scalar>)
void spmv(const Space& exec, const Alpha& alpha, const CsrMatrix<Scalar, Ordinal, Offset, MemorySpace>& a, const XV& x,
          const Beta& beta, const YV& y, const SpmvOptions& options = {},
          std::source_location where = std::source_location::current()) {
  static_assert(Kokkos::SpaceAccessibility<Space, MemorySpace>::accessible,
                "tessera::spmv: the matrix must be in memory that exec reads");
  static_assert(!is_stored_float_v<Scalar>, "tessera::spmv: values of 8- and 16-bit floats are not supported");
  detail::check_spmv_path(options.path, where);
  detail::launch_spmv(exec, alpha, a, x, beta, y, options.op,
                      detail::choose_spmv_shape(options.shape, is_host_space<Space>, a.rows, a.nnz(), -1,
                                                detail::transposes(options.op), where),
                      where);
}

}  // namespace tessera
