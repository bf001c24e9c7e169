// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// scan for element types and operations that the library does not bring compiled: include this instead of
/// tessera/scan.hpp.

#include <tessera/core/operations.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/level1/reduction.hpp>
#include <tessera/scan.hpp>
#include <tessera/scan/blocks.hpp>
#include <tessera/scan/leaf.hpp>
#include <tessera/scan/lookback.hpp>

namespace tessera::detail {

/// What running sums of T carry from row to row.
template <class T, class Op>
struct CarryOf {
  using type = T;
};
template <>
struct CarryOf<float, tessera::Sum> {
  using type = double;
};
template <>
struct CarryOf<Kokkos::complex<float>, tessera::Sum> {
  using type = Kokkos::complex<double>;
};

/// What results of T are computed in. Sums and products of integers wrap.
template <class T, class Op>
struct ScanValue {
  using type = accumulator_t<T>;
};
template <class T, class Op>
  requires(std::is_integral_v<T> && (std::is_same_v<Op, tessera::Sum> || std::is_same_v<Op, Product>))
struct ScanValue<T, Op> {
  using type = std::make_unsigned_t<accumulator_t<T>>;
};

/// Each of the values with those before it.
template <int count, class Body, class Value>
TESSERA_INLINE_FUNCTION void doubling(const Body& body, Value (&values)[count]) {
  for (int by = 1; by < count; by *= 2)
    for (int j = count - 1; j >= by; --j) values[j] = body.join(values[j - by], values[j]);
}

template <class TIn, class TOut, class Op, class Space, Access access>
struct ScanBody {
  using Value = typename ScanValue<TOut, Op>::type;
  using Carry = typename CarryOf<Value, Op>::type;
  using Element = Value;
  static constexpr int leaf = leaf_of<TIn, TOut>;
  using Leaf = Pack<TIn, leaf>;
  static constexpr bool many_rows_fit = sizeof(Value) <= 8;
  static constexpr bool sums_of_vectors = std::is_same_v<Op, tessera::Sum> && std::is_same_v<TIn, TOut> &&
                                          access == Access::unit && std::is_arithmetic_v<TOut> && sizeof(TOut) >= 4;

  const TIn* x;
  TOut* y;
  index_t xs, ys;
  ScalarRef<TOut> init;
  TOut* all;
  Op op;
  bool exclusive, conj;

  [[nodiscard]] TESSERA_INLINE_FUNCTION Value value(const TIn& element) const {
    const auto v = static_cast<Value>(element);
    if constexpr (is_complex_v<TIn>) return conj ? conj_value(v) : v;
    return v;
  }
  template <bool whole>
  [[nodiscard]] TESSERA_INLINE_FUNCTION Leaf fetch(index_t i, int count) const {
    return fetch_leaf<Space, access, whole, leaf>(x, xs, i, count);
  }
  template <bool whole>
  [[nodiscard]] TESSERA_INLINE_FUNCTION Value total(const Leaf& v, int count) const {
    Value sums[leaf];
    for (int j = 0; j < leaf; ++j) sums[j] = whole || j < count ? value(v[j]) : nothing();
    doubling<leaf>(*this, sums);  // all of them, as put() wants them again
    return sums[leaf - 1];
  }
  template <bool whole>
  TESSERA_INLINE_FUNCTION void put(index_t i, int count, const Leaf& v, const Value& below, const Value& before) const {
    Value sums[leaf];
    for (int j = 0; j < leaf; ++j) sums[j] = value(v[j]);
    doubling<leaf>(*this, sums);
    Pack<TOut, leaf> out;
    for (int j = 0; j < leaf; ++j) {
      const Value inside = exclusive ? (j == 0 ? nothing() : sums[j > 0 ? j - 1 : 0]) : sums[j];
      out.set(j, static_cast<TOut>(op(before, op(below, inside))));
    }
    put_leaf<Space, access, whole, leaf>(out, y, ys, i, count);
  }

  [[nodiscard]] TESSERA_INLINE_FUNCTION Value element(index_t i) const {
    return value(x[access == Access::unit ? i : i * xs]);
  }
  // a signed integer may be read and written as the unsigned one
  [[nodiscard]] TESSERA_INLINE_FUNCTION const Value* elements(index_t i) const {
    return reinterpret_cast<const Value*>(x + i);
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION Value* place(index_t i) const { return reinterpret_cast<Value*>(y + i); }
  TESSERA_INLINE_FUNCTION void emit(index_t i, const Value& before, const Value& through) const {
    y[access == Access::unit ? i : i * ys] = static_cast<TOut>(exclusive ? before : through);
  }

  template <class V>
  [[nodiscard]] TESSERA_INLINE_FUNCTION V join(const V& a, const V& b) const {
    return op(a, b);
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION Carry widen(const Value& v) const { return static_cast<Carry>(v); }
  [[nodiscard]] TESSERA_INLINE_FUNCTION Value narrow(const Carry& v) const { return static_cast<Value>(v); }
  [[nodiscard]] TESSERA_INLINE_FUNCTION Value nothing() const { return identity_of<Value>(op); }
  [[nodiscard]] TESSERA_INLINE_FUNCTION Carry first() const {
    // after the identity: sums never begin with -0
    return exclusive ? widen(op(nothing(), static_cast<Value>(init.get()))) : identity_of<Carry>(op);
  }
  TESSERA_INLINE_FUNCTION void finish(const Carry& total) const {
    if (all != nullptr) *all = static_cast<TOut>(narrow(total));
  }
};

/// Pairs of a sum since the last head and whether there was one.
template <class T, class Flag, class Space, Access access>
struct SegmentedBody {
  template <class S>
  struct Since {
    S sum;
    std::uint32_t head;
  };
  using Sum = typename ScanValue<T, tessera::Sum>::type;
  using Value = Since<Sum>;
  using Carry = Since<typename CarryOf<Sum, tessera::Sum>::type>;
  static constexpr int leaf = leaf_of<T, T>;
  struct Leaf {
    Pack<T, leaf> x;
    Pack<Flag, leaf> heads;
  };
  using Element = Sum;
  using HeadFlag = Flag;
  static constexpr bool many_rows_fit = false;
  static constexpr bool sums_of_vectors = access == Access::unit && std::is_arithmetic_v<T> && sizeof(T) >= 4;
  static constexpr bool exclusive = false;

  const T* x;
  const Flag* heads;
  T* y;
  index_t xs, hs, ys;

  [[nodiscard]] TESSERA_INLINE_FUNCTION Value value(const T& element, const Flag& head) const {
    return {static_cast<Sum>(element), head != Flag(0) ? 1u : 0u};
  }
  template <bool whole>
  [[nodiscard]] TESSERA_INLINE_FUNCTION Leaf fetch(index_t i, int count) const {
    return {fetch_leaf<Space, access, whole, leaf>(x, xs, i, count),
            fetch_leaf<Space, access, whole, leaf>(heads, hs, i, count)};
  }
  template <bool whole>
  [[nodiscard]] TESSERA_INLINE_FUNCTION Value total(const Leaf& v, int count) const {
    Value sums[leaf];
    for (int j = 0; j < leaf; ++j) sums[j] = whole || j < count ? value(v.x[j], v.heads[j]) : nothing();
    doubling<leaf>(*this, sums);
    return sums[leaf - 1];
  }
  template <bool whole>
  TESSERA_INLINE_FUNCTION void put(index_t i, int count, const Leaf& v, const Value& below, const Value& before) const {
    Value sums[leaf];
    for (int j = 0; j < leaf; ++j) sums[j] = value(v.x[j], v.heads[j]);
    doubling<leaf>(*this, sums);
    Pack<T, leaf> out;
    for (int j = 0; j < leaf; ++j) out.set(j, static_cast<T>(join(before, join(below, sums[j])).sum));
    put_leaf<Space, access, whole, leaf>(out, y, ys, i, count);
  }

  [[nodiscard]] TESSERA_INLINE_FUNCTION Value element(index_t i) const { return value(x[i * xs], heads[i * hs]); }
  [[nodiscard]] TESSERA_INLINE_FUNCTION const Element* elements(index_t i) const {
    return reinterpret_cast<const Element*>(x + i);
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION const Flag* heads_from(index_t i) const { return heads + i; }
  [[nodiscard]] TESSERA_INLINE_FUNCTION bool any_head(index_t i, int count) const {
    Flag any{};
    for (int e = 0; e < count; ++e) any = static_cast<Flag>(any | heads[(i + e) * (access == Access::unit ? 1 : hs)]);
    return any != Flag{};
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION Element* place(index_t i) const { return reinterpret_cast<Element*>(y + i); }
  TESSERA_INLINE_FUNCTION void emit(index_t i, const Value& /*before*/, const Value& through) const {
    y[i * ys] = static_cast<T>(through.sum);
  }

  template <class S>
  [[nodiscard]] TESSERA_INLINE_FUNCTION Since<S> join(const Since<S>& a, const Since<S>& b) const {
    return {b.head != 0 ? b.sum : S(a.sum + b.sum), a.head | b.head};
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION Carry widen(const Value& v) const {
    return {static_cast<decltype(Carry::sum)>(v.sum), v.head};
  }
  [[nodiscard]] TESSERA_INLINE_FUNCTION Value narrow(const Carry& v) const { return {static_cast<Sum>(v.sum), v.head}; }
  [[nodiscard]] TESSERA_INLINE_FUNCTION Value nothing() const { return {Sum{}, 0}; }
  [[nodiscard]] TESSERA_INLINE_FUNCTION Carry first() const { return widen(nothing()); }
  TESSERA_INLINE_FUNCTION void finish(const Carry& /*total*/) const {}
};

/// The total of no elements.
template <class Body>
struct EmptyScan {
  Body body;
  KOKKOS_FUNCTION void operator()(index_t /*only*/) const { body.finish(body.first()); }
};

template <class Space, class Body>
void run_tree(const Space& exec, const std::string& kernel_label, const Body& body, index_t n) {
  const auto with = [&]<int rows>(std::integral_constant<int, rows>) {
    if constexpr (machine<Space>::is_host)
      run_blocks<rows>(exec, kernel_label, body, n);
    else
      run_lookback<rows>(exec, kernel_label, body, n);
  };
  if constexpr (Body::many_rows_fit)
    if (takes_many_rows<Body>(n)) return with(std::integral_constant<int, many_rows<Body>>{});
  with(std::integral_constant<int, few_rows>{});
}

template <class TIn, class TOut, class Op, class Space>
void run_scan(const Space& exec, const ScanProblem<TIn, TOut, Op>& p) {
  static const std::string kernel_label = label("scan", "tiles");
  const Region region("tessera::scan[portable]");
  const index_t n = p.x.extents[0];
  const auto lock = lock_instance(exec);
  TOut* all = p.total;
  if (p.returned != nullptr) {
    all = p.returned;
    if constexpr (!machine<Space>::is_host) {
      static_assert(sizeof(TOut) <= 64);
      all = static_cast<TOut*>(ReductionWorkspace<Space>::of(exec).result());
    }
  }
  const auto run = [&]<Access access>(std::integral_constant<Access, access>) {
    const ScanBody<TIn, TOut, Op, Space, access> body{p.x.pointer, p.y.pointer, p.x.strides[0], p.y.strides[0], p.init,
                                                      all,         p.op,        p.exclusive,    p.x.conj};
    if (n > 0)
      run_tree(exec, kernel_label, body, n);
    else if (all != nullptr)
      Kokkos::parallel_for(kernel_label, Range<Space>(exec, 0, 1), EmptyScan<decltype(body)>{body});
  };
  if (n > 0 && unit_access<Space>(p.x.pointer, p.x.strides[0]) && unit_access<Space>(p.y.pointer, p.y.strides[0]))
    run(std::integral_constant<Access, Access::unit>{});
  else
    run(std::integral_constant<Access, Access::strided>{});
  if constexpr (!machine<Space>::is_host)
    if (p.returned != nullptr) {
      exec.fence("tessera::scan::result");
      *p.returned = *all;
    }
}

template <class T, class Flag, class Space>
void run_segmented_scan(const Space& exec, const SegmentedScanProblem<T, Flag>& p) {
  static const std::string kernel_label = label("scan", "segments");
  const Region region("tessera::scan[portable]");
  if (p.x.extents[0] == 0) return;
  const auto lock = lock_instance(exec);
  const auto run = [&]<Access access>(std::integral_constant<Access, access>) {
    run_tree(exec, kernel_label,
             SegmentedBody<T, Flag, Space, access>{p.x.pointer, p.heads.pointer, p.y.pointer, p.x.strides[0],
                                                   p.heads.strides[0], p.y.strides[0]},
             p.x.extents[0]);
  };
  if (unit_access<Space>(p.x.pointer, p.x.strides[0]) && unit_access<Space>(p.heads.pointer, p.heads.strides[0]) &&
      unit_access<Space>(p.y.pointer, p.y.strides[0]))
    run(std::integral_constant<Access, Access::unit>{});
  else
    run(std::integral_constant<Access, Access::strided>{});
}

}  // namespace tessera::detail
