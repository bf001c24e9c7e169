// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

/// \file
/// OpenMP's threads, as the hand-written loops ask for them: one in a build without OpenMP, where these loops are
/// serial.

namespace tessera::peers {

#ifdef _OPENMP
inline int max_threads() { return omp_get_max_threads(); }  ///< of the next parallel region
inline int thread_number() { return omp_get_thread_num(); }
inline int threads_here() { return omp_get_num_threads(); }
#else
inline int max_threads() { return 1; }
inline int thread_number() { return 0; }
inline int threads_here() { return 1; }
#endif

}  // namespace tessera::peers
