// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/backends/inventory.hpp>

namespace tessera::backends {

/// What the CBLAS of this build tells of itself. Defined where the build has one.
LibraryInfo blas_library();

}  // namespace tessera::backends
