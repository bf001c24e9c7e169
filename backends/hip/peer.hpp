// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <hip/hip_runtime_api.h>
#include <string>

#include <tessera/backends/peers.hpp>
#include <tessera/core/error.hpp>

namespace tessera::peers {

/// What a function gives where the library that has it was not found.
template <class... Arguments>
[[nodiscard]] Peers none(const Arguments&... /*unused*/) {
  return {};
}

inline void check(hipError_t status, const char* what) {
  if (status != hipSuccess)
    throw Error("tessera::peers", std::string(what) + ": " + hipGetErrorString(status), "the call must succeed");
}

inline hipStream_t stream_of(const Queue& queue) { return static_cast<hipStream_t>(queue.stream); }

}  // namespace tessera::peers
