// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

/// \file
/// Loads from shared memory and multiplications of the fp64 kernels, real and complex.

namespace tessera::cuda::sm90a {

__device__ __forceinline__ void load_pair(double& x, double& y, std::uint32_t address) {
  asm volatile("ld.shared.v2.f64 {%0, %1}, [%2];" : "=d"(x), "=d"(y) : "r"(address));
}
__device__ __forceinline__ void load_one(double& x, std::uint32_t address) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(x) : "r"(address));
}
/// x with its sign changed where `bit` is the sign bit, as it is where it is 0.
__device__ __forceinline__ double with_sign(double x, unsigned bit) {
  return __hiloint2double(static_cast<int>(static_cast<unsigned>(__double2hiint(x)) ^ bit), __double2loint(x));
}
__device__ __forceinline__ void multiply_m16n8k8(double (&c)[4], const double (&a)[4], const double (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
/// Whether the barrier's phase of that parity is over, without waiting.
__device__ __forceinline__ bool barrier_is_over(std::uint32_t address, std::uint32_t parity) {
  std::uint32_t over;
  asm volatile(
      "{\n.reg .pred over;\nmbarrier.test_wait.parity.shared::cta.b64 over, [%1], %2;\nselp.u32 %0, 1, 0, over;\n}\n"
      : "=r"(over)
      : "r"(address), "r"(parity)
      : "memory");
  return over != 0;
}
/// Arrives on the barrier at `address`. Called by a whole warp, for all its threads.
__device__ __forceinline__ void arrive_for_warp(std::uint32_t address, int lane) {
  __syncwarp();
  if (lane == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
}

}  // namespace tessera::cuda::sm90a
