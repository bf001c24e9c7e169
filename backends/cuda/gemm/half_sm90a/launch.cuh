// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "half_sm90a.hpp"
#include "kernel.cuh"
#include <cuda.h>
#include <cuda/gemm/tensor_map.cuh>
#include <cuda_runtime.h>

namespace tessera::cuda::sm90a {

/// What the copy engine asks of an operand of 16-bit elements.
inline bool is_aligned(const void* pointer, std::int64_t leading) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0 && leading % 8 == 0;
}

/// The rows and columns of a tile, row tiles that share B, blocks that split K (0: none can), and whether K streams.
struct Tile {
  int rows, columns, multicast, split;
  bool streamed = false;

  /// Whether it is one of launch_between()'s.
  [[nodiscard]] constexpr bool between() const { return split == 0 && !streamed && (columns == 192 || rows == 64); }
};

/// Tiles of all products of a batch, those of row tiles that share B as one.
inline std::int64_t tiles_of(const HalfGemm& p, int rows, int columns, int multicast) {
  const std::int64_t together = rows * multicast;
  return p.batches * ((p.m + together - 1) / together) * ((p.n + columns - 1) / columns);
}

/// Multiprocessors of the largest chip of this architecture.
inline constexpr int most_units = 144;

/// A workspace for streams: flags, then slots.
struct StreamPlan {
  std::size_t flags_bytes = 0, slot_bytes = 0, slots = 0;

  [[nodiscard]] std::size_t bytes() const { return flags_bytes + slots * slot_bytes + 127; }
};
/// Clusters that share the tiles of a product: no more than there are K tiles.
inline std::int64_t stream_clusters(std::int64_t tiles, std::int64_t k_tiles, int blocks, int units) {
  const std::int64_t clusters = units / blocks;
  return tiles * k_tiles < clusters ? tiles * k_tiles : clusters;
}
inline StreamPlan stream_plan(const HalfGemm& p, const Tile& tile, int units) {
  const std::int64_t tiles = tiles_of(p, tile.rows, tile.columns, tile.multicast);
  const std::int64_t clusters = stream_clusters(tiles, (p.k + 63) / 64, tile.multicast, units);
  const auto blocks = static_cast<std::size_t>(clusters * tile.multicast);
  const auto round = [](std::size_t bytes) { return (bytes + 127) / 128 * 128; };
  return {round(blocks * static_cast<std::size_t>(tile.rows / 64) * 8),
          static_cast<std::size_t>(tile.rows) * static_cast<std::size_t>(tile.columns) * 4,
          tiles < clusters ? 2 * blocks : blocks};
}
/// A number for the flags of a launch that no memory holds by chance: raised flags are lowered again before a launch is
/// over, so that one in a graph may keep its own.
std::uint64_t next_raised();

/// A tile shape by index.
const Tile& tile_of(int configuration);

template <class C, Finish finish, class F>
const char* launch_configuration(const HalfGemm& p, int split, int units, cudaStream_t stream) {
  constexpr auto type = std::is_same_v<typename C::TIn, __nv_bfloat16> ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                                       : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  CUtensorMap a, b, d{};
  // a matrix that all products of a batch share is one; the copy engine asks for a stride even then
  const auto matrices = [&](MapOf of, std::int64_t batch) {
    of.products = batch == 0 ? 1 : p.batches;
    of.product_stride = batch == 0 || p.batches == 1 ? 8 : batch;
    return of;
  };
  const MapOf of_a =
      C::a_mn_major ? MapOf{p.a, p.k, p.m, p.lda, type, 2, C::BK} : MapOf{p.a, p.m, p.k, p.lda, type, 2, C::BM};
  const MapOf of_b = C::b_mn_major ? MapOf{p.b, p.k, p.n, p.ldb, type, 2, C::shares_k ? C::BK / C::cluster : C::BK}
                                   : MapOf{p.b, p.n, p.k, p.ldb, type, 2, C::BN / C::cluster};
  if (!make_map(&a, matrices(of_a, p.a_batch)) || !make_map(&b, matrices(of_b, p.b_batch)))
    return "the driver refused a tensor map of an operand";
  Arguments args{};
  args.d = p.d;
  args.ldd = p.ldd;
  args.m = static_cast<int>(p.m);
  args.n = static_cast<int>(p.n);
  args.k = static_cast<int>(p.k);
  args.alpha = p.alpha;
  args.beta = p.beta;
  args.alpha_pointer = p.alpha_pointer;
  args.beta_pointer = p.beta_pointer;
  args.columns_contiguous = p.d_column_major;
  args.batches = static_cast<int>(p.batches);
  args.a_shared = p.a_batch == 0;
  args.b_shared = p.b_batch == 0;
  args.d_batch = p.d_batch;
  args.epilogue = p.epilogue;
  if constexpr (C::staging_bytes > 0) {
    args.store_by_tma = reinterpret_cast<std::uintptr_t>(p.d) % 16 == 0 && p.ldd % 8 == 0 && p.n % 8 == 0 &&
                        (p.batches == 1 || p.d_batch % 8 == 0);
    if (args.store_by_tma && !make_map(&d, matrices({p.d, p.m, p.n, p.ldd, type, 2, 64}, p.d_batch)))
      args.store_by_tma = 0;
  }
  static const cudaError_t prepared =
      cudaFuncSetAttribute(gemm_kernel<C, finish, F>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::shared_bytes);
  if (prepared != cudaSuccess) return cudaGetErrorString(prepared);

  const std::int64_t tiles = tiles_of(p, C::BM, C::BN, C::cluster);
  cudaLaunchConfig_t config{};
  const int blocks = C::split ? split : C::cluster;
  std::int64_t clusters = C::split || tiles < units / blocks ? tiles : units / blocks;
  if constexpr (C::streamed) {
    clusters = stream_clusters(tiles, (p.k + C::BK - 1) / C::BK, blocks, units);
    const StreamPlan plan = stream_plan(p, {C::BM, C::BN, C::cluster, 0, true}, units);
    const auto start = (reinterpret_cast<std::uintptr_t>(p.workspace) + 127) & ~std::uintptr_t{127};
    args.streams = {reinterpret_cast<float4*>(start + plan.flags_bytes), reinterpret_cast<std::uint64_t*>(start),
                    next_raised(), tiles < clusters};
  }
  config.gridDim = static_cast<unsigned>(blocks * clusters);
  config.blockDim = C::threads;
  config.dynamicSmemBytes = C::shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attributes;
  config.numAttrs = 2;
  const auto start = [&](const ArgumentsOf<F>& all) {
    return cudaLaunchKernelEx(&config, gemm_kernel<C, finish, F>, a, b, d, all);
  };
  cudaError_t status{};
  if constexpr (is_functor<F>)
    status = start({args, *static_cast<const F*>(p.functor)});
  else
    status = start(args);
  if constexpr (C::streamed)
    if (status == cudaSuccess && args.streams.apart) {
      config.gridDim = {static_cast<unsigned>(tiles * C::cluster), C::BN / 8, 1};
      config.blockDim = static_cast<unsigned>(join_threads<C>(tiles, clusters));
      config.dynamicSmemBytes = 0;
      config.attrs = attributes + 1;
      config.numAttrs = 1;
      status = cudaLaunchKernelEx(&config, join_streams<C>, args, static_cast<int>(clusters));
    }
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

/// All transposes of one tile shape.
template <Finish finish, class TIn, class TOut, int BM, int BN, int Stages, int Cluster, class F = NoFunctor,
          bool Streamed = false>
const char* launch_shape(const HalfGemm& p, int split, int units, cudaStream_t stream) {
  const auto with = [&]<bool A, bool B>() {
    using C = Configuration<TIn, TOut, BM, BN, Stages, Cluster, A, B, Streamed>;
    return launch_configuration<C, finish, F>(p, split, units, stream);
  };
  if (p.a_mn_major)
    return p.b_mn_major ? with.template operator()<true, true>() : with.template operator()<true, false>();
  return p.b_mn_major ? with.template operator()<false, true>() : with.template operator()<false, false>();
}

template <Finish finish, class TIn, class TOut>
const char* launch_whole(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream) {
  if (tile.columns == 256 && tile.multicast == 2)
    return launch_shape<finish, TIn, TOut, 128, 256, 4, 2>(p, 0, units, stream);
  if (tile.columns == 256) return launch_shape<finish, TIn, TOut, 128, 256, 4, 1>(p, 0, units, stream);
  if (tile.columns == 128) return launch_shape<finish, TIn, TOut, 128, 128, 5, 1>(p, 0, units, stream);
  if (tile.columns == 64) return launch_shape<finish, TIn, TOut, 128, 64, 7, 1>(p, 0, units, stream);
  return "no such configuration";
}
/// Tiles between those, for shapes that would leave multiprocessors idle; without an epilogue.
template <class TIn, class TOut>
const char* launch_between(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream) {
  if (tile.rows == 192) return launch_shape<Finish::nothing, TIn, TOut, 192, 192, 4, 2>(p, 0, units, stream);
  if (tile.columns == 192 && tile.multicast == 2)
    return launch_shape<Finish::nothing, TIn, TOut, 128, 192, 5, 2>(p, 0, units, stream);
  if (tile.columns == 192) return launch_shape<Finish::nothing, TIn, TOut, 128, 192, 5, 1>(p, 0, units, stream);
  if (tile.multicast == 2) return launch_shape<Finish::nothing, TIn, TOut, 64, 128, 8, 2>(p, 0, units, stream);
  return launch_shape<Finish::nothing, TIn, TOut, 64, 128, 8, 1>(p, 0, units, stream);
}
/// Tiles whose K streams; without an epilogue.
template <class TIn, class TOut>
const char* launch_streamed(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream) {
  constexpr Finish none = Finish::nothing;
  if (tile.columns == 256 && tile.multicast == 2)
    return launch_shape<none, TIn, TOut, 128, 256, 4, 2, NoFunctor, true>(p, 0, units, stream);
  if (tile.columns == 256) return launch_shape<none, TIn, TOut, 128, 256, 4, 1, NoFunctor, true>(p, 0, units, stream);
  if (tile.rows == 128) return launch_shape<none, TIn, TOut, 128, 128, 5, 1, NoFunctor, true>(p, 0, units, stream);
  return launch_shape<none, TIn, TOut, 64, 128, 8, 1, NoFunctor, true>(p, 0, units, stream);
}
template <class TIn, class TOut>
const char* launch_split(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream) {
  const auto with = [&]<int BM>() -> const char* {
    // as many stages as shared memory holds
    if (tile.columns == 64)
      return launch_shape<Finish::nothing, TIn, TOut, BM, 64, 24, 0>(p, tile.split, units, stream);
    if (tile.columns == 32)
      return launch_shape<Finish::nothing, TIn, TOut, BM, 32, 24, 0>(p, tile.split, units, stream);
    if (tile.columns == 16)
      return launch_shape<Finish::nothing, TIn, TOut, BM, 16, 24, 0>(p, tile.split, units, stream);
    return "no such configuration";
  };
  return tile.rows == 64 ? with.template operator()<64>() : with.template operator()<128>();
}

/// The kernels with an epilogue.
template <class TIn, class TOut>
const char* launch_finished(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream) {
  switch (finish_of(p.epilogue)) {
    case Finish::linear:
      return launch_whole<Finish::linear, TIn, TOut>(p, tile, units, stream);
    case Finish::gelu:
      return launch_whole<Finish::gelu, TIn, TOut>(p, tile, units, stream);
    case Finish::gelu_tanh:
      return launch_whole<Finish::gelu_tanh, TIn, TOut>(p, tile, units, stream);
    case Finish::silu:
      return launch_whole<Finish::silu, TIn, TOut>(p, tile, units, stream);
    default:
      return "there is no epilogue";
  }
}

/// The kernels with a user's functor: of the larger tiles, and one that takes whatever those do not.
template <class F, class TIn, class TOut>
const char* launch_with_functor(const HalfGemm& p, int configuration, int units, void* stream) {
  const Tile& tile = tile_of(configuration);
  auto* const s = static_cast<cudaStream_t>(stream);
  constexpr Finish none = Finish::nothing;
  if (!configuration_fits(p, configuration)) return "the configuration does not fit the problem";
  if (tile.split > 0) return launch_shape<none, TIn, TOut, 128, 64, 24, 0, F>(p, tile.split, units, s);
  if (tile.columns == 256 && tile.multicast == 2)
    return launch_shape<none, TIn, TOut, 128, 256, 4, 2, F>(p, 0, units, s);
  if (tile.columns == 256) return launch_shape<none, TIn, TOut, 128, 256, 4, 1, F>(p, 0, units, s);
  return launch_shape<none, TIn, TOut, 128, 128, 5, 1, F>(p, 0, units, s);
}
inline bool compiled_with_functors(const Tile& tile) {
  return tile.rows == 128 && !tile.between() && !tile.streamed &&
         (tile.split > 0 ? tile.columns == 64 : tile.columns >= 128);
}

// one translation unit each
const char* launch_bf16(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_bf16_between(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_bf16_split(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_bf16_streamed(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_bf16_finished(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_bf16_fp32(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_bf16_fp32_between(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_bf16_fp32_split(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_bf16_fp32_streamed(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_bf16_fp32_finished(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_fp16(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_fp16_between(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_fp16_split(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_fp16_streamed(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_fp16_finished(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_fp16_fp32(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_fp16_fp32_between(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_fp16_fp32_split(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_fp16_fp32_streamed(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);
const char* launch_fp16_fp32_finished(const HalfGemm& p, const Tile& tile, int units, cudaStream_t stream);

}  // namespace tessera::cuda::sm90a
