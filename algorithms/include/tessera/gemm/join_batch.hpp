// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <tessera/gemm/problem.hpp>

namespace tessera::detail {

/// The stride of dimension d and the batch as one dimension of all `batches` batches; 0 where they have none. `inner`:
/// the batch counts within d, not d within the batch.
template <class T>
[[nodiscard]] index_t joined_stride(const MatrixRef<T>& r, int d, index_t batches, index_t batch_stride, bool inner) {
  if (r.extents[d] == 1) return batch_stride;
  if (inner) return r.strides[d] == batches * batch_stride ? batch_stride : 0;
  return batch_stride == r.extents[d] * r.strides[d] ? r.strides[d] : 0;
}

/// A batch that shares B, and in which the rows of A and C lie as those of one matrix, is one product of more rows;
/// likewise of more columns where it shares A.
template <class Types>
void join_batch(GemmProblem<Types>& p) {
  if (p.batches <= 1) return;
  auto& e = p.epilogue;
  const bool biased = e.bias != nullptr || e.wide_bias != nullptr, adds = e.residual.pointer != nullptr;
  const auto join = [&](int d, auto& x, index_t x_batch, index_t shared, BiasAlong along_d) {
    if (shared != 0 || x_batch == 0 || (biased && e.bias_along == along_d)) return;
    for (const bool inner : {false, true}) {
      const auto stride = [&](const auto& r, index_t batch) { return joined_stride(r, d, p.batches, batch, inner); };
      const index_t of_x = stride(x, x_batch), of_c = stride(p.c, p.c_batch);
      const index_t of_residual = adds ? stride(e.residual, e.residual_batch) : 1;
      if (of_x == 0 || of_c == 0 || of_residual == 0) continue;
      const auto put = [&](auto& r, index_t s) {
        r.extents[d] *= p.batches;
        r.strides[d] = s;
      };
      put(x, of_x);
      put(p.c, of_c);
      if (adds) put(e.residual, of_residual);
      p.batches = 1;
      p.a_batch = p.b_batch = p.c_batch = e.residual_batch = 0;
      return;
    }
  };
  join(0, p.a, p.a_batch, p.b_batch, BiasAlong::rows);
  if (p.batches > 1) join(1, p.b, p.b_batch, p.a_batch, BiasAlong::columns);
}

}  // namespace tessera::detail
