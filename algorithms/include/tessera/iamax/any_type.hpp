// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// iamax for element types that the library does not bring compiled: include this instead of tessera/iamax.hpp.

#include <tessera/core/trace.hpp>
#include <tessera/iamax.hpp>
#include <tessera/level1/largest_key.hpp>

namespace tessera::detail {

/// Magnitudes as unsigned integers that order as they do: a float's bits without its sign, every NaN one key above
/// infinity; an integer's absolute value.
template <class T>
struct MagnitudeKey {
  using Real = std::conditional_t<is_stored_float_v<real_t<T>>, float, real_t<T>>;
  using type = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  static constexpr int per = is_complex_v<T> ? 2 : 1;

  template <int N>
  TESSERA_INLINE_FUNCTION static vec<type, per * N> of(const vec<T, N>& v) {
    if constexpr (std::is_integral_v<Real>) {
      using Wide = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;
      const vec<type, N> value = convert<type>(convert<Wide>(v));
      const vec<type, N> zero(type{0});
      if constexpr (std::is_unsigned_v<Real>)
        return value;
      else  // above the middle of the unsigned range lie the negative ones
        return min(value, zero - value);
    } else {
      vec<Real, per * N> a = abs(convert<Real>(parts_of(v)));
      if constexpr (per == 2) a = a + pair_shuffle<2>(a);  // |re| + |im|, in both lanes of the pair
      constexpr type nan = sizeof(Real) == 8 ? static_cast<type>(0x7ff0000000000001u) : type{0x7f800001u};
      return min(bits_of(a), vec<type, per * N>(nan));
    }
  }
};

template <class T>
struct IamaxFinish {
  using Result = index_t;
  TESSERA_INLINE_FUNCTION static Result of(const T*, index_t, index_t index) { return index; }
};

template <class T, class Space, Access access>
using IamaxBody = LargestKeyBody<T, MagnitudeKey<T>, Space, access, IamaxFinish<T>>;

template <class T, class Space>
index_t run_iamax(const Space& exec, const IamaxProblem<T>& p) {
  const Region region("tessera::iamax[portable]");
  if (unit_access<Space>(p.x.pointer, p.x.strides[0]))
    return run_reduction(exec, "iamax", IamaxBody<T, Space, Access::unit>{p.x.pointer, 1}, p.x.extents[0], p.result);
  return run_reduction(exec, "iamax", IamaxBody<T, Space, Access::strided>{p.x.pointer, p.x.strides[0]}, p.x.extents[0],
                       p.result);
}

}  // namespace tessera::detail
