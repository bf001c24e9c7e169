// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tessera/backends/enabled.hpp>
#include <tessera/backends/inventory.hpp>

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

}  // namespace tessera
