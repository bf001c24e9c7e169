// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <vector>

#include <tessera/core/instance_lock.hpp>
#include <tessera/core/registry.hpp>

namespace tessera::detail {
namespace {

struct Hooks {
  std::mutex mutex;
  std::vector<std::pair<std::weak_ptr<void>, std::function<void()>>> actions;
  bool pushed = false;
};

Hooks& hooks() {
  static Hooks instance;
  return instance;
}

void run_hooks() {
  while (true) {
    std::pair<std::weak_ptr<void>, std::function<void()>> last;
    {
      const std::scoped_lock lock(hooks().mutex);
      if (hooks().actions.empty()) return;
      last = std::move(hooks().actions.back());
      hooks().actions.pop_back();
    }
    if (const auto alive = last.first.lock()) last.second();
  }
}

}  // namespace

void on_finalize(const std::shared_ptr<void>& owner, std::function<void()> action) {
  const std::scoped_lock lock(hooks().mutex);
  if (!hooks().pushed) {
    Kokkos::push_finalize_hook(run_hooks);
    hooks().pushed = true;
  }
  hooks().actions.emplace_back(owner, std::move(action));
}

void require_running(std::string_view what, const std::source_location& where) {
  require(Kokkos::is_initialized() && !Kokkos::is_finalized(), [&] {
    return Error("tessera::Registry",
                 std::string(what) + " were asked for " +
                     (Kokkos::is_finalized() ? "after Kokkos ended" : "before Kokkos started"),
                 "handles and workspaces live while Kokkos runs", "Keep a tessera::ScopeGuard for the length of main",
                 where);
  });
}

std::recursive_mutex& instance_mutex(const StreamKey& key) {
  static Registry<std::recursive_mutex> locks("instance locks");
  return locks.get(key, [] { return std::make_unique<std::recursive_mutex>(); });
}

}  // namespace tessera::detail
