// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The histograms themselves. The library brings them compiled for every element type that there is, so users need
/// tessera/histogram.hpp alone.

#include <tessera/core/trace.hpp>
#include <tessera/histogram.hpp>
#include <tessera/histogram/device.hpp>
#include <tessera/histogram/host.hpp>

namespace tessera::detail {

struct HistogramClear {
  HistogramSink sink;
  TESSERA_FUNCTION void operator()(index_t i) const { sink.clear(i); }
};

/// Debug builds: aborts where edges fall (or are NaN).
template <class T>
struct HistogramEdgesRise {
  const T* edges;
  index_t stride;
  TESSERA_FUNCTION void operator()(index_t i) const {
    if (!(edges[i * stride] <= edges[(i + 1) * stride]))
      Kokkos::abort("tessera::histogram: the edges do not rise; sort them first");
  }
};
template <class T, class Space>
void check_histogram_edges(const Space& exec, const HistogramProblem<T>& p, const std::source_location& where) {
  if constexpr (machine<Space>::is_host) {
    exec.fence("tessera::histogram::check_edges");
    for (index_t i = 0; i < p.bins; ++i) check_histogram_edge(p.edges(i) <= p.edges(i + 1), i, where);
  } else {
    Kokkos::parallel_for("tessera::histogram::check_edges", Range<Space>(exec, 0, p.bins),
                         HistogramEdgesRise<T>{p.edges.pointer, p.edges.strides[0]});
  }
}

template <class T, class Space>
void run_histogram(const Space& exec, const HistogramProblem<T>& p, const std::source_location& where) {
  const Region region("tessera::histogram[portable]");
  if constexpr (debug_checks)
    if (!p.even) check_histogram_edges(exec, p, where);
  // without bins, what lies between the ends is counted nowhere
  const int bins = static_cast<int>(p.even && p.bins == 0 ? 1 : p.bins);
  const HistogramSink sink(p, bins);
  const index_t results = p.counts.extent + (sink.outside != nullptr ? p.outside.extent : 0);
  if (results == 0) return;
  Kokkos::parallel_for("tessera::histogram::clear", Range<Space>(exec, 0, results), HistogramClear{sink});
  if (p.x.extents[0] == 0) return;
  const auto count = [&](const auto& by) {
    if constexpr (machine<Space>::is_host)
      histogram_on_host(exec, p, by, sink);
    else
      histogram_on_device(exec, p, by, sink);
  };
  if (p.even)
    count(EvenBins<T>(p, bins));
  else
    count(GivenBins<T>(p, bins));
}

}  // namespace tessera::detail
