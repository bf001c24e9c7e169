// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdint>

#include <tessera/backends/peers.hpp>

/// \file
/// Loops over segments that a careful user writes by hand.

namespace tessera::peers {

template <class T>
Peers segmented_sum(const Queue& /*queue*/, const T* x, index_t segments, const std::int32_t* offsets, T* out) {
  return {{"OpenMP loop", [=] {
#pragma omp parallel for schedule(static)
             for (index_t s = 0; s < segments; ++s) {
               double sum = 0;
#pragma omp simd reduction(+ : sum)
               for (index_t i = offsets[s]; i < offsets[s + 1]; ++i) sum += static_cast<double>(x[i]);
               out[s] = static_cast<T>(sum);
             }
           }}};
}
/// One stretch a thread: the sum up to the first head of a stretch is added when all are done.
template <class T>
Peers segmented_scan(const Queue& /*queue*/, index_t n, const T* x, const std::uint8_t* heads, T* y) {
  return {{"OpenMP loop", [=] {
             constexpr index_t stretches = 64;
             T ends[stretches];
             index_t firsts[stretches];
#pragma omp parallel for schedule(static)
             for (index_t part = 0; part < stretches; ++part) {
               const index_t end = n * (part + 1) / stretches;
               T sum = 0;
               index_t first = end;
               for (index_t i = n * part / stretches; i < end; ++i) {
                 if (heads[i] != 0) {
                   sum = 0;
                   first = std::min(first, i);
                 }
                 sum += x[i];
                 y[i] = sum;
               }
               ends[part] = sum;
               firsts[part] = first;
             }
             T carry = 0;
             for (index_t part = 0; part < stretches; ++part) {
               for (index_t i = n * part / stretches; i < firsts[part]; ++i) y[i] += carry;
               carry = firsts[part] < n * (part + 1) / stretches ? ends[part] : carry + ends[part];
             }
           }}};
}
template <class T>
Peers segmented_sort(const Queue& /*queue*/, index_t n, const T* keys_in, index_t segments, const std::int32_t* offsets,
                     T* keys_out) {
  return {{"std::sort in an OpenMP loop", [=] {
#pragma omp parallel for simd schedule(static)
             for (index_t i = 0; i < n; ++i) keys_out[i] = keys_in[i];
#pragma omp parallel for schedule(dynamic, 1)
             for (index_t s = 0; s < segments; ++s) std::sort(keys_out + offsets[s], keys_out + offsets[s + 1]);
           }}};
}

template Peers segmented_sum(const Queue&, const float*, index_t, const std::int32_t*, float*);
template Peers segmented_sum(const Queue&, const double*, index_t, const std::int32_t*, double*);
template Peers segmented_scan(const Queue&, index_t, const float*, const std::uint8_t*, float*);
template Peers segmented_scan(const Queue&, index_t, const double*, const std::uint8_t*, double*);
template Peers segmented_sort(const Queue&, index_t, const std::uint32_t*, index_t, const std::int32_t*,
                              std::uint32_t*);
template Peers segmented_sort(const Queue&, index_t, const double*, index_t, const std::int32_t*, double*);

}  // namespace tessera::peers
