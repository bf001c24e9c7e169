// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"

namespace tessera::cuda::sm90a {
namespace {

constexpr int side = 64;  // a block's square

/// `lines` of `length` numbers, copied as they lie or transposed; the copy's lines are multiples of 128 bytes.
struct Copy {
  const float* from = nullptr;
  std::int64_t leading = 0, lines = 0, length = 0;
  bool transposes = false;
  float* to = nullptr;

  [[nodiscard]] __host__ __device__ std::int64_t lines_of_copy() const { return transposes ? length : lines; }
  [[nodiscard]] __host__ __device__ std::int64_t leading_of_copy() const {
    return ((transposes ? lines : length) + 31) / 32 * 32;
  }
  [[nodiscard]] __host__ __device__ std::int64_t squares_along() const { return (length + side - 1) / side; }
  [[nodiscard]] __host__ __device__ std::int64_t squares() const { return (lines + side - 1) / side * squares_along(); }
  [[nodiscard]] std::int64_t numbers() const { return lines == 0 ? 0 : lines_of_copy() * leading_of_copy(); }
};

struct Copies {
  Copy a, b;
};

__global__ void __launch_bounds__(256) copy_kernel(const Copies copies) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  wait_for_earlier_kernels();
  let_later_kernels_start();
  __shared__ float square[side][side + 1];
  const std::int64_t of_a = copies.a.squares(), at = blockIdx.x;
  const bool second = at >= of_a;
  const Copy c = second ? copies.b : copies.a;
  const std::int64_t index = second ? at - of_a : at, along = c.squares_along();
  const std::int64_t line0 = index / along * side, first = index % along * side;
  const int thread = static_cast<int>(threadIdx.x), quad = 4 * (thread % 16);
  const bool wide = reinterpret_cast<std::uintptr_t>(c.from) % 16 == 0 && c.leading % 4 == 0;
  float x[4][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::int64_t line = line0 + thread / 16 + 16 * i, k = first + quad;
    const float* const from = c.from + line * c.leading + k;
    if (wide && line < c.lines && k + 4 <= c.length) {
      const float4 four = *reinterpret_cast<const float4*>(from);
      x[i][0] = four.x, x[i][1] = four.y, x[i][2] = four.z, x[i][3] = four.w;
    } else {
#pragma unroll
      for (int q = 0; q < 4; ++q) x[i][q] = line < c.lines && k + q < c.length ? from[q] : 0.0f;
    }
  }
  const std::int64_t leading = c.leading_of_copy();
  if (!c.transposes) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::int64_t line = line0 + thread / 16 + 16 * i, k = first + quad;
      if (line < c.lines && k < leading)
        *reinterpret_cast<float4*>(c.to + line * leading + k) = make_float4(x[i][0], x[i][1], x[i][2], x[i][3]);
    }
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int q = 0; q < 4; ++q) square[thread / 16 + 16 * i][quad + q] = x[i][q];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int column = thread / 16 + 16 * i;
    const std::int64_t line = first + column, k = line0 + quad;
    if (line < c.length && k < leading)
      *reinterpret_cast<float4*>(c.to + line * leading + k) = make_float4(
          square[quad][column], square[quad + 1][column], square[quad + 2][column], square[quad + 3][column]);
  }
#endif
}

bool is_aligned(const float* pointer, std::int64_t leading) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0 && leading % 4 == 0;
}

/// What has to be copied of a problem; operands that may stay have no lines.
Copies copies_of(const Tf32Gemm& p) {
  Copies copies;
  if (!is_aligned(p.a, p.lda)) copies.a = {p.a, p.lda, p.a_mn_major ? p.k : p.m, p.a_mn_major ? p.m : p.k};
  if (p.b_mn_major || !is_aligned(p.b, p.ldb))
    copies.b = {p.b, p.ldb, p.b_mn_major ? p.k : p.n, p.b_mn_major ? p.n : p.k, p.b_mn_major};
  return copies;
}

}  // namespace

std::size_t tf32_copy_bytes(const Tf32Gemm& p) {
  const Copies copies = copies_of(p);
  const std::int64_t numbers = copies.a.numbers() + copies.b.numbers();
  return numbers == 0 ? 0 : static_cast<std::size_t>(numbers) * 4 + 127;
}

Tf32Gemm tf32_after_copy(Tf32Gemm p) {
  const Copies copies = copies_of(p);
  if (copies.a.lines > 0) {
    p.a = nullptr;
    p.lda = copies.a.leading_of_copy();
  }
  if (copies.b.lines > 0) {
    p.b = nullptr;
    p.ldb = copies.b.leading_of_copy();
    p.b_mn_major = false;
  }
  return p;
}

const char* tf32_copy(Tf32Gemm& p, void* workspace, void* stream) {
  Copies copies = copies_of(p);
  const std::int64_t squares = copies.a.squares() + copies.b.squares();
  if (squares == 0) return nullptr;
  copies.a.to = reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(workspace) + 127) & ~std::uintptr_t{127});
  copies.b.to = copies.a.to + copies.a.numbers();
  p = tf32_after_copy(p);
  if (copies.a.lines > 0) p.a = copies.a.to;
  if (copies.b.lines > 0) p.b = copies.b.to;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(squares);
  config.blockDim = 256;
  config.stream = static_cast<cudaStream_t>(stream);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  const cudaError_t status = cudaLaunchKernelEx(&config, copy_kernel, copies);
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace tessera::cuda::sm90a
