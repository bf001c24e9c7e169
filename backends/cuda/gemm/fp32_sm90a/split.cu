// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"
#include <cuda_bf16.h>

namespace tessera::cuda::sm90a {
namespace {

constexpr int pack_rows = 64, pack_chunks = 4;  // a block of 256 threads writes 4 neighbouring chunks

struct PackArguments {
  SplitOperand a, b;
  int blocks_of_a;
};

/// The bf16 terms of eight numbers, packed; each term is the rest's nearest, so that the rests are exact.
template <int Terms>
__device__ __forceinline__ void split(const float (&x)[8], uint4 (&packed)[Terms]) {
  std::uint32_t words[Terms][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float rest[2] = {x[2 * i], x[2 * i + 1]};
#pragma unroll
    for (int t = 0; t < Terms; ++t) {
      std::uint32_t word = 0;
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        std::uint32_t bits = __bfloat16_as_ushort(__float2bfloat16_rn(rest[e]));
        // a finite number above the largest bf16 stays finite
        if (t == 0 && (bits & 0x7fff) == 0x7f80 && fabsf(rest[e]) <= 3.402823466e38f) bits -= 1;
        rest[e] -= __uint_as_float(bits << 16);
        word |= bits << (16 * e);
      }
      words[t][i] = word;
    }
  }
#pragma unroll
  for (int t = 0; t < Terms; ++t) packed[t] = make_uint4(words[t][0], words[t][1], words[t][2], words[t][3]);
}

/// The two tf32 terms of four numbers: the nearest of 11 bits, and that of the rest, which is exact.
__device__ __forceinline__ void split(const float (&x)[4], uint4 (&packed)[2]) {
  std::uint32_t words[2][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float rest = x[i];
#pragma unroll
    for (int t = 0; t < 2; ++t) {
      std::uint32_t bits = __float_as_uint(rest);
      // of NaN and infinities the words stay
      if (fabsf(rest) <= 3.402823466e38f) {
        bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
        // a finite number above the largest tf32 stays finite
        if ((bits & 0x7fffffff) == 0x7f800000) bits -= 0x2000;
      }
      words[t][i] = bits;
      rest -= __uint_as_float(bits);
    }
  }
#pragma unroll
  for (int t = 0; t < 2; ++t) packed[t] = make_uint4(words[t][0], words[t][1], words[t][2], words[t][3]);
}

/// Images: [block of rows][chunk along k][term][row][64 bytes, swizzled]; zeros outside the matrix.
template <int Terms, bool Tf32>
__global__ void __launch_bounds__(256) pack_kernel(const PackArguments args) {
  const bool second = static_cast<int>(blockIdx.x) >= args.blocks_of_a;
  const SplitOperand op = second ? args.b : args.a;
  const std::int64_t block = static_cast<int>(blockIdx.x) - (second ? args.blocks_of_a : 0);
  constexpr int per = Tf32 ? 4 : 8, pack_k = 4 * per;  // numbers of 16 bytes of an image, and of a chunk
  const std::int64_t chunks = split_chunks(op.k, Tf32), groups = (chunks + pack_chunks - 1) / pack_chunks;
  const std::int64_t row_group = block / groups;
  // neighbouring threads along the stride that is smaller
  const bool along_k = op.k_stride <= op.row_stride;
  const int thread = static_cast<int>(threadIdx.x);
  const int row_in = along_k ? thread / 4 : thread % 64, part = along_k ? thread % 4 : thread / 64;
  const std::int64_t row = row_group * pack_rows + row_in;
  const std::int64_t image = row_group * pack_rows / op.block_rows;
  const int first_of_image = static_cast<int>(row_group * pack_rows % op.block_rows);
  const std::size_t term_bytes = static_cast<std::size_t>(op.block_rows) * 64;
  std::uint8_t* const to = op.to + static_cast<std::size_t>(image * chunks) * Terms * term_bytes + first_of_image * 64 +
                           (along_k ? row_in * 4 + ((part ^ (row_in / 2)) & 3) : thread) * 16;
  const float* const from = op.from + row * op.row_stride;
  const bool wide = op.k_stride == 1 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  const std::int64_t first_chunk = block % groups * pack_chunks, first_k = first_chunk * pack_k + part * per;
  float x[pack_chunks][per];  // all loads before the first store
  if (row < op.rows && first_k + (pack_chunks - 1) * pack_k + per <= op.k) {
    if (wide) {
#pragma unroll
      for (int c = 0; c < pack_chunks; ++c) {
        const auto* const at = reinterpret_cast<const float4*>(from + first_k + c * pack_k);
#pragma unroll
        for (int i = 0; i < per; i += 4) {
          const float4 four = at[i / 4];
          x[c][i] = four.x, x[c][i + 1] = four.y, x[c][i + 2] = four.z, x[c][i + 3] = four.w;
        }
      }
    } else {
#pragma unroll
      for (int c = 0; c < pack_chunks; ++c)
#pragma unroll
        for (int i = 0; i < per; ++i) x[c][i] = from[(first_k + c * pack_k + i) * op.k_stride];
    }
  } else {
#pragma unroll
    for (int c = 0; c < pack_chunks; ++c)
#pragma unroll
      for (int i = 0; i < per; ++i) {
        const std::int64_t k = first_k + c * pack_k + i;
        x[c][i] = row < op.rows && k < op.k ? from[k * op.k_stride] : 0.0f;
      }
  }
  // Neighbours along the rows write pieces that are far apart: an image is put together first.
  __shared__ uint4 image_part[Terms][256];
  const int piece = row_in * 4 + ((part ^ (row_in / 2)) & 3);
#pragma unroll
  for (int c = 0; c < pack_chunks; ++c) {
    if (first_chunk + c >= chunks) break;
    uint4 packed[Terms];
    split(x[c], packed);
    if (!along_k) {
      if (c > 0) __syncthreads();
#pragma unroll
      for (int t = 0; t < Terms; ++t) image_part[t][piece] = packed[t];
      __syncthreads();
#pragma unroll
      for (int t = 0; t < Terms; ++t) packed[t] = image_part[t][thread];
    }
#pragma unroll
    for (int t = 0; t < Terms; ++t)
      *reinterpret_cast<uint4*>(to + (static_cast<std::size_t>(first_chunk + c) * Terms + t) * term_bytes) = packed[t];
  }
}

/// Strips of 16 rows by `Columns` that hold a sum which is not finite, by fused multiply-adds in the order of k.
template <int Columns>
__global__ void __launch_bounds__(256) repair_kernel(const SplitGemm p, const std::uint8_t* flags) {
  constexpr int depth = 64;
  __shared__ float rows[depth][16];
  __shared__ std::uint8_t flagged[256];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t across = (p.n + Columns - 1) / Columns, strips = (p.m + 15) / 16 * across;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * 256;
  const bool mine = first + thread < strips && flags[first + thread] != 0;
  flagged[thread] = mine;
  if (!__syncthreads_or(mine)) return;
  const float alpha = p.alpha_pointer ? *p.alpha_pointer : p.alpha;
  const float beta = p.beta_pointer ? *p.beta_pointer : p.beta;
  for (int s = 0; s < 256; ++s) {
    if (!flagged[s]) continue;
    const std::int64_t i0 = (first + s) / across * 16, j = (first + s) % across * Columns + thread;
    const bool active = thread < Columns && j < p.n;
    float sum[16] = {};
    for (std::int64_t k0 = 0; k0 < p.k; k0 += depth) {
      for (int e = thread; e < depth * 16; e += 256) {
        const std::int64_t i = i0 + e % 16, l = k0 + e / 16;
        rows[e / 16][e % 16] = i < p.m && l < p.k ? p.a[i * p.a_row + l * p.a_column] : 0.0f;
      }
      __syncthreads();
      if (active)
        for (int l = 0; l < depth && k0 + l < p.k; ++l) {
          const float b = p.b[(k0 + l) * p.b_row + j * p.b_column];
#pragma unroll
          for (int i = 0; i < 16; ++i) sum[i] = fmaf(rows[l][i], b, sum[i]);
        }
      __syncthreads();
    }
    if (active)
#pragma unroll
      for (int i = 0; i < 16; ++i)
        if (i0 + i < p.m) {
          float& to = p.d[(i0 + i) * p.ldd + j];
          to = beta != 0.0f ? alpha * sum[i] + beta * to : alpha * sum[i];
        }
  }
}

const char* outcome() {
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace

const char* split_pack(const SplitOperand& a, const SplitOperand& b, int terms, bool tf32, cudaStream_t stream) {
  const auto blocks = [&](const SplitOperand& op) {
    const std::int64_t images = (op.rows + op.block_rows - 1) / op.block_rows;
    const std::int64_t chunks = split_chunks(op.k, tf32);
    return images * (op.block_rows / pack_rows) * ((chunks + pack_chunks - 1) / pack_chunks);
  };
  const std::int64_t of_a = blocks(a), of_b = blocks(b);
  const PackArguments args{a, b, static_cast<int>(of_a)};
  const auto grid = static_cast<unsigned>(of_a + of_b);
  if (tf32)
    pack_kernel<2, true><<<grid, 256, 0, stream>>>(args);
  else if (terms == 2)
    pack_kernel<2, false><<<grid, 256, 0, stream>>>(args);
  else
    pack_kernel<3, false><<<grid, 256, 0, stream>>>(args);
  return outcome();
}

const char* split_repair(const SplitGemm& p, const std::uint8_t* flags, int columns, cudaStream_t stream) {
  const std::int64_t strips = (p.m + 15) / 16 * ((p.n + columns - 1) / columns);
  const auto grid = static_cast<unsigned>((strips + 255) / 256);
  if (columns == 192)
    repair_kernel<192><<<grid, 256, 0, stream>>>(p, flags);
  else
    repair_kernel<128><<<grid, 256, 0, stream>>>(p, flags);
  return outcome();
}

}  // namespace tessera::cuda::sm90a
