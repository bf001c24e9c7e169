// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace tessera {

/// Debug builds also check what costs as much as the work itself, such as every index of a gather.
#ifdef NDEBUG
constexpr bool debug_checks = false;
#else
constexpr bool debug_checks = true;
#endif

}  // namespace tessera
