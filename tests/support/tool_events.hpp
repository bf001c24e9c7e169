// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// What Kokkos tells its tools, recorded inside the process: kernels, fences, copies and allocations with the name
/// and the device identity (space, device and instance) of each.

namespace tool_events {

struct Event {
  std::string name;
  std::uint32_t device = 0;
};

struct Recorded {
  std::vector<Event> kernels;
  std::vector<Event> fences;
  std::vector<std::string> copies;
  std::vector<std::string> allocations;
};

namespace detail {
inline std::mutex mutex;
inline Recorded recorded;
inline std::uint64_t next = 0;

inline void kernel(const char* name, std::uint32_t device, std::uint64_t* handle) {
  const std::scoped_lock lock(mutex);
  recorded.kernels.push_back({name, device});
  *handle = next++;
}
inline void fence(const char* name, std::uint32_t device, std::uint64_t* handle) {
  const std::scoped_lock lock(mutex);
  *handle = next++;
  // Kokkos waits before it calls a tool that has not said that it needs no fences; without a tool it does not
  if (std::string_view(name).starts_with("Kokkos::Tools::")) return;
  recorded.fences.push_back({name, device});
}
inline void copy(Kokkos::Tools::SpaceHandle, const char* to, const void*, Kokkos::Tools::SpaceHandle, const char* from,
                 const void*, std::uint64_t) {
  const std::scoped_lock lock(mutex);
  recorded.copies.push_back(std::string(from) + " -> " + to);
}
inline void allocation(Kokkos::Tools::SpaceHandle, const char* name, const void*, std::uint64_t bytes) {
  if (bytes == 0) return;  // Kokkos 5.0 notes a scratch of nothing at each team launch
  const std::scoped_lock lock(mutex);
  recorded.allocations.emplace_back(name);
}
}  // namespace detail

/// Records from construction to the call of take(), or to its end.
class Recorder {
 public:
  Recorder() {
    namespace tools = Kokkos::Tools::Experimental;
    detail::recorded = {};
    tools::set_begin_parallel_for_callback(detail::kernel);
    tools::set_begin_parallel_reduce_callback(detail::kernel);
    tools::set_begin_parallel_scan_callback(detail::kernel);
    tools::set_begin_fence_callback(detail::fence);
    tools::set_begin_deep_copy_callback(detail::copy);
    tools::set_allocate_data_callback(detail::allocation);
  }
  ~Recorder() { stop(); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  [[nodiscard]] Recorded take() {
    stop();
    const std::scoped_lock lock(detail::mutex);
    return detail::recorded;
  }

 private:
  static void stop() {
    namespace tools = Kokkos::Tools::Experimental;
    tools::set_begin_parallel_for_callback(nullptr);
    tools::set_begin_parallel_reduce_callback(nullptr);
    tools::set_begin_parallel_scan_callback(nullptr);
    tools::set_begin_fence_callback(nullptr);
    tools::set_begin_deep_copy_callback(nullptr);
    tools::set_allocate_data_callback(nullptr);
  }
};

}  // namespace tool_events
