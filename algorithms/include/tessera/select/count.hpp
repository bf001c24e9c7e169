// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <string>

#include <tessera/core/execution.hpp>
#include <tessera/core/instance_lock.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/level1/reduction.hpp>

/// \file
/// Where the number of elements that stay goes, for all that has a `count` and a `returned` in its problem.

namespace tessera::detail {

/// The count of no elements.
struct CountNothing {
  index_t* count;
  KOKKOS_FUNCTION void operator()(index_t /*only*/) const { *count = 0; }
};

/// Calls run(count) with where the kernel writes the number, null where nobody wants it; without elements there is
/// nothing to run, and the number is 0. Waits where the caller does. Holds the lock of the instance.
template <class Space, class Problem, class Run>
void run_counted(const Space& exec, const char* algorithm, const std::string& kernel_label, const Problem& p,
                 bool any_elements, const Run& run) {
  const auto lock = lock_instance(exec);
  index_t* count = p.count;
  if (p.returned != nullptr) {
    count = p.returned;
    if constexpr (!machine<Space>::is_host) count = static_cast<index_t*>(ReductionWorkspace<Space>::of(exec).result());
  }
  if (any_elements)
    run(count);
  else if (count != nullptr)
    Kokkos::parallel_for(kernel_label, Range<Space>(exec, 0, 1), CountNothing{count});
  if constexpr (!machine<Space>::is_host)
    if (p.returned != nullptr) {
      exec.fence(label(algorithm, "count"));
      *p.returned = *count;
    }
}

}  // namespace tessera::detail
