// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include <tessera/core/portability.hpp>

/// \file
/// The functions that the transform of Box and Muller needs, of its few arguments only: without branches, so that hosts
/// compute them in vectors, and of operations that IEEE 754 rounds, so that every backend gives the same bits: each
/// product that is added to something is an fma, which no compiler can make or undo.
/// Source of the polynomials: S. Moshier, Cephes (logf, sinf, cosf, log, sin, cos).

namespace tessera::detail {

/// first x^n + ... : a loop would stand in the way of vectors.
template <class T>
TESSERA_INLINE_FUNCTION T horner(T /*x*/, T sum) {
  return sum;
}
template <class T, class... More>
TESSERA_INLINE_FUNCTION T horner(T x, T sum, T next, More... more) {
  return horner(x, Kokkos::fma(sum, x, next), more...);
}

/// log u of 2^-60 <= u <= 1.
template <class T>
TESSERA_INLINE_FUNCTION T log_of_uniform(T u) {
  constexpr bool is_float = sizeof(T) == 4;
  using Bits = std::conditional_t<is_float, std::uint32_t, std::uint64_t>;
  using Int = std::conditional_t<is_float, std::int32_t, std::int64_t>;
  constexpr int mantissa = is_float ? 23 : 52;
  constexpr Int bias = is_float ? 126 : 1022;
  constexpr Bits of_root = is_float ? 0x3504f3u : 0x6a09e667f3bcdu;  // the fraction of sqrt(1/2)
  const Bits bits = Kokkos::bit_cast<Bits>(u), fraction = bits & ((Bits{1} << mantissa) - 1);
  // u = m 2^e, m in [sqrt(1/2), sqrt(2)); all in integers, as compilers make branches of choices between floats
  const Bits low = fraction < of_root ? 1 : 0;
  const auto e = static_cast<T>(static_cast<Int>(bits >> mantissa) - bias - static_cast<Int>(low));
  const T m = Kokkos::bit_cast<T>(fraction | (static_cast<Bits>(bias) + low) << mantissa);
  const T x = m - T(1), z = x * x;
  T y;
  if constexpr (is_float) {
    y = horner<T>(x, 7.0376836292E-2F, -1.1514610310E-1F, 1.1676998740E-1F, -1.2420140846E-1F, 1.4249322787E-1F,
                  -1.6668057665E-1F, 2.0000714765E-1F, -2.4999993993E-1F, 3.3333331174E-1F) *
        x * z;
  } else {
    y = x * (z *
             horner<T>(x, 1.01875663804580931796E-4, 4.97494994976747001425E-1, 4.70579119878881725854E0,
                       1.44989225341610930846E1, 1.79368678507819816313E1, 7.70838733755885391666E0) /
             horner<T>(x, 1.0, 1.12873587189167450590E1, 4.52279145837532221105E1, 8.29875266912776603211E1,
                       7.11544750618563894466E1, 2.31251620126765340583E1));
  }
  y = Kokkos::fma(e, T(-2.121944400546905827679e-4), y);
  y = Kokkos::fma(T(-0.5), z, y);
  return Kokkos::fma(e, T(0.693359375), x + y);
}

/// The sine and cosine of 2 pi v, of v in [0, 1) that is a multiple of the spacing of numbers below 1.
template <class T>
TESSERA_INLINE_FUNCTION void sine_and_cosine_of_turns(T v, T& sine, T& cosine) {
  const auto quarter = static_cast<int>(Kokkos::fma(T(4), v, T(0.5)));  // 0 to 4: the nearest
  const T f = Kokkos::fma(T(-0.25), static_cast<T>(quarter), v);        // exact, at most 1/8
  const T x = f * T(6.283185307179586476925286766559), z = x * x;
  T s, c;
  if constexpr (sizeof(T) == 4) {
    s = horner<T>(z, -1.9515295891E-4F, 8.3321608736E-3F, -1.6666654611E-1F);
    c = horner<T>(z, 2.443315711809948E-5F, -1.388731625493765E-3F, 4.166664568298827E-2F);
  } else {
    s = horner<T>(z, 1.58962301576546568060E-10, -2.50507477628578072866E-8, 2.75573136213857245213E-6,
                  -1.98412698295895385996E-4, 8.33333333332211858878E-3, -1.66666666666666307295E-1);
    c = horner<T>(z, -1.13585365213876817300E-11, 2.08757008419747316778E-9, -2.75573141792967388112E-7,
                  2.48015872888517045348E-5, -1.38888888888730564116E-3, 4.16666666666665929218E-2);
  }
  s = Kokkos::fma(s * z, x, x);
  c = Kokkos::fma(c, z * z, Kokkos::fma(T(-0.5), z, T(1)));
  const bool swapped = (quarter & 1) != 0;
  const T across = swapped ? c : s, along = swapped ? s : c;
  sine = across * static_cast<T>(1 - (quarter & 2));
  cosine = along * static_cast<T>(1 - ((quarter + 1) & 2));
}

}  // namespace tessera::detail
