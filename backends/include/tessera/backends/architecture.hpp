// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace tessera::backends {

/// Can kernels compiled for some architectures run on a device, and is it what they were compiled for?
struct ArchitectureMatch {
  bool runs = true;
  std::string text;  ///< names built and found, and what to do; empty where they are the same
};

/// NVIDIA. Compiled code runs on devices of the same major number and an equal or higher minor one; the intermediate
/// code that Kokkos's builds embed is translated at the first launch for any later device; nothing runs on an
/// earlier one.
/// \param built   capabilities compiled for, as 80, 90, ...
/// \param device  the device's name, for the text
ArchitectureMatch match_compute_capability(const std::vector<int>& built, int major, int minor,
                                           const std::string& device);

/// AMD: code runs on exactly the architecture that it was compiled for.
/// \param built  as Kokkos names it ("AMD_GFX942") or as the compiler does ("gfx942"), separated by commas
/// \param found  as the runtime tells it: "gfx942:sramecc+:xnack-"
ArchitectureMatch match_gfx(const std::string& built, const std::string& found, const std::string& device);

/// The capabilities in Kokkos's names of architectures: "HOPPER90,AMDAVX" gives 90.
std::vector<int> capabilities_named(const std::string& kokkos_architectures);

/// What the matches of all visible devices mean: throws Error where none runs, else gives a notice for each device
/// that is not what was compiled for. No device at all is an error, with `why_none`.
void judge_devices(const std::vector<ArchitectureMatch>& matches, const std::string& vendor,
                   const std::string& why_none);

}  // namespace tessera::backends
