// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <tessera/core/plan.hpp>
#include <tessera/gemm/problem.hpp>

namespace tessera::backends {

/// A product without its element types, as CBLAS is asked for it.
struct CblasProduct {
  enum class Element { real32, real64, complex32, complex64 };
  struct Matrix {
    const void* pointer = nullptr;
    index_t extents[2] = {};
    index_t strides[2] = {};
    bool conj = false;
  };

  Element element = Element::real64;
  Matrix a, b, c;  ///< of a batch, the first product's
  index_t batches = 1, batch_strides[3] = {};
  int concurrency = 0;  ///< threads of the instance
};

/// Whether CBLAS takes the strides and sizes, and would use as many threads as the instance has.
Verdict cblas_can_run(const CblasProduct& product);
/// alpha and beta point to scalars of the element type in host memory.
void cblas_run(const CblasProduct& product, const void* alpha, const void* beta);
/// Threads that the library would use if it were called now.
int cblas_threads();

/// gemm through the CBLAS that the build found, on the threads of the default OpenMP instance.
struct GemmCblas {
  static constexpr std::string_view name = "openmp:cblas";

  template <class Types, class Space>
  static constexpr bool supports =
      std::is_same_v<Space, Kokkos::OpenMP> && std::is_same_v<typename Types::in, typename Types::out> &&
      (std::is_same_v<real_t<typename Types::in>, float> || std::is_same_v<real_t<typename Types::in>, double>);

  static std::uint64_t state() { return static_cast<std::uint64_t>(cblas_threads()); }

  template <class Types>
  static Verdict can_run(const GemmProblem<Types>& p, const DeviceInfo&) {
    return cblas_can_run(product(p));
  }
  template <class Types>
  static std::string configuration(const GemmProblem<Types>&, const DeviceInfo&) {
    return {};
  }
  template <class Types>
  static std::size_t workspace_bytes(const GemmProblem<Types>&) {
    return 0;
  }

  template <class Types>
  static void run(const Kokkos::OpenMP& exec, const GemmProblem<Types>& p, GemmWorkspace) {
    exec.fence("tessera::gemm::before_cblas");  // the library knows nothing of the instance's own work
    const auto alpha = p.alpha.get(), beta = p.beta.get();
    cblas_run(product(p), &alpha, &beta);
  }

 private:
  template <class Types>
  static CblasProduct product(const GemmProblem<Types>& p) {
    using T = typename Types::in;
    using Element = CblasProduct::Element;
    constexpr bool single = std::is_same_v<real_t<T>, float>;
    CblasProduct q;
    if constexpr (is_complex_v<T>)
      q.element = single ? Element::complex32 : Element::complex64;
    else
      q.element = single ? Element::real32 : Element::real64;
    const auto matrix = [](const auto& r) {
      return CblasProduct::Matrix{r.pointer, {r.extents[0], r.extents[1]}, {r.strides[0], r.strides[1]}, r.conj};
    };
    q.a = matrix(p.a);
    q.b = matrix(p.b);
    q.c = matrix(p.c);
    q.batches = p.batches;
    q.batch_strides[0] = p.a_batch;
    q.batch_strides[1] = p.b_batch;
    q.batch_strides[2] = p.c_batch;
    q.concurrency = p.concurrency;
    return q;
  }
};

}  // namespace tessera::backends
