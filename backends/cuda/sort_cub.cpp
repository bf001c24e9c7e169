// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cub/device/device_radix_sort.cuh>
#include <cuda_runtime_api.h>

#include <tessera/backends/cuda/sort_cub.hpp>
#include <tessera/core/error.hpp>

namespace tessera::backends {
namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw Error("tessera::sort", std::string("the path cuda:cub failed to start: ") + cudaGetErrorString(status),
                "CUB's kernels must be of the device's architecture, and the device free of earlier faults",
                "Set TESSERA_SORT=portable to go on without it, and report this");
}

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Keys and values each in one of two places, in turns. What is sorted in place has its second place in the workspace;
/// else CUB keeps its input and takes a second place from its own part of the workspace.
template <class T>
struct Sort {
  const CubSort& sort;

  [[nodiscard]] bool in_place() const { return sort.keys_in == sort.keys_out; }
  [[nodiscard]] bool pairs() const { return sort.values_out != nullptr; }
  [[nodiscard]] std::size_t places() const {
    const std::size_t one = aligned(sizeof(T) * static_cast<std::size_t>(sort.n));
    return in_place() ? (pairs() ? 2 * one : one) : 0;
  }

  /// CUB's own bytes where `own` is null. `second` holds places() bytes.
  void operator()(void* own, std::size_t& bytes, char* second, cudaStream_t stream) const {
    const int n = sort.n, from = sort.first_bit, to = sort.last_bit;
    auto* const keys = static_cast<T*>(sort.keys_out);
    if (!in_place()) {
      const auto* const in = static_cast<const T*>(sort.keys_in);
      check(pairs() ? cub::DeviceRadixSort::SortPairs(own, bytes, in, keys, sort.values_in, sort.values_out, n, from,
                                                      to, stream)
                    : cub::DeviceRadixSort::SortKeys(own, bytes, in, keys, n, from, to, stream));
      return;
    }
    const auto size = sizeof(T) * static_cast<std::size_t>(n);
    cub::DoubleBuffer<T> k(keys, reinterpret_cast<T*>(second));
    cub::DoubleBuffer<std::uint32_t> v(sort.values_out, reinterpret_cast<std::uint32_t*>(second + aligned(size)));
    check(pairs() ? cub::DeviceRadixSort::SortPairs(own, bytes, k, v, n, from, to, stream)
                  : cub::DeviceRadixSort::SortKeys(own, bytes, k, n, from, to, stream));
    if (own == nullptr) return;
    if (k.Current() != keys) check(cudaMemcpyAsync(keys, k.Current(), size, cudaMemcpyDeviceToDevice, stream));
    if (pairs() && v.Current() != sort.values_out)
      check(cudaMemcpyAsync(sort.values_out, v.Current(), size, cudaMemcpyDeviceToDevice, stream));
  }
};

template <class F>
void with_type(const CubSort& sort, const F& f) {
  if (sort.is_signed)
    f(Sort<std::int32_t>{sort});
  else
    f(Sort<std::uint32_t>{sort});
}

}  // namespace

Verdict cub_sort_can_run(const SortSignature& s) {
  enum Flags : unsigned { keys_in_place = 1, no_keys_out = 2, positions = 4, values_in_place = 8, both_aligned = 48 };
  constexpr std::int64_t fewest = std::int64_t{1} << 22, most = (std::int64_t{1} << 31) - 1;
  if (s.n < fewest) return Verdict::no("the portable kernel is as fast below 2^22 keys");
  if (s.n > most) return Verdict::no("CUB's counts are asked for in 32 bits, and there are 2^31 keys or more");
  if (s.flip != 0 && s.flip != std::uint64_t{1} << 31) return Verdict::no("the order is descending");
  if (s.bits[0] >= s.bits[1]) return Verdict::no("no bit is compared");
  if ((s.flags & no_keys_out) != 0) return Verdict::no("the sorted keys are not asked for");
  if (s.strides[0] != 1 || s.strides[1] != 1) return Verdict::no("the keys do not lie side by side");
  if (s.value_bytes == 0) return Verdict::yes();
  if (s.value_bytes != 4 || (s.flags & positions) != 0 || (s.flags & both_aligned) != both_aligned ||
      s.strides[2] != 1 || s.strides[3] != 1)
    return Verdict::no("the values are not aligned words of 4 bytes side by side");
  if (((s.flags & keys_in_place) != 0) != ((s.flags & values_in_place) != 0))
    return Verdict::no("of keys and values only one is sorted in place");
  return Verdict::yes();
}

std::size_t cub_sort_workspace_bytes(const CubSort& sort) {
  std::size_t bytes = 0, places = 0;
  with_type(sort, [&](const auto& call) {
    call(nullptr, bytes, nullptr, nullptr);
    places = call.places();
  });
  return aligned(bytes) + places + 256;
}

void cub_sort_run(const CubSort& sort, void* workspace, std::size_t bytes, void* stream) {
  with_type(sort, [&](const auto& call) {
    auto* const begin = reinterpret_cast<char*>(aligned(reinterpret_cast<std::uintptr_t>(workspace)));
    std::size_t own = bytes - 256 - call.places();
    call(begin + call.places(), own, begin, static_cast<cudaStream_t>(stream));
  });
}

}  // namespace tessera::backends
