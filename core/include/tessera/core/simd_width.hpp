// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace tessera::detail {

/// The widest vector register that the host compiler was told it may use, and how many of them there are.
#if defined(__AVX512F__)
inline constexpr int host_simd_bytes = 64;
inline constexpr int host_vector_registers = 32;
#elif defined(__AVX__)
inline constexpr int host_simd_bytes = 32;
inline constexpr int host_vector_registers = 16;
#elif defined(__ARM_NEON)
inline constexpr int host_simd_bytes = 16;
inline constexpr int host_vector_registers = 32;
#else
inline constexpr int host_simd_bytes = 16;
inline constexpr int host_vector_registers = 16;
#endif

}  // namespace tessera::detail
