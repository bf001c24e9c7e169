// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What lets a header be read by a host compiler, by a device compiler and by a plain device translation
/// unit that never sees Kokkos. This is the one file of core that may test a device compiler's macro.

#if defined(__CUDACC__) || defined(__HIPCC__)
/// Marks a function that host and device code may both call.
#define TESSERA_FUNCTION __host__ __device__
#define TESSERA_INLINE_FUNCTION __host__ __device__ inline __attribute__((always_inline))
#else
#define TESSERA_FUNCTION
#define TESSERA_INLINE_FUNCTION inline __attribute__((always_inline))
#endif

/// 1 while device code is generated, 0 in host code; the two passes see the same sizes and alignments.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define TESSERA_DEVICE_PASS 1
#else
#define TESSERA_DEVICE_PASS 0
#endif

/// Before a template that calls what it is given: the callable may be a host's or a device's, and which one is right is
/// decided where the template is used, so that the device compiler must not judge it here.
#if defined(__CUDACC__)
#define TESSERA_CALLS_ANYTHING _Pragma("nv_exec_check_disable")
#else
#define TESSERA_CALLS_ANYTHING
#endif

/// Before a loop that must be unrolled on devices, so that an array that it indexes is in registers.
#if defined(__CUDA_ARCH__) || defined(__HIPCC__)
#define TESSERA_UNROLL _Pragma("unroll")
#else
#define TESSERA_UNROLL
#endif

/// Before a function of short loops of fixed length that hosts are to compile apart from its callers: inlined, the
/// loops are unrolled before they can become vectors.
#if TESSERA_DEVICE_PASS
#define TESSERA_HOST_APART
#else
#define TESSERA_HOST_APART [[gnu::noinline]]
#endif

/// Whether __builtin_shufflevector may take its indices from a pack: the CUDA front end hands the host compiler such a
/// call with the pack no longer expanded (nvcc 13.0 with g++ 14).
#if defined(__CUDACC__)
#define TESSERA_PACK_SHUFFLES 0
#else
#define TESSERA_PACK_SHUFFLES 1
#endif

/// Whether hosts have stores that pass by the caches, by the compiler's builtins.
#if defined(__x86_64__) && !defined(__CUDACC__) && !defined(__HIPCC__)
#define TESSERA_STREAMING_STORES 1
#else
#define TESSERA_STREAMING_STORES 0
#endif
