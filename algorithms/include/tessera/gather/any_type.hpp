// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// gather itself. The library brings it compiled for elements of every size, so users need tessera/gather.hpp alone.

#include <tessera/core/trace.hpp>
#include <tessera/gather.hpp>
#include <tessera/gather/runs.hpp>

namespace tessera::detail {

template <class Word, class Index, class Space, Access access>
struct GatherKernel {
  static constexpr int lanes = index_lanes<Space, Index, access>;
  const Word* x;
  const Index* index;
  Word* y;
  index_t xs, is, ys;
  index_t n, workers;

  template <int U>
  TESSERA_INLINE_FUNCTION void group(index_t i, index_t step) const {
    vec<Index, lanes> j[U];
    Word v[U][lanes];
    for (int u = 0; u < U; ++u) j[u] = fetch<Space, access, lanes>(index, is, i + u * step);
    for (int u = 0; u < U; ++u) {
      for (int l = 0; l < lanes; ++l) v[u][l] = x[static_cast<index_t>(j[u][l]) * xs];
    }
    for (int u = 0; u < U; ++u) put_run<access>(y, ys, i + u * step, v[u]);
  }
  TESSERA_INLINE_FUNCTION void single(index_t i) const { y[i * ys] = x[static_cast<index_t>(index[i * is]) * xs]; }
  TESSERA_INLINE_FUNCTION void operator()(index_t worker) const {
    const Share share = share_of<Space>(worker, workers, n);
    if constexpr (!machine<Space>::is_host) {
      walk<lanes>(share, *this);
    } else if constexpr (access == Access::unit) {
      for (index_t i = share.begin; i < share.begin + share.length; ++i) y[i] = x[static_cast<index_t>(index[i]) * xs];
    } else {
      for (index_t i = share.begin; i < share.begin + share.length; ++i) single(i);
    }
  }
};

template <class Word, class Index, class Space>
void run_gather(const Space& exec, const GatherProblem<Word, Index>& p, const std::source_location& where) {
  const Region region("tessera::gather[portable]");
  check_indices(exec, "tessera::gather", p.index, p.x.extents[0], where);
  const index_t n = p.y.extents[0];
  with_access<Space>(p.index, p.y, [&]<Access access>(std::integral_constant<Access, access>) {
    using Kernel = GatherKernel<Word, Index, Space, access>;
    const index_t workers = moving_workers(exec, n, Kernel::lanes);
    Kokkos::parallel_for("tessera::gather::range", Range<Space>(exec, 0, workers),
                         Kernel{p.x.pointer, p.index.pointer, p.y.pointer, p.x.strides[0], p.index.strides[0],
                                p.y.strides[0], n, workers});
  });
}

}  // namespace tessera::detail
