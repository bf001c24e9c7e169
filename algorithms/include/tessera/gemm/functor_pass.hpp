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
  /// Elements of a row that one thread finishes: hosts in a loop that vectors may serve, devices side by side.
  static constexpr index_t run = is_host_space<Space> ? 2048 : 1;

  MatrixRef<Out> c;
  F f;
  index_t runs;     // in a row
  bool transposed;  // c's rows are the caller's columns

  TESSERA_FUNCTION void operator()(index_t item) const {
    index_t i, first;
    if (static_cast<std::uint64_t>(c.extents[0] * runs) <= 0xffffffffu) {  // 64-bit division is slow on devices
      const auto narrow = static_cast<std::uint32_t>(item), width = static_cast<std::uint32_t>(runs);
      i = narrow / width;
      first = index_t{narrow % width} * run;
    } else {
      i = item / runs;
      first = item % runs * run;
    }
    const index_t end = first + run < c.extents[1] ? first + run : c.extents[1];
    for (index_t j = first; j < end; ++j) {
      Out& element = c(i, j);
      const auto x = static_cast<Accumulator>(element);
      element = static_cast<Out>(static_cast<Accumulator>(transposed ? f(x, j, i) : f(x, i, j)));
    }
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
  const index_t runs = (c.extents[1] + Pass::run - 1) / Pass::run;
  Kokkos::parallel_for("tessera::gemm::functor", Range<Space>(exec, 0, c.extents[0] * runs),
                       Pass{c, f, runs, transposed});
}

}  // namespace tessera::detail
