// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small program whose output and exit are what CTest looks at: environment variables, the end of a process, and
// what may be called before Kokkos starts and after it ends.
#include <cstdio>
#include <cstring>
#include <memory>

#include <tessera/core/error.hpp>
#include <tessera/core/log.hpp>
#include <tessera/core/registry.hpp>
#include <tessera/core/scope_guard.hpp>
#include <tessera/core/trace.hpp>

namespace {

struct Handle {
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { std::printf("handle destroyed while Kokkos %s\n", Kokkos::is_finalized() ? "is gone" : "runs"); }
};

tessera::Registry<Handle>& handles() {
  static tessera::Registry<Handle> registry("probe handles");
  return registry;
}

void use_handle() {
  handles().get({"device", 1}, [] { return std::make_unique<Handle>(); });
}

void expect_refusal(const char* when) {
  try {
    use_handle();
    std::printf("%s: accepted\n", when);
  } catch (const tessera::Error& error) {
    std::printf("%s: %s\n", when, error.what());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "log") == 0) {
    for (const char* topic : {"paths", "devices"}) {
      std::printf("%s is %s\n", topic, tessera::log_enabled(topic) ? "on" : "off");
      tessera::log_line(topic, std::string("a line about ") + topic);
    }
    return 0;
  }
  if (std::strcmp(what, "notice") == 0) {
    for (int i = 0; i < 3; ++i) tessera::notice_once("a slower way was taken");
    tessera::notice_once("another one");
    return 0;
  }
  if (std::strcmp(what, "late") == 0) {
    tessera::detail::add_startup_check(
        [] { throw tessera::Error("probe", "a device of another kind", "the kind built for", "Rebuild"); });
    try {
      const tessera::ScopeGuard guard(argc, argv);
    } catch (const tessera::Error& error) {
      std::printf("stopped: %s; Kokkos %s\n", error.what(), Kokkos::is_initialized() ? "runs" : "was not started");
    }
    return 0;
  }
  expect_refusal("before");
  {
    const tessera::ScopeGuard guard(argc, argv);
    use_handle();
    const tessera::Region region("tessera::probe");
    std::printf("arguments left: %d\n", argc);
  }
  expect_refusal("after");
  const tessera::ScopeGuard again(argc, argv);
  std::printf("Kokkos %s\n", Kokkos::is_initialized() ? "runs again" : "stays ended");
  return 0;
}
