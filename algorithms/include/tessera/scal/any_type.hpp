// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// scal for element types that the library does not bring compiled: include this instead of tessera/scal.hpp.

#include <tessera/axpby/any_type.hpp>
#include <tessera/scal.hpp>

namespace tessera::detail {

/// x = 0 x + alpha x, of which axpby reads and computes the second term alone.
template <class T, class Space>
void run_scal(const Space& exec, const ScalProblem<T>& p) {
  const Region region("tessera::scal[portable]");
  static const ElementwiseLabels labels("scal");
  axpby_kernels(exec, labels, AxpbyProblem<T>{{}, p.x, p.alpha, p.x});
}

}  // namespace tessera::detail
