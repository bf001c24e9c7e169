// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <tessera/core/views.hpp>

namespace tessera::detail {

void check_adopt(const void* pointer, const index_t* extents, const index_t* strides, int rank, std::size_t size,
                 std::size_t alignment, const std::source_location& where) {
  constexpr const char* function = "tessera::adopt";
  bool empty = false;
  for (int r = 0; r < rank; ++r) {
    require(extents[r] >= 0, [&] {
      return Error(function, "extent " + std::to_string(r) + " is " + std::to_string(extents[r]),
                   "extents are 0 or more", {}, where);
    });
    require(strides[r] >= 1 || extents[r] <= 1, [&] {
      return Error(function, "stride " + std::to_string(r) + " is " + std::to_string(strides[r]),
                   "strides are 1 or more, in elements", "Divide a stride in bytes by the size of an element", where);
    });
    empty = empty || extents[r] == 0;
  }
  if (empty) return;
  require(pointer != nullptr, [&] {
    return Error(function, "the pointer is null and no extent is 0", "a non-empty view needs memory", {}, where);
  });
  require(reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0, [&] {
    return Error(function, "the pointer is not aligned to " + std::to_string(alignment) + " bytes",
                 "the pointer must be aligned as its element type", {}, where);
  });
  // by ascending stride, each dimension must step over all that the ones before it span, within 64 bits of bytes
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](int r) { return strides[r]; });
  index_t span = 1;
  for (const int r : order) {
    if (extents[r] == 1) continue;
    require(strides[r] >= span, [&] {
      return Error(function,
                   "stride " + std::to_string(r) + " is " + std::to_string(strides[r]) +
                       " and the dimensions of smaller stride span " + std::to_string(span) + " elements",
                   "different indices must name different elements",
                   "Check the order of the strides (row-major: the last is the smallest)", where);
    });
    const index_t most = std::numeric_limits<index_t>::max() / static_cast<index_t>(size);
    require(extents[r] - 1 <= (most - span) / strides[r], [&] {
      return Error(function, "the view spans more bytes than 64 bits count", "extents times strides fit 64 bits", {},
                   where);
    });
    span += (extents[r] - 1) * strides[r];
  }
}

}  // namespace tessera::detail
