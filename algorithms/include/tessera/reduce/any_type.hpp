// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// reduce for element types and operations that the library does not bring compiled, a user's own among them: include
/// this instead of tessera/reduce.hpp.

#include <utility>

#include <tessera/core/trace.hpp>
#include <tessera/level1/largest_key.hpp>
#include <tessera/reduce.hpp>
#include <tessera/reduce/op_source.hpp>
#include <tessera/reduce/segments.hpp>

namespace tessera::detail {

/// Elements of a matrix, counted down its columns.
template <class T>
struct MatrixElement {
  const T* x;
  index_t rows, s0, s1;
  bool conj;
  TESSERA_INLINE_FUNCTION T operator()(index_t i) const {
    const index_t column = i / rows;
    const T v = x[(i - column * rows) * s0 + column * s1];
    return conj ? conj_value(v) : v;
  }
};

template <class T, class Op, class Space>
reduce_result_t<T, Op> run_reduce(const Space& exec, const ReduceProblem<T, Op>& p) {
  const Region region("tessera::reduce[portable]");
  index_t rows = p.x.extents[0], columns = p.x.extents[1], s0 = p.x.strides[0], s1 = p.x.strides[1];
  const auto run = [&](const auto& source, index_t n) {
    if constexpr (portable_operation<T, Op>) {
      return run_source(exec, "reduce", source, n, p.result, p.determinism);
    } else {
      return run_in_any_order(exec, "reduce", source, n, p.result);
    }
  };
  // the portable order runs down the columns; any other may run along what lies closest
  const auto distance = [](index_t s) { return s < 0 ? -s : s; };
  if (rows == 1 || (p.determinism != Determinism::portable && columns != 1 && distance(s1) < distance(s0))) {
    std::swap(rows, columns);
    std::swap(s0, s1);
  }
  const index_t n = rows * columns;
  if (columns <= 1 || rows == 0 || s1 == rows * s0)
    return run(VectorOpSource<T, Op>{{p.op, p.x.conj}, {p.x.pointer, s0}}, n);
  return run(IndexOpSource<T, MatrixElement<T>, Op>{{p.op, false}, {p.x.pointer, rows, s0, s1, p.x.conj}}, n);
}

/// Numbers as unsigned integers that order as they do, every NaN above all; for the smallest, in reverse but for NaN.
template <class T, bool largest>
struct OrderKey {
  using Real = std::conditional_t<is_stored_float_v<T>, float,
                                  std::conditional_t<std::is_integral_v<T> && sizeof(T) < 4, std::int32_t, T>>;
  using type = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  static constexpr int per = 1;

  template <int N>
  TESSERA_INLINE_FUNCTION static vec<type, N> of(const vec<T, N>& v) {
    using V = vec<type, N>;
    constexpr type top = type{1} << (8 * sizeof(type) - 1), last = ~type{0};
    if constexpr (std::is_integral_v<Real>) {
      V key = convert<type>(convert<Real>(v));
      if constexpr (std::is_signed_v<Real>) key = key + V(top);
      return largest ? key : V(last) - key;
    } else {
      constexpr type infinity = sizeof(Real) == 8 ? static_cast<type>(0x7ff0000000000000u) : type{0x7f800000u};
      const vec<Real, N> w = convert<Real>(v) + vec<Real, N>(Real{0});  // -0 becomes 0
      const V bits = bits_of(w);
      const V key = select(bits < V(top), bits + V(top), V(last) - bits);
      return select(V(infinity) < bits_of(abs(w)), V(last), largest ? key : V(last) - key);
    }
  }
};

template <class T, bool largest>
struct LocationFinish {
  using Result = Location<T>;
  TESSERA_INLINE_FUNCTION static Result of(const T* x, index_t xs, index_t index) {
    using Op = std::conditional_t<largest, Maximum, Minimum>;
    return {index < 0 ? identity_of<T>(Op{}) : x[index * xs], index};
  }
};

template <bool largest, class T, class Space>
Location<T> run_location(const Space& exec, const LocationProblem<T>& p) {
  constexpr const char* name = largest ? "max_location" : "min_location";
  const Region region(largest ? "tessera::max_location[portable]" : "tessera::min_location[portable]");
  const auto run = [&]<Access access>(std::integral_constant<Access, access>) {
    using Body = LargestKeyBody<T, OrderKey<T, largest>, Space, access, LocationFinish<T, largest>>;
    return run_reduction(exec, name, Body{p.x.pointer, p.x.strides[0]}, p.x.extents[0], p.result);
  };
  return with_access<Space>(VectorReader<T>{p.x.pointer, p.x.strides[0]}, run);
}

}  // namespace tessera::detail
