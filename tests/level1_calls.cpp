// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <tessera/asum.hpp>
#include <tessera/axpby.hpp>
#include <tessera/dot.hpp>
#include <tessera/iamax.hpp>
#include <tessera/nrm2.hpp>
#include <tessera/scal.hpp>
#include <tessera/transpose.hpp>

// How the calls of level 1 behave: their labels, the instance they run on, that they neither wait nor allocate where
// they promise not to, and that they may be made from several threads.

using Space = TESSERA_TEST_SPACE;
using tessera::index_t;

namespace {

/// What Kokkos told its tools during a call.
struct Events {
  std::vector<std::string> kernels, regions, fences, allocations;
  std::vector<std::uint32_t> devices;
};
Events* recording = nullptr;

void watch() {
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback([](const char* name, std::uint32_t device, std::uint64_t*) {
    if (recording == nullptr) return;
    recording->kernels.emplace_back(name);
    recording->devices.push_back(device);
  });
  tools::set_begin_parallel_reduce_callback([](const char* name, std::uint32_t device, std::uint64_t*) {
    if (recording == nullptr) return;
    recording->kernels.emplace_back(name);
    recording->devices.push_back(device);
  });
  tools::set_push_region_callback([](const char* name) {
    if (recording != nullptr) recording->regions.emplace_back(name);
  });
  tools::set_begin_fence_callback([](const char* name, std::uint32_t, std::uint64_t*) {
    // Kokkos itself waits before it tells a tool that has not asked it to leave that out
    const std::string fence = name;
    if (recording != nullptr && fence.find("Profile Tool Fence") == std::string::npos)
      recording->fences.push_back(fence);
  });
  tools::set_allocate_data_callback(
      [](Kokkos::Profiling::SpaceHandle, const char* name, const void*, std::uint64_t bytes) {
        // Kokkos 5.0 notes a scratch of nothing at each team launch
        if (recording != nullptr && bytes > 0) recording->allocations.emplace_back(name);
      });
}

Events record(const std::function<void()>& call) {
  Events events;
  recording = &events;
  call();
  recording = nullptr;
  return events;
}

void require_calls(const Space& exec, const std::string& algorithm, const Events& events) {
  INFO(algorithm);
  REQUIRE(events.regions == std::vector<std::string>{"tessera::" + algorithm + "[portable]"});
  REQUIRE_FALSE(events.kernels.empty());
  for (const std::string& name : events.kernels) REQUIRE(name.starts_with("tessera::" + algorithm + "::"));
  for (const std::uint32_t device : events.devices) REQUIRE(device == Kokkos::Tools::Experimental::device_id(exec));
}

}  // namespace

TEST_CASE("level 1: labels, instance, no wait and no allocation", "[level1]") {
  watch();
  const auto instances = Kokkos::Experimental::partition_space(Space(), 1, 1);
  for (const Space& exec : instances) {
    Kokkos::View<double*, Space> x("x", 3000), y("y", 3000);
    Kokkos::View<double**, Kokkos::LayoutLeft, Space> a("a", 70, 40), b("b", 40, 70), c("c", 40, 40);
    Kokkos::View<double, Space> result("result");
    Kokkos::View<index_t, Space> index("index");
    const std::vector<std::pair<std::string, std::function<void()>>> calls = {
        {"axpby", [&] { tessera::axpby(exec, 2.0, x, result, y); }},
        {"axpby", [&] { tessera::axpby(exec, 2.0, tessera::transposed(a), 0.0, b); }},
        {"scal", [&] { tessera::scal(exec, 2.0, x); }},
        {"dot", [&] { tessera::dot(exec, x, y, result); }},
        {"nrm2", [&] { tessera::nrm2(exec, x, result); }},
        {"asum", [&] { tessera::asum(exec, x, result); }},
        {"iamax", [&] { tessera::iamax(exec, x, index); }},
        {"transpose", [&] { tessera::transpose(exec, a, b); }},
        {"transpose", [&] { tessera::transpose(exec, c, c); }},
    };
    for (const auto& [name, call] : calls) call();  // the first call on a stream may set up its workspace
    for (const auto& [name, call] : calls) {
      const Events events = record(call);
      require_calls(exec, name, events);
      for (const std::string& name_of_fence : events.fences) FAIL(name << " waited at " << name_of_fence);
      REQUIRE(events.allocations.empty());
    }
    double host = 0;
    const Events waiting = record([&] { host = tessera::dot(exec, x, y); });
    require_calls(exec, "dot", waiting);
    REQUIRE(host == 0);
    for (const std::string& name : waiting.fences) REQUIRE(name == "tessera::dot::result");
    exec.fence("test: before the views die");
  }
}

TEST_CASE("level 1: several threads, an instance each and one shared", "[level1]") {
  constexpr int threads = 3;
  const auto instances = Kokkos::Experimental::partition_space(Space(), 1, 1, 1);
  Kokkos::View<double*, Space> x("x", 5000);
  Kokkos::deep_copy(x, 2.0);
  Kokkos::fence("test: x is there");
  for (const bool shared : {false, true}) {
    int wrong[threads] = {};
    std::vector<std::thread> crew;
    crew.reserve(threads);
    for (int t = 0; t < threads; ++t)
      crew.emplace_back([&, t] {
        const Space& exec = instances[shared ? 0 : static_cast<std::size_t>(t)];
        const auto part = Kokkos::subview(x, Kokkos::pair<index_t, index_t>(0, 1000 * (t + 1)));
        for (int k = 0; k < 200; ++k)
          if (tessera::dot(exec, part, part) != 4000.0 * (t + 1) || tessera::iamax(exec, part) != 0) ++wrong[t];
      });
    for (auto& thread : crew) thread.join();
    for (const int w : wrong) REQUIRE(w == 0);
  }
}
