// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// gemv for element types that the library does not bring compiled: include this instead of tessera/gemv.hpp.

#include <cstdint>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/trace.hpp>
#include <tessera/gemv.hpp>
#include <tessera/gemv/columns.hpp>
#include <tessera/gemv/rows.hpp>

namespace tessera::detail {

template <class T>
void scale_gemv_output(const auto& exec, const GemvProblem<T>& p) {
  using Space = std::remove_cvref_t<decltype(exec)>;
  Kokkos::parallel_for("tessera::gemv::scale", Range<Space>(exec, 0, p.y.extents[0]),
                       ScaleOutput<T>{ProductOutput<T>(p.alpha, p.beta, p.y)});
}

template <class Kernel, class T, class Space>
void launch_gemv(const Space& exec, const GemvProblem<T>& p) {
  const GemvSplit split = Kernel::choose(exec, p);
  if (split.segments > 1) scale_gemv_output(exec, p);
  Kernel::launch(exec, p, split);
}

template <class T, class Space, bool Packed>
void launch_gemv_rows(const Space& exec, const GemvProblem<T>& p) {
  if constexpr (!machine<Space>::is_host) {
    // several rows a thread leave enough threads only where the matrix is large; short rows need few lanes each
    const index_t rows = p.a.extents[0], columns = p.a.extents[1];
    if (rows >= 8 && rows * columns >= 16 * index_t{exec.concurrency()}) {
      if (columns * static_cast<index_t>(sizeof(T)) <= 1024)
        launch_gemv<GemvRows<T, Space, Packed, 8>>(exec, p);
      else
        launch_gemv<GemvRows<T, Space, Packed, 4>>(exec, p);
      return;
    }
  }
  launch_gemv<GemvRows<T, Space, Packed, 1>>(exec, p);
}

template <class T, class Space>
void run_gemv(const Space& exec, const GemvProblem<T>& p) {
  using A = accumulator_t<T>;
  const auto size = [](index_t stride) { return stride < 0 ? -stride : stride; };
  const index_t m = p.a.extents[0], n = p.a.extents[1];
  // the dimension of shorter stride is the one to read along; a single row or column is taken as contiguous
  const bool rows = m == 1 || (n != 1 && size(p.a.strides[1]) <= size(p.a.strides[0]));
  const bool unit = rows ? (p.a.strides[1] == 1 && p.x.strides[0] == 1) : p.a.strides[0] == 1;
  const auto aligned = [](const void* at, index_t stride) {
    return machine<Space>::is_host ||
           (reinterpret_cast<std::uintptr_t>(at) % 16 == 0 && stride * static_cast<index_t>(sizeof(T)) % 16 == 0);
  };
  const bool packed = unit && aligned(p.a.pointer, m == 1 || n == 1 ? 0 : p.a.strides[rows ? 0 : 1]) &&
                      (!rows || aligned(p.x.pointer, 0));
  const Region region(
      rows ? (packed ? "tessera::gemv[portable rows packed]" : "tessera::gemv[portable rows strided]")
           : (packed ? "tessera::gemv[portable columns packed]" : "tessera::gemv[portable columns strided]"));
  if (m == 0) return;
  if (n == 0 || (p.alpha.on_host() && p.alpha.value == A{})) {
    scale_gemv_output(exec, p);
  } else if (rows) {
    if (packed)
      launch_gemv_rows<T, Space, true>(exec, p);
    else
      launch_gemv_rows<T, Space, false>(exec, p);
  } else {
    if (packed)
      launch_gemv<GemvColumns<T, Space, true>>(exec, p);
    else
      launch_gemv<GemvColumns<T, Space, false>>(exec, p);
  }
}

}  // namespace tessera::detail
