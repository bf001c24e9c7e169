// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fstream>
#include <thread>

#include <tessera/core/config.hpp>
#include <tessera/core/device.hpp>
#include <tessera/core/simd_width.hpp>

namespace tessera::detail {
namespace {

/// The value of the first "name : value" line of a /proc file; empty where there is none.
std::string proc_value(const char* file, const std::string& name) {
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

std::int64_t kibibytes(const std::string& text) { return text.empty() ? 0 : std::atoll(text.c_str()) * 1024; }

}  // namespace

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
  info.units = static_cast<int>(std::thread::hardware_concurrency());
  info.simd_width_bytes = host_simd_bytes;
  const std::string mhz = proc_value("/proc/cpuinfo", "cpu MHz");
  info.clock_ghz = mhz.empty() ? 0 : std::atof(mhz.c_str()) / 1000;
  info.memory_bytes = kibibytes(proc_value("/proc/meminfo", "MemTotal"));
  info.memory_free_bytes = kibibytes(proc_value("/proc/meminfo", "MemAvailable"));
  info.links = "system memory";
  return info;
}

}  // namespace tessera::detail
