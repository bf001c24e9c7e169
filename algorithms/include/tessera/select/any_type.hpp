// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// select and partition for elements and flags whose sizes the library does not bring compiled: include this instead of
/// tessera/select.hpp. What tessera/unique/any_type.hpp and tessera/select_if.hpp stand on.

#include <tessera/core/trace.hpp>
#include <tessera/select.hpp>
#include <tessera/select/count.hpp>
#include <tessera/select/job.hpp>
#include <tessera/select/stretches.hpp>
#include <tessera/select/tiles.hpp>

namespace tessera::detail {

/// \param kernel_label  "tessera::<algorithm>::..."
template <bool KeepsRest, class Space, class T, class Choice, class Along>
void run_compaction(const Space& exec, const char* algorithm, const std::string& kernel_label,
                    const SelectProblem<T, Choice, Along>& p) {
  run_counted(exec, algorithm, kernel_label, p, p.x.extents[0] > 0, [&](index_t* count) {
    const auto run = [&]<Access access>(std::integral_constant<Access, access>) {
      const SelectJob<Space, T, Choice, Along, access, KeepsRest> job(p, count);
      if constexpr (machine<Space>::is_host)
        run_select_stretches(exec, kernel_label, job);
      else
        run_select_tiles(exec, algorithm, kernel_label, job);
    };
    if (SelectJob<Space, T, Choice, Along, Access::unit, KeepsRest>::unit(p))
      run(std::integral_constant<Access, Access::unit>{});
    else
      run(std::integral_constant<Access, Access::strided>{});
  });
}

template <class T, class Choice, class Space>
void run_select(const Space& exec, const SelectProblem<T, Choice>& p) {
  static const std::string kernel_label = label("select", "tiles");
  const Region region("tessera::select[portable]");
  run_compaction<false>(exec, "select", kernel_label, p);
}

template <class T, class Choice, class Space>
void run_partition(const Space& exec, const SelectProblem<T, Choice>& p) {
  static const std::string kernel_label = label("partition", "tiles");
  const Region region("tessera::partition[portable]");
  run_compaction<true>(exec, "partition", kernel_label, p);
}

}  // namespace tessera::detail
