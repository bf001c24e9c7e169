// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <tessera/core/device.hpp>

namespace tessera {

namespace cuda {
/// What the runtime tells of a device; asked once for each ordinal.
const DeviceInfo& device_info(int ordinal);
/// How many devices this process sees.
int device_count();
}  // namespace cuda

template <>
struct DeviceQuery<Kokkos::Cuda> {
  static const DeviceInfo& of(const Kokkos::Cuda& exec) { return cuda::device_info(exec.cuda_device()); }
};

}  // namespace tessera
