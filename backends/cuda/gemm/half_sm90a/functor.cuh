// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "launch.cuh"
#include <concepts>

#include <tessera/core/types.hpp>
#include <tessera/gemm/problem.hpp>

/// \file
/// For the one file that compiles a user's functor into the Hopper kernels of 16-bit floats.

namespace tessera::cuda::sm90a {

/// Enters the kernels of one pair of element types.
template <class F, class Types>
void compile_functor(GemmFunctorKernels& kernels) {
  using In = typename Types::in;
  using Out = typename Types::out;
  static_assert(
      (std::same_as<In, half> || std::same_as<In, bfloat16>) && (std::same_as<Out, In> || std::same_as<Out, float>),
      "functors are compiled in for products of half or bfloat16, into the same type or float");
  constexpr bool is_bf16 = std::same_as<In, bfloat16>, to_fp32 = std::same_as<Out, float>;
  using TIn = std::conditional_t<is_bf16, __nv_bfloat16, __half>;
  kernels.launches[is_bf16 ? 1 : 0][to_fp32 ? 1 : 0] =
      launch_with_functor<F, TIn, std::conditional_t<to_fp32, float, TIn>>;
}

template <class F, class... Types>
const GemmFunctorKernels& functor_kernels() {
  static const GemmFunctorKernels kernels = [] {
    GemmFunctorKernels k;
    (compile_functor<F, Types>(k), ...);
    return k;
  }();
  return kernels;
}

}  // namespace tessera::cuda::sm90a

/// TESSERA_GEMM_EPILOGUE_KERNELS(Functor, Types...): the kernels of a functor that TESSERA_GEMM_EPILOGUE named, for the
/// pairs of element types given: tessera::GemmTypes<tessera::bfloat16>, tessera::GemmTypes<tessera::half, float> ...
/// Once in a program, outside of every namespace. A functor whose name holds commas goes by an alias.
#define TESSERA_GEMM_EPILOGUE_KERNELS(Functor, ...)                                     \
  const tessera::GemmFunctorKernels& tessera::CompiledGemmFunctor<Functor>::kernels() { \
    return tessera::cuda::sm90a::functor_kernels<Functor, __VA_ARGS__>();               \
  }                                                                                     \
  static_assert(tessera::CompiledGemmFunctor<Functor>::value)
