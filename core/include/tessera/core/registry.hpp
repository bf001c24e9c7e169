// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>

#include <tessera/core/device.hpp>
#include <tessera/core/error.hpp>

/// \file
/// Where vendor handles and workspaces live between calls: one a device and stream, made at first use, destroyed
/// before Kokkos ends. The key is the device's key and the stream's id: never an address (a new stream may get the
/// address of a dead one), never a held copy of an instance (which would keep its stream alive).

namespace tessera {

/// The key of a registry's entry.
struct StreamKey {
  std::string device;
  std::uint64_t stream = 0;

  friend bool operator==(const StreamKey&, const StreamKey&) = default;
  friend auto operator<=>(const StreamKey&, const StreamKey&) = default;
};

template <ExecutionSpace Space>
[[nodiscard]] StreamKey stream_key_of(const Space& exec) {
  return StreamKey{device_of(exec).key, stream_id_of(exec)};
}

namespace detail {
/// Runs `action` when Kokkos is finalised, the last added first. `owner` may die before: then nothing runs.
void on_finalize(const std::shared_ptr<void>& owner, std::function<void()> action);
/// \throws Error unless Kokkos runs
void require_running(std::string_view what, const std::source_location& where);
}  // namespace detail

/// Resources by device and stream. Thread-safe; a reference stays good until Kokkos is finalised or clear().
/// Two calls that use one entry at the same time must order themselves (lock_instance).
template <class Resource>
class Registry {
 public:
  /// \param what  what it holds, for messages: "cuBLAS handles"
  explicit Registry(std::string what) : m_what(std::move(what)) {}

  /// The resource of `key`; make() returns a std::unique_ptr<Resource> where there is none yet.
  template <class Make>
  Resource& get(const StreamKey& key, Make&& make, std::source_location where = std::source_location::current()) {
    const std::scoped_lock lock(m_state->mutex);
    detail::require_running(m_what, where);
    if (m_state->closed)
      throw Error("tessera::Registry", m_what + " were asked for while Kokkos is being finalised",
                  "handles and workspaces end before Kokkos does", "Make the call before the ScopeGuard ends", where);
    if (!m_state->hooked) {
      detail::on_finalize(m_state, [state = m_state.get()] {
        const std::scoped_lock closing(state->mutex);
        state->closed = true;
        state->entries.clear();
        ++state->generation;
      });
      m_state->hooked = true;
    }
    auto& slot = m_state->entries[key];
    if (!slot) slot = make();
    return *slot;
  }

  [[nodiscard]] std::size_t size() const {
    const std::scoped_lock lock(m_state->mutex);
    return m_state->entries.size();
  }
  /// Destroys every resource; what was handed out is no longer good.
  void clear() {
    const std::scoped_lock lock(m_state->mutex);
    m_state->entries.clear();
    ++m_state->generation;
  }
  /// Changes when resources are destroyed: what get() gave is good as long as this stays.
  [[nodiscard]] std::uint64_t generation() const { return m_state->generation; }

 private:
  struct State {
    std::mutex mutex;
    std::map<StreamKey, std::unique_ptr<Resource>> entries;
    std::atomic<std::uint64_t> generation{0};
    bool hooked = false;
    bool closed = false;
  };
  std::string m_what;
  std::shared_ptr<State> m_state = std::make_shared<State>();
};

}  // namespace tessera
