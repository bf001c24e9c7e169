// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <gemm_ladder/steps/double_buffering.hpp>
#include <gemm_ladder/steps/one_element.hpp>
#include <gemm_ladder/steps/scratch_tiles.hpp>

/// \file
/// The portable steps in their order, and how a backend's own are called.

namespace tessera::ladder {

template <class Space, class T>
struct PortableStep {
  const char* name;
  void (*run)(const Space&, const Product<T>&);
};

template <class Space, class T>
[[nodiscard]] std::array<PortableStep<Space, T>, 7> portable_steps() {
  return {{{"naive", naive<Space, T>},
           {"coalesced", coalesced<Space, T>},
           {"scratch_tiles", scratch_tiles<Space, T>},
           {"padding", padding<Space, T>},
           {"register_tiles", register_tiles<Space, T>},
           {"vector_loads", vector_loads<Space, T>},
           {"double_buffering", double_buffering<Space, T>}}};
}

/// The product without its element type, bf16, as the steps of a backend take it.
[[nodiscard]] inline backends::LadderProduct plain_product(const Product<bfloat16>& p) {
  const auto plain = [](const auto& m) {
    return backends::LadderMatrix{const_cast<bfloat16*>(m.data), m.rows, m.columns, m.stride};
  };
  return {plain(p.a), plain(p.b), plain(p.c)};
}

}  // namespace tessera::ladder
