// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <string>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/core/plan.hpp>
#include <tessera/gemm/pass_items.hpp>
#include <tessera/gemm/problem.hpp>

/// \file
/// The epilogue as a pass of its own over C, behind paths that do not form it with the product.

namespace tessera::detail {

/// Of a C whose rows lie side by side (or none of whose dimensions do).
template <class Types, class Space, Activation activation>
struct GemmEpiloguePass {
  using Out = typename Types::out;
  using Accumulator = typename Types::accumulator;
  using Items = GemmPassItems<is_host_space<Space>>;

  MatrixRef<Out> c;
  GemmEpilogueRef<Types> epilogue;
  Items items;  // of the rows of all batches
  index_t c_batch;

  TESSERA_FUNCTION static Accumulator activated(Accumulator x) {
    using A = Accumulator;
    if constexpr (activation == Activation::none) return x;
    if constexpr (activation == Activation::relu) return x < A(0) ? A(0) : x;
    // -infinity times 0 would be no number
    constexpr A most = Kokkos::Experimental::finite_max_v<A>;
    x = x < -most ? -most : x;
    if constexpr (activation == Activation::gelu) return A(0.5) * x * Kokkos::erfc(x * A(-0.70710678118654752440));
    // (1 + tanh(u)) / 2 = 1 / (1 + e^-2u), which loses nothing where tanh(u) is near -1
    if constexpr (activation == Activation::gelu_tanh)
      return x / (A(1) + Kokkos::exp(A(-1.5957691216057307117) * x * (A(1) + A(0.044715) * x * x)));
    return x / (A(1) + Kokkos::exp(-x));
  }

  TESSERA_FUNCTION void operator()(index_t item) const {
    auto place = items.place(item);
    const index_t batch = items.rows > c.extents[0] ? place.row / c.extents[0] : 0,
                  i = place.row - batch * c.extents[0];
    Out* const row = c.pointer + batch * c_batch + c.offset(i, 0);
    const GemmEpilogueRef<Types>& e = epilogue;
    Items::template each<Accumulator>(
        place, [&](index_t j) { return Accumulator(row[j * c.strides[1]]); },
        [&](index_t j, Accumulator x) {
          const index_t at = (e.bias_along == BiasAlong::rows ? i : j) * e.bias_stride;
          if (e.bias != nullptr) x += Accumulator(e.bias[at]);
          if (e.wide_bias != nullptr) x += e.wide_bias[at];
          x = activated(x) * e.scale;
          if (e.residual.pointer != nullptr)
            x += Accumulator(e.residual.pointer[batch * e.residual_batch + e.residual.offset(i, j)]);
          row[j * c.strides[1]] = Out(x);
        });
  }

  static void launch(const Space& exec, const GemmProblem<Types>& p) {
    GemmEpiloguePass pass{p.c, p.epilogue, {0, 0}, p.c_batch};
    const auto distance = [](index_t s) { return s < 0 ? -s : s; };
    if (p.c.extents[0] > 1 && (p.c.extents[1] <= 1 || distance(p.c.strides[0]) < distance(p.c.strides[1]))) {
      pass.c = transpose_ref(pass.c);
      pass.epilogue.residual = transpose_ref(pass.epilogue.residual);
      pass.epilogue.bias_along = p.epilogue.bias_along == BiasAlong::rows ? BiasAlong::columns : BiasAlong::rows;
    }
    pass.items = {p.batches * pass.c.extents[0], pass.c.extents[1]};
    Kokkos::parallel_for("tessera::gemm::epilogue", Range<Space>(exec, 0, pass.items.size()), pass);
  }
};

template <class Types, class Space>
void run_gemm_epilogue(const Space& exec, const GemmProblem<Types>& p) {
  if constexpr (std::is_floating_point_v<typename Types::accumulator>) {
    using enum Activation;
    switch (p.epilogue.activation) {
      case none:
        return GemmEpiloguePass<Types, Space, none>::launch(exec, p);
      case relu:
        return GemmEpiloguePass<Types, Space, relu>::launch(exec, p);
      case gelu:
        return GemmEpiloguePass<Types, Space, gelu>::launch(exec, p);
      case gelu_tanh:
        return GemmEpiloguePass<Types, Space, gelu_tanh>::launch(exec, p);
      case silu:
        return GemmEpiloguePass<Types, Space, silu>::launch(exec, p);
    }
  }
}

/// A provider, and behind it the epilogue where it does not form that itself:
///   template <class Types> static bool forms_epilogue(const GemmProblem<Types>&);  // optional
/// and why it does not apply the problem's functor, or null where it does; else that is the caller's pass:
///   template <class Types> static const char* functor_refusal(const GemmProblem<Types>&);  // optional
template <class Provider>
struct WithEpilogue : Provider {
  template <class Types>
  static bool second_pass(const GemmProblem<Types>& p) {
    if (!p.epilogue.any) return false;
    if constexpr (requires { Provider::forms_epilogue(p); }) return !Provider::forms_epilogue(p);
    return true;
  }
  template <class Types>
  static bool applies_functor(const GemmProblem<Types>& p) {
    if constexpr (requires { Provider::functor_refusal(p); }) return Provider::functor_refusal(p) == nullptr;
    return false;
  }
  template <class Types>
  static std::string configuration(const GemmProblem<Types>& p, const DeviceInfo& device) {
    std::string text = Provider::configuration(p, device);
    const auto add = [&](const char* what) { (text += text.empty() ? "" : ", ") += what; };
    if (second_pass(p)) add("and a pass for the epilogue");
    if (p.functor.given()) add(applies_functor(p) ? "with the functor" : "and a pass for the functor");
    return text;
  }
  template <class Types, class Space>
  static void run(const Space& exec, const GemmProblem<Types>& p, GemmWorkspace workspace) {
    Provider::run(exec, p, workspace);
    if (second_pass(p)) run_gemm_epilogue<Types>(exec, p);
  }
};

}  // namespace tessera::detail
