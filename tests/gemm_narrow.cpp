// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_template_test_macros.hpp>
#include <cstdint>
#include <string>
#include <support/gemm_checks.hpp>
#include <tuple>
#include <type_traits>
#include <vector>

TEST_CASE("gemm of half into half", "[gemm]") { gemm_checks::check_all<tessera::half, tessera::half>(); }
TEST_CASE("gemm of half into float", "[gemm]") { gemm_checks::check_all<tessera::half, float>(); }
TEST_CASE("gemm of bfloat16 into bfloat16", "[gemm]") {
  gemm_checks::check_all<tessera::bfloat16, tessera::bfloat16>();
}
TEST_CASE("gemm of bfloat16 into float", "[gemm]") { gemm_checks::check_all<tessera::bfloat16, float>(); }

namespace {

/// C of random A and B, its lines one element longer than C; the worst error of ten of its rows in units of what fp32
/// sums and one rounding to T may err.
template <class T>
double error_of_sums(index_t m, index_t n, index_t k, const std::string& path) {
  using Matrix = Kokkos::View<T**, Kokkos::LayoutLeft, Space>;
  const Matrix all_a("a", m + 1, k), all_b("b", k + 1, n), all_c("c", m + 1, n);
  const auto random = [](const Matrix& x, std::uint64_t seed) {
    T* const p = x.data();
    Kokkos::parallel_for(
        "tessera::test::fill", tessera::Range<Space>(Space(), 0, static_cast<index_t>(x.span())),
        KOKKOS_LAMBDA(index_t i) {
          std::uint64_t z = (static_cast<std::uint64_t>(i) + seed) * 0x9e3779b97f4a7c15u;  // splitmix64
          z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
          z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
          p[i] = T(static_cast<float>(static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1));
        });
  };
  random(all_a, 1);
  random(all_b, 1'000'000'007);
  const auto part = [](const Matrix& x, index_t rows) {
    return Kokkos::subview(x, Kokkos::pair<index_t, index_t>(0, rows), Kokkos::ALL);
  };
  const auto a = part(all_a, m), b = part(all_b, k), c = part(all_c, m);
  tessera::gemm(Space(), 1.0F, a, b, 0.0F, c, {.path = path});
  constexpr double rounding = std::is_same_v<T, tessera::half> ? 0x1p-11 : 0x1p-8;
  double worst = 0;
  Kokkos::parallel_reduce(
      "tessera::test::compare", tessera::Range<Space>(Space(), 0, 10 * n),
      KOKKOS_LAMBDA(index_t at, double& w) {
        const index_t i = at % 10 * (m - 1) / 9, j = at / 10;
        double sum = 0, size = 0;
        for (index_t l = 0; l < k; ++l) {
          const double product = static_cast<double>(a(i, l)) * static_cast<double>(b(l, j));
          sum += product;
          size += Kokkos::fabs(product);
        }
        const double bound =
            4 * Kokkos::sqrt(static_cast<double>(k)) * 0x1p-24 * size + rounding * Kokkos::fabs(sum) + 1e-30;
        const double e = Kokkos::fabs(static_cast<double>(c(i, j)) - sum) / bound;
        if (!(e <= w)) w = e == e ? e : 1e300;
      },
      Kokkos::Max<double>(worst));
  return worst;
}

}  // namespace

TEMPLATE_TEST_CASE("gemm of 16-bit floats keeps its sums in fp32", "[gemm]", tessera::bfloat16, tessera::half) {
  // shapes for which cuBLAS splits K and by default rounds the parts to 16 bits
  std::vector<std::string> paths{""};
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<Space, Kokkos::Cuda>) paths.emplace_back("cuda:cublas");
#endif
  for (const std::string& path : paths)
    for (const auto& [m, n, k] : {std::tuple(999, 999, 999), std::tuple(245, 709, 3999), std::tuple(12, 8, 34),
                                  std::tuple(246, 27, 7450), std::tuple(98, 45, 1870)}) {
      INFO(m << " x " << n << " x " << k << ", path '" << path << "'");
      CHECK(error_of_sums<TestType>(m, n, k, path) <= 1);
    }
}
