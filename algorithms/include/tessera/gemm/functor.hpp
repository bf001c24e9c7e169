// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <type_traits>

#include <tessera/core/portability.hpp>
#include <tessera/core/refs.hpp>

/// \file
/// For the header of a functor that is to be compiled into gemm's kernels. It is read by the program and by the file
/// that the kernels are compiled in, so it knows neither Kokkos nor an execution space:
///
///   #include <tessera/gemm/functor.hpp>              // clamp.cuh
///   struct Clamp {
///     float low, high;
///     TESSERA_FUNCTION float operator()(float value, tessera::index_t row, tessera::index_t column) const;
///   };
///   TESSERA_GEMM_EPILOGUE(Clamp);
///
///   #include "clamp.cuh"                             // clamp.cu
///   #include <tessera/gemm/epilogue_kernels.cuh>
///   TESSERA_GEMM_EPILOGUE_KERNELS(Clamp, tessera::GemmTypes<tessera::bfloat16>);
///
///   tessera_add_gemm_epilogue(my_program clamp.cu)   # CMakeLists.txt; does nothing where there is nothing to compile

namespace tessera {

struct GemmFunctorKernels;

/// Whether a functor is compiled into kernels: what TESSERA_GEMM_EPILOGUE specialises.
template <class F>
struct CompiledGemmFunctor {
  static constexpr bool value = false;
};

}  // namespace tessera

/// Outside of every namespace, once, behind the functor: the functor is compiled into kernels. Every file that sees the
/// functor must see this. Programs of a build with such kernels that call gemm with it on their element types then have
/// to link them, or the linker misses CompiledGemmFunctor<...>::kernels().
#define TESSERA_GEMM_EPILOGUE(...)                                   \
  template <>                                                        \
  struct tessera::CompiledGemmFunctor<__VA_ARGS__> {                 \
    static_assert(std::is_trivially_copyable_v<__VA_ARGS__>,         \
                  "kernels get a copy of the functor's bytes: hold " \
                  "pointers in it, not views");                      \
    static constexpr bool value = true;                              \
    static const tessera::GemmFunctorKernels& kernels();             \
  }
