// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

#include <tessera/core/refs.hpp>

namespace tessera {

/// A Kokkos execution space: the first argument of every algorithm is an instance of one.
template <class T>
concept ExecutionSpace = Kokkos::is_execution_space_v<std::remove_cvref_t<T>>;

/// True where the space's work runs on CPU threads. (That the host can touch the space's memory would not do: on
/// coherent systems it touches a GPU's as well.)
template <ExecutionSpace Space>
inline constexpr bool is_host_space = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;

/// The policies that every kernel uses: all indices are 64-bit, on the instance given.
template <ExecutionSpace Space>
using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<index_t>>;
template <ExecutionSpace Space>
using Teams = Kokkos::TeamPolicy<Space, Kokkos::IndexType<index_t>>;

/// "tessera::<algorithm>::<what>": the one shape that the label of every kernel and allocation has.
[[nodiscard]] inline std::string label(const char* algorithm, const char* what) {
  return std::string("tessera::") + algorithm + "::" + what;
}

}  // namespace tessera
