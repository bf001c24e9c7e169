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
/// "13.0"; "?" where it does not tell.
std::string runtime_version();
std::string driver_version();
/// Whether what is put on the stream goes into a graph.
bool is_capturing(cudaStream_t stream);
/// The id of a stream; no two streams of a process have the same. One that is first seen while it captures is known by
/// another id there than later.
std::uint64_t stream_id(cudaStream_t stream);
/// Adds the check of the devices' architecture that every ScopeGuard makes. Does nothing after the first call.
bool add_architecture_check();
/// Here, and not in the library's own file, so that every program with a kernel of ours has the check.
inline const bool architecture_check_added = add_architecture_check();
}  // namespace cuda

template <>
struct DeviceQuery<Kokkos::Cuda> {
  static const DeviceInfo& of(const Kokkos::Cuda& exec) { return cuda::device_info(exec.cuda_device()); }
  static std::uint64_t stream_id(const Kokkos::Cuda& exec) { return cuda::stream_id(exec.cuda_stream()); }
};

}  // namespace tessera
