// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tessera/backends/enabled.hpp>
#include <tessera/backends/inventory.hpp>
#include <tessera/backends/openmp/blas_library.hpp>

namespace tessera {

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> all;
  all.push_back(detail::host_device_info(Kokkos::DefaultHostExecutionSpace::name()));
#ifdef KOKKOS_ENABLE_CUDA
  for (int i = 0; i < cuda::device_count(); ++i) all.push_back(cuda::device_info(i));
#endif
#ifdef KOKKOS_ENABLE_HIP
  for (int i = 0; i < hip::device_count(); ++i) all.push_back(hip::device_info(i));
#endif
  return all;
}

std::vector<LibraryInfo> libraries() {
  std::vector<LibraryInfo> all;
#if TESSERA_HAVE_CBLAS
  all.push_back(backends::blas_library());
#endif
#ifdef KOKKOS_ENABLE_CUDA
  all.push_back({"CUDA", cuda::runtime_version(), "driver for up to " + cuda::driver_version(), ""});
#endif
#ifdef KOKKOS_ENABLE_HIP
  all.push_back({"HIP", hip::runtime_version(), "driver " + hip::driver_version(), ""});
#endif
  return all;
}

}  // namespace tessera
