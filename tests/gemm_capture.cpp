// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <type_traits>

#include <tessera/backends/peers.hpp>
#include <tessera/core/execution.hpp>
#include <tessera/gemm.hpp>

/// \file
/// Products that are the first of their kind in the process, and on their instance, while a graph is captured: nothing
/// of them may wait or allocate, and each replay forms them anew.

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using tessera::index_t;
/// Replays are of the default space: programs of a build's other spaces have nothing to look at.
constexpr bool looks = std::is_same_v<TESSERA_TEST_SPACE, Space> && !tessera::is_host_space<Space>;

template <class T>
KOKKOS_FUNCTION T entry(index_t i, index_t j) {
  return T(static_cast<float>((3 * i + 5 * j) % 7 - 3));
}

template <class T>
void fill(const Space& exec, const Kokkos::View<T**, Kokkos::LayoutLeft, Space>& x, index_t shift) {
  const auto rows = static_cast<index_t>(x.extent(0));
  Kokkos::parallel_for(
      "tessera::test::fill", tessera::Range<Space>(exec, 0, static_cast<index_t>(x.size())),
      KOKKOS_LAMBDA(index_t e) { x(e % rows, e / rows) = entry<T>(e % rows + shift, e / rows); });
}

/// Elements that are not alpha times the sum over l; the sums are of small integers, which are exact where `bound` is
/// 0.
template <class T, class Out>
index_t wrong(const Space& exec, const Kokkos::View<Out**, Kokkos::LayoutLeft, Space>& c, index_t k, double alpha,
              double bound) {
  const auto rows = static_cast<index_t>(c.extent(0));
  index_t count = 0;
  Kokkos::parallel_reduce(
      "tessera::test::compare", tessera::Range<Space>(exec, 0, static_cast<index_t>(c.size())),
      KOKKOS_LAMBDA(index_t e, index_t & w) {
        const index_t i = e % rows, j = e / rows;
        double sum = 0;
        for (index_t l = 0; l < k; ++l)
          sum += static_cast<double>((3 * i + 5 * l) % 7 - 3) * static_cast<double>((3 * (l + 1) + 5 * j) % 7 - 3);
        sum *= alpha;
        const double error = Kokkos::abs(static_cast<double>(c(i, j)) - sum);
        if (!(error <= bound * Kokkos::abs(sum))) ++w;
      },
      count);
  return count;
}

/// C = alpha A B, first of all inside a capture; or, where not `first`, on its instance.
template <class T, class Out = T>
void check_capture(index_t m, index_t n, index_t k, double rounding = 0, const tessera::GemmOptions& options = {},
                   bool alpha_on_device = false, bool first = true) {
  if constexpr (looks) {
    using Accumulator = tessera::accumulator_t<T>;
    INFO(m << "x" << n << "x" << k << ", " << sizeof(T) << " bytes into " << sizeof(Out));
    const auto instances = Kokkos::Experimental::partition_space(Space(), 1, 1);
    const Space& exec = instances[1];  // an instance that has run nothing yet
    const Kokkos::View<T**, Kokkos::LayoutLeft, Space> a("a", m, k), b("b", k, n);
    const Kokkos::View<Out**, Kokkos::LayoutLeft, Space> c("c", m, n);
    const Kokkos::View<Accumulator, Space> alpha("alpha");
    Kokkos::deep_copy(alpha, Accumulator(2));
    fill(Space(), a, 0);
    fill(Space(), b, 1);
    Kokkos::fence();
    if (!first) {
      tessera::gemm(Space(), Accumulator(2), a, b, Accumulator(0), c, options);
      Kokkos::fence();
    }
    const tessera::peers::Replay replay = tessera::peers::capture(tessera::peers::queue_of(exec), [&] {
      if (alpha_on_device)
        tessera::gemm(exec, alpha, a, b, Accumulator(0), c, options);
      else
        tessera::gemm(exec, Accumulator(2), a, b, Accumulator(0), c, options);
    });
    INFO(tessera::plan_gemm(exec, a, b, c, options).path());
    INFO(replay.refusal);
    CHECK(replay.refusal.empty());
    if (!replay.launch) return;
    for (int turn = 0; turn < 2; ++turn) {
      Kokkos::deep_copy(c, Out(99));
      Kokkos::fence();
      replay.launch();
      exec.fence();
      CHECK(wrong<T>(Space(), c, k, 2 * options.epilogue.scale, rounding) == 0);
    }
    // what was allocated meanwhile is the handle's: the same call again, alone
    Kokkos::deep_copy(c, Out(99));
    tessera::gemm(exec, Accumulator(2), a, b, Accumulator(0), c, options);
    exec.fence();
    CHECK(wrong<T>(Space(), c, k, 2 * options.epilogue.scale, rounding) == 0);
  }
}

/// A captured product keeps the scalar that lies on the host beside one on the device: C = 2 A B - 3 C of ones.
template <class T>
void check_scalars() {
  if constexpr (looks) {
    if (std::string(Space::name()) != "Cuda") return;  // the path has another name, or there is none
    constexpr index_t n = 200;
    for (const bool alpha_on_device : {false, true}) {
      const auto instances = Kokkos::Experimental::partition_space(Space(), 1, 1);
      const Space& exec = instances[1];
      const Kokkos::View<T**, Kokkos::LayoutLeft, Space> a("a", n, n), c("c", n, n);
      const Kokkos::View<T, Space> scalar("scalar");
      Kokkos::deep_copy(a, T(1));
      Kokkos::deep_copy(scalar, alpha_on_device ? T(2) : T(-3));
      Kokkos::fence();
      const tessera::peers::Replay replay = tessera::peers::capture(tessera::peers::queue_of(exec), [&] {
        if (alpha_on_device)
          tessera::gemm(exec, scalar, a, a, T(-3), c, {.path = "cuda:cublas"});
        else
          tessera::gemm(exec, T(2), a, a, scalar, c, {.path = "cuda:cublas"});
      });
      INFO(replay.refusal);
      CHECK(replay.refusal.empty());
      if (!replay.launch) continue;
      Kokkos::deep_copy(c, T(5));
      Kokkos::fence();
      replay.launch();
      replay.launch();
      exec.fence();
      const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
      CHECK(got(7, 9) == T(2 * n - 3 * (2 * n - 3 * 5)));
    }
  }
}

}  // namespace

TEST_CASE("first calls inside a capture: 16-bit elements", "[gemm_capture]") {
  using tessera::bfloat16, tessera::half;
  check_capture<bfloat16>(7, 1, 301, 0x1p-8);
  check_capture<bfloat16>(500, 300, 3, 0x1p-8);
  check_capture<bfloat16>(64, 90, 100, 0x1p-8);
  check_capture<half>(512, 512, 512, 0x1p-11);
  check_capture<bfloat16, float>(1024, 2048, 1000);
  check_capture<bfloat16>(333, 1001, 777, 0x1p-8);
  check_capture<half>(19, 157, 3395, 0x1p-11);
}

TEST_CASE("first calls inside a capture: every precision of fp32", "[gemm_capture]") {
  using enum tessera::Precision;
  for (const tessera::Precision p : {full, tf32, bf16, fp32_bf16x3, fp32_bf16x6, fp32_bf16x9, fp32_tf32x3})
    check_capture<float>(600, 400, 512, 0, {.precision = p});
  check_capture<float>(33, 17, 65);
  check_capture<float>(600, 400, 512, 0, {.precision = tf32}, true);
}

TEST_CASE("first calls inside a capture: fp64, integers, scalars of two places, and the portable kernel",
          "[gemm_capture]") {
  check_capture<double>(256, 512, 300);
  check_capture<double>(1500, 1500, 64);
  check_capture<double>(300, 200, 100, 0, {}, true);
  check_scalars<double>();
  check_scalars<Kokkos::complex<double>>();
  // Kokkos copies a table to the device when the first kernel of a source file is launched: not in a capture
  check_capture<double>(300, 200, 100, 0, {.path = "portable"}, false, false);
  check_capture<std::int32_t>(100, 70, 50, 0, {}, false, false);
  check_capture<float>(300, 200, 100, 0, {.epilogue = {.scale = 0.5}}, false, false);
}
