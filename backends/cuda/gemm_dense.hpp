// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tessera/backends/cuda/plain_matrix.hpp>
#include <tessera/core/device.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/plan.hpp>

/// \file
/// What the providers of the sm_90a kernels share: strides as a leading dimension and a major, D with contiguous rows.

namespace tessera::backends {

/// The leading dimension where one of the dimensions has unit stride; `inner_first` says which. A dimension of extent
/// 1 has no stride of its own.
struct Dense {
  bool inner_first = false;
  index_t leading = 0;
};

inline std::optional<Dense> dense(const PlainMatrix& m, bool prefer_first) {
  const auto with = [&](int inner) -> std::optional<Dense> {
    const int outer = 1 - inner;
    if (m.extents[inner] > 1 && m.strides[inner] != 1) return std::nullopt;
    // a lone row or column is never stepped over: any legal stride does
    return Dense{inner == 0, m.extents[outer] > 1 ? m.strides[outer] : (m.extents[inner] + 7) / 8 * 8};
  };
  if (const auto first = with(prefer_first ? 0 : 1)) return first;
  return with(prefer_first ? 1 : 0);
}

/// D^T = B^T A^T in place of D = A B.
template <class Gemm>
void transpose_product(Gemm& g) {
  std::swap(g.m, g.n);
  std::swap(g.a, g.b);
  std::swap(g.lda, g.ldb);
  std::swap(g.a_mn_major, g.b_mn_major);
  if constexpr (requires { g.epilogue; }) g.epilogue.transpose();
  if constexpr (requires { g.a_conj; }) std::swap(g.a_conj, g.b_conj);
  if constexpr (requires { g.a_batch; }) std::swap(g.a_batch, g.b_batch);
}

/// Fills in the sizes, operands and majors of a kernel's problem, whose conjugations are set; false where an operand
/// has unit stride in neither dimension.
template <class Gemm>
bool fill_dense(Gemm& g, const PlainMatrix& matrix_a, const PlainMatrix& matrix_b, const PlainMatrix& matrix_c) {
  const auto a = dense(matrix_a, false), b = dense(matrix_b, true), c = dense(matrix_c, false);
  if (!a || !b || !c) return false;
  g.m = matrix_c.extents[0];
  g.n = matrix_c.extents[1];
  g.k = matrix_a.extents[1];
  g.a = static_cast<decltype(g.a)>(matrix_a.pointer);
  g.lda = a->leading;
  g.a_mn_major = a->inner_first;
  g.b = static_cast<decltype(g.b)>(matrix_b.pointer);
  g.ldb = b->leading;
  g.b_mn_major = !b->inner_first;
  g.d = static_cast<decltype(g.d)>(const_cast<void*>(matrix_c.pointer));
  g.ldd = c->leading;
  if (c->inner_first) transpose_product(g);  // columns are contiguous: the transposed product has contiguous rows
  return true;
}

/// A kernel's refusal in the caller's names: where C^T is computed, its A is the caller's B.
template <class Gemm>
std::string in_callers_names(std::string why, const Gemm& g, const PlainMatrix& a) {
  if (g.a != a.pointer && (why.rfind("A's ", 0) == 0 || why.rfind("B's ", 0) == 0)) why[0] = why[0] == 'A' ? 'B' : 'A';
  return why;
}

template <class Gemm, class Scalar>
void fill_scalars(Gemm& g, const ScalarRef<Scalar>& alpha, const ScalarRef<Scalar>& beta) {
  g.alpha = alpha.value;
  g.alpha_pointer = alpha.pointer;
  g.beta = beta.value;
  g.beta_pointer = beta.pointer;
}

/// Machine code for sm_90a, clusters too, runs on exactly 9.0.
inline bool on_hopper(const DeviceInfo& device) { return device.major == 9 && device.minor == 0; }
/// No where the device is not of the one architecture that the kernels are machine code for.
inline Verdict exactly_sm90(const DeviceInfo& device) {
  if (on_hopper(device)) return Verdict::yes();
  return Verdict::no("the kernels are machine code for exactly 9.0 and the device is " + std::to_string(device.major) +
                     "." + std::to_string(device.minor));
}

/// Throws where a launch told what went wrong.
inline void require_started(const char* wrong, const char* path) {
  if (wrong != nullptr)
    throw Error("tessera::gemm", std::string("the path ") + path + " failed to start: " + wrong,
                "the driver must be of CUDA 12 or newer and the device a Hopper",
                "Set TESSERA_GEMM=portable to go on without it, and report this");
}

/// The names of the configurations 0 to count - 1.
inline std::vector<std::string> configuration_names(int count, const char* (*name)(int)) {
  std::vector<std::string> names;
  for (int c = 0; c < count; ++c) names.emplace_back(name(c));
  return names;
}

/// Why the vendor's library is faster than the fp64 kernels, which do not split K, where their best tile is expected to
/// reach `share` of the pipe's rate; or null. The share counts above `small` multiply-adds, and is to be `least`.
template <class Gemm>
const char* slower_fp64(const Gemm& g, int units, double share, double small, double least) {
  if (g.m <= 64 || g.n <= 64) return "64 rows or columns or fewer: the vendor's library is expected to be faster";
  // few tiles leave multiprocessors idle
  const index_t tiles = ((g.m + 63) / 64) * ((g.n + 31) / 32);
  if (2 * tiles < units && g.k > 512) return "so few tiles for so long a K: the vendor's library was measured faster";
  const double products = static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
  if (products > small && share < least)
    return "so many multiprocessors idle behind the last tiles: the vendor's library was measured faster";
  return nullptr;
}

}  // namespace tessera::backends
