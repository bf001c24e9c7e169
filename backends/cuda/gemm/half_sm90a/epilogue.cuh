// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "half_sm90a.hpp"
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <type_traits>

/// \file
/// What happens to sums before they are rounded and stored. Functions have relative errors of some 1e-6, also in their
/// tails; but gelu_tanh, where the output has 16 bits, has an absolute one of 2^-12 |x|, less than it is away from
/// gelu, for half the time.

namespace tessera::cuda::sm90a {

__device__ __forceinline__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float reciprocal_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// The greater one, or NaN where there is one.
__device__ __forceinline__ float greater(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}

__device__ __forceinline__ float tanh_approx(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// f(x). From -infinity products with 0 would make NaN: it is taken for the least number.
template <Activation activation, bool Short>
__device__ __forceinline__ float activated(float x) {
  constexpr float log2_e = 1.4426950409f;
  if constexpr (activation == Activation::none) return x;
  if constexpr (activation == Activation::relu) return greater(x, 0.0f);
  const float v = greater(x, -3.402823466e38f);
  if constexpr (activation == Activation::gelu) {
    // x Phi(x), with erfc(z) = t exp(-z^2 + polynomial(t)), t = 1 / (1 + z / 2), z >= 0: a Chebyshev fit of relative
    // error 1.2e-7 (Press et al., Numerical Recipes, erfcc), so that tails are accurate too
    const float z = fabsf(v) * 0.70710678f;
    const float t = reciprocal_approx(fmaf(0.5f, z, 1.0f));
    float p = 0.17087277f;
    p = fmaf(p, t, -0.82215223f);
    p = fmaf(p, t, 1.48851587f);
    p = fmaf(p, t, -1.13520398f);
    p = fmaf(p, t, 0.27886807f);
    p = fmaf(p, t, -0.18628806f);
    p = fmaf(p, t, 0.09678418f);
    p = fmaf(p, t, 0.37409196f);
    p = fmaf(p, t, 1.00002368f);
    p = fmaf(p, t, -1.26551223f);
    const float tail = 0.5f * t * exp2_approx(log2_e * fmaf(-z, z, p));  // Phi(-|v|)
    return v * (v < 0.0f ? tail : 1.0f - tail);
  }
  if constexpr (activation == Activation::gelu_tanh && Short) {
    const float half = 0.5f * v;
    return fmaf(half, tanh_approx(v * fmaf(0.79788456f * 0.044715f, v * v, 0.79788456f)), half);
  }
  // (1 + tanh(u)) / 2 = 1 / (1 + e^-2u), which loses nothing where tanh(u) is near -1
  constexpr float linear = -1.5957691216f * log2_e, cubic = 0.044715f * linear;
  const float t = activation == Activation::silu ? -log2_e * v : v * fmaf(cubic, v * v, linear);
  return v * reciprocal_approx(1.0f + exp2_approx(t));
}

/// f of N sums; the choice is the same for all threads.
template <bool Short, int N>
__device__ __forceinline__ void activate(Activation activation, float (&x)[N]) {
  const auto each = [&]<Activation f>() {
#pragma unroll
    for (int i = 0; i < N; ++i) x[i] = activated<f, Short>(x[i]);
  };
  switch (activation) {
    case Activation::none:
      return;
    case Activation::relu:
      return each.template operator()<Activation::relu>();
    case Activation::gelu:
      return each.template operator()<Activation::gelu>();
    case Activation::gelu_tanh:
      return each.template operator()<Activation::gelu_tanh>();
    case Activation::silu:
      return each.template operator()<Activation::silu>();
  }
}

/// Element `index` of a bias.
template <class TOut>
__device__ __forceinline__ float bias_at(const Epilogue& e, int index) {
  const long long at = index * static_cast<long long>(e.bias_stride);
  return e.bias_is_fp32 ? static_cast<const float*>(e.bias)[at]
                        : static_cast<float>(static_cast<const TOut*>(e.bias)[at]);
}

/// One sum, from alpha A B + beta D.
template <class TOut>
__device__ __forceinline__ float finish_element(const Epilogue& e, float sum, int i, int j) {
  float x[1] = {sum}, bias = 0, residual = 0;
  if (e.bias != nullptr) bias = bias_at<TOut>(e, e.bias_along_rows ? i : j);
  if (e.residual != nullptr)
    residual =
        static_cast<float>(static_cast<const TOut*>(e.residual)[i * e.residual_strides[0] + j * e.residual_strides[1]]);
  x[0] += bias;
  activate<sizeof(TOut) == 2>(e.activation, x);
  return x[0] * e.scale + residual;
}

/// A quad of sums of a row, from alpha A B + beta D. Columns from n on are computed and not used.
template <class TOut>
__device__ __forceinline__ void finish_quad(const Epilogue& e, float (&x)[4], int i, int j, int n) {
  float bias[4] = {}, residual[4] = {};
  if (e.bias != nullptr) {
    // behind the last column the last one, so that no load waits for a test
#pragma unroll
    for (int q = 0; q < 4; ++q) bias[q] = bias_at<TOut>(e, e.bias_along_rows ? i : j + q < n ? j + q : n - 1);
  }
  if (e.residual != nullptr) {
    const TOut* const from = static_cast<const TOut*>(e.residual) + i * e.residual_strides[0];
#pragma unroll
    for (int q = 0; q < 4; ++q)
      residual[q] = static_cast<float>(from[(j + q < n ? j + q : n - 1) * e.residual_strides[1]]);
  }
#pragma unroll
  for (int q = 0; q < 4; ++q) x[q] += bias[q];
  activate<sizeof(TOut) == 2>(e.activation, x);
#pragma unroll
  for (int q = 0; q < 4; ++q) x[q] = x[q] * e.scale + residual[q];
}

/// Where a thread's part of a fragment lies in D: rows `row` and `row` + 8, columns `column` + 8 q and the next.
struct FragmentPlace {
  int row, column, m, n;
};

/// d = scale d + factor X for a matrix X of D's extents whose rows are pairs of aligned elements (see
/// configuration_fits()).
template <class TOut, int N>
__device__ __forceinline__ void add_matrix(float (&d)[N], float scale, float factor, const void* x, long long down,
                                           const FragmentPlace& at) {
  using Pair = std::conditional_t<sizeof(TOut) == 4, float2, std::uint32_t>;  // one register, or two
  const auto lane = [](const Pair& pair, int c) {
    if constexpr (std::is_same_v<TOut, float>)
      return c == 0 ? pair.x : pair.y;
    else if constexpr (std::is_same_v<TOut, __nv_bfloat16>)
      return __uint_as_float(c == 0 ? pair << 16 : pair & 0xffff0000u);
    else
      return __half2float(__ushort_as_half(static_cast<unsigned short>(c == 0 ? pair : pair >> 16)));
  };
  constexpr int most = sizeof(TOut) == 4 ? 2 : 8, batch = N / 4 < most ? N / 4 : most;  // loads under way
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int row = at.row + 8 * h;
    const auto* const from = reinterpret_cast<const Pair*>(static_cast<const TOut*>(x) + row * down + at.column);
    const int end = row < at.m ? at.n : 0;
#pragma unroll
    for (int first = 0; first < N / 4; first += batch) {
      Pair pair[batch];
#pragma unroll
      for (int q = 0; q < batch; ++q) {
        pair[q] = Pair{};
        if (at.column + 8 * (first + q) < end) pair[q] = from[4 * (first + q)];
      }
#pragma unroll
      for (int q = 0; q < batch; ++q)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          float& sum = d[4 * (first + q) + 2 * h + c];
          sum = fmaf(scale, sum, factor * lane(pair[q], c));
        }
    }
  }
}

/// By address in the shared window: through pointers that were rounded up loads are generic, which cost a tile twice
/// what the rest of a bias does.
__device__ __forceinline__ float load_shared(std::uint32_t address) {
  float x;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(address));
  return x;
}
__device__ __forceinline__ float2 load_shared_pair(std::uint32_t address) {
  float2 x;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(address));
  return x;
}

/// What a kernel is compiled for: one kernel for all functions is no slower, but runs out of registers.
enum class Finish { nothing, linear, gelu, gelu_tanh, silu };
inline Finish finish_of(const Epilogue& e) {
  if (!e.any) return Finish::nothing;
  switch (e.activation) {
    case Activation::gelu:
      return Finish::gelu;
    case Activation::gelu_tanh:
      return Finish::gelu_tanh;
    case Activation::silu:
      return Finish::silu;
    default:
      return Finish::linear;  // none, relu
  }
}

/// The sums of a thread in a warpgroup's 64 rows of D from (m0, n0), as wgmma leaves them, finished where they are, but
/// for a factor that is returned. Every choice is made once for all of them: between tests no loads overlap, and each
/// pass over the sums costs some 600 cycles. `bias`: the tile's, in shared memory, from the warpgroup's first row or
/// the tile's first column on.
template <Finish finish, class TOut, int N>
__device__ __forceinline__ float finish_fragment(const Epilogue& e, float (&d)[N], float alpha, float beta,
                                                 std::uint32_t bias, const TOut* old, long long ldd, int m0, int n0,
                                                 int m, int n, int warp, int lane) {
  const FragmentPlace at{m0 + warp * 16 + lane / 4, n0 + 2 * (lane % 4), m, n};
  if (e.bias != nullptr && !e.bias_along_rows) {
#pragma unroll
    for (int q = 0; q < N / 4; ++q) {
      const float2 b = load_shared_pair(bias + (8 * q + 2 * (lane % 4)) * 4);
#pragma unroll
      for (int s = 0; s < 4; ++s) d[4 * q + s] = fmaf(alpha, d[4 * q + s], s % 2 == 0 ? b.x : b.y);
    }
  } else {
    float of_row[2] = {0.0f, 0.0f};
    if (e.bias != nullptr) {
      of_row[0] = load_shared(bias + (at.row - m0) * 4);
      of_row[1] = load_shared(bias + (at.row - m0 + 8) * 4);
    }
#pragma unroll
    for (int k = 0; k < N; ++k) d[k] = fmaf(alpha, d[k], of_row[k / 2 % 2]);
  }
  if (beta != 0.0f) add_matrix<TOut>(d, 1.0f, beta, old, ldd, at);
  constexpr Activation f = finish == Finish::gelu        ? Activation::gelu
                           : finish == Finish::gelu_tanh ? Activation::gelu_tanh
                           : finish == Finish::silu      ? Activation::silu
                                                         : Activation::none;
  // of the linear ones: f(x) = max(x, floor)
  const float floor = e.activation == Activation::relu ? 0.0f : -__int_as_float(0x7f800000);
  constexpr int part = N < 32 ? N : 32;
#pragma unroll
  for (int first = 0; first < N; first += part) {
    // a test that the compiler cannot decide: it moves nothing over it, and would run out of registers without
    int go = 1;
    asm volatile("" : "+r"(go));
    if (go != 0) {
#pragma unroll
      for (int k = first; k < first + part; ++k)
        d[k] = finish == Finish::linear ? greater(d[k], floor) : activated < f, sizeof(TOut) == 2 > (d[k]);
    }
  }
  if (e.residual == nullptr) return e.scale;
  add_matrix<TOut>(d, e.scale, 1.0f, e.residual, e.residual_strides[0], at);
  return 1.0f;
}

/// No functor of a user's.
struct NoFunctor {};
template <class F>
inline constexpr bool is_functor = !std::is_same_v<F, NoFunctor>;

/// f of one sum, told the caller's row and column.
template <class F>
__device__ __forceinline__ float apply(const F& f, bool transposed, float sum, int i, int j) {
  return static_cast<float>(f(sum, static_cast<std::int64_t>(transposed ? j : i), transposed ? i : j));
}

/// d = f(alpha d + beta D, row, column) of a fragment as above: once for each element of D, and for nothing behind its
/// last row and column, since f may read or write by its coordinates.
template <class TOut, class F, int N>
__device__ __forceinline__ void apply_to_fragment(const F& f, bool transposed, float (&d)[N], float alpha, float beta,
                                                  const TOut* old, long long ldd, int m0, int n0, int m, int n,
                                                  int warp, int lane) {
  const FragmentPlace at{m0 + warp * 16 + lane / 4, n0 + 2 * (lane % 4), m, n};
  if (beta != 0.0f) {
    add_matrix<TOut>(d, alpha, beta, old, ldd, at);
  } else {
#pragma unroll
    for (int k = 0; k < N; ++k) d[k] *= alpha;
  }
  const auto each = [&]<bool Whole>(bool swap) {
    constexpr int part = N < 32 ? N : 32;
#pragma unroll
    for (int first = 0; first < N; first += part) {
      int go = 1;  // see finish_fragment()
      asm volatile("" : "+r"(go));
      if (go != 0) {
#pragma unroll
        for (int k = first; k < first + part; ++k) {
          const int i = at.row + k / 2 % 2 * 8, j = at.column + k / 4 * 8 + k % 2;
          if (Whole || (i < m && j < n)) d[k] = apply(f, swap, d[k], i, j);
        }
      }
    }
  };
  // whole tiles without tests, and which coordinate is which settled once
  if (m0 + 64 > m || n0 + N * 2 > n)
    each.template operator()<false>(transposed);
  else if (transposed)
    each.template operator()<true>(true);
  else
    each.template operator()<true>(false);
}

}  // namespace tessera::cuda::sm90a
