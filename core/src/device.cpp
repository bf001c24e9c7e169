// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#include <tessera/core/config.hpp>
#include <tessera/core/device.hpp>
#include <tessera/core/simd_width.hpp>

/// \file
/// What the operating system tells of the host, read from /proc and /sys where there are such; 0 elsewhere.

namespace tessera::detail {
namespace {

namespace fs = std::filesystem;

/// The value of the first "name : value" line of a /proc file; empty where there is none.
std::string proc_value(const fs::path& file, const std::string& name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return {};
}

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::int64_t kibibytes(const std::string& text) { return text.empty() ? 0 : std::atoll(text.c_str()) * 1024; }

/// Every CPU that some thread of this process may use: a bound master thread alone would show one.
std::set<int> usable_cpus() {
  std::set<int> cpus;
  std::error_code ignored;
  for (const auto& task : fs::directory_iterator("/proc/self/task", ignored)) {
    const auto allowed = parse_cpu_list(proc_value(task.path() / "status", "Cpus_allowed_list"));
    cpus.insert(allowed.begin(), allowed.end());
  }
  return cpus;
}

/// Hardware threads of one core count as one.
int cores_of(const std::set<int>& cpus) {
  std::set<std::pair<std::string, std::string>> cores;
  for (const int cpu : cpus) {
    const fs::path topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology";
    const std::string core = first_line(topology / "core_id");
    if (core.empty()) return static_cast<int>(cpus.size());
    cores.emplace(first_line(topology / "physical_package_id"), core);
  }
  return static_cast<int>(cores.size());
}

/// Sizes of the data and unified caches that the given CPU sees, by level 1 to 3.
void read_caches(int cpu, DeviceInfo& info) {
  const fs::path caches = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache";
  for (int i = 0; i < 8; ++i) {
    const fs::path cache = caches / ("index" + std::to_string(i));
    const std::string level = first_line(cache / "level");
    if (level.empty()) break;
    if (first_line(cache / "type") == "Instruction") continue;
    const std::int64_t bytes = parse_cache_size(first_line(cache / "size"));
    if (level == "1") info.l1_bytes = bytes;
    if (level == "2") info.l2_bytes = bytes;
    if (level == "3") info.l3_bytes = bytes;
  }
}

}  // namespace

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  for (const char* at = text.c_str(); *at != '\0';) {
    char* end = nullptr;
    const long first = std::strtol(at, &end, 10);
    if (end == at) break;
    long last = first;
    if (*end == '-') {
      at = end + 1;
      last = std::strtol(at, &end, 10);
      if (end == at) break;
    }
    for (long cpu = first; cpu <= last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    at = *end == ',' ? end + 1 : end;
  }
  return cpus;
}

std::int64_t parse_cache_size(const std::string& text) {
  char* unit = nullptr;
  const std::int64_t number = std::strtoll(text.c_str(), &unit, 10);
  if (*unit == 'K') return number * 1024;
  if (*unit == 'M') return number * 1024 * 1024;
  return number;
}

DeviceInfo host_device_info(const std::string& space_name) {
  DeviceInfo info;
  info.space = space_name;
  info.name = proc_value("/proc/cpuinfo", "model name");
  if (info.name.empty()) info.name = "host CPU";
  info.key = "host:" + space_name + ":" + info.name;
#if defined(__x86_64__)
  info.architecture = "x86-64";
#elif defined(__aarch64__)
  info.architecture = "aarch64";
#else
  info.architecture = "unknown";
#endif
  info.architecture_built = TESSERA_HOST_ARCH;
  const std::set<int> cpus = usable_cpus();
  info.threads = cpus.empty() ? static_cast<int>(std::thread::hardware_concurrency()) : static_cast<int>(cpus.size());
  info.units = cpus.empty() ? info.threads : cores_of(cpus);
  read_caches(cpus.empty() ? 0 : *cpus.begin(), info);
  info.simd_width_bytes = host_simd_bytes;
  // the highest clock where the system scales it (kHz), else the present one
  const std::string khz = first_line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  const std::string mhz = proc_value("/proc/cpuinfo", "cpu MHz");
  if (!khz.empty())
    info.clock_ghz = std::atof(khz.c_str()) / 1e6;
  else if (!mhz.empty())
    info.clock_ghz = std::atof(mhz.c_str()) / 1e3;
  info.memory_bytes = kibibytes(proc_value("/proc/meminfo", "MemTotal"));
  info.memory_free_bytes = kibibytes(proc_value("/proc/meminfo", "MemAvailable"));
  const auto nodes = parse_cpu_list(first_line("/sys/devices/system/node/online"));
  info.numa_domains = nodes.empty() ? 1 : static_cast<int>(nodes.size());
  info.links = "system memory";
  return info;
}

}  // namespace tessera::detail
