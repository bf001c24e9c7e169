// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "peer.hpp"
#include <limits>
#include <memory>
#include <tuple>

#if TESSERA_HAVE_ROCPRIM
#include <rocprim/rocprim.hpp>
#endif

/// \file
/// rocPRIM, its workspace allocated once.

namespace tessera::peers {

#if TESSERA_HAVE_ROCPRIM
namespace {
/// call(workspace, bytes) as rocPRIM has it: bytes are asked for where the workspace is null.
template <class Call>
Peers prim_peer(const char* what, const Call& call) {
  std::size_t bytes = 0;
  check(call(nullptr, bytes), what);
  void* memory = nullptr;
  check(hipMalloc(&memory, bytes > 0 ? bytes : 1), "hipMalloc");
  const std::shared_ptr<void> workspace(memory, [](void* p) { (void)hipFree(p); });
  return {{"rocPRIM", [=] {
             std::size_t given = bytes;
             check(call(workspace.get(), given), what);
           }}};
}
template <class T>
struct Above {
  T limit;
  __host__ __device__ bool operator()(const T& value) const { return value > limit; }
};
struct SameSegment {
  __host__ __device__ bool operator()(std::uint8_t /*before*/, std::uint8_t head) const { return head == 0; }
};
}  // namespace
#endif

template <class T>
Peers reduce_sum(const Queue& queue, index_t n, const T* x, T* result) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's reduce", [=](void* workspace, std::size_t& bytes) {
    return rocprim::reduce(workspace, bytes, x, result, T(0), static_cast<std::size_t>(n), rocprim::plus<T>(), stream);
  });
#else
  return none(queue, n, x, result);
#endif
}

template <class T>
Peers reduce_max(const Queue& queue, index_t n, const T* x, T* result) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's reduce", [=](void* workspace, std::size_t& bytes) {
    return rocprim::reduce(workspace, bytes, x, result, std::numeric_limits<T>::lowest(), static_cast<std::size_t>(n),
                           rocprim::maximum<T>(), stream);
  });
#else
  return none(queue, n, x, result);
#endif
}

template <class T>
Peers exclusive_scan(const Queue& queue, index_t n, const T* x, T* y) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's scan", [=](void* workspace, std::size_t& bytes) {
    return rocprim::exclusive_scan(workspace, bytes, x, y, T(0), static_cast<std::size_t>(n), rocprim::plus<T>(),
                                   stream);
  });
#else
  return none(queue, n, x, y);
#endif
}

template <class T>
Peers sort(const Queue& queue, index_t n, const T* keys_in, T* keys_out, const std::uint32_t* values_in,
           std::uint32_t* values_out) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's sort", [=](void* workspace, std::size_t& bytes) {
    return values_in == nullptr ? rocprim::radix_sort_keys(workspace, bytes, keys_in, keys_out,
                                                           static_cast<std::size_t>(n), 0, 8 * sizeof(T), stream)
                                : rocprim::radix_sort_pairs(workspace, bytes, keys_in, keys_out, values_in, values_out,
                                                            static_cast<std::size_t>(n), 0, 8 * sizeof(T), stream);
  });
#else
  return none(queue, n, keys_in, keys_out, values_in, values_out);
#endif
}

template <class T>
Peers merge(const Queue& queue, index_t a_count, const T* a, index_t b_count, const T* b, T* out) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's merge", [=](void* workspace, std::size_t& bytes) {
    return rocprim::merge(workspace, bytes, a, b, out, static_cast<std::size_t>(a_count),
                          static_cast<std::size_t>(b_count), rocprim::less<T>(), stream);
  });
#else
  return none(queue, a_count, a, b_count, b, out);
#endif
}

template <class T>
Peers select_flagged(const Queue& queue, index_t n, const T* x, const std::uint8_t* flags, T* y, std::int64_t* count) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's select", [=](void* workspace, std::size_t& bytes) {
    return rocprim::select(workspace, bytes, x, flags, y, count, static_cast<std::size_t>(n), stream);
  });
#else
  return none(queue, n, x, flags, y, count);
#endif
}

template <class T>
Peers select_above(const Queue& queue, index_t n, const T* x, T limit, T* y, std::int64_t* count) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's select", [=](void* workspace, std::size_t& bytes) {
    return rocprim::select(workspace, bytes, x, y, count, static_cast<std::size_t>(n), Above<T>{limit}, stream);
  });
#else
  return none(queue, n, x, limit, y, count);
#endif
}

template <class T>
Peers partition_flagged(const Queue& queue, index_t n, const T* x, const std::uint8_t* flags, T* y,
                        std::int64_t* count) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's partition", [=](void* workspace, std::size_t& bytes) {
    return rocprim::partition(workspace, bytes, x, flags, y, count, static_cast<std::size_t>(n), stream);
  });
#else
  return none(queue, n, x, flags, y, count);
#endif
}

template <class T>
Peers unique(const Queue& queue, index_t n, const T* x, T* y, std::int64_t* count) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's unique", [=](void* workspace, std::size_t& bytes) {
    return rocprim::unique(workspace, bytes, x, y, count, static_cast<std::size_t>(n), rocprim::equal_to<T>(), stream);
  });
#else
  return none(queue, n, x, y, count);
#endif
}

template <class T>
Peers run_length_encode(const Queue& queue, index_t n, const T* x, T* y, std::int32_t* lengths, std::int64_t* count) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's run lengths", [=](void* workspace, std::size_t& bytes) {
    return rocprim::run_length_encode(workspace, bytes, x, static_cast<unsigned>(n), y, lengths, count, stream);
  });
#else
  return none(queue, n, x, y, lengths, count);
#endif
}

template <class T>
Peers segmented_sum(const Queue& queue, const T* x, index_t segments, const std::int32_t* offsets, T* out) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's segmented reduce", [=](void* workspace, std::size_t& bytes) {
    return rocprim::segmented_reduce(workspace, bytes, x, out, static_cast<unsigned>(segments), offsets, offsets + 1,
                                     rocprim::plus<T>(), T(0), stream);
  });
#else
  return none(queue, x, segments, offsets, out);
#endif
}

template <class T>
Peers segmented_scan(const Queue& queue, index_t n, const T* x, const std::uint8_t* heads, T* y) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's scan by key", [=](void* workspace, std::size_t& bytes) {
    return rocprim::inclusive_scan_by_key(workspace, bytes, heads, x, y, static_cast<std::size_t>(n),
                                          rocprim::plus<T>(), SameSegment(), stream);
  });
#else
  return none(queue, n, x, heads, y);
#endif
}

template <class T>
Peers segmented_sort(const Queue& queue, index_t n, const T* keys_in, index_t segments, const std::int32_t* offsets,
                     T* keys_out) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's segmented sort", [=](void* workspace, std::size_t& bytes) {
    return rocprim::segmented_radix_sort_keys(workspace, bytes, keys_in, keys_out, static_cast<unsigned>(n),
                                              static_cast<unsigned>(segments), offsets, offsets + 1, 0, 8 * sizeof(T),
                                              stream);
  });
#else
  return none(queue, n, keys_in, segments, offsets, keys_out);
#endif
}
template <class T, class Level>
Peers histogram(const Queue& queue, index_t n, const T* x, int bins, Level lower, Level upper, std::int32_t* counts) {
#if TESSERA_HAVE_ROCPRIM
  auto* const stream = stream_of(queue);
  return prim_peer("rocPRIM's histogram", [=](void* workspace, std::size_t& bytes) {
    return rocprim::histogram_even(workspace, bytes, x, static_cast<unsigned>(n), counts,
                                   static_cast<unsigned>(bins + 1), lower, upper, stream);
  });
#else
  return none(queue, n, x, bins, lower, upper, counts);
#endif
}

template <class T>
struct Instantiate {
  static constexpr auto all =
      std::tuple(&reduce_sum<T>, &reduce_max<T>, &exclusive_scan<T>, &sort<T>, &merge<T>, &select_flagged<T>,
                 &select_above<T>, &partition_flagged<T>, &unique<T>, &run_length_encode<T>, &segmented_sum<T>,
                 &segmented_scan<T>, &segmented_sort<T>);
};
template struct Instantiate<float>;
template struct Instantiate<double>;
template Peers exclusive_scan(const Queue&, index_t, const std::int32_t*, std::int32_t*);
template Peers sort(const Queue&, index_t, const std::uint32_t*, std::uint32_t*, const std::uint32_t*, std::uint32_t*);
template Peers sort(const Queue&, index_t, const std::uint64_t*, std::uint64_t*, const std::uint32_t*, std::uint32_t*);
template Peers segmented_sort(const Queue&, index_t, const std::uint32_t*, index_t, const std::int32_t*,
                              std::uint32_t*);
template Peers histogram(const Queue&, index_t, const float*, int, float, float, std::int32_t*);
template Peers histogram(const Queue&, index_t, const double*, int, double, double, std::int32_t*);
template Peers histogram(const Queue&, index_t, const std::int32_t*, int, std::int32_t, std::int32_t, std::int32_t*);
template Peers histogram(const Queue&, index_t, const std::uint8_t*, int, std::int32_t, std::int32_t, std::int32_t*);

}  // namespace tessera::peers
