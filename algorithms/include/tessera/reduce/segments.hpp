// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <mutex>
#include <string>

#include <tessera/core/instance_lock.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/level1/reduction.hpp>
#include <tessera/reduce/op_source.hpp>

namespace tessera::detail {

/// Joins partial results inside a team, as Kokkos's nested reductions want it.
template <class Source, class Space>
struct PartialReducer {
  using reducer = PartialReducer;
  using value_type = typename Source::Partial;
  using result_view_type = Kokkos::View<value_type, typename Space::scratch_memory_space, Kokkos::MemoryUnmanaged>;

  const Source& source;
  value_type& value;

  KOKKOS_FUNCTION void join(value_type& a, const value_type& b) const { source.join(a, b); }
  KOKKOS_FUNCTION void init(value_type& a) const { a = source.identity(); }
  KOKKOS_FUNCTION value_type& reference() const { return value; }
  KOKKOS_FUNCTION result_view_type view() const { return result_view_type(&value); }
};

/// A segment a vector of threads, or a whole team where segments are long; where these are few as well, several teams,
/// each for a part of it.
template <class Source, class Space, class Offset>
struct SegmentTeams {
  using Body = SourceBody<Source, Space, Access::strided>;
  using Partial = typename Source::Partial;
  using Member = typename Teams<Space>::member_type;
  Body body;
  const Offset* offsets;
  typename Source::Result* out;
  index_t segments, offset_stride, out_stride;
  int lanes;
  bool whole_team;
  int parts;          // of a segment, where a whole team takes one
  Partial* partials;  // of all parts, segment by segment, where there are several

  /// What worker `first` of `step` has of a segment, or of its part `number`.
  TESSERA_INLINE_FUNCTION Partial part(index_t segment, int number, index_t first, index_t step) const {
    auto begin = static_cast<index_t>(offsets[segment * offset_stride]);
    auto end = static_cast<index_t>(offsets[(segment + 1) * offset_stride]);
    if (parts > 1) {
      const index_t each = (end - begin + parts - 1) / parts;
      begin += number * each;
      end = begin + each < end ? begin + each : end;
    }
    const Share share{begin, end > begin ? end - begin : 0, first, step};
    typename Body::Walker walker(body, share);
    walk<Body::lanes>(share, walker);
    return walker.collapse();
  }
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const index_t threads = team.team_size(), rank = team.team_rank();
    if (whole_team) {
      for (index_t w = team.league_rank(); w < segments * parts; w += team.league_size()) {
        const index_t s = w / parts;
        const int number = static_cast<int>(w % parts);
        Partial sum = body.identity();
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, static_cast<int>(threads) * lanes),
            [&](int worker, Partial& p) { body.join(p, part(s, number, worker, threads * lanes)); },
            PartialReducer<Source, Space>{body.source, sum});
        Kokkos::single(Kokkos::PerTeam(team), [&] {
          if (parts > 1)
            partials[w] = sum;
          else
            out[s * out_stride] = body.finish(sum);
        });
      }
      return;
    }
    for (index_t s = team.league_rank() * threads + rank; s < segments; s += team.league_size() * threads) {
      Partial sum = body.identity();
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, lanes), [&](int lane, Partial& p) { body.join(p, part(s, 0, lane, lanes)); },
          PartialReducer<Source, Space>{body.source, sum});
      Kokkos::single(Kokkos::PerThread(team), [&] { out[s * out_stride] = body.finish(sum); });
    }
  }
};

/// Joins the parts of each segment, in order.
template <class Source, class Space>
struct SegmentParts {
  using Body = SourceBody<Source, Space, Access::strided>;
  using Partial = typename Source::Partial;
  Body body;
  const Partial* partials;
  typename Source::Result* out;
  index_t out_stride;
  int parts;

  KOKKOS_FUNCTION void operator()(index_t s) const {
    Partial sum = partials[s * parts];
    for (int number = 1; number < parts; ++number) body.join(sum, partials[s * parts + number]);
    out[s * out_stride] = body.finish(sum);
  }
};

/// Hosts: each worker has neighbouring segments with about as many elements and segments as any other's.
template <class Source, class Space, Access access, class Offset>
struct SegmentThreads {
  using Body = SourceBody<Source, Space, access>;
  Body body;
  const Offset* offsets;
  typename Source::Result* out;
  index_t segments, offset_stride, out_stride, workers;

  [[nodiscard]] index_t offset(index_t s) const { return static_cast<index_t>(offsets[s * offset_stride]); }
  /// The first segment of a worker: where elements and segments before it reach its share.
  [[nodiscard]] index_t first(index_t worker) const {
    if (worker == workers) return segments;
    const index_t begin = offset(0), share = (offset(segments) - begin + segments) / workers * worker;
    index_t low = 0, high = segments;
    while (low < high) {
      const index_t middle = (low + high) / 2;
      if (offset(middle) - begin + middle < share)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  void operator()(index_t worker) const {
    const index_t last = first(worker + 1);
    for (index_t s = first(worker); s < last; ++s) {
      const index_t begin = offset(s), end = offset(s + 1);
      const Share share{begin, end > begin ? end - begin : 0, 0, 1};
      typename Body::Walker walker(body, share);
      walk<Body::lanes>(share, walker);
      out[s * out_stride] = body.finish(walker.collapse());
    }
  }
};

template <class T, class Offset, class Op, class Space>
void run_segmented_reduce(const Space& exec, const SegmentedReduceProblem<T, Offset, Op>& p) {
  const Region region("tessera::segmented_reduce[portable]");
  static const std::string kernel_label = label("segmented_reduce", "segments");
  using Source = VectorOpSource<T, Op>;
  const Source source{{p.op, p.x.conj}, {p.x.pointer, p.x.strides[0]}};
  const index_t segments = p.out.extents[0];
  if (segments == 0) return;
  if constexpr (machine<Space>::is_host) {
    const auto threads = static_cast<index_t>(exec.concurrency());
    const index_t workers = threads < segments ? threads : segments;
    with_access<Space>(source, [&]<Access access>(std::integral_constant<Access, access>) {
      Kokkos::parallel_for(
          kernel_label, Range<Space>(exec, 0, workers, Kokkos::ChunkSize(1)),
          SegmentThreads<Source, Space, access, Offset>{
              {source}, p.offsets.pointer, p.out.pointer, segments, p.offsets.strides[0], p.out.strides[0], workers});
    });
  } else {
    const index_t mean = p.x.extents[0] / segments;
    int lanes = 1;
    while (lanes < machine<Space>::warp_width && lanes * index_t{in_flight} < mean) lanes *= 2;
    const bool whole_team = mean > index_t{machine<Space>::team_threads} * in_flight;
    const int threads = machine<Space>::team_threads / lanes;
    // few long segments: as many parts as there is room for partial results, none of less than eight rounds of a team
    using Workspace = ReductionWorkspace<Space>;
    using Partial = typename Source::Partial;
    index_t parts = 1;
    if (whole_team && sizeof(Partial) <= Workspace::partial_bytes) {
      const index_t worth = mean / (index_t{machine<Space>::team_threads} * in_flight * 8);
      parts = Workspace::teams / segments;
      parts = parts < worth ? parts : worth;
      parts = parts < 1 ? 1 : parts;
    }
    std::unique_lock<std::recursive_mutex> lock;
    Partial* partials = nullptr;
    if (parts > 1) {
      lock = lock_instance(exec);
      partials = static_cast<Partial*>(Workspace::of(exec).partials());
    }
    const index_t wanted = whole_team ? segments * parts : (segments + threads - 1) / threads;
    constexpr index_t most = 1 << 30;
    Kokkos::parallel_for(kernel_label, Teams<Space>(exec, wanted < most ? wanted : most, threads, lanes),
                         SegmentTeams<Source, Space, Offset>{{source},
                                                             p.offsets.pointer,
                                                             p.out.pointer,
                                                             segments,
                                                             p.offsets.strides[0],
                                                             p.out.strides[0],
                                                             lanes,
                                                             whole_team,
                                                             static_cast<int>(parts),
                                                             partials});
    if (parts > 1)
      Kokkos::parallel_for(
          label("segmented_reduce", "parts"), Range<Space>(exec, 0, segments),
          SegmentParts<Source, Space>{{source}, partials, p.out.pointer, p.out.strides[0], static_cast<int>(parts)});
  }
}

}  // namespace tessera::detail
