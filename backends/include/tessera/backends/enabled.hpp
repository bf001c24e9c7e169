// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The one file that tests which backends this build has. For each algorithm with providers it gives a tuple type
/// of them, in the documented order of preference; absent backends are simply not in it. No vendor header here.

#include <Kokkos_Core.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tessera/backends/ladder.hpp>
#include <tessera/core/config.hpp>
#include <tessera/core/machine.hpp>

#if TESSERA_HAVE_CBLAS && defined(KOKKOS_ENABLE_OPENMP)
#include <tessera/backends/openmp/gemm_cblas.hpp>
#endif
#ifdef KOKKOS_ENABLE_CUDA
#include <tessera/backends/cuda/device.hpp>
#include <tessera/backends/cuda/gemm_complex_double_sm90a.hpp>
#include <tessera/backends/cuda/gemm_cublas.hpp>
#include <tessera/backends/cuda/gemm_double_sm90a.hpp>
#include <tessera/backends/cuda/gemm_half_direct.hpp>
#include <tessera/backends/cuda/gemm_half_sm80.hpp>
#include <tessera/backends/cuda/gemm_half_sm90a.hpp>
#include <tessera/backends/cuda/gemm_ladder.hpp>
#include <tessera/backends/cuda/gemm_split_sm90a.hpp>
#include <tessera/backends/cuda/gemm_tf32_sm90a.hpp>
#include <tessera/backends/cuda/machine.hpp>
#include <tessera/backends/cuda/narrow_float.hpp>
#include <tessera/backends/cuda/sort_cub.hpp>
#include <tessera/backends/cuda/warp.hpp>
#endif
#ifdef KOKKOS_ENABLE_HIP
#include <tessera/backends/hip/device.hpp>
#include <tessera/backends/hip/machine.hpp>
#include <tessera/backends/hip/narrow_float.hpp>
#include <tessera/backends/hip/warp.hpp>
#endif

namespace tessera::backends {

/// GEMM: those that are tried before the portable kernel, and those that must be asked for by name. On hosts that is
/// the CBLAS found: the portable kernel is as fast there, and takes every stride, type and instance. On CUDA our own
/// tensor-core kernels come first where they were measured faster, then the vendor's library.
#ifdef KOKKOS_ENABLE_CUDA
template <class Space>
using gemm_providers_before_portable =
    std::conditional_t<std::is_same_v<Space, Kokkos::Cuda>,
                       std::tuple<GemmHalfSm90a, GemmHalfDirect, GemmHalfSm80, GemmTf32Sm90a, GemmSplitSm90a,
                                  GemmTf32TermsSm90a, GemmDoubleSm90a, GemmComplexDoubleSm90a, GemmCublas>,
                       std::tuple<>>;
using device_gemm_by_name = std::tuple<>;
#else
template <class Space>
using gemm_providers_before_portable = std::tuple<>;
using device_gemm_by_name = std::tuple<>;
#endif
#if TESSERA_HAVE_CBLAS && defined(KOKKOS_ENABLE_OPENMP)
using host_gemm_by_name = std::tuple<GemmCblas>;
#else
using host_gemm_by_name = std::tuple<>;
#endif
template <class Space>
using gemm_providers_after_portable =
    decltype(std::tuple_cat(std::declval<device_gemm_by_name>(), std::declval<host_gemm_by_name>()));

/// Whether a user's functor may be compiled into kernels for these types.
#ifdef KOKKOS_ENABLE_CUDA
template <class Types, class Space>
inline constexpr bool gemm_compiles_functors = GemmHalfSm90a::supports<Types, Space>;
#else
template <class Types, class Space>
inline constexpr bool gemm_compiles_functors = false;
#endif

/// Steps of the teaching ladder (apps/gemm_ladder) beyond the portable ones, in their order. Apps alone link them.
#ifdef KOKKOS_ENABLE_CUDA
template <class Space>
using gemm_ladder_steps =
    std::conditional_t<std::is_same_v<Space, Kokkos::Cuda>,
                       std::tuple<LadderStep<LadderKernel::mma_sync>, LadderStep<LadderKernel::wgmma_tma>,
                                  LadderStep<LadderKernel::warp_specialised>, LadderStep<LadderKernel::clusters>>,
                       std::tuple<>>;
#else
template <class Space>
using gemm_ladder_steps = std::tuple<>;
#endif

/// Sorts: before the portable kernel, where it was measured faster.
#ifdef KOKKOS_ENABLE_CUDA
template <class Space>
using sort_providers_before_portable =
    std::conditional_t<std::is_same_v<Space, Kokkos::Cuda>, std::tuple<SortCub>, std::tuple<>>;
#else
template <class Space>
using sort_providers_before_portable = std::tuple<>;
#endif

}  // namespace tessera::backends
