// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#include <tessera/core/device.hpp>

namespace tessera {

namespace hip {
/// What the runtime tells of a device; asked once for each ordinal.
const DeviceInfo& device_info(int ordinal);
/// How many devices this process sees.
int device_count();
}  // namespace hip

template <>
struct DeviceQuery<Kokkos::HIP> {
  static const DeviceInfo& of(const Kokkos::HIP& exec) { return hip::device_info(exec.hip_device()); }
};

}  // namespace tessera
