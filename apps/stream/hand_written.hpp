// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

/// \file
/// The peers of a host: each kernel as one OpenMP loop over plain pointers, on all threads that OpenMP gives.

namespace tessera::app::hand_written {

template <class T>
void copy(std::int64_t n, const T* a, T* c);
template <class T>
void mul(std::int64_t n, T scalar, const T* c, T* b);
template <class T>
void add(std::int64_t n, const T* a, const T* b, T* c);
template <class T>
void triad(std::int64_t n, T scalar, const T* b, const T* c, T* a);
template <class T>
T dot(std::int64_t n, const T* a, const T* b);

}  // namespace tessera::app::hand_written
