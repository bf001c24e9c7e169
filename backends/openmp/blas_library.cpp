// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>

#include <tessera/backends/openmp/blas_library.hpp>

// OpenBLAS tells these; other libraries do not have them.
extern "C" {
__attribute__((weak)) char* openblas_get_config(void);
__attribute__((weak)) char* openblas_get_corename(void);
__attribute__((weak)) int openblas_get_parallel(void);
__attribute__((weak)) int openblas_get_num_threads(void);
}

namespace tessera::backends {

LibraryInfo blas_library() {
  LibraryInfo info{"BLAS", "a CBLAS that does not tell its name", "", ""};
  if (!openblas_get_config) return info;
  info.version = openblas_get_config();
  if (const auto end = info.version.find(' ', info.version.find(' ') + 1); end != std::string::npos)
    info.version.resize(end);  // "OpenBLAS 0.3.29", without its build options
  if (openblas_get_corename) info.detail = std::string("kernels for ") + openblas_get_corename();
  if (openblas_get_parallel && openblas_get_num_threads) {
    const int parallel = openblas_get_parallel();
    info.detail += std::string(info.detail.empty() ? "" : ", ") +
                   (parallel == 0   ? "one thread"
                    : parallel == 2 ? "OpenMP threads, shared with Kokkos"
                                    : "its own " + std::to_string(openblas_get_num_threads()) + " threads");
    if (parallel == 1)
      info.advice =
          "The BLAS has threads of its own beside Kokkos's: both slow each other down. Use its OpenMP build, or "
          "OPENBLAS_NUM_THREADS=1";
  }
  return info;
}

}  // namespace tessera::backends
