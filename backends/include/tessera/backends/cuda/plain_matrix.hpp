// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/core/refs.hpp>

namespace tessera::backends {

/// A matrix without its element type.
struct PlainMatrix {
  const void* pointer = nullptr;
  index_t extents[2] = {};
  index_t strides[2] = {};
};

template <class T>
[[nodiscard]] PlainMatrix plain_matrix(const MatrixRef<T>& m) {
  return {m.pointer, {m.extents[0], m.extents[1]}, {m.strides[0], m.strides[1]}};
}

}  // namespace tessera::backends
