// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hand_written.hpp"

namespace tessera::app::hand_written {

template <class T>
void copy(std::int64_t n, const T* a, T* c) {
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i];
}

template <class T>
void mul(std::int64_t n, T scalar, const T* c, T* b) {
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < n; ++i) b[i] = scalar * c[i];
}

template <class T>
void add(std::int64_t n, const T* a, const T* b, T* c) {
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

template <class T>
void triad(std::int64_t n, T scalar, const T* b, const T* c, T* a) {
#pragma omp parallel for simd schedule(static)
  for (std::int64_t i = 0; i < n; ++i) a[i] = b[i] + scalar * c[i];
}

template <class T>
T dot(std::int64_t n, const T* a, const T* b) {
  T sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

template void copy(std::int64_t, const float*, float*);
template void mul(std::int64_t, float, const float*, float*);
template void add(std::int64_t, const float*, const float*, float*);
template void triad(std::int64_t, float, const float*, const float*, float*);
template float dot(std::int64_t, const float*, const float*);
template void copy(std::int64_t, const double*, double*);
template void mul(std::int64_t, double, const double*, double*);
template void add(std::int64_t, const double*, const double*, double*);
template void triad(std::int64_t, double, const double*, const double*, double*);
template double dot(std::int64_t, const double*, const double*);

}  // namespace tessera::app::hand_written
