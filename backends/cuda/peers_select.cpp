// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cub/device/device_partition.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>
#include <cuda_runtime_api.h>
#include <memory>
#include <string>
#include <tuple>

#include <tessera/backends/peers.hpp>
#include <tessera/core/error.hpp>

/// \file
/// CUB's compactions, their workspace allocated once.

namespace tessera::peers {
namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw Error("tessera::peers", std::string("CUB's select: ") + cudaGetErrorString(status), "the call must succeed");
}

/// call(workspace, bytes, n) as CUB has it: bytes are asked for where the workspace is null. Not every call of CUB's
/// takes more than 2^31 elements.
template <class Call>
Peers cub_peer(index_t n, const Call& call) {
  if (n >= index_t{1} << 31) return {};
  const int items = static_cast<int>(n);
  std::size_t bytes = 0;
  check(call(nullptr, bytes, items));
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes > 0 ? bytes : 1));
  const std::shared_ptr<void> workspace(memory, [](void* p) { cudaFree(p); });
  return {{"CUB", [=] {
             std::size_t given = bytes;
             check(call(workspace.get(), given, items));
           }}};
}

template <class T>
struct Above {
  T limit;
  __host__ __device__ bool operator()(const T& value) const { return value > limit; }
};

cudaStream_t stream_of(const Queue& queue) { return static_cast<cudaStream_t>(queue.stream); }

}  // namespace

template <class T>
Peers select_flagged(const Queue& queue, index_t n, const T* x, const std::uint8_t* flags, T* y, std::int64_t* count) {
  auto* const stream = stream_of(queue);
  return cub_peer(n, [=](void* workspace, std::size_t& bytes, int items) {
    return cub::DeviceSelect::Flagged(workspace, bytes, x, flags, y, count, items, stream);
  });
}
template <class T>
Peers select_above(const Queue& queue, index_t n, const T* x, T limit, T* y, std::int64_t* count) {
  auto* const stream = stream_of(queue);
  return cub_peer(n, [=](void* workspace, std::size_t& bytes, int items) {
    return cub::DeviceSelect::If(workspace, bytes, x, y, count, items, Above<T>{limit}, stream);
  });
}
template <class T>
Peers partition_flagged(const Queue& queue, index_t n, const T* x, const std::uint8_t* flags, T* y,
                        std::int64_t* count) {
  auto* const stream = stream_of(queue);
  return cub_peer(n, [=](void* workspace, std::size_t& bytes, int items) {
    return cub::DevicePartition::Flagged(workspace, bytes, x, flags, y, count, items, stream);
  });
}
template <class T>
Peers unique(const Queue& queue, index_t n, const T* x, T* y, std::int64_t* count) {
  auto* const stream = stream_of(queue);
  return cub_peer(n, [=](void* workspace, std::size_t& bytes, int items) {
    return cub::DeviceSelect::Unique(workspace, bytes, x, y, count, items, stream);
  });
}
template <class T>
Peers run_length_encode(const Queue& queue, index_t n, const T* x, T* y, std::int32_t* lengths, std::int64_t* count) {
  auto* const stream = stream_of(queue);
  return cub_peer(n, [=](void* workspace, std::size_t& bytes, int items) {
    return cub::DeviceRunLengthEncode::Encode(workspace, bytes, x, y, lengths, count, items, stream);
  });
}

template <class T>
struct Instantiate {
  static constexpr auto all =
      std::tuple(&select_flagged<T>, &select_above<T>, &partition_flagged<T>, &unique<T>, &run_length_encode<T>);
};
template struct Instantiate<float>;
template struct Instantiate<double>;

}  // namespace tessera::peers
