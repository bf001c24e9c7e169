// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

#include <tessera/reduce/any_type.hpp>

/// \file
/// Reductions of a function of indices or elements. The kernels are compiled where they are called.

namespace tessera {
namespace detail {

/// f of the elements of one or two vectors.
template <class F, class T>
struct OfElement {
  F f;
  VectorRef<const T> x;
  TESSERA_CALLS_ANYTHING
  TESSERA_INLINE_FUNCTION auto operator()(index_t i) const {
    const T v = x.pointer[i * x.strides[0]];
    return f(x.conj ? conj_value(v) : v);
  }
};
template <class F, class T, class U>
struct OfElements {
  F f;
  VectorRef<const T> x;
  VectorRef<const U> y;
  TESSERA_CALLS_ANYTHING
  TESSERA_INLINE_FUNCTION auto operator()(index_t i) const {
    const T v = x.pointer[i * x.strides[0]];
    const U w = y.pointer[i * y.strides[0]];
    return f(x.conj ? conj_value(v) : v, y.conj ? conj_value(w) : w);
  }
};

template <class T, class F, class Op, class Space>
reduce_result_t<T, Op> run_transform_reduce(const Space& exec, const F& f, index_t n, const Op& op,
                                            reduce_result_t<T, Op>* result, const ReductionOptions& options,
                                            const std::source_location& where) {
  require(options.determinism != Determinism::portable, [&] {
    return Error("tessera::transform_reduce", "Determinism::portable was asked for",
                 "what a function of yours rounds may differ between backends",
                 "Ask for Determinism::reproducible, or store the function's values and use reduce", where);
  });
  require(n >= 0, [&] {
    return Error("tessera::transform_reduce", "n is " + std::to_string(n), "a count is 0 or more", {}, where);
  });
  const Region region("tessera::transform_reduce[portable]");
  return run_in_any_order(exec, "transform_reduce", IndexOpSource<T, F, Op>{{op, false}, f}, n, result);
}

template <class F, class... Arguments>
using result_of = std::remove_cvref_t<std::invoke_result_t<const F&, Arguments...>>;
}  // namespace detail

/// f(0) op f(1) op ... op f(n - 1) as a host value, by the rules of reduce; waits for it.
/// \param exec     instance that runs it
/// \param n        how many; 64-bit
/// \param f        called as f(index_t) where exec runs
/// \param op       as for reduce, on what f returns
/// \param options  fast or reproducible
/// \throws Error   where portable bits are asked for, or n < 0
template <ExecutionSpace Space, class F, class Op>
  requires(std::invocable<const F&, index_t> && Reduction<Op, detail::result_of<F, index_t>>)
[[nodiscard]] auto transform_reduce(const Space& exec, index_t n, const F& f, const Op& op,
                                    const ReductionOptions& options = {},
                                    std::source_location where = std::source_location::current()) {
  return detail::run_transform_reduce<detail::result_of<F, index_t>>(exec, f, n, op, nullptr, options, where);
}
/// The same into a rank-0 view in memory that exec writes; returns at once, and waits for nothing.
template <ExecutionSpace Space, class F, class Op, MutableScalarView RV>
  requires(std::invocable<const F&, index_t> && Reduction<Op, detail::result_of<F, index_t>> &&
           AccessibleFrom<RV, Space> && std::same_as<value_t<RV>, reduce_result_t<detail::result_of<F, index_t>, Op>>)
void transform_reduce(const Space& exec, index_t n, const F& f, const Op& op, const RV& result,
                      const ReductionOptions& options = {},
                      std::source_location where = std::source_location::current()) {
  detail::run_transform_reduce<detail::result_of<F, index_t>>(exec, f, n, op, ref(result).pointer, options, where);
}

/// f(x_0) op f(x_1) op ...
/// \param x  rank 1, any strides
template <ExecutionSpace Space, VectorView XV, class F, class Op>
  requires(AccessibleFrom<XV, Space> && std::invocable<const F&, value_t<XV>> &&
           Reduction<Op, detail::result_of<F, value_t<XV>>>)
[[nodiscard]] auto transform_reduce(const Space& exec, const XV& x, const F& f, const Op& op,
                                    const ReductionOptions& options = {},
                                    std::source_location where = std::source_location::current()) {
  const detail::OfElement<F, value_t<XV>> element{f, const_ref(x)};
  return transform_reduce(exec, element.x.extents[0], element, op, options, where);
}
template <ExecutionSpace Space, VectorView XV, class F, class Op, MutableScalarView RV>
  requires(AccessibleFrom<XV, Space> && std::invocable<const F&, value_t<XV>> &&
           Reduction<Op, detail::result_of<F, value_t<XV>>>)
void transform_reduce(const Space& exec, const XV& x, const F& f, const Op& op, const RV& result,
                      const ReductionOptions& options = {},
                      std::source_location where = std::source_location::current()) {
  const detail::OfElement<F, value_t<XV>> element{f, const_ref(x)};
  transform_reduce(exec, element.x.extents[0], element, op, result, options, where);
}

/// f(x_0, y_0) op f(x_1, y_1) op ...
/// \param x, y  rank 1, equal extents, any strides
/// \throws Error where extents differ, as well
template <ExecutionSpace Space, VectorView XV, VectorView YV, class F, class Op>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> &&
           std::invocable<const F&, value_t<XV>, value_t<YV>> &&
           Reduction<Op, detail::result_of<F, value_t<XV>, value_t<YV>>>)
[[nodiscard]] auto transform_reduce(const Space& exec, const XV& x, const YV& y, const F& f, const Op& op,
                                    const ReductionOptions& options = {},
                                    std::source_location where = std::source_location::current()) {
  const detail::OfElements<F, value_t<XV>, value_t<YV>> elements{f, const_ref(x), const_ref(y)};
  detail::check_same_extents("tessera::transform_reduce", "x", detail::box(elements.x), "y", detail::box(elements.y),
                             where);
  return transform_reduce(exec, elements.x.extents[0], elements, op, options, where);
}
template <ExecutionSpace Space, VectorView XV, VectorView YV, class F, class Op, MutableScalarView RV>
  requires(AccessibleFrom<XV, Space> && AccessibleFrom<YV, Space> &&
           std::invocable<const F&, value_t<XV>, value_t<YV>> &&
           Reduction<Op, detail::result_of<F, value_t<XV>, value_t<YV>>>)
void transform_reduce(const Space& exec, const XV& x, const YV& y, const F& f, const Op& op, const RV& result,
                      const ReductionOptions& options = {},
                      std::source_location where = std::source_location::current()) {
  const detail::OfElements<F, value_t<XV>, value_t<YV>> elements{f, const_ref(x), const_ref(y)};
  detail::check_same_extents("tessera::transform_reduce", "x", detail::box(elements.x), "y", detail::box(elements.y),
                             where);
  transform_reduce(exec, elements.x.extents[0], elements, op, result, options, where);
}

}  // namespace tessera
