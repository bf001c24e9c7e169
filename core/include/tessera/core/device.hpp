// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/core/execution.hpp>

namespace tessera {

/// What is known of one device (a GPU, or the host's CPUs). Quantities that the platform does not tell are 0.
struct DeviceInfo {
  std::string key;                 ///< short, stable identity for caches: "host:AMD EPYC", "gpu0:NVIDIA H200:9.0"
  std::string name;                ///< the vendor's name
  std::string space;               ///< execution space that drives it: "OpenMP", "Cuda", ...
  std::string architecture;        ///< found: "9.0", "gfx942", "x86-64"
  std::string architecture_built;  ///< built for: "9.0", "native", "x86-64-v3"
  std::string driver;              ///< of a GPU: its version as the vendor counts
  int major = 0;                   ///< exact architecture of NVIDIA devices; 0 elsewhere
  int minor = 0;
  int id = 0;                ///< the vendor's ordinal
  int units = 0;             ///< multiprocessors, compute units, or cores that this process may use
  int threads = 0;           ///< hosts: hardware threads of these cores
  int simd_width_bytes = 0;  ///< hosts: widest vector register compiled for
  int warp_width = 1;        ///< lanes that run in lock step
  double clock_ghz = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_free_bytes = 0;
  std::int64_t l1_bytes = 0;  ///< hosts: data cache of one core
  std::int64_t l2_bytes = 0;  ///< of one core on hosts, of the device on GPUs
  std::int64_t l3_bytes = 0;  ///< hosts: as one core sees it
  std::int64_t scratch_bytes_per_team = 0;
  std::int64_t registers_per_unit = 0;
  int max_threads_per_unit = 0;
  int numa_domains = 0;
  std::string links;  ///< how it is attached, in words
};

namespace detail {
DeviceInfo host_device_info(const std::string& space_name);
/// "0-2,5" as 0, 1, 2, 5; what does not read as such ends the list.
std::vector<int> parse_cpu_list(const std::string& text);
/// "512K" or "8M" in bytes.
std::int64_t parse_cache_size(const std::string& text);
}  // namespace detail

/// Where device_of() asks; the backends specialise it for their spaces.
template <class Space>
struct DeviceQuery {
  // a source that does not see the specialisation would take every stream of a device for one
  static_assert(is_host_space<Space>, "include the backend's device.hpp, or tessera/backends/enabled.hpp");
  static const DeviceInfo& of(const Space&) {
    static const DeviceInfo info = detail::host_device_info(Space::name());
    return info;
  }
  /// Hosts have no streams.
  static std::uint64_t stream_id(const Space&) { return 0; }
};

/// The device behind an instance. Cheap after the first call.
template <ExecutionSpace Space>
const DeviceInfo& device_of(const Space& exec) {
  return DeviceQuery<Space>::of(exec);
}

/// Whether operands of so many bytes leave the caches before they are read again, so that vec::store_streaming() pays.
/// Of a level-3 cache 16 MiB a thread of the instance count at most: processes share it, and a virtual machine of two
/// cores is told the whole of its host's, 300 MiB and more.
template <ExecutionSpace Space>
bool past_caches(const Space& exec, double bytes) {
  if constexpr (is_host_space<Space>) {
    const double known = static_cast<double>(device_of(exec).l3_bytes), share = 16.0 * (1 << 20) * exec.concurrency();
    return bytes > (known > 0 && known < share ? known : share);
  } else {
    return false;
  }
}

/// The id of the stream behind an instance, never used again in this process; 0 on hosts.
template <ExecutionSpace Space>
std::uint64_t stream_id_of(const Space& exec) {
  return DeviceQuery<Space>::stream_id(exec);
}

}  // namespace tessera
