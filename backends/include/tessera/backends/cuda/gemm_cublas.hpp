// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <string>
#include <string_view>

#include <tessera/core/plan.hpp>
#include <tessera/gemm/problem.hpp>

namespace tessera::backends {

/// A product without its element types, as cuBLAS is asked for it.
struct CublasProduct {
  enum class Element { real16, brain16, real32, real64, complex32, complex64 };
  struct Matrix {
    const void* pointer = nullptr;
    index_t extents[2] = {};
    index_t strides[2] = {};
    bool conj = false;
    index_t batch_stride = 0;
  };
  Element in = Element::real64, out = Element::real64;
  Matrix a, b, c;  ///< of a batch, the first product's
  Precision precision = Precision::full;
  index_t batches = 1;
};

/// Whether cuBLAS takes the strides: unit stride in one dimension of each matrix, conjugation only with a transpose.
Verdict cublas_can_run(const CublasProduct& product);
/// "tf32" or "bf16" where operands of fp32 may be, and are, rounded to that; else nothing.
std::string cublas_configuration(const CublasProduct& product);
/// alpha and beta are of the accumulator's type, on the host or on the device as their flags say.
void cublas_run(const CublasProduct& product, const Kokkos::Cuda& exec, const void* alpha, bool alpha_on_host,
                const void* beta, bool beta_on_host);

/// gemm through cuBLAS, on a handle of the instance's stream.
struct GemmCublas {
  static constexpr std::string_view name = "cuda:cublas";

  template <class T>
  static constexpr bool is_element =
      std::same_as<T, half> || std::same_as<T, bfloat16> || std::same_as<T, float> || std::same_as<T, double> ||
      std::same_as<T, Kokkos::complex<float>> || std::same_as<T, Kokkos::complex<double>>;
  template <class Types, class Space>
  static constexpr bool supports =
      std::same_as<Space, Kokkos::Cuda> && is_element<typename Types::in> &&
      (std::same_as<typename Types::in, typename Types::out> ||
       (is_stored_float_v<typename Types::in> && std::same_as<typename Types::out, float>));

  static std::uint64_t state() { return 0; }

  template <class Types>
  static Verdict can_run(const GemmProblem<Types>& p, const DeviceInfo&) {
    return cublas_can_run(product(p));
  }
  template <class Types>
  static std::string configuration(const GemmProblem<Types>& p, const DeviceInfo&) {
    return cublas_configuration(product(p));
  }
  template <class Types>
  static std::size_t workspace_bytes(const GemmProblem<Types>&) {
    return 0;
  }
  template <class Types>
  static void run(const Kokkos::Cuda& exec, const GemmProblem<Types>& p, GemmWorkspace) {
    cublas_run(product(p), exec, p.alpha.on_host() ? static_cast<const void*>(&p.alpha.value) : p.alpha.pointer,
               p.alpha.on_host(), p.beta.on_host() ? static_cast<const void*>(&p.beta.value) : p.beta.pointer,
               p.beta.on_host());
  }

 private:
  template <class T>
  static constexpr CublasProduct::Element element() {
    using E = CublasProduct::Element;
    if constexpr (std::same_as<T, half>) return E::real16;
    if constexpr (std::same_as<T, bfloat16>) return E::brain16;
    if constexpr (std::same_as<T, float>) return E::real32;
    if constexpr (std::same_as<T, double>) return E::real64;
    if constexpr (std::same_as<T, Kokkos::complex<float>>) return E::complex32;
    return E::complex64;
  }
  template <class M>
  static CublasProduct::Matrix matrix(const M& m, index_t batch_stride) {
    return {m.pointer, {m.extents[0], m.extents[1]}, {m.strides[0], m.strides[1]}, m.conj, batch_stride};
  }
  template <class Types>
  static CublasProduct product(const GemmProblem<Types>& p) {
    return {element<typename Types::in>(),
            element<typename Types::out>(),
            matrix(p.a, p.a_batch),
            matrix(p.b, p.b_batch),
            matrix(p.c, p.c_batch),
            p.precision,
            p.batches};
  }
};

}  // namespace tessera::backends
