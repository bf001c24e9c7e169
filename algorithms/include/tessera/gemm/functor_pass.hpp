// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/gemm/functor.hpp>
#include <tessera/gemm/pass_items.hpp>
#include <tessera/gemm/problem.hpp>

/// \file
/// A user's functor as a pass of its own over C, compiled where gemm is called.

namespace tessera::detail {

struct NoFunctor {};

template <class Types, class Space, class F>
GemmFunctorRef functor_ref(const F& f) {
  GemmFunctorRef r;
  if constexpr (!std::is_same_v<F, NoFunctor>) {
    r.pointer = std::addressof(f);
    if constexpr (CompiledGemmFunctor<F>::value && backends::gemm_compiles_functors<Types, Space>)
      r.kernels = &CompiledGemmFunctor<F>::kernels();
  }
  return r;
}

/// Of a C whose rows lie side by side (or none of whose dimensions do).
template <class Types, class Space, class F>
struct GemmFunctorPass {
  using Out = typename Types::out;
  using Accumulator = typename Types::accumulator;
  using Items = GemmPassItems<is_host_space<Space>>;

  MatrixRef<Out> c;
  F f;
  Items items;
  bool transposed;  // c's rows are the caller's columns

  TESSERA_FUNCTION void operator()(index_t item) const {
    const auto place = items.place(item);
    const index_t i = place.row;
    Items::template each<Accumulator>(
        place, [&](index_t j) { return static_cast<Accumulator>(c(i, j)); },
        [&](index_t j, const Accumulator& x) {
          c(i, j) = static_cast<Out>(static_cast<Accumulator>(transposed ? f(x, j, i) : f(x, i, j)));
        });
  }
};

template <class Types, class Space, class F>
void run_gemm_functor(const Space& exec, const GemmProblem<Types>& p, const F& f) {
  if (p.c.size() == 0) return;
  const Region region("tessera::gemm::functor");
  const auto distance = [](index_t s) { return s < 0 ? -s : s; };
  const bool transposed =
      p.c.extents[0] > 1 && (p.c.extents[1] <= 1 || distance(p.c.strides[0]) < distance(p.c.strides[1]));
  using Pass = GemmFunctorPass<Types, Space, F>;
  const MatrixRef<typename Types::out> c = transposed ? transpose_ref(p.c) : p.c;
  const typename Pass::Items items(c.extents[0], c.extents[1]);
  Kokkos::parallel_for("tessera::gemm::functor", Range<Space>(exec, 0, items.size()), Pass{c, f, items, transposed});
}

}  // namespace tessera::detail
