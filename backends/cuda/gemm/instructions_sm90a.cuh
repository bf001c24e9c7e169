// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cuda.h>

/// \file
/// The few instructions of Hopper (sm_90a) that C++ has no name for, and the order of tiles; shared by the kernels.

namespace tessera::cuda::sm90a {

__device__ __forceinline__ std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ void barrier_init(std::uint64_t* b, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(b)), "r"(count));
}
__device__ __forceinline__ void barrier_expect(std::uint64_t* b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(b)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void barrier_wait(std::uint64_t* b, std::uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra finished;\nbra again;\nfinished:\n}\n" ::"r"(shared_address(b)),
      "r"(parity)
      : "memory");
}
/// Arrives on the barrier at the same offset in block `rank` of the cluster. Without a scope: .release.cluster puts a
/// device-wide fence before each arrival (measured: 351 instead of 600 TFLOP/s), and the reads that must be over, of
/// wgmma, are by its wait.
__device__ __forceinline__ void barrier_arrive_cluster(std::uint64_t* b, int rank) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}\n" ::"r"(shared_address(b)),
      "r"(rank)
      : "memory");
}
__device__ __forceinline__ void barrier_arrive(std::uint64_t* b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(b)) : "memory");
}
__device__ __forceinline__ void tma_load(void* to, const CUtensorMap* map, std::uint64_t* b, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::
          "r"(shared_address(to)),
      "l"(map), "r"(shared_address(b)), "r"(x), "r"(y)
      : "memory");
}
__device__ __forceinline__ void tma_load_multicast(void* to, const CUtensorMap* map, std::uint64_t* b, int x, int y,
                                                   std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
      "{%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(b)), "r"(x), "r"(y), "h"(blocks)
      : "memory");
}
/// The same of a map with a third coordinate.
__device__ __forceinline__ void tma_load(void* to, const CUtensorMap* map, std::uint64_t* b, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
      "[%2];" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(b)), "r"(x), "r"(y), "r"(z)
      : "memory");
}
__device__ __forceinline__ void tma_load_multicast(void* to, const CUtensorMap* map, std::uint64_t* b, int x, int y,
                                                   int z, std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
      "{%3, %4, %5}], [%2], %6;" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(b)), "r"(x), "r"(y), "r"(z), "h"(blocks)
      : "memory");
}
/// A contiguous copy from global to shared memory, both 16-byte aligned; `bytes` a multiple of 16.
__device__ __forceinline__ void bulk_load(void* to, const void* from, int bytes, std::uint64_t* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(b))
               : "memory");
}
__device__ __forceinline__ void bulk_load_multicast(void* to, const void* from, int bytes, std::uint64_t* b,
                                                    std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], "
      "%4;" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(b)), "h"(blocks)
      : "memory");
}
__device__ __forceinline__ void tma_store(const CUtensorMap* map, const void* from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(x), "r"(y)
               : "memory");
}
__device__ __forceinline__ void tma_store(const CUtensorMap* map, const void* from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
               "r"(shared_address(from)), "r"(x), "r"(y), "r"(z)
               : "memory");
}
/// Tells other blocks that what this block's threads wrote before a barrier is there; and waits to be told.
__device__ __forceinline__ void signal(std::uint64_t* flag, std::uint64_t value) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(flag), "l"(value) : "memory");
}
__device__ __forceinline__ void wait_for(const std::uint64_t* flag, std::uint64_t value) {
  std::uint64_t now = 0;
  do {
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(now) : "l"(flag) : "memory");
  } while (now != value);
}
__device__ __forceinline__ void named_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
/// As named_barrier(), without waiting.
__device__ __forceinline__ void named_barrier_arrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ __forceinline__ void cluster_sync() {
  // not .aligned: the producer's elected thread comes here apart from its warp
  asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;\n" ::: "memory");
}
/// Programmatic dependent launch: waits until the kernels before this one in the stream are over and their writes seen.
__device__ __forceinline__ void wait_for_earlier_kernels() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
/// Lets the next kernel of the stream begin, as far as its own wait.
__device__ __forceinline__ void let_later_kernels_start() { asm volatile("griddepcontrol.launch_dependents;"); }
__device__ __forceinline__ int cluster_rank() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ int cluster_size() {
  int size;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  return size;
}
/// What block `rank` of the cluster has in its shared memory where this one has `address`; four of them, 16-byte
/// aligned.
__device__ __forceinline__ void load_cluster(float (&value)[4], std::uint32_t address, int rank) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %4, %5;\n"
      "ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [remote];\n}\n"
      : "=f"(value[0]), "=f"(value[1]), "=f"(value[2]), "=f"(value[3])
      : "r"(address), "r"(rank)
      : "memory");
}
__device__ __forceinline__ float load_cluster(std::uint32_t address, int rank) {
  float value;
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %1, %2;\nld.shared::cluster.f32 %0, [remote];\n}\n"
      : "=f"(value)
      : "r"(address), "r"(rank)
      : "memory");
  return value;
}
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int Pending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

enum class Swizzle : std::uint64_t { bytes_128 = 1, bytes_64 = 2 };

/// Matrix descriptor of a swizzled operand; `leading` only matters to MN-major ones wider than the swizzle.
template <Swizzle S = Swizzle::bytes_128>
__device__ __forceinline__ std::uint64_t descriptor(std::uint32_t address, int leading, int stride) {
  return static_cast<std::uint64_t>((address & 0x3ffff) >> 4) | static_cast<std::uint64_t>(leading >> 4) << 16 |
         static_cast<std::uint64_t>(stride >> 4) << 32 | static_cast<std::uint64_t>(S) << 62;
}

/// Row tile (of a cluster) and column tile of the t-th tile: groups of 8 cluster rows, so that neighbours in time
/// share operands in L2.
__device__ __forceinline__ void locate(int t, int rows, int columns, int& row, int& column) {
  constexpr int height = 8;
  const int band = t / (height * columns);
  const int first = band * height;
  const int rows_here = min(height, rows - first);
  const int within = t - first * columns;
  row = first + within % rows_here;
  column = within / rows_here;
}

/// The same of a batch, whose products follow each other.
__device__ __forceinline__ void locate(int t, int rows, int columns, int& row, int& column, int& product) {
  product = t / (rows * columns);
  locate(t - product * (rows * columns), rows, columns, row, column);
}

}  // namespace tessera::cuda::sm90a
