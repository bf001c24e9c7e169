// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

#include <tessera/core/device.hpp>

namespace tessera {

/// Every device that this build can drive: the host first, then GPUs by ordinal.
[[nodiscard]] std::vector<DeviceInfo> devices();

/// A library or driver of a vendor that this process uses.
struct LibraryInfo {
  std::string name;     ///< "BLAS", "CUDA", ...
  std::string version;  ///< as it tells it
  std::string detail;   ///< what else it tells: cores it is tuned for, threads, driver
  std::string advice;   ///< where it is used in a way that costs; else empty
};
[[nodiscard]] std::vector<LibraryInfo> libraries();

}  // namespace tessera
