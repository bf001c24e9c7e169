// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "gemm/half_sm80/direct.hpp"
#include "gemm/half_sm90a/half_sm90a.hpp"
#include "gemm_dense.hpp"
#include <algorithm>
#include <optional>

#include <tessera/backends/cuda/gemm_half_sm90a.hpp>

/// \file
/// What the providers of the 16-bit kernels share: their problem.

namespace tessera::backends {

inline cuda::sm90a::Epilogue half_epilogue(const PlainEpilogue& e) {
  using Kernels = cuda::sm90a::Activation;
  static_assert(static_cast<int>(Kernels::silu) == static_cast<int>(Activation::silu));  // the same list
  cuda::sm90a::Epilogue k;
  k.any = e.any;
  k.activation = static_cast<Kernels>(e.activation);
  k.scale = e.scale;
  k.bias = e.bias;
  k.bias_is_fp32 = e.bias_is_float;
  k.bias_along_rows = e.bias_along == BiasAlong::rows;
  k.bias_stride = e.bias_stride;
  k.residual = e.residual.pointer;
  std::copy(e.residual.strides, e.residual.strides + 2, k.residual_strides);
  return k;
}

/// The kernels' problem, or nothing where an operand has unit stride in neither dimension.
inline std::optional<cuda::sm90a::HalfGemm> half_gemm(const HalfProduct& p) {
  using cuda::sm90a::Element;
  cuda::sm90a::HalfGemm g;
  g.in = p.is_bf16 ? Element::bf16 : Element::fp16;
  g.out = p.out_is_float ? Element::fp32 : g.in;
  g.epilogue = half_epilogue(p.epilogue);
  g.batches = p.batches;
  g.a_batch = p.batch_strides[0];
  g.b_batch = p.batch_strides[1];
  g.d_batch = p.batch_strides[2];
  if (!fill_dense(g, p.a, p.b, p.c)) return std::nullopt;
  return g;
}

namespace sm80 = cuda::sm80;

/// The problem of kernels behind which the epilogue is a pass of its own.
inline std::optional<sm80::HalfGemm> without_epilogue(const HalfProduct& p) {
  auto g = half_gemm(p);
  if (g) g->epilogue = {};
  return g;
}
inline Verdict from_sm80(const DeviceInfo& device) {
  if (device.major >= 8) return Verdict::yes();
  return Verdict::no("the kernels are for 8.0 and newer and the device is " + std::to_string(device.major) + "." +
                     std::to_string(device.minor));
}
/// Whether the kernels without tiles take the product and were measured to be the fastest.
inline bool is_direct(const sm80::HalfGemm& g, const DeviceInfo& device) {
  return sm80::direct_refusal(g) == nullptr &&
         sm80::is_direct(g, sm80::plan_direct(g, device.units, on_hopper(device)));
}

}  // namespace tessera::backends
