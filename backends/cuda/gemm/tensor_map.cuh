// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

namespace tessera::cuda::sm90a {

/// A row-major `rows` x `columns` matrix of elements of `bytes` bytes, read or written in boxes of box_rows lines of
/// 128 bytes, swizzled: all that a tensor map is made from. With `products` a third coordinate counts matrices, each
/// `product_stride` elements behind the one before.
struct MapOf {
  const void* pointer = nullptr;
  std::int64_t rows = 0, columns = 0, stride = 0;
  std::int32_t type = 0, bytes = 0;  ///< type: a CUtensorMapDataType
  std::int64_t box_rows = 0;
  std::int64_t products = 0, product_stride = 0;

  friend bool operator==(const MapOf&, const MapOf&) = default;
};

/// Makes the map; false where the driver refuses. A thread keeps the maps that it made last: a plan that runs again
/// finds its own there, without the driver.
inline bool make_map(CUtensorMap* map, const MapOf& of) {
  struct Known {
    MapOf of;
    CUtensorMap map;
  };
  constexpr std::size_t kept = 16;
  static thread_local Known known[kept];
  const auto mixed = (reinterpret_cast<std::uintptr_t>(of.pointer) >> 4) + static_cast<std::uintptr_t>(of.box_rows) +
                     static_cast<std::uintptr_t>(of.columns) * 7;
  Known& slot = known[(mixed * 0x9e3779b97f4a7c15u) >> 60];
  if (slot.of == of) {
    *map = slot.map;
    return true;
  }
  // the driver's entry point is asked for at run time, so that nothing links libcuda
  static const auto encode = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
    return found == cudaDriverEntryPointSuccess ? reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(entry) : nullptr;
  }();
  if (encode == nullptr) return false;
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(of.columns), static_cast<cuuint64_t>(of.rows),
                                static_cast<cuuint64_t>(of.products)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(of.stride) * static_cast<cuuint64_t>(of.bytes),
                                static_cast<cuuint64_t>(of.product_stride) * static_cast<cuuint64_t>(of.bytes)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(128 / of.bytes), static_cast<cuuint32_t>(of.box_rows), 1};
  const cuuint32_t steps[] = {1, 1, 1};
  // lines are promoted to 128 bytes: with 256 those that lie across two take 7 to 14 % longer, aligned ones no less
  if (encode(map, static_cast<CUtensorMapDataType>(of.type), of.products > 0 ? 3 : 2, const_cast<void*>(of.pointer),
             extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    return false;
  slot.map = *map;
  slot.of = of;
  return true;
}

}  // namespace tessera::cuda::sm90a
