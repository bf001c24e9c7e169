// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bench/case.hpp>
#include <cstdint>

/// \file
/// Keys of the cases that sort.

namespace tessera::bench {

template <class T>
[[nodiscard]] constexpr const char* key_name() {
  if constexpr (std::is_same_v<T, std::uint32_t>) return "u32";
  if constexpr (std::is_same_v<T, std::uint64_t>) return "u64";
  return type_name<T>();
}

/// Uniform bits for integers, uniform values for floats.
template <class T>
void fill_keys(const Space& exec, const Kokkos::View<T*, Kokkos::LayoutLeft, Space>& keys) {
  if constexpr (std::is_integral_v<T>) {
    T* const p = keys.data();
    Kokkos::parallel_for(
        "tessera::bench::fill", Range<Space>(exec, 0, static_cast<index_t>(keys.size())), KOKKOS_LAMBDA(index_t i) {
          // 53 random bits, the lowest ones turned up to the top
          const auto bits =
              static_cast<std::uint64_t>((detail::uniform(1, static_cast<std::uint64_t>(i)) + 1) * 0x1p52);
          p[i] = static_cast<T>(bits * 0x9e3779b97f4a7c15u >> (64 - 8 * sizeof(T)));
        });
  } else {
    fill_random(exec, keys, 1);
  }
}

}  // namespace tessera::bench
