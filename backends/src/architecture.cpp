// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cctype>
#include <cstdlib>

#include <tessera/backends/architecture.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/log.hpp>

namespace tessera::backends {
namespace {

struct Known {
  int capability;
  const char* option;  // of Kokkos
  const char* preset;  // of ours; empty where there is none
};

// https://developer.nvidia.com/cuda-gpus; the options are those of Kokkos 5
constexpr Known known[] = {{70, "VOLTA70", ""},
                           {75, "TURING75", ""},
                           {80, "AMPERE80", "cuda-ampere"},
                           {86, "AMPERE86", "cuda-ampere"},
                           {89, "ADA89", "cuda-ada"},
                           {90, "HOPPER90", "cuda-hopper"},
                           {100, "BLACKWELL100", "cuda-blackwell"},
                           {120, "BLACKWELL120", "cuda-blackwell"}};

std::string dotted(int capability) { return std::to_string(capability / 10) + "." + std::to_string(capability % 10); }

std::string advice_for(int capability) {
  for (const Known& k : known)
    if (k.capability == capability)
      return std::string(k.preset[0] ? "build with the preset " + std::string(k.preset) + " and a" : "build with a") +
             " Kokkos configured with -DKokkos_ARCH_" + k.option + "=ON";
  return "build with a Kokkos configured for compute capability " + dotted(capability);
}

}  // namespace

ArchitectureMatch match_compute_capability(const std::vector<int>& built, int major, int minor,
                                           const std::string& device) {
  const int found = 10 * major + minor;
  std::string list;
  int best = 0;  // the latest that runs
  bool same_major = false;
  for (const int b : built) {
    list += (list.empty() ? "" : ", ") + dotted(b);
    if (b == found) return {};
    if (b > found) continue;
    best = std::max(best, b);
    same_major = same_major || b / 10 == major;
  }
  const std::string names = "kernels are compiled for compute capability " + (list.empty() ? "?" : list) +
                            " and the device '" + device + "' has " + dotted(found);
  if (built.empty()) return {};  // the build does not tell
  if (best == 0) return {false, names + ", which is earlier: they cannot run; " + advice_for(found)};
  if (same_major) return {true, names + ": they run, slower than they could; " + advice_for(found)};
  return {true, names + ": they are translated at the first launch (minutes, once) and run slower than they could; " +
                    advice_for(found)};
}

ArchitectureMatch match_gfx(const std::string& built, const std::string& found, const std::string& device) {
  const std::string plain = found.substr(0, found.find(':'));
  std::string lower = built;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (std::size_t at = lower.find(plain); at != std::string::npos && !plain.empty(); at = lower.find(plain, at + 1)) {
    const std::size_t end = at + plain.size();
    if (end == lower.size() || !std::isalnum(static_cast<unsigned char>(lower[end]))) return {};
  }
  std::string upper = plain;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return {false, "kernels are compiled for " + built + " and the device '" + device + "' is " + plain +
                     ": they cannot run; build with a Kokkos configured with -DKokkos_ARCH_AMD_" + upper + "=ON"};
}

std::vector<int> capabilities_named(const std::string& names) {
  std::vector<int> found;
  for (std::size_t start = 0; start < names.size();) {
    const std::size_t comma = std::min(names.find(',', start), names.size());
    const std::string name = names.substr(start, comma - start);
    for (const char* family : {"VOLTA", "TURING", "AMPERE", "ADA", "HOPPER", "BLACKWELL"})
      if (name.starts_with(family)) found.push_back(std::atoi(name.c_str() + std::string(family).size()));
    start = comma + 1;
  }
  return found;
}

void judge_devices(const std::vector<ArchitectureMatch>& matches, const std::string& vendor,
                   const std::string& why_none) {
  if (matches.empty())
    throw Error("tessera::ScopeGuard",
                "this build drives " + vendor + " GPUs and this process sees none (" + why_none + ")",
                "a GPU must be visible",
                "Run on a node that has one, look at its *_VISIBLE_DEVICES variable, or use a build for CPUs");
  std::string all;
  for (const ArchitectureMatch& m : matches) all += (all.empty() ? "" : "; ") + m.text;
  if (std::ranges::none_of(matches, &ArchitectureMatch::runs))
    throw Error("tessera::ScopeGuard", all, "the architecture built for must be the one found",
                "Rebuild as said, or ask for a node whose GPUs match");
  for (const ArchitectureMatch& m : matches)
    if (!m.text.empty()) notice_once(m.text);
}

}  // namespace tessera::backends
