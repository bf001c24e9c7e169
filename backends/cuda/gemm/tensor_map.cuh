// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>

namespace tessera::cuda::sm90a {

/// A row-major `rows` x `columns` matrix of elements of `bytes` bytes, read or written in boxes of box_rows lines of
/// 128 bytes, swizzled. False where the driver refuses.
inline bool make_map(CUtensorMap* map, CUtensorMapDataType type, int bytes, const void* pointer, std::int64_t rows,
                     std::int64_t columns, std::int64_t stride, int box_rows) {
  // the driver's entry point is asked for at run time, so that nothing links libcuda
  static const auto encode = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found);
    return found == cudaDriverEntryPointSuccess ? reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(entry) : nullptr;
  }();
  if (encode == nullptr) return false;
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(stride) * static_cast<cuuint64_t>(bytes)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(128 / bytes), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  return encode(map, type, 2, const_cast<void*>(pointer), extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace tessera::cuda::sm90a
