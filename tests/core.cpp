// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors, versions, devices, the registry, regions: core apart from views.
#include <algorithm>
#include <atomic>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <memory>
#include <sstream>
#include <thread>
#include <unistd.h>
#include <vector>

#include <tessera/backends/architecture.hpp>
#include <tessera/backends/enabled.hpp>
#include <tessera/backends/inventory.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/instance_lock.hpp>
#include <tessera/core/log.hpp>
#include <tessera/core/registry.hpp>
#include <tessera/core/scope_guard.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/core/version.hpp>

using Space = TESSERA_TEST_SPACE;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Matches;
using tessera::Error;
using tessera::Version;

namespace {

template <class Function>
std::string message(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("an error has its parts and reads as one sentence", "[core][error]") {
  const auto here = std::source_location::current();
  const Error error("tessera::gemm", "A is 4 x 3", "A must be square", "Pass a square A", here);
  CHECK(error.function() == "tessera::gemm");
  CHECK(error.given() == "A is 4 x 3");
  CHECK(error.allowed() == "A must be square");
  CHECK(error.advice() == "Pass a square A");
  CHECK(error.where().line() == here.line());
  CHECK(std::string(error.what()) == "tessera::gemm: A is 4 x 3; A must be square. Pass a square A. [" +
                                         std::string(here.file_name()) + ":" + std::to_string(here.line()) + "]");
  CHECK_THAT(Error("f", "g", "a").what(), ContainsSubstring("f: g; a. [") && ContainsSubstring("core.cpp:"));
  // caught as what everybody catches
  CHECK_THROWS_AS(throw error, std::runtime_error);
}

TEST_CASE("require describes only what fails", "[core][error]") {
  int described = 0;
  const auto describe = [&] {
    ++described;
    return Error("f", "g", "a");
  };
  tessera::require(true, describe);
  CHECK(described == 0);
  CHECK_THROWS_AS(tessera::require(false, describe), Error);
  CHECK(described == 1);
}

TEST_CASE("versions are those of the headers, and the running Kokkos is the one built against", "[core][version]") {
  CHECK(tessera::version() == Version{TESSERA_VERSION_MAJOR, TESSERA_VERSION_MINOR, TESSERA_VERSION_PATCH});
  CHECK(tessera::version().text() == TESSERA_VERSION_STRING);
  CHECK(tessera::kokkos_version_built() ==
        Version{KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100});
  CHECK(tessera::kokkos_version_found() == tessera::kokkos_version_built());
  CHECK(Version{5, 0, 2} < Version{5, 2, 0});
  CHECK_THAT(tessera::build_description(), ContainsSubstring("Tessera " TESSERA_VERSION_STRING " over Kokkos 5."));
}

TEST_CASE("a mixture of versions is refused with what to do", "[core][version]") {
  using tessera::detail::Abi;
  const auto where = std::source_location::current();
  const Abi library{{0, 1, 0}, {5, 2, 2}};
  CHECK_NOTHROW(tessera::detail::check_compiled_abi(library, library, where));
  CHECK_THAT(message([&] { tessera::detail::check_compiled_abi({{0, 1, 0}, {5, 0, 2}}, library, where); }),
             ContainsSubstring("compiled against Kokkos 5.0.2 and Tessera against Kokkos 5.2.2") &&
                 ContainsSubstring("Kokkos_ROOT"));
  CHECK_THAT(message([&] { tessera::detail::check_compiled_abi({{0, 2, 0}, {5, 2, 2}}, library, where); }),
             ContainsSubstring("headers of Tessera 0.2.0 and runs with the library of 0.1.0"));
  CHECK_THAT(message([&] { tessera::detail::check_running_kokkos({5, 2, 2}, {5, 1, 0}, where); }),
             ContainsSubstring("built against Kokkos 5.2.2 and the Kokkos that runs is 5.1.0") &&
                 ContainsSubstring("LD_LIBRARY_PATH"));
  // the guard itself, with a user's file that says it was compiled against another Kokkos
  int argc = 1;
  char name[] = "program";
  char* argv[] = {name, nullptr};
  CHECK_THAT(message([&] { const tessera::ScopeGuard guard(argc, argv, {tessera::version(), {4, 7, 1}}); }),
             ContainsSubstring("tessera::ScopeGuard: this program was compiled against Kokkos 4.7.1") &&
                 ContainsSubstring("core.cpp:"));
}

TEST_CASE("a second guard does nothing", "[core][scope_guard]") {
  int argc = 1;
  char name[] = "program";
  char* argv[] = {name, nullptr};
  {
    const tessera::ScopeGuard inner(argc, argv);
    CHECK(Kokkos::is_initialized());
  }
  CHECK(Kokkos::is_initialized());
  CHECK_FALSE(Kokkos::is_finalized());
}

TEST_CASE("architectures built and found are named", "[core][architecture]") {
  using tessera::backends::match_compute_capability;
  const auto same = match_compute_capability({90}, 9, 0, "H200");
  CHECK((same.runs && same.text.empty()));
  const auto later = match_compute_capability({80}, 9, 0, "NVIDIA H200");
  CHECK(later.runs);
  CHECK_THAT(later.text, ContainsSubstring("compiled for compute capability 8.0") &&
                             ContainsSubstring("'NVIDIA H200' has 9.0") && ContainsSubstring("translated") &&
                             ContainsSubstring("cuda-hopper") && ContainsSubstring("Kokkos_ARCH_HOPPER90"));
  const auto minor = match_compute_capability({80}, 8, 6, "A40");
  CHECK((minor.runs && minor.text.find("slower") != std::string::npos));
  const auto earlier = match_compute_capability({90}, 8, 9, "L40");
  CHECK_FALSE(earlier.runs);
  CHECK_THAT(earlier.text, ContainsSubstring("cannot run") && ContainsSubstring("cuda-ada"));
  CHECK(match_compute_capability({80, 90}, 9, 0, "H200").text.empty());
  CHECK_FALSE(match_compute_capability({90, 100}, 8, 0, "A100").runs);

  using tessera::backends::match_gfx;
  CHECK(match_gfx("AMD_GFX942", "gfx942:sramecc+:xnack-", "MI300A").runs);
  CHECK(match_gfx("gfx90a,gfx942", "gfx90a", "MI250X").runs);
  const auto other = match_gfx("AMD_GFX90A", "gfx942:sramecc+", "MI300A");
  CHECK_FALSE(other.runs);
  CHECK_THAT(other.text, ContainsSubstring("compiled for AMD_GFX90A") && ContainsSubstring("is gfx942") &&
                             ContainsSubstring("Kokkos_ARCH_AMD_GFX942"));
  CHECK_FALSE(match_gfx("gfx9", "gfx942", "x").runs);
  CHECK_FALSE(match_gfx("gfx1100", "gfx110", "x").runs);

  CHECK(tessera::backends::capabilities_named("AMDAVX,HOPPER90") == std::vector<int>{90});
  CHECK(tessera::backends::capabilities_named("BLACKWELL100") == std::vector<int>{100});
  CHECK(tessera::backends::capabilities_named("").empty());
}

TEST_CASE("a program that no device can run is stopped at its start", "[core][architecture]") {
  using tessera::backends::judge_devices;
  const auto good = tessera::backends::match_compute_capability({90}, 9, 0, "H200");
  const auto bad = tessera::backends::match_compute_capability({90}, 8, 0, "A100");
  CHECK_NOTHROW(judge_devices({good}, "NVIDIA", ""));
  CHECK_THAT(message([&] { judge_devices({bad}, "NVIDIA", ""); }),
             ContainsSubstring("9.0 and the device 'A100' has 8.0") && ContainsSubstring("Rebuild"));
  CHECK_THAT(message([&] { judge_devices({}, "NVIDIA", "no driver"); }),
             ContainsSubstring("drives NVIDIA GPUs and this process sees none (no driver)"));
}

TEST_CASE("the inventory tells the host and the test's device", "[core][device]") {
  const auto all = tessera::devices();
  REQUIRE_FALSE(all.empty());
  const tessera::DeviceInfo& host = all.front();
  CHECK(host.units >= 1);
  CHECK(host.threads >= host.units);
  CHECK(host.numa_domains >= 1);
  CHECK(host.memory_bytes > 0);
  CHECK(host.memory_free_bytes <= host.memory_bytes);
  CHECK(host.simd_width_bytes == tessera::machine<Kokkos::DefaultHostExecutionSpace>::simd_bytes);
  CHECK_FALSE(host.name.empty());
  CHECK_FALSE(host.architecture_built.empty());
#if defined(__linux__)
  if (host.l2_bytes > 0) {
    CHECK(host.l1_bytes >= 8 * 1024);
    CHECK(host.l2_bytes > host.l1_bytes);
  }
  // the C library reads the same caches in its own way; it answers 0 where it cannot
  if (const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE); l2 > 0 && host.l2_bytes > 0) CHECK(host.l2_bytes == l2);
  CHECK(host.memory_bytes / 4096 >= sysconf(_SC_PHYS_PAGES) * (sysconf(_SC_PAGESIZE) / 4096) / 2);
#endif
  const Space exec;
  const auto& info = tessera::device_of(exec);
  CHECK(info.space == Space::name());
  CHECK(std::ranges::any_of(all, [&](const auto& d) { return d.name == info.name; }));
  CHECK(&info == &tessera::device_of(exec));
  for (const auto& device : all) {
    INFO(device.key);
    CHECK(std::ranges::count(all, device.key, &tessera::DeviceInfo::key) == 1);
    CHECK(device.units > 0);
    CHECK(device.memory_bytes > 0);
    // numbers of NVIDIA's architectures, which others' would be taken for
    CHECK((device.major > 0) == (device.space == "Cuda"));
  }
}

TEST_CASE("the system's lists are read", "[core][device]") {
  using tessera::detail::parse_cache_size;
  using tessera::detail::parse_cpu_list;
  CHECK(parse_cpu_list("0") == std::vector<int>{0});
  CHECK(parse_cpu_list("0-2,5,7-8\n") == std::vector<int>{0, 1, 2, 5, 7, 8});
  CHECK(parse_cpu_list("").empty());
  CHECK(parse_cpu_list("none").empty());
  CHECK(parse_cache_size("512K") == 512 * 1024);
  CHECK(parse_cache_size("8M") == 8 * 1024 * 1024);
  CHECK(parse_cache_size("") == 0);
}

TEST_CASE("machine<Space> is sane", "[core][machine]") {
  using M = tessera::machine<Space>;
  STATIC_CHECK(M::is_host == tessera::is_host_space<Space>);
  STATIC_CHECK(M::warp_width >= 1);
  STATIC_CHECK((M::simd_bytes >= 8 && (M::simd_bytes & (M::simd_bytes - 1)) == 0));
  STATIC_CHECK(M::load_bytes <= 64);
  STATIC_CHECK(M::vector_registers >= 16);
  STATIC_CHECK(M::team_threads % M::warp_width == 0);
  // what a kernel may ask for, Kokkos grants
  const Space exec;
  const auto policy = tessera::Teams<Space>(exec, 1, M::is_host ? 1 : 128);
  CHECK(static_cast<std::size_t>(policy.scratch_size_max(0)) >= M::scratch_bytes);
  if (!M::is_host) CHECK(M::warp_width == decltype(policy)::vector_length_max());
}

TEST_CASE("labels have one shape", "[core]") { CHECK(tessera::label("gemm", "pack_a") == "tessera::gemm::pack_a"); }

TEST_CASE("a registry makes one resource a device and stream", "[core][registry]") {
  struct Counted {
    std::atomic<int>* alive;
    explicit Counted(std::atomic<int>* a) : alive(a) { ++*alive; }
    ~Counted() { --*alive; }
  };
  std::atomic<int> alive = 0, made = 0;
  {
    tessera::Registry<Counted> registry("test handles");
    const auto get = [&](const char* device, std::uint64_t stream) -> Counted& {
      return registry.get({device, stream}, [&] {
        ++made;
        return std::make_unique<Counted>(&alive);
      });
    };
    Counted& first = get("gpu0", 1);
    CHECK(&first == &get("gpu0", 1));
    CHECK(&first != &get("gpu0", 2));
    CHECK(&first != &get("gpu1", 1));
    CHECK((made == 3 && alive == 3 && registry.size() == 3));

    std::vector<std::thread> threads;
    threads.reserve(8);
    std::atomic<Counted*> seen[8] = {};
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 200; ++i) seen[t] = &get("gpu2", i % 5);
      });
    for (auto& t : threads) t.join();
    CHECK(made == 8);
    for (int t = 1; t < 8; ++t) CHECK(seen[t] == seen[0]);

    registry.clear();
    CHECK(alive == 0);
    get("gpu0", 1);
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("the lock of an instance may be taken again by the same thread", "[core][registry]") {
  const Space exec;
  const auto once = tessera::lock_instance(exec);
  const auto twice = tessera::lock_instance(exec);
  CHECK(once.owns_lock() == !tessera::is_host_space<Space>);
  CHECK(twice.owns_lock() == !tessera::is_host_space<Space>);
}

TEST_CASE("regions nest in the table of times", "[core][trace]") {
  tessera::reset_timings();
  tessera::enable_timings(true);
  for (int i = 0; i < 3; ++i) {
    const tessera::Region outer("tessera::outer");
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    const tessera::Region inner("tessera::inner");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  {
    const tessera::Region alone("tessera::inner");
  }
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 25; ++i) const tessera::Region region("tessera::threaded");
    });
  for (auto& t : threads) t.join();
  tessera::enable_timings(false);
  {
    const tessera::Region unseen("tessera::unseen");
  }

  std::ostringstream text;
  tessera::print_timings(text);
  std::vector<std::string> lines;
  std::istringstream in(text.str());
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  INFO(text.str());
  REQUIRE(lines.size() == 5);
  CHECK_THAT(lines[0], Matches("region +calls +total s +mean us +share *"));
  // longest first; what is inside is indented and follows
  CHECK_THAT(lines[1], Matches("tessera::outer +3 +0\\.\\d{6} +\\d+\\.\\d\\d +\\d+\\.\\d%"));
  CHECK_THAT(lines[2], Matches("  tessera::inner +3 .*"));
  CHECK_THAT(text.str(), Matches("[^]*\ntessera::inner +1 [^]*") && Matches("[^]*\ntessera::threaded +100 [^]*") &&
                             !ContainsSubstring("unseen"));
  // 3 x 6 ms in all, 3 x 2 ms inside: the sleeps last at least as long as asked
  double outer = 0, inner = 0;
  REQUIRE(std::sscanf(lines[1].c_str(), " tessera::outer 3 %lf", &outer) == 1);
  REQUIRE(std::sscanf(lines[2].c_str(), " tessera::inner 3 %lf", &inner) == 1);
  CHECK(outer >= 0.018);
  CHECK(inner >= 0.006);
  CHECK(inner < outer);
  tessera::reset_timings();
}

TEST_CASE("a region switched on half-way counts whole or not at all", "[core][trace]") {
  tessera::reset_timings();
  {
    const tessera::Region before("tessera::before");
    tessera::enable_timings(true);
    const tessera::Region after("tessera::after");
    tessera::enable_timings(false);
  }
  std::ostringstream text;
  tessera::print_timings(text);
  CHECK_THAT(text.str(), ContainsSubstring("\ntessera::after ") && !ContainsSubstring("before"));
  tessera::reset_timings();
}
