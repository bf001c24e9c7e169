// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The one file that tests which backends this build has. For each algorithm with providers it gives a tuple type
/// of them, in the documented order of preference; absent backends are simply not in it. No vendor header here.

#include <Kokkos_Core.hpp>
#include <tuple>

#include <tessera/core/config.hpp>
#include <tessera/core/machine.hpp>

#ifdef KOKKOS_ENABLE_CUDA
#include <tessera/backends/cuda/device.hpp>
#include <tessera/backends/cuda/machine.hpp>
#endif
#ifdef KOKKOS_ENABLE_HIP
#include <tessera/backends/hip/device.hpp>
#include <tessera/backends/hip/machine.hpp>
#endif

namespace tessera::backends {

/// GEMM: a vendor's CBLAS on hosts.
using gemm_providers = std::tuple<>;

}  // namespace tessera::backends
