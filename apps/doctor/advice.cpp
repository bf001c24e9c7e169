// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "advice.hpp"

#include <cstdlib>

namespace tessera::doctor {

const std::vector<std::string>& known_variables() {
  static const std::vector<std::string> all = {"OMP_NUM_THREADS",
                                               "OMP_PROC_BIND",
                                               "OMP_PLACES",
                                               "OMP_WAIT_POLICY",
                                               "OPENBLAS_NUM_THREADS",
                                               "OPENBLAS_CORETYPE",
                                               "CUDA_VISIBLE_DEVICES",
                                               "CUDA_LAUNCH_BLOCKING",
                                               "HIP_VISIBLE_DEVICES",
                                               "ROCR_VISIBLE_DEVICES",
                                               "KOKKOS_NUM_THREADS",
                                               "KOKKOS_DEVICE_ID",
                                               "KOKKOS_TOOLS_LIBS",
                                               "TESSERA_LOG",
                                               "TESSERA_TIMINGS",
                                               "TESSERA_GEMM",
                                               "TESSERA_SPMV",
                                               "TESSERA_MPI_GPU_AWARE",
                                               "TESSERA_CHECK_COLLECTIVES"};
  return all;
}

std::vector<std::string> advise(const Host& host, const Environment& environment) {
  std::vector<std::string> advice;
  const std::string bind = environment("OMP_PROC_BIND");
  const std::string asked = environment("OMP_NUM_THREADS");
  const int share = host.cores / (host.ranks_on_node > 0 ? host.ranks_on_node : 1);
  if (host.pool > host.threads)
    advice.push_back("Kokkos uses " + std::to_string(host.pool) + " threads and this process may run on " +
                     std::to_string(host.threads) +
                     ": they take turns, and every barrier waits. Set OMP_NUM_THREADS=" + std::to_string(host.cores));
  else if (host.ranks_on_node > 1 && host.pool > 1 && host.pool * host.ranks_on_node > host.threads)
    advice.push_back(std::to_string(host.ranks_on_node) + " ranks of " + std::to_string(host.pool) + " threads share " +
                     std::to_string(host.threads) +
                     " hardware threads. Set OMP_NUM_THREADS=" + std::to_string(share > 0 ? share : 1));
  else if (host.pool > host.cores)
    advice.push_back("Kokkos uses both hardware threads of a core (" + std::to_string(host.pool) + " threads on " +
                     std::to_string(host.cores) +
                     " cores): dense products run slower so. Try OMP_NUM_THREADS=" + std::to_string(host.cores));
  else if (!host.device && asked.empty() && host.ranks_on_node == 1 && host.pool < host.cores)
    advice.push_back("Kokkos uses " + std::to_string(host.pool) + " of " + std::to_string(host.cores) +
                     " cores. Set OMP_NUM_THREADS=" + std::to_string(host.cores));
  if (host.numa_domains > 1 && (bind.empty() || bind == "false") && host.pool > 1)
    advice.push_back("This machine has " + std::to_string(host.numa_domains) +
                     " NUMA domains and threads are free to move between them, away from their memory. Set "
                     "OMP_PROC_BIND=spread and OMP_PLACES=cores");
  if (!environment("CUDA_LAUNCH_BLOCKING").empty() && environment("CUDA_LAUNCH_BLOCKING") != "0")
    advice.push_back("CUDA_LAUNCH_BLOCKING makes every launch wait: good for finding faults, slow otherwise");
  for (const char* forced : {"TESSERA_GEMM", "TESSERA_SPMV"})
    if (const std::string path = environment(forced); !path.empty())
      advice.push_back(std::string(forced) + "=" + path + " forces a path; unset it to have the fastest chosen");
  if (const std::string core = environment("OPENBLAS_CORETYPE"); !core.empty())
    advice.push_back("OPENBLAS_CORETYPE=" + core +
                     " forces the BLAS library's kernels; unset it unless it mistakes this processor");
  if (!host.optimised)
    advice.push_back(
        "Host code is compiled for a general processor. For this machine alone, configure with "
        "-DTESSERA_HOST_ARCH=native");
  if (host.debug_build) advice.push_back("This is a Debug build: right for finding faults, slow otherwise");
  return advice;
}

}  // namespace tessera::doctor
