// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// axpby for element types that the library does not bring compiled: include this instead of tessera/axpby.hpp.

#include <tessera/axpby.hpp>
#include <tessera/backends/enabled.hpp>
#include <tessera/core/trace.hpp>

namespace tessera::detail {

template <class T>
struct AxpbyElement {
  using A = accumulator_t<T>;
  A alpha, beta;
  bool conj;

  // x and y are read only where their factor is not zero, so that NaN in what is not asked for cannot spread
  TESSERA_INLINE_FUNCTION void apply(const T* x, T* y) const {
    A sum{};
    if (alpha != A{}) sum = alpha * A(conj ? conj_value(*x) : *x);
    if (beta != A{}) sum += beta * A(*y);
    *y = T(sum);
  }
};

template <class T, class Space>
void run_axpby(const Space& exec, const AxpbyProblem<T>& p) {
  const Region region("tessera::axpby[portable]");
  if (p.y.size() == 0) return;
  const index_t rows = p.y.extents[0];
  const bool flat = p.y.extents[1] == 1 ||
                    (p.x.strides[1] == rows * p.x.strides[0] && p.y.strides[1] == rows * p.y.strides[0]);
  const auto alpha = p.alpha;
  const auto beta = p.beta;
  const bool conj = p.x.conj;
  const T* const x = p.x.pointer;
  T* const y = p.y.pointer;
  if (flat && p.x.strides[0] == 1 && p.y.strides[0] == 1) {
    Kokkos::parallel_for(
        "tessera::axpby::contiguous", Range<Space>(exec, 0, p.y.size()), KOKKOS_LAMBDA(index_t i) {
          AxpbyElement<T>{alpha.get(), beta.get(), conj}.apply(x + i, y + i);
        });
    return;
  }
  const index_t xs0 = p.x.strides[0], xs1 = p.x.strides[1], ys0 = p.y.strides[0], ys1 = p.y.strides[1];
  Kokkos::parallel_for(
      "tessera::axpby::strided", Range<Space>(exec, 0, p.y.size()), KOKKOS_LAMBDA(index_t k) {
        const index_t i = k % rows, j = k / rows;
        AxpbyElement<T>{alpha.get(), beta.get(), conj}.apply(x + i * xs0 + j * xs1, y + i * ys0 + j * ys1);
      });
}

}  // namespace tessera::detail
