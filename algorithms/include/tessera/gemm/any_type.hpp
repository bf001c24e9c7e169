// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// gemm for element types that the library does not bring compiled: include this instead of tessera/gemm.hpp.

#include <cmath>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/instance_lock.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/gemm.hpp>
#include <tessera/gemm/direct.hpp>
#include <tessera/gemm/epilogue.hpp>
#include <tessera/gemm/interleaved.hpp>
#include <tessera/gemm/kernel.hpp>
#include <tessera/gemm/several.hpp>
#include <tessera/gemm/tune.hpp>

namespace tessera::detail {

/// The product as the kernel wants it: where C's rows lie side by side rather than its columns, C^T = B^T A^T.
template <class Types>
GemmTask<Types> gemm_task(const GemmProblem<Types>& p) {
  const auto step = [](const auto& r, int d) { return r.extents[d] > 1 ? r.strides[d] : index_t{0}; };
  const index_t down = step(p.c, 0), right = step(p.c, 1);
  const bool swapped = right != 1 && (down == 1 || (down != 0 && (right == 0 || down < right)));
  const auto a = swapped ? transpose_ref(p.b) : p.a, b = swapped ? transpose_ref(p.a) : p.b;
  const auto c = swapped ? transpose_ref(p.c) : p.c;
  GemmTask<Types> t;
  t.m = c.extents[0];
  t.n = c.extents[1];
  t.k = p.k();
  t.a = {a.pointer, step(a, 0), step(a, 1), a.conj, swapped ? p.b_batch : p.a_batch};
  t.b = {b.pointer, step(b, 1), step(b, 0), b.conj, swapped ? p.a_batch : p.b_batch};
  t.c = c.pointer;
  t.row_stride = step(c, 0);
  t.column_stride = step(c, 1);
  t.batches = p.batches;
  t.c_batch = p.c_batch;
  t.alpha = p.alpha;
  t.beta = p.beta;
  return t;
}

/// Blocks of C for `threads` host threads: as many as keep all busy, as large and square as that allows, since each
/// packs what it reads for itself.
template <class Config, class Types>
void choose_host_blocks(GemmTask<Types>& t, index_t threads) {
  const auto up = [](index_t n, index_t unit) { return (n + unit - 1) / unit; };
  // packing an element costs about as much as this many products
  constexpr index_t pack_cost = 3 * Config::lanes;
  // sums that wait take at most 8 MiB of the 20 that a team may have
  constexpr index_t waiting_rows = (index_t{8} << 20) / (sizeof(typename Types::accumulator) * Config::block_limit_n);
  const index_t fewest_m =
      Config::waits_in_scratch && t.k > Config::bk ? up(t.m, waiting_rows / Config::mc * Config::mc) : 1;
  index_t best = -1;
  const index_t columns = up(t.n, Config::nr), fewest_n = up(t.n, Config::block_limit_n);
  for (index_t across = fewest_n;; across = across * 2 < columns ? across * 2 : columns) {
    const index_t block_n = up(columns, across) * Config::nr;
    const index_t fewest_rounds = up(up(columns * Config::nr, block_n) * fewest_m, threads);
    for (index_t rounds = fewest_rounds; rounds < fewest_rounds + 3; ++rounds) {
      const index_t fitting = rounds * threads / across;
      const index_t down = fitting > fewest_m ? fitting : fewest_m;
      const index_t block_m = up(up(t.m, down), Config::mr) * Config::mr;
      const index_t blocks = up(t.m, block_m) * up(t.n, block_n);
      const index_t cost = up(blocks, threads) * (block_m * block_n + pack_cost * (block_m + block_n));
      if (best < 0 || cost < best) {
        best = cost;
        t.block_m = block_m;
        t.block_n = block_n;
      }
    }
    if (across >= columns || across >= threads * fewest_n) break;
  }
}

/// Threads of a host that share each product: one where there are products for all.
template <class Space>
index_t threads_of_product(const Space& exec, index_t batches) {
  const auto threads = static_cast<index_t>(exec.concurrency());
  return batches >= 4 * threads ? 1 : threads;
}

/// How an operand can be loaded by many threads; `wide` asks whether whole chunks can be.
template <class Config, int Lines, int Width, class In>
GemmAccess gemm_access(const GemmOperand<In>& x, index_t all_lines, index_t all_depth, bool& wide) {
  using Loader = GemmLoader<Config, Lines, Width, GemmAccess::lines_wide>;
  using DepthLoader = GemmLoader<Config, Lines, Width, GemmAccess::depth_wide>;
  const bool lines = x.line_stride == 1 || (x.depth_stride != 1 && x.line_stride <= x.depth_stride);
  const int chunk = lines ? Loader::chunk : DepthLoader::chunk;
  const index_t inner = lines ? x.line_stride : x.depth_stride, outer = lines ? x.depth_stride : x.line_stride;
  wide = (inner == 1 || (lines ? all_lines : all_depth) <= 1) && outer % chunk == 0 && x.batch_stride % chunk == 0 &&
         reinterpret_cast<std::uintptr_t>(x.pointer) % (chunk * sizeof(In)) == 0;
  return lines ? GemmAccess::lines_wide : GemmAccess::depth_wide;
}

/// Starts the portable kernel with blocks of one size; compiled once for each.
template <class Types, class Space, GemmBlock Block>
struct GemmLaunch {
  using Config = GemmConfig<Types, machine<Space>, Block>;

  static void run(const Space& exec, GemmTask<Types> task);

 private:
  template <GemmAccess A, GemmAccess B>
  static void start(const Space& exec, const GemmTask<Types>& task) {
    using Kernel = GemmKernel<Types, Space, Config, A, B>;
    // larger leagues than any device holds at once gain nothing: teams loop
    index_t largest = index_t{1} << 30;
    if constexpr (!Config::resident) largest = 64 * static_cast<index_t>(exec.concurrency());
    const index_t blocks = task.blocks_m() * task.blocks_n() * task.batches;
    typename Kernel::Policy policy(exec, static_cast<int>(blocks < largest ? blocks : largest), Config::threads);
    policy.set_scratch_size(Config::scratch_level, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes(task))));
    Kokkos::parallel_for("tessera::gemm::blocks", policy, Kernel{task});
  }
};

template <class Types, class Space, GemmBlock Block>
void GemmLaunch<Types, Space, Block>::run(const Space& exec, GemmTask<Types> task) {
  using In = typename Types::in;
  using Out = typename Types::out;
  using enum GemmAccess;
  if constexpr (!Config::resident) {
    using Direct = GemmDirect<Types, Space, Config>;
    using Interleaved = GemmInterleaved<Types, Space, Config>;
    if constexpr (Direct::possible) {
      if (Interleaved::suits(task)) return Interleaved::launch(exec, task);
      if (Direct::suits(task)) return Direct::launch(exec, task);
    }
    task.wide_c = task.column_stride == 1;
    choose_host_blocks<Config>(task, threads_of_product(exec, task.batches));
    start<lines_single, lines_single>(exec, task);  // packing looks at strides itself
  } else {
    task.block_m = Config::tile_m;
    task.block_n = Config::tile_n;
    using Several = GemmSeveral<Types, Space, Config>;
    if constexpr (Block == GemmBlock::small)
      if (Several::suits(task)) return Several::launch(exec, task);
    task.wide_c = task.column_stride == 1 && task.row_stride % Config::lanes == 0 &&
                  task.c_batch % Config::lanes == 0 &&
                  reinterpret_cast<std::uintptr_t>(task.c) % (Config::lanes * sizeof(Out)) == 0;
    bool wide_a = false, wide_b = false;
    const bool lines_a =
        gemm_access<Config, Config::tile_m, Config::width_a, In>(task.a, task.m, task.k, wide_a) == lines_wide;
    const bool lines_b =
        gemm_access<Config, Config::tile_n, Config::width_b, In>(task.b, task.n, task.k, wide_b) == lines_wide;
    if (wide_a && wide_b) {
      if (lines_a && lines_b) return start<lines_wide, lines_wide>(exec, task);
      if (lines_a) return start<lines_wide, depth_wide>(exec, task);
      if (lines_b) return start<depth_wide, lines_wide>(exec, task);
      return start<depth_wide, depth_wide>(exec, task);
    }
    if (lines_a && lines_b) return start<lines_single, lines_single>(exec, task);
    if (lines_a) return start<lines_single, depth_single>(exec, task);
    if (lines_b) return start<depth_single, lines_single>(exec, task);
    return start<depth_single, depth_single>(exec, task);
  }
}

/// The kernel above as a provider: always can.
template <class Space>
struct GemmPortable {
  static constexpr std::string_view name = "portable";
  template <class, class>
  static constexpr bool supports = true;

  template <class Types>
  static Verdict can_run(const GemmProblem<Types>&, const DeviceInfo&) {
    return Verdict::yes();
  }

  /// Small blocks where large ones would leave multiprocessors idle.
  template <class Types>
  static GemmBlock block_for(const GemmProblem<Types>& p, const DeviceInfo& device) {
    using Config = GemmConfig<Types, machine<Space>>;
    if constexpr (!Config::resident) return GemmBlock::large;
    const auto task = gemm_task(p);
    const auto blocks = [](index_t n, int tile) { return (n + tile - 1) / tile; };
    const bool few = blocks(task.m, Config::tile_m) * blocks(task.n, Config::tile_n) * p.batches < device.units;
    // small products in large blocks would leave most of them empty
    const bool empty = p.batches > 1 && (2 * task.m <= Config::tile_m || 2 * task.n <= Config::tile_n);
    return few || empty ? GemmBlock::small : GemmBlock::large;
  }

  template <class Types>
  static std::string configuration(const GemmProblem<Types>& p, const DeviceInfo& device) {
    const auto text = [](int m, int n, int k) {
      return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    };
    using Large = GemmConfig<Types, machine<Space>>;
    using Small = GemmConfig<Types, machine<Space>, GemmBlock::small>;
    if constexpr (!Large::resident) {
      return text(Large::mr, Large::nr, Large::bk);
    } else if (block_for(p, device) == GemmBlock::small) {
      using Several = GemmSeveral<Types, Space, Small>;
      if (const auto task = gemm_task(p); Several::suits(task)) return Several::text(task, device.units);
      return text(Small::tile_m, Small::tile_n, Small::bk);
    }
    return text(Large::tile_m, Large::tile_n, Large::bk);
  }

  template <class Types>
  static std::size_t workspace_bytes(const GemmProblem<Types>&) {
    return 0;
  }

  template <class Types>
  static void run(const Space& exec, const GemmProblem<Types>& p, GemmWorkspace) {
    if constexpr (GemmConfig<Types, machine<Space>>::resident) {
      if (block_for(p, device_of(exec)) == GemmBlock::small)
        return GemmLaunch<Types, Space, GemmBlock::small>::run(exec, gemm_task(p));
    }
    GemmLaunch<Types, Space, GemmBlock::large>::run(exec, gemm_task(p));
  }
};

template <class List>
struct EachWithEpilogue;
template <class... Providers>
struct EachWithEpilogue<std::tuple<Providers...>> {
  using type = std::tuple<WithEpilogue<Providers>...>;
};

/// Providers in the order in which they are tried.
template <class Space>
using gemm_provider_list = typename EachWithEpilogue<decltype(std::tuple_cat(
    std::declval<backends::gemm_providers_before_portable<Space>>(), std::declval<std::tuple<GemmPortable<Space>>>(),
    std::declval<backends::gemm_providers_after_portable<Space>>()))>::type;

template <class Types, class Space>
const Selection& GemmEntry<Types, Space>::select(const Space& exec, const GemmProblem<Types>& problem,
                                                 std::string_view path, bool tune, const std::source_location& where) {
  static const std::string types = typeid(Types).name();
  const GemmSignature signature = signature_of(problem), measured = measured_as(signature);
  const auto select = [&]() -> const Selection& {
    return select_provider<Types, Space>("gemm", problem, device_of(exec), types, signature_bytes(signature), path,
                                         gemm_provider_list<Space>{}, where, signature_bytes(measured));
  };
  const Selection& selection = select();
  // by name: it was forced, or the tuning file names a path that can run
  if (!tune || selection.by_name) return selection;
  const Region region("tessera::gemm::tuning");
  tune_gemm<Types, Space>(exec, problem, device_of(exec), types, signature_bytes(measured),
                          gemm_provider_list<Space>{});
  return select();
}

/// The sum of the squares of each of `lines` lines of `depth` elements of each of `batches` matrices; the largest.
template <class T, class Space>
double largest_square(const Space& exec, const T* x, index_t batches, index_t batch_stride, index_t lines,
                      index_t line_stride, index_t depth, index_t depth_stride) {
  double largest = 0;
  const Kokkos::Max<double> most(largest);
  // a NaN must not be lost by the reduction
  const auto keep = KOKKOS_LAMBDA(double& m, double square) {
    if (!(square <= m)) m = square == square ? square : Kokkos::Experimental::infinity_v<double>;
  };
  if (batches == 0 || lines == 0 || depth == 0) return 0;
  const auto line_at = KOKKOS_LAMBDA(index_t i) { return x + i / lines * batch_stride + i % lines * line_stride; };
  if (line_stride <= depth_stride || depth < 32) {
    Kokkos::parallel_reduce(
        "tessera::gemm::norms", Range<Space>(exec, 0, batches * lines),
        KOKKOS_LAMBDA(index_t i, double& m) {
          const T* const line = line_at(i);
          double square = 0;
          for (index_t l = 0; l < depth; ++l) {
            const auto v = static_cast<double>(line[l * depth_stride]);
            square += v * v;
          }
          keep(m, square);
        },
        most);
  } else {
    using Member = typename Teams<Space>::member_type;
    Kokkos::parallel_reduce(
        "tessera::gemm::norms", Teams<Space>(exec, batches * lines, Kokkos::AUTO),
        KOKKOS_LAMBDA(const Member& team, double& m) {
          const T* const line = line_at(team.league_rank());
          double square = 0;
          Kokkos::parallel_reduce(
              Kokkos::TeamThreadRange(team, depth),
              [&](index_t l, double& s) {
                const auto v = static_cast<double>(line[l * depth_stride]);
                s += v * v;
              },
              square);
          Kokkos::single(Kokkos::PerTeam(team), [&] { keep(m, square); });
        },
        most);
  }
  return largest;
}

template <class Types, class Space>
std::pair<double, double> GemmEntry<Types, Space>::largest_norms(const Space& exec, const GemmProblem<Types>& p) {
  if constexpr (std::is_same_v<typename Types::in, float>) {
    const Region region("tessera::gemm::norms");
    const auto lock = lock_instance(exec);
    const auto of = [&](const auto& x, index_t batch, int line) {
      return std::sqrt(largest_square(exec, x.pointer, batch == 0 && p.batches > 0 ? 1 : p.batches, batch,
                                      x.extents[line], x.strides[line], p.k(), x.strides[1 - line]));
    };
    return {of(p.a, p.a_batch, 0), of(p.b, p.b_batch, 1)};
  } else {
    return {};
  }
}

template <class Types, class Space>
std::size_t GemmEntry<Types, Space>::workspace_bytes(const Selection& selection, const GemmProblem<Types>& problem) {
  std::size_t bytes = 0;
  const auto p = asked_for(problem, {selection.by_name, selection.configuration});
  with_provider<Types, Space>(selection.provider, gemm_provider_list<Space>{},
                              [&]<class Provider>() { bytes = Provider::workspace_bytes(p); });
  return bytes;
}

template <class Types, class Space>
const char* GemmEntry<Types, Space>::functor_apart(const Selection& selection, const GemmProblem<Types>& problem) {
  using List = gemm_provider_list<Space>;
  const char* why = "no path has kernels of these element types that a functor is compiled into";
  bool applied = false;
  for (std::size_t i = 0; i < std::tuple_size_v<List>; ++i)
    with_provider<Types, Space>(i, List{}, [&]<class Provider>() {
      if constexpr (requires { Provider::functor_refusal(problem); }) {
        why = Provider::functor_refusal(problem);
        applied = applied || (why == nullptr && i == selection.provider);
        if (why == nullptr) why = "the path that it was compiled into does not run";
      }
    });
  return applied ? nullptr : why;
}

template <class Types, class Space>
void GemmEntry<Types, Space>::run(const Space& exec, const GemmProblem<Types>& problem, const Selection& selection,
                                  GemmWorkspace workspace) {
  const Region region(selection.region);
  if (problem.c.size() == 0 || problem.batches == 0) return;
  const auto p = asked_for(problem, {selection.by_name, selection.configuration});
  with_provider<Types, Space>(selection.provider, gemm_provider_list<Space>{},
                              [&]<class Provider>() { Provider::run(exec, p, workspace); });
}

}  // namespace tessera::detail
