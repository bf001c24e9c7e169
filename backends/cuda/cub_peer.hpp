// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime_api.h>
#include <memory>
#include <string>

#include <tessera/backends/peers.hpp>
#include <tessera/core/error.hpp>

/// \file
/// Calls of CUB as peers, their workspace allocated once.

namespace tessera::peers {

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw Error("tessera::peers", std::string(what) + ": " + cudaGetErrorString(status), "the call must succeed");
}

inline cudaStream_t stream_of(const Queue& queue) { return static_cast<cudaStream_t>(queue.stream); }

/// call(workspace, bytes) as CUB has it: bytes are asked for where the workspace is null.
template <class Call>
Peers cub_peer(const char* what, const Call& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes), what);
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes > 0 ? bytes : 1), "cudaMalloc");
  const std::shared_ptr<void> workspace(memory, [](void* p) { cudaFree(p); });
  return {{"CUB", [=] {
             std::size_t given = bytes;
             check(call(workspace.get(), given), what);
           }}};
}

/// call(workspace, bytes, n), where counts of 32 bits are CUB's faster way.
template <class Call>
Peers cub_peer_of_count(const char* what, index_t n, const Call& call) {
  return cub_peer(what, [=](void* workspace, std::size_t& bytes) {
    return n < index_t{1} << 31 ? call(workspace, bytes, static_cast<int>(n)) : call(workspace, bytes, n);
  });
}

}  // namespace tessera::peers
