// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/registry.hpp>

namespace tessera::detail {

/// What a stream keeps for its sorts: one block that grows with the largest.
template <class Space>
class SortStore {
 public:
  SortStore() = default;
  ~SortStore() { free(); }
  SortStore(const SortStore&) = delete;
  SortStore& operator=(const SortStore&) = delete;
  SortStore(SortStore&&) = delete;
  SortStore& operator=(SortStore&&) = delete;

  static SortStore& of(const Space& exec) {
    static Registry<SortStore> all("sort workspaces");
    return all.get(stream_key_of(exec), [] { return std::make_unique<SortStore>(); });
  }

  /// Held from before reserve() until the work is enqueued (devices) or done (hosts, whose instances share one).
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock<std::mutex>(m_mutex); }

  [[nodiscard]] void* reserve(const Space& exec, std::size_t bytes) {
    if (bytes <= m_bytes) return m_memory;
    release(exec);
    try {
      m_memory = Kokkos::kokkos_malloc<typename Space::memory_space>("tessera::sort::workspace", bytes);
    } catch (const std::exception& error) {
      throw Error(
          "tessera::sort", "no memory for a workspace of " + std::to_string(bytes) + " bytes",
          "a sort needs about as much as its keys and values",
          "Free memory, sort fewer at a time, or lend a workspace to plan_sort(): " + std::string(error.what()));
    }
    m_bytes = bytes;
    return m_memory;
  }
  void release(const Space& exec) {
    if (m_memory == nullptr) return;
    exec.fence("tessera::sort::workspace");  // earlier sorts may still use it
    free();
  }

 private:
  void free() {
    if (m_memory != nullptr) Kokkos::kokkos_free<typename Space::memory_space>(m_memory);
    m_memory = nullptr;
    m_bytes = 0;
  }

  std::mutex m_mutex;
  void* m_memory = nullptr;
  std::size_t m_bytes = 0;
};

}  // namespace tessera::detail
