// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/plan.hpp>
#include <tessera/gemm/problem.hpp>

// Kernels of machine code for exactly one architecture, asked by devices that are not there: what is taken, what is
// refused and what runs in its place. Nothing is launched.

namespace {

using namespace tessera;
using Space = Kokkos::Cuda;
using Catch::Matchers::ContainsSubstring;

DeviceInfo device(int major, int minor) {
  DeviceInfo info;
  info.major = major;
  info.minor = minor;
  info.units = 132;
  info.architecture = std::to_string(major) + "." + std::to_string(minor);
  info.key = "not there, " + info.architecture;
  return info;
}

/// A cube, column-major, aligned; never read.
template <class T>
GemmProblem<GemmTypes<T, T>> problem(Precision precision = Precision::full, index_t side = 4096) {
  GemmProblem<GemmTypes<T, T>> p;
  const auto matrix = [&](auto& m, std::uintptr_t address) {
    m.pointer = reinterpret_cast<decltype(m.pointer)>(address);  // NOLINT(performance-no-int-to-ptr)
    m.extents[0] = m.extents[1] = side;
    m.strides[0] = 1;
    m.strides[1] = side;
  };
  matrix(p.a, std::uintptr_t{1} << 30);
  matrix(p.b, std::uintptr_t{2} << 30);
  matrix(p.c, std::uintptr_t{3} << 30);
  p.precision = precision;
  p.planned = true;
  return p;
}

template <class T, class... Providers>
const Selection& chosen(const DeviceInfo& on, const char* forced, const std::tuple<Providers...>& providers,
                        Precision precision = Precision::full, index_t side = 4096) {
  return select_provider<GemmTypes<T, T>, Space>("gemm", problem<T>(precision, side), on, "gate test",
                                                 std::to_string(side) + ", " +
                                                     std::to_string(static_cast<int>(precision)) + ", " +
                                                     typeid(std::tuple<T, Providers...>).name(),
                                                 forced, providers);
}

}  // namespace

TEST_CASE("code for exactly 9.0 runs on 9.0 alone; on others the next path is named, and why", "[gemm_gate]") {
  const auto with_name = [](const char* name, const char* next, const auto& check) {
    INFO(name);
    REQUIRE_THAT(check(device(9, 0), "").path, ContainsSubstring(std::string("gemm[") + name));
    REQUIRE(check(device(9, 0), "").refusals.empty());
    for (const auto& [major, minor] : {std::pair(8, 9), std::pair(10, 0), std::pair(12, 0), std::pair(8, 0)}) {
      const std::string found = std::to_string(major) + "." + std::to_string(minor);
      INFO("a device of " << found);
      const Selection& other = check(device(major, minor), "");
      REQUIRE(other.path == std::string("gemm[") + next + "]");
      REQUIRE(other.refusals.size() == 1);
      REQUIRE(other.refusals[0].provider == name);
      REQUIRE_THAT(other.refusals[0].reason, ContainsSubstring("exactly 9.0 and the device is " + found));
      REQUIRE_THROWS_WITH(check(device(major, minor), name),
                          ContainsSubstring("was forced and cannot run") &&
                              ContainsSubstring("exactly 9.0 and the device is " + found) &&
                              ContainsSubstring("paths of this build are"));
    }
  };
  using backends::GemmComplexDoubleSm90a, backends::GemmCublas, backends::GemmDoubleSm90a, backends::GemmHalfSm90a,
      backends::GemmSplitSm90a, backends::GemmTf32Sm90a, backends::GemmTf32TermsSm90a;
  with_name("cuda:wgmma_half_sm90a", "cuda:cublas", [](const DeviceInfo& on, const char* forced) -> const Selection& {
    return chosen<bfloat16>(on, forced, std::tuple<GemmHalfSm90a, GemmCublas>());
  });
  with_name("cuda:wgmma_half_sm90a", "cuda:cublas", [](const DeviceInfo& on, const char* forced) -> const Selection& {
    return chosen<tessera::half>(on, forced, std::tuple<GemmHalfSm90a, GemmCublas>());
  });
  with_name("cuda:mma_fp64_sm90a", "cuda:cublas", [](const DeviceInfo& on, const char* forced) -> const Selection& {
    return chosen<double>(on, forced, std::tuple<GemmDoubleSm90a, GemmCublas>(), Precision::full, 1024);
  });
  // of large ones the library's are faster; by name the kernel runs all the same
  const auto large = [](const char* forced) -> const Selection& {
    return chosen<double>(device(9, 0), forced, std::tuple<GemmDoubleSm90a, GemmCublas>());
  };
  REQUIRE(large("").path == "gemm[cuda:cublas]");
  REQUIRE_THAT(large("").refusals.at(0).reason, ContainsSubstring("measured"));
  REQUIRE(large("cuda:mma_fp64_sm90a").path == "gemm[cuda:mma_fp64_sm90a 128x128x16 s7]");
  with_name("cuda:mma_complex_fp64_sm90a", "cuda:cublas",
            [](const DeviceInfo& on, const char* forced) -> const Selection& {
              return chosen<Kokkos::complex<double>>(on, forced, std::tuple<GemmComplexDoubleSm90a, GemmCublas>());
            });
  // mma.sync is for 8.0 and newer; clusters, which split K, are for 9.0
  using backends::GemmHalfSm80;
  const auto small = [](const DeviceInfo& on, index_t side) -> const Selection& {
    auto p = problem<bfloat16>();
    for (auto* extents : {p.a.extents, p.b.extents, p.c.extents}) extents[0] = extents[1] = side;
    return select_provider<GemmTypes<bfloat16, bfloat16>, Space>("gemm", p, on, "gate test", std::to_string(side), "",
                                                                 std::tuple<GemmHalfSm80, GemmCublas>());
  };
  REQUIRE(small(device(9, 0), 320).path == "gemm[cuda:mma_half_sm80 64x64x64 split 4]");
  for (const auto& [major, minor] : {std::pair(8, 0), std::pair(8, 9), std::pair(10, 0)})
    REQUIRE(small(device(major, minor), 192).path == "gemm[cuda:mma_half_sm80 64x64x64]");
  REQUIRE(small(device(7, 5), 192).path == "gemm[cuda:cublas]");
  REQUIRE_THAT(small(device(7, 5), 192).refusals.at(0).reason,
               ContainsSubstring("8.0 and newer and the device is 7.5"));
  // products without tiles likewise
  using backends::GemmHalfDirect;
  const auto vector = [](const DeviceInfo& on, index_t rows) -> const Selection& {
    auto p = problem<bfloat16>();
    p.a.extents[0] = p.c.extents[0] = rows;
    p.b.extents[1] = p.c.extents[1] = 1;
    return select_provider<GemmTypes<bfloat16, bfloat16>, Space>(
        "gemm", p, on, "gate test", "vector " + std::to_string(rows), "",
        std::tuple<GemmHalfSm90a, GemmHalfDirect, GemmCublas>());
  };
  REQUIRE_THAT(vector(device(9, 0), 24).path,
               ContainsSubstring("gemm[cuda:direct_half_sm80 ") && ContainsSubstring("split"));
  REQUIRE_THAT(vector(device(9, 0), 24).refusals.at(0).reason, ContainsSubstring("products without tiles"));
  for (const auto& [major, minor] : {std::pair(8, 0), std::pair(8, 9), std::pair(10, 0)})
    REQUIRE_THAT(vector(device(major, minor), 7).path,
                 ContainsSubstring("gemm[cuda:direct_half_sm80 ") && !ContainsSubstring("split"));
  REQUIRE(vector(device(7, 5), 7).path == "gemm[cuda:cublas]");
  REQUIRE_THAT(chosen<bfloat16>(device(9, 0), "", std::tuple<GemmHalfDirect, GemmCublas>()).refusals.at(0).reason,
               ContainsSubstring("tiles were measured faster"));

  REQUIRE_THAT(chosen<float>(device(9, 0), "", std::tuple<GemmSplitSm90a, GemmCublas>(), Precision::fp32_bf16x6).path,
               ContainsSubstring("gemm[cuda:wgmma_bf16_terms_sm90a"));
  for (const auto& [major, minor] : {std::pair(8, 9), std::pair(10, 0)})
    REQUIRE_THROWS_WITH(chosen<float>(device(major, minor), "cuda:wgmma_bf16_terms_sm90a",
                                      std::tuple<GemmSplitSm90a, GemmCublas>(), Precision::fp32_bf16x6),
                        ContainsSubstring("exactly 9.0 and the device is"));
  REQUIRE_THAT(
      chosen<float>(device(9, 0), "", std::tuple<GemmTf32TermsSm90a, GemmCublas>(), Precision::fp32_tf32x3).path,
      ContainsSubstring("gemm[cuda:wgmma_tf32_terms_sm90a x3 128x"));
  REQUIRE_THAT(chosen<float>(device(9, 0), "", std::tuple<GemmSplitSm90a, GemmTf32TermsSm90a, GemmCublas>()).path,
               ContainsSubstring("gemm[cuda:cublas]"));
  // column-major without transposes: one operand has unit stride along K
  REQUIRE(chosen<float>(device(9, 0), "", std::tuple<GemmTf32Sm90a, GemmCublas>(), Precision::tf32).path ==
          "gemm[cuda:wgmma_tf32_sm90a 128x256x32 s4 multicast 2]");
  REQUIRE_THAT(chosen<float>(device(9, 0), "", std::tuple<GemmTf32Sm90a, GemmCublas>()).refusals.at(0).reason,
               ContainsSubstring("only where the precision permits them"));
  for (const auto& [major, minor] : {std::pair(8, 9), std::pair(10, 0)})
    REQUIRE(chosen<float>(device(major, minor), "", std::tuple<GemmTf32Sm90a, GemmCublas>(), Precision::tf32).path ==
            "gemm[cuda:cublas tf32]");
  // neither operand along K: copied where a plan has a workspace
  auto both = problem<float>(Precision::tf32);
  both.b.strides[0] = 4096;
  both.b.strides[1] = 1;
  const auto path_of = [&] {
    return select_provider<GemmTypes<float, float>, Space>("gemm", both, device(9, 0), "gate test",
                                                           both.planned ? "NT planned" : "NT", "",
                                                           std::tuple<GemmTf32Sm90a, GemmCublas>())
        .path;
  };
  REQUIRE_THAT(path_of(), ContainsSubstring("cuda:wgmma_tf32_sm90a copied 128x256x32"));
  both.planned = false;
  REQUIRE(path_of() == "gemm[cuda:cublas tf32]");
}

TEST_CASE("a measurement is kept for a product, whoever runs it and wherever its scalars lie", "[gemm_gate]") {
  const auto kept_as = [](const auto& change) {
    auto p = problem<bfloat16>();
    change(p);
    return measured_as(signature_of(p));
  };
  using Problem = GemmProblem<GemmTypes<bfloat16, bfloat16>>;
  static const float scalar = 1;
  const GemmSignature plain = kept_as([](Problem&) {});
  CHECK(kept_as([](Problem& p) { p.planned = false; }) == plain);
  CHECK(kept_as([](Problem& p) { p.alpha.pointer = &scalar; }) == plain);
  CHECK(kept_as([](Problem& p) { p.beta.pointer = &scalar; }) == plain);
  CHECK_FALSE(kept_as([](Problem& p) { p.a.conj = true; }) == plain);
  CHECK_FALSE(kept_as([](Problem& p) { p.precision = Precision::tf32; }) == plain);
  CHECK_FALSE(kept_as([](Problem& p) { p.epilogue.any = true; }) == plain);
  CHECK_FALSE(kept_as([](Problem& p) { p.functor.pointer = &scalar; }) == plain);
  CHECK_FALSE(kept_as([](Problem& p) { p.batches = 2; }) == plain);
}
