// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include <tessera/core/execution.hpp>

/// \file
/// What a user would pick instead of Tessera, for side-by-side measurement: vendor libraries on GPUs; on hosts a
/// loop written by hand with the same compiler flags, and a CBLAS. Dense matrices are column-major. Every peer
/// enqueues its work on the instance given and returns (hosts: when done). Only tessera-bench and the apps' own
/// comparisons link this (tessera::peers); nothing of it serves an algorithm.

namespace tessera::peers {

struct Peer {
  std::string name;               ///< "cuBLAS", "OpenMP loop", "OpenBLAS"
  std::function<void()> enqueue;  ///< the operands must outlive it
};
using Peers = std::vector<Peer>;

/// Where a peer's work goes: the vendor's stream of a device instance, or nothing for hosts.
struct Queue {
  bool device = false;
  void* stream = nullptr;
  int ordinal = 0;
};

[[nodiscard]] Queue queue_of(const Kokkos::DefaultExecutionSpace& exec);

/// Work of a queue as a graph on the device, which one call of the host starts.
struct Replay {
  std::function<void()> launch;  ///< starts all of it and does not wait; empty where it could not be captured
  std::size_t nodes = 0;         ///< kernels, fills and copies in it
  std::string refusal;           ///< why it could not be captured, in one line
};

/// Captures what `enqueue` puts on the queue, without running it, and sends the graph to the device. Run `enqueue` once
/// before, so that handles, workspaces and loaded kernels are there. Refused are work that waits, allocates, copies
/// from or to the host's memory or calls the host, exceptions of `enqueue`, and hosts' queues. The queue then is as it
/// was; what `enqueue` had put elsewhere has run. The operands must outlive `launch`.
/// \throws Error where the queue does not work any more
[[nodiscard]] Replay capture(const Queue& queue, const std::function<void()>& enqueue);

Peers copy(const Queue& queue, void* to, const void* from, std::size_t bytes);

/// T is float or double in all of these.
template <class T>
Peers axpy(const Queue& queue, index_t n, T alpha, const T* x, T* y);
template <class T>
Peers scal(const Queue& queue, index_t n, T alpha, T* x);
/// result is in memory that the queue's kernels write.
template <class T>
Peers dot(const Queue& queue, index_t n, const T* x, const T* y, T* result);
template <class T>
Peers nrm2(const Queue& queue, index_t n, const T* x, T* result);
template <class T>
Peers asum(const Queue& queue, index_t n, const T* x, T* result);
template <class T>
Peers iamax(const Queue& queue, index_t n, const T* x, std::int64_t* result);
/// The sum, in fp64 on hosts, in T on devices.
template <class T>
Peers reduce_sum(const Queue& queue, index_t n, const T* x, T* result);
/// The largest element; NaN need not be looked for.
template <class T>
Peers reduce_max(const Queue& queue, index_t n, const T* x, T* result);
/// y = alpha op(A) x + beta y, A is m x n with leading dimension lda.
template <class T>
Peers gemv(const Queue& queue, bool transposed, index_t m, index_t n, T alpha, const T* a, index_t lda, const T* x,
           T beta, T* y);
/// B = A^T, A is m x n. Hosts: T may be complex<double>.
template <class T>
Peers transpose(const Queue& queue, index_t m, index_t n, const T* a, index_t lda, T* b, index_t ldb);
/// y = A x, CSR with 32-bit indices.
template <class T>
Peers spmv(const Queue& queue, index_t rows, index_t columns, index_t nnz, const std::int32_t* offsets,
           const std::int32_t* indices, const T* values, const T* x, T* y);
/// C = alpha op(A) op(B) + beta C. (TIn, TOut): float, double, half -> half, bfloat16 -> bfloat16,
/// on devices complex<double>.
template <class TIn, class TOut>
Peers gemm(const Queue& queue, bool a_transposed, bool b_transposed, index_t m, index_t n, index_t k, TOut alpha,
           const TIn* a, index_t lda, const TIn* b, index_t ldb, TOut beta, TOut* c, index_t ldc);
/// C_i = A_i B_i of `batches` products, A_i m x k, row-major, matrices one behind the other. T: float, double, half,
/// bfloat16.
template <class T>
Peers gemm_batched(const Queue& queue, index_t batches, index_t m, index_t n, index_t k, const T* a, const T* b, T* c);
/// C = op(A) op(B) of fp32 numbers rounded to tf32, column-major; only devices define it.
Peers gemm_tf32(const Queue& queue, bool a_transposed, bool b_transposed, index_t m, index_t n, index_t k,
                const float* a, index_t lda, const float* b, index_t ldb, float* c, index_t ldc);
/// C = gelu(A B + bias of each row), column-major, by the tanh approximation; only devices define it. T: half,
/// bfloat16.
template <class T>
Peers gemm_bias_gelu(const Queue& queue, index_t m, index_t n, index_t k, const T* a, const T* b, const T* bias, T* c);
/// 7-point stencil, interior of nx x ny x nz with the last dimension contiguous; hosts only (empty elsewhere).
template <class T>
Peers stencil7(const Queue& queue, index_t nx, index_t ny, index_t nz, T center, T side, const T* u, T* v);
/// The same over 27 neighbours, by distance; only hosts define it.
template <class T>
Peers stencil27(const Queue& queue, index_t nx, index_t ny, index_t nz, T center, T face, T edge, T corner, const T* u,
                T* v);
/// keys_out = the keys of keys_in in rising order; values_out likewise where values_in is not null. T: std::uint32_t,
/// std::uint64_t, float, double.
template <class T>
Peers sort(const Queue& queue, index_t n, const T* keys_in, T* keys_out, const std::uint32_t* values_in,
           std::uint32_t* values_out);
/// y = uniform numbers in [0, 1) or (0, 1], or normal ones. T is float or double.
template <class T>
Peers random(const Queue& queue, bool normal, index_t n, T* y);
/// out = the elements of a and b, both rising, in rising order. T is float or double.
template <class T>
Peers merge(const Queue& queue, index_t a_count, const T* a, index_t b_count, const T* b, T* out);
/// out = the union of a and b, both rising, or their intersection. T is std::int32_t or double.
template <class T>
Peers set_union(const Queue& queue, index_t a_count, const T* a, index_t b_count, const T* b, T* out);
template <class T>
Peers set_intersection(const Queue& queue, index_t a_count, const T* a, index_t b_count, const T* b, T* out);
/// How many x lie in each of so many even bins on [lower, upper). (T, Level): float, double, (std::int32_t,
/// std::int32_t), (std::uint8_t, std::int32_t).
template <class T, class Level>
Peers histogram(const Queue& queue, index_t n, const T* x, int bins, Level lower, Level upper, std::int32_t* counts);
/// y_i = x[index_i]. T is float or double.
template <class T>
Peers gather(const Queue& queue, index_t n, const T* x, const std::int32_t* index, T* y);
/// y[index_i] += x_i, in any order; hosts only (empty elsewhere). T is float or double.
template <class T>
Peers scatter_add(const Queue& queue, index_t n, const T* x, const std::int32_t* index, T* y);
/// y_i = x_0 + ... + x_(i-1). T is float, double or std::int32_t.
template <class T>
Peers exclusive_scan(const Queue& queue, index_t n, const T* x, T* y);
/// y_0, y_1, ... = the elements of x with a flag that is not 0, their number in `count`, in memory that the queue's
/// kernels write. T is float or double in these.
template <class T>
Peers select_flagged(const Queue& queue, index_t n, const T* x, const std::uint8_t* flags, T* y, std::int64_t* count);
/// The same of the elements above a limit.
template <class T>
Peers select_above(const Queue& queue, index_t n, const T* x, T limit, T* y, std::int64_t* count);
/// The flagged ones first, then the others: in their order on hosts, in reverse on devices.
template <class T>
Peers partition_flagged(const Queue& queue, index_t n, const T* x, const std::uint8_t* flags, T* y,
                        std::int64_t* count);
/// The first of each run of equal elements.
template <class T>
Peers unique(const Queue& queue, index_t n, const T* x, T* y, std::int64_t* count);
/// The same with the length of each run.
template <class T>
Peers run_length_encode(const Queue& queue, index_t n, const T* x, T* y, std::int32_t* lengths, std::int64_t* count);

/// out_s = the sum of x over [offsets_s, offsets_(s + 1)), in fp64 on hosts, in T on devices. T is float or double.
template <class T>
Peers segmented_sum(const Queue& queue, const T* x, index_t segments, const std::int32_t* offsets, T* out);
/// Inclusive sums that begin anew at every i with heads_i != 0. T is float or double.
template <class T>
Peers segmented_scan(const Queue& queue, index_t n, const T* x, const std::uint8_t* heads, T* y);
/// keys_out = the keys of each segment in rising order. T is std::uint32_t or double.
template <class T>
Peers segmented_sort(const Queue& queue, index_t n, const T* keys_in, index_t segments, const std::int32_t* offsets,
                     T* keys_out);

}  // namespace tessera::peers
