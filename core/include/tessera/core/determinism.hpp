// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace tessera {

/// How far the bits of a result are promised. What cannot be met is refused, never ignored.
enum class Determinism {
  fast,          ///< within the documented bound; bits may differ from run to run
  reproducible,  ///< the same bits from run to run on one backend with one configuration
  portable,      ///< the same bits on every backend, for any number of threads
};

}  // namespace tessera
