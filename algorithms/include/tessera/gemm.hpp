// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <tessera/core/overlap.hpp>
#include <tessera/core/plan.hpp>
#include <tessera/core/tuning.hpp>
#include <tessera/core/views.hpp>
#include <tessera/gemm/functor_pass.hpp>
#include <tessera/gemm/join_batch.hpp>
#include <tessera/gemm/problem.hpp>

namespace tessera {
namespace detail {

/// What is compiled once for each pair of element types and space; defined in gemm/any_type.hpp.
template <class Types, class Space>
struct GemmEntry {
  /// The largest 2-norms of a row of A and of a column of B; waits for them.
  static std::pair<double, double> largest_norms(const Space& exec, const GemmProblem<Types>& problem);
  /// Measures first where `tune` says so and the tuning file does not know the problem.
  static const Selection& select(const Space& exec, const GemmProblem<Types>& problem, std::string_view path, bool tune,
                                 const std::source_location& where);
  static std::size_t workspace_bytes(const Selection& selection, const GemmProblem<Types>& problem);
  /// Why the kernels of the choice do not apply the problem's functor; null where they do.
  static const char* functor_apart(const Selection& selection, const GemmProblem<Types>& problem);
  static void run(const Space& exec, const GemmProblem<Types>& problem, const Selection& selection,
                  GemmWorkspace workspace);
};

/// Throws unless an epilogue's operands are of these types and of C's extents, and the space reads them.
void check_gemm_epilogue(const GemmEpilogue& epilogue, const Box& c, const std::type_info& out,
                         const std::type_info& accumulator, bool real, bool on_host, const std::source_location& where);

template <class Types, class Space, int Rank>
GemmEpilogueRef<Types> gemm_epilogue(const GemmEpilogue& e, const StridedRef<typename Types::out, Rank>& c,
                                     const std::source_location& where) {
  using Out = typename Types::out;
  using Accumulator = typename Types::accumulator;
  GemmEpilogueRef<Types> r;
  if (!e.any()) return r;
  check_gemm_epilogue(e, box(c), typeid(Out), typeid(Accumulator), std::is_floating_point_v<Accumulator>,
                      is_host_space<Space>, where);
  r.any = true;
  r.activation = e.activation;
  r.bias_along = e.bias_along;
  r.scale = static_cast<Accumulator>(e.scale);
  if (e.bias.given()) {
    const auto refuse_overlap = [&]<class T>(const T* pointer) {
      VectorRef<const T> bias{pointer, {e.bias.extents[0]}, {e.bias.strides[0]}};
      require_disjoint("tessera::gemm", "C", c, "bias", bias, where);
    };
    if (*e.bias.type == typeid(Out))
      refuse_overlap(r.bias = static_cast<const Out*>(e.bias.pointer));
    else
      refuse_overlap(r.wide_bias = static_cast<const Accumulator*>(e.bias.pointer));
    r.bias_stride = e.bias.strides[0];
  }
  if (e.residual.given()) {
    r.residual = {static_cast<const Out*>(e.residual.pointer),
                  {e.residual.extents[0], e.residual.extents[1]},
                  {e.residual.strides[0], e.residual.strides[1]}};
    r.residual_batch = e.residual.batch_stride;
    const index_t batches = e.residual.batches > 0 ? e.residual.batches : 1;
    const StridedRef<const Out, 3> all{r.residual.pointer,
                                       {batches, e.residual.extents[0], e.residual.extents[1]},
                                       {r.residual_batch, e.residual.strides[0], e.residual.strides[1]}};
    require_disjoint("tessera::gemm", "C", c, "the residual", all, where);
  }
  return r;
}

/// A, B and C as plain boxes with their names' function, for the checks that need no template.
void check_gemm_shapes(const Box& a, const Box& b, const Box& c, const std::source_location& where);
/// Throws unless the operands of a run are those that were planned for.
void check_gemm_operands(const GemmSignature& planned, const GemmSignature& given, std::size_t needed_bytes,
                         std::size_t given_bytes, const std::source_location& where);

template <class Types, class Space, class A, class B, class C>
GemmProblem<Types> gemm_problem(const Space& exec, const A& a, const B& b, const C& c, const GemmEpilogue& epilogue,
                                Precision precision, const std::source_location& where) {
  GemmProblem<Types> p;
  const auto all_a = const_ref(a);
  const auto all_b = const_ref(b);
  const auto all_c = ref(c);
  p.a = first_matrix(all_a);
  p.b = first_matrix(all_b);
  p.c = first_matrix(all_c);
  p.precision = precision;
  if constexpr (is_host_space<Space>) p.concurrency = static_cast<int>(exec.concurrency());
  check_gemm_shapes(box(all_a), box(all_b), box(all_c), where);
  require_disjoint("tessera::gemm", "C", all_c, "A", all_a, where);
  require_disjoint("tessera::gemm", "C", all_c, "B", all_b, where);
  p.epilogue = gemm_epilogue<Types, Space>(epilogue, all_c, where);
  if constexpr (rank_v<C> == 3) {
    const auto step = [](const auto& r) { return r.rank == 3 && r.extents[0] > 1 ? r.strides[0] : 0; };
    p.batches = all_c.extents[0];
    p.a_batch = step(all_a);
    p.b_batch = step(all_b);
    p.c_batch = step(all_c);
    join_batch(p);
  }
  return p;
}

/// How far elements of A B may be from the exact ones, with rows of A and columns of B no longer than `norms`.
[[nodiscard]] double gemm_absolute_bound(Precision precision, std::pair<double, double> norms, index_t k);
/// The fastest precision that keeps `max_error` with operands of these largest norms; full where they are not finite.
Precision precision_within(double max_error, std::pair<double, double> norms, index_t k,
                           const std::source_location& where);
/// Throws unless max_error is 0, or may be asked of operands of these kinds with this precision.
void check_max_error(double max_error, Precision precision, bool is_float, const std::source_location& where);

template <class Types, class Space>
void settle_precision(const Space& exec, GemmProblem<Types>& problem, const GemmOptions& options,
                      const std::source_location& where) {
  constexpr bool is_float = std::is_same_v<typename Types::in, float>;
  check_max_error(options.max_error, options.precision, is_float, where);
  if constexpr (is_float)
    if (options.max_error > 0)
      problem.precision = precision_within(options.max_error, GemmEntry<Types, Space>::largest_norms(exec, problem),
                                           problem.k(), where);
}

}  // namespace detail

/// How far an element of the product of fp32 operands may be from the exact sum, in units of the 2-norm of A's row
/// times that of B's column: the rounding of the operands to what is multiplied, of both, and of K sums in fp32 whose
/// last bits may be cut. Rigorous, so far above what random operands show. Higham, Accuracy and Stability (2002),
/// section 3.5. For what underflows max_error adds K 2^-149, and where operands are rounded K 2^-126 times the sum of
/// both norms.
[[nodiscard]] double gemm_error_bound(Precision precision, index_t k);

/// What gemm() and plan_gemm() take: C of rank 2 that may be written, A and B of rank 2 and one element type, all in
/// memory that Space reads; or C of rank 3 and A and B of rank 3 or 2. Compiled in: float, double and complex of them;
/// half and bfloat16, into themselves or into float; int8 into int32; int32; int64.
template <class A, class B, class C, class Space>
concept GemmOperands = ExecutionSpace<Space> && MatricesView<A> && MatricesView<B> && MutableMatricesView<C> &&
                       AccessibleFrom<A, Space> && AccessibleFrom<B, Space> && AccessibleFrom<C, Space> &&
                       std::same_as<value_t<A>, value_t<B>> && rank_v<A> <= rank_v<C> && rank_v<B> <= rank_v<C>;

/// What gemm() applies to each element, in the end: f(value, row, column) with const f, of the accumulator's type.
template <class F, class Accumulator>
concept GemmFunctor = std::copy_constructible<F> && requires(const F& f, const Accumulator& value, index_t i) {
  { f(value, i, i) } -> std::convertible_to<Accumulator>;
};

/// The memory of a bias or a residual for a GemmEpilogue. Holds no reference: the view must live on.
template <class V>
  requires(VectorView<V> || MatricesView<V>)
[[nodiscard]] EpilogueOperand operand(const V& view) {
  const auto r = const_ref(view);
  static_assert(!view_traits<V>::conjugates, "a bias or residual is read as it lies");
  EpilogueOperand o;
  o.pointer = r.pointer;
  o.type = &typeid(value_t<V>);
  constexpr int first = rank_v<V> == 3 ? 1 : 0;
  for (int d = first; d < rank_v<V>; ++d) {
    o.extents[d - first] = r.extents[d];
    o.strides[d - first] = r.strides[d];
  }
  if (rank_v<V> == 1) o.extents[1] = 1;
  if (rank_v<V> == 3) {
    o.batches = r.extents[0] > 0 ? r.extents[0] : -1;
    o.batch_stride = r.extents[0] > 1 ? r.strides[0] : 0;
  }
  o.host_reads = AccessibleFrom<V, Kokkos::DefaultHostExecutionSpace>;
  o.device_reads = AccessibleFrom<V, Kokkos::DefaultExecutionSpace>;
  return o;
}

/// Epilogues with a bias, by default one for each column of C; name other fields: {.bias = operand(b), .scale = 2}.
template <VectorView V>
[[nodiscard]] GemmEpilogue bias(const V& b, BiasAlong along = BiasAlong::columns) {
  return {.bias_along = along, .bias = operand(b)};
}
template <VectorView V>
[[nodiscard]] GemmEpilogue bias_relu(const V& b, BiasAlong along = BiasAlong::columns) {
  return {.activation = Activation::relu, .bias_along = along, .bias = operand(b)};
}
template <VectorView V>
[[nodiscard]] GemmEpilogue bias_gelu(const V& b, BiasAlong along = BiasAlong::columns) {
  return {.activation = Activation::gelu, .bias_along = along, .bias = operand(b)};
}
template <VectorView V>
[[nodiscard]] GemmEpilogue bias_gelu_tanh(const V& b, BiasAlong along = BiasAlong::columns) {
  return {.activation = Activation::gelu_tanh, .bias_along = along, .bias = operand(b)};
}
template <VectorView V>
[[nodiscard]] GemmEpilogue bias_silu(const V& b, BiasAlong along = BiasAlong::columns) {
  return {.activation = Activation::silu, .bias_along = along, .bias = operand(b)};
}

/// A choice of path, made once and run many times. Holds no view but the addresses in its epilogue, no instance and no
/// memory; of a functor it knows the type, and each run brings its own.
template <class Types, ExecutionSpace Space, class F = detail::NoFunctor>
class GemmPlan {
  static constexpr bool with_functor = !std::is_same_v<F, detail::NoFunctor>;

 public:
  using Accumulator = typename Types::accumulator;

  GemmPlan(const GemmProblem<Types>& problem, const GemmEpilogue& epilogue, const Selection& selection)
      : m_selection(&selection),
        m_epilogue(epilogue),
        m_signature(signature_of(problem)),
        m_workspace_bytes(detail::GemmEntry<Types, Space>::workspace_bytes(selection, problem)),
        m_precision(problem.precision) {
    if constexpr (with_functor)
      if (const char* const why = detail::GemmEntry<Types, Space>::functor_apart(selection, problem)) {
        m_reasons = selection.refusals;
        m_reasons.push_back({"the functor with the product", why});
      }
  }

  /// What will run, "gemm[portable 8x24x512]".
  [[nodiscard]] const std::string& path() const { return m_selection->path; }
  /// What was asked for, or chosen for max_error.
  [[nodiscard]] Precision precision() const { return m_precision; }
  /// Every provider that was tried before the chosen one, and why it was not taken; last, where a functor is a pass of
  /// its own, why it is.
  [[nodiscard]] const std::vector<Refusal>& reasons() const {
    return m_reasons.empty() ? m_selection->refusals : m_reasons;
  }
  /// What run() needs as workspace; 0 for most paths.
  [[nodiscard]] std::size_t workspace_bytes() const { return m_workspace_bytes; }

  /// C = alpha A B + beta C and the planned epilogue, as gemm(). The operands must have the extents, strides,
  /// conjugation and alignment that were planned for; their addresses may differ.
  /// \throws Error where they do not, or where the workspace is too small
  template <class A, class B, class C, ScalarFor<Accumulator, Space> Alpha, ScalarFor<Accumulator, Space> Beta>
    requires(!with_functor && GemmOperands<A, B, C, Space> && std::same_as<value_t<A>, typename Types::in> &&
             std::same_as<value_t<C>, typename Types::out>)
  void run(const Space& exec, const Alpha& alpha, const A& a, const B& b, const Beta& beta, const C& c,
           GemmWorkspace workspace = {}, std::source_location where = std::source_location::current()) const {
    run_with(exec, alpha, a, b, beta, c, detail::NoFunctor(), workspace, where);
  }
  /// The same of a plan with a functor; what f holds may differ from run to run.
  template <class A, class B, class C, ScalarFor<Accumulator, Space> Alpha, ScalarFor<Accumulator, Space> Beta>
    requires(with_functor && GemmOperands<A, B, C, Space> && std::same_as<value_t<A>, typename Types::in> &&
             std::same_as<value_t<C>, typename Types::out>)
  void run(const Space& exec, const Alpha& alpha, const A& a, const B& b, const Beta& beta, const C& c, const F& f,
           GemmWorkspace workspace = {}, std::source_location where = std::source_location::current()) const {
    run_with(exec, alpha, a, b, beta, c, f, workspace, where);
  }

 private:
  template <class A, class B, class C, class Alpha, class Beta>
  void run_with(const Space& exec, const Alpha& alpha, const A& a, const B& b, const Beta& beta, const C& c, const F& f,
                GemmWorkspace workspace, const std::source_location& where) const {
    using Entry = detail::GemmEntry<Types, Space>;
    auto problem = detail::gemm_problem<Types>(exec, a, b, c, m_epilogue, m_precision, where);
    problem.planned = true;
    problem.functor = detail::functor_ref<Types, Space>(f);
    detail::check_gemm_operands(m_signature, signature_of(problem), m_workspace_bytes, workspace.bytes, where);
    problem.alpha = scalar_ref<Accumulator>(alpha);
    problem.beta = scalar_ref<Accumulator>(beta);
    Entry::run(exec, problem, *m_selection, workspace);
    if constexpr (with_functor)
      if (Entry::functor_apart(*m_selection, problem) != nullptr) detail::run_gemm_functor<Types>(exec, problem, f);
  }

  const Selection* m_selection;
  GemmEpilogue m_epilogue;
  GemmSignature m_signature;
  std::size_t m_workspace_bytes;
  Precision m_precision;
  std::vector<Refusal> m_reasons;  // empty: those of the selection
};

namespace detail {

template <class Types, class F, class Space, class A, class B, class C>
GemmPlan<Types, Space, F> plan_gemm(const Space& exec, const A& a, const B& b, const C& c, const F& f,
                                    const GemmOptions& options, const std::source_location& where) {
  auto problem = gemm_problem<Types>(exec, a, b, c, options.epilogue, options.precision, where);
  settle_precision(exec, problem, options, where);
  problem.planned = true;
  problem.functor = functor_ref<Types, Space>(f);
  // a functor may write: it is not called to measure
  const bool tune = std::is_same_v<F, NoFunctor> && plans_measure(options.tune);
  return {problem, options.epilogue, GemmEntry<Types, Space>::select(exec, problem, options.path, tune, where)};
}

template <class Types, class F, class Space, class A, class B, class C, class Alpha, class Beta>
void run_gemm(const Space& exec, const Alpha& alpha, const A& a, const B& b, const Beta& beta, const C& c, const F& f,
              const GemmOptions& options, const std::source_location& where) {
  using Entry = GemmEntry<Types, Space>;
  using Accumulator = typename Types::accumulator;
  auto problem = gemm_problem<Types>(exec, a, b, c, options.epilogue, options.precision, where);
  problem.alpha = scalar_ref<Accumulator>(alpha);
  problem.beta = scalar_ref<Accumulator>(beta);
  problem.functor = functor_ref<Types, Space>(f);
  // A and B are not read where alpha is 0
  if (!problem.alpha.on_host() || problem.alpha.value != Accumulator{})
    settle_precision(exec, problem, options, where);
  else
    check_max_error(options.max_error, options.precision, std::is_same_v<typename Types::in, float>, where);
  const Selection& selection = Entry::select(exec, problem, options.path, false, where);
  const std::size_t bytes = Entry::workspace_bytes(selection, problem);
  require(bytes == 0, [&] {
    return Error("tessera::gemm", "the path " + selection.path + " needs " + std::to_string(bytes) + " bytes",
                 "gemm() allocates nothing", "Use plan_gemm() and give run() a workspace", where);
  });
  Entry::run(exec, problem, selection, {});
  if constexpr (!std::is_same_v<F, NoFunctor>)
    if (Entry::functor_apart(selection, problem) != nullptr) run_gemm_functor<Types>(exec, problem, f);
}

}  // namespace detail

/// Chooses a path for products of these operands (see gemm()); reads no element, but for max_error and to tune.
/// \throws Error as gemm(), and where a forced path cannot run
template <ExecutionSpace Space, class A, class B, class C>
  requires(GemmOperands<A, B, C, Space>)
[[nodiscard]] auto plan_gemm(const Space& exec, const A& a, const B& b, const C& c, const GemmOptions& options = {},
                             std::source_location where = std::source_location::current()) {
  return detail::plan_gemm<GemmTypes<value_t<A>, value_t<C>>>(exec, a, b, c, detail::NoFunctor(), options, where);
}
/// The same for products with a functor of f's type; f is not kept, and run() takes one.
template <ExecutionSpace Space, class A, class B, class C, GemmFunctor<accumulator_t<value_t<A>>> F>
  requires(GemmOperands<A, B, C, Space> && MatrixView<C>)
[[nodiscard]] auto plan_gemm(const Space& exec, const A& a, const B& b, const C& c, const F& f,
                             const GemmOptions& options = {},
                             std::source_location where = std::source_location::current()) {
  return detail::plan_gemm<GemmTypes<value_t<A>, value_t<C>>>(exec, a, b, c, f, options, where);
}

/// C = alpha A B + beta C. Sums are formed in accumulator_t of A's elements.
/// Where beta is 0, C is overwritten and its old contents are not read; where alpha or K is 0, A and B are not read (an
/// alpha of 0 in device memory the vendor's library may not heed: {.path = "portable"} does).
/// With C of rank 3 it is a batch of products, C(b) = alpha A(b) B(b) + beta C(b): the first index counts them,
/// whatever the layout. An A or B of rank 2 is shared by all. Layouts that keep each matrix together (LayoutRight) suit
/// large products, those that keep the batch together (LayoutLeft) many tiny ones.
/// \param exec     instance that runs it; the call returns at once. While its stream captures a graph, the product
///                 becomes part of that; replays then count as the instance's work, whose workspaces they use, and are
///                 ordered with it
/// \param alpha    host value, or rank-0 view in memory that exec reads, of the accumulator's type
/// \param a        M x K, any strides; transposed(), conjugated() and adjoint() of a view are views
/// \param b        K x N, same element type
/// \param beta     as alpha
/// \param c        M x N, shares no element with A or B (disjoint parts of one allocation are fine), nor, of a batch,
///                 one product's with another's
/// \param options  precision asked for or the error allowed, an epilogue, a path to force
/// \throws Error   where extents do not fit, C overlaps another operand, a forced path cannot run, or max_error
///                 is kept by no precision
/// Error per element: at most c K eps (|A||B|) of the accumulator, and the rounding to C's type.
/// Source: BLAS level 3.
template <ExecutionSpace Space, class A, class B, class C, ScalarFor<accumulator_t<value_t<A>>, Space> Alpha,
          ScalarFor<accumulator_t<value_t<A>>, Space> Beta>
  requires(GemmOperands<A, B, C, Space>)
void gemm(const Space& exec, const Alpha& alpha, const A& a, const B& b, const Beta& beta, const C& c,
          const GemmOptions& options = {}, std::source_location where = std::source_location::current()) {
  detail::run_gemm<GemmTypes<value_t<A>, value_t<C>>>(exec, alpha, a, b, beta, c, detail::NoFunctor(), options, where);
}
/// C = f(alpha A B + beta C, row, column), for any element types: f comes last, behind an epilogue of the options, and
/// sees each element of C once. It is called where exec runs (KOKKOS_FUNCTION; a KOKKOS_LAMBDA will do), in no order,
/// with values of the accumulator's type and the caller's rows and columns, and what it points to lives until the work
/// is done. It is a second pass over C, whose type then rounds its argument too, unless it was compiled into the
/// kernels that run (tessera/gemm/functor.hpp); a plan's path() and reasons() tell.
template <ExecutionSpace Space, class A, class B, class C, ScalarFor<accumulator_t<value_t<A>>, Space> Alpha,
          ScalarFor<accumulator_t<value_t<A>>, Space> Beta, GemmFunctor<accumulator_t<value_t<A>>> F>
  requires(GemmOperands<A, B, C, Space> && MatrixView<C>)
void gemm(const Space& exec, const Alpha& alpha, const A& a, const B& b, const Beta& beta, const C& c, const F& f,
          const GemmOptions& options = {}, std::source_location where = std::source_location::current()) {
  detail::run_gemm<GemmTypes<value_t<A>, value_t<C>>>(exec, alpha, a, b, beta, c, f, options, where);
}

/// The same two on the default instance.
template <class A, class B, class C, ScalarFor<accumulator_t<value_t<A>>, Kokkos::DefaultExecutionSpace> Alpha,
          ScalarFor<accumulator_t<value_t<A>>, Kokkos::DefaultExecutionSpace> Beta>
  requires(GemmOperands<A, B, C, Kokkos::DefaultExecutionSpace>)
void gemm(const Alpha& alpha, const A& a, const B& b, const Beta& beta, const C& c, const GemmOptions& options = {},
          std::source_location where = std::source_location::current()) {
  gemm(Kokkos::DefaultExecutionSpace(), alpha, a, b, beta, c, options, where);
}
template <class A, class B, class C, ScalarFor<accumulator_t<value_t<A>>, Kokkos::DefaultExecutionSpace> Alpha,
          ScalarFor<accumulator_t<value_t<A>>, Kokkos::DefaultExecutionSpace> Beta,
          GemmFunctor<accumulator_t<value_t<A>>> F>
  requires(GemmOperands<A, B, C, Kokkos::DefaultExecutionSpace> && MatrixView<C>)
void gemm(const Alpha& alpha, const A& a, const B& b, const Beta& beta, const C& c, const F& f,
          const GemmOptions& options = {}, std::source_location where = std::source_location::current()) {
  gemm(Kokkos::DefaultExecutionSpace(), alpha, a, b, beta, c, f, options, where);
}

}  // namespace tessera
