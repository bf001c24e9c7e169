// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

namespace tessera::cuda::sm90a {
namespace {

/// `lines` of `length` 16-bit elements; the copy's leading dimension is a multiple of 8 and covers the length.
struct Copy {
  const std::uint16_t* from = nullptr;
  std::int64_t leading = 0, lines = 0, length = 0;
  uint4* to = nullptr;

  [[nodiscard]] __host__ __device__ std::int64_t pieces() const { return (length + 7) / 8; }  // of a line
};

struct Copies {
  Copy a, b;
};

__global__ void __launch_bounds__(256) realign_kernel(const Copies copies) {
  const std::int64_t of_a = copies.a.lines * copies.a.pieces(), all = of_a + copies.b.lines * copies.b.pieces();
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * 256;
  for (std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * 256 + threadIdx.x; at < all; at += step) {
    const bool second = at >= of_a;
    const Copy c = second ? copies.b : copies.a;
    const std::int64_t piece = second ? at - of_a : at, pieces = c.pieces();
    const std::int64_t line = piece / pieces, first = piece % pieces * 8;
    const std::uint16_t* const from = c.from + line * c.leading + first;
    std::uint32_t words[4];
    if (reinterpret_cast<std::uintptr_t>(from) % 4 == 0 && first + 8 <= c.length) {
#pragma unroll
      for (int i = 0; i < 4; ++i) words[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t low = first + 2 * i < c.length ? from[2 * i] : 0;
        const std::uint32_t high = first + 2 * i + 1 < c.length ? from[2 * i + 1] : 0;
        words[i] = low | high << 16;
      }
    }
    c.to[piece] = make_uint4(words[0], words[1], words[2], words[3]);
  }
}

/// What has to be copied of a problem; operands that may stay have no lines.
Copies copies_of(const HalfGemm& p) {
  Copies copies;
  if (!is_aligned(p.a, p.lda))
    copies.a = {static_cast<const std::uint16_t*>(p.a), p.lda, p.a_mn_major ? p.k : p.m, p.a_mn_major ? p.m : p.k};
  if (!is_aligned(p.b, p.ldb))
    copies.b = {static_cast<const std::uint16_t*>(p.b), p.ldb, p.b_mn_major ? p.k : p.n, p.b_mn_major ? p.n : p.k};
  return copies;
}

}  // namespace

std::size_t realign_bytes(const HalfGemm& p) {
  const Copies copies = copies_of(p);
  const std::int64_t pieces = copies.a.lines * copies.a.pieces() + copies.b.lines * copies.b.pieces();
  return pieces == 0 ? 0 : static_cast<std::size_t>(pieces) * 16 + 127;
}

HalfGemm after_realign(HalfGemm p) {
  const Copies copies = copies_of(p);
  if (copies.a.lines > 0) {
    p.a = nullptr;
    p.lda = copies.a.pieces() * 8;
  }
  if (copies.b.lines > 0) {
    p.b = nullptr;
    p.ldb = copies.b.pieces() * 8;
  }
  return p;
}

const char* realign(HalfGemm& p, void* workspace, void* stream) {
  Copies copies = copies_of(p);
  const std::int64_t of_a = copies.a.lines * copies.a.pieces(), of_b = copies.b.lines * copies.b.pieces();
  if (of_a + of_b == 0) return nullptr;
  copies.a.to = reinterpret_cast<uint4*>((reinterpret_cast<std::uintptr_t>(workspace) + 127) & ~std::uintptr_t{127});
  copies.b.to = copies.a.to + of_a;
  p = after_realign(p);
  if (of_a > 0) p.a = copies.a.to;
  if (of_b > 0) p.b = copies.b.to;
  constexpr std::int64_t most = 4096;  // blocks; they loop
  const std::int64_t blocks = (of_a + of_b + 255) / 256;
  realign_kernel<<<static_cast<unsigned>(blocks < most ? blocks : most), 256, 0, static_cast<cudaStream_t>(stream)>>>(
      copies);
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace tessera::cuda::sm90a
