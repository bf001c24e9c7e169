// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <gemm_ladder/steps/product.hpp>

/// \file
/// Steps 1 and 2: a thread an element of C, straight from memory.

namespace tessera::ladder {

template <class T>
TESSERA_INLINE_FUNCTION void one_element(const Product<T>& p, index_t i, index_t j) {
  // [element]
  typename Product<T>::Sum sum{};
  for (index_t k = 0; k < p.a.columns; ++k) sum += p.a(i, k) * p.b(k, j);
  p.c(i, j) = T(sum);
  // [element]
}

template <class Space, class T>
void naive(const Space& exec, const Product<T>& p) {
  const index_t elements = p.c.rows * p.c.columns;
  Kokkos::parallel_for(
      "tessera::ladder::naive", Range<Space>(exec, 0, elements), KOKKOS_LAMBDA(index_t e) {
        // [naive]
        const index_t i = e % p.c.rows, j = e / p.c.rows;  // neighbours go down a column of C
        // [naive]
        one_element(p, i, j);
      });
}

template <class Space, class T>
void coalesced(const Space& exec, const Product<T>& p) {
  const index_t elements = p.c.rows * p.c.columns;
  Kokkos::parallel_for(
      "tessera::ladder::coalesced", Range<Space>(exec, 0, elements), KOKKOS_LAMBDA(index_t e) {
        // [coalesced]
        const index_t i = e / p.c.columns, j = e % p.c.columns;  // neighbours go along a row of C
        // [coalesced]
        one_element(p, i, j);
      });
}

}  // namespace tessera::ladder
