// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include <tessera/core/device.hpp>

namespace tessera {

/// Every device that this build can drive: the host first, then GPUs by ordinal.
[[nodiscard]] std::vector<DeviceInfo> devices();

}  // namespace tessera
