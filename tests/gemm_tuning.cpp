// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <support/gemm_checks.hpp>
#include <support/message_of.hpp>
#include <support/tuning_folder.hpp>

#include <tessera/gemm.hpp>

using Catch::Matchers::ContainsSubstring;

namespace {

bool says_file(const std::vector<tessera::Refusal>& refusals) {
  return std::any_of(refusals.begin(), refusals.end(),
                     [](const auto& r) { return r.reason.find("the tuning file") != std::string::npos; });
}

/// Whether this build has more paths than one: where it has not there is nothing to be said of another.
bool has_others() {
  const Kokkos::View<float**, Space> x("x", 1, 1), y("y", 1, 1);
  const std::string message = message_of([&] { (void)tessera::plan_gemm(Space(), x, x, y, {.path = "no such path"}); });
  return message.find("paths of this build are portable. ") == std::string::npos;
}

/// Files of the folder that are tables.
int tables(const TuningFolder& folder) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    count += entry.path().extension() == ".tsv" ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a plan that tunes takes the fastest path, keeps it, and leaves C as it is", "[gemm][tuning]") {
  const TuningFolder folder;
  const Space exec;
  constexpr int m = 70, n = 90, k = 50;
  // C's lines lie apart, and begin off any boundary
  const Kokkos::View<double**, Kokkos::LayoutRight, Space> a("a", m, k), b("b", k, n), whole("whole", m, n + 3);
  const auto c = Kokkos::subview(whole, Kokkos::ALL, std::pair<int, int>(1, n + 1));
  const auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b);
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l) ha(i, l) = (3 * i + l) % 7 - 3;
  for (int l = 0; l < k; ++l)
    for (int j = 0; j < n; ++j) hb(l, j) = (2 * l + 5 * j) % 9 - 4;
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  Kokkos::deep_copy(whole, 77.0);
  const auto untuned = tessera::plan_gemm(exec, a, b, c);
  CHECK_FALSE(says_file(untuned.reasons()));
  CHECK(tables(folder) == 0);
  const auto plan = tessera::plan_gemm(exec, a, b, c, {.tune = true});
  exec.fence();
  const auto untouched = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), whole);
  int changed = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n + 3; ++j) changed += untouched(i, j) == 77.0 ? 0 : 1;
  CHECK(changed == 0);
  CHECK(says_file(plan.reasons()) == has_others());
  CHECK(tables(folder) == 1);

  const Kokkos::View<char*, Space> workspace("workspace", plan.workspace_bytes());
  plan.run(exec, 1.0, a, b, 0.0, c, {workspace.data(), workspace.extent(0)});
  exec.fence();
  const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), whole);
  int wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) sum += ha(i, l) * hb(l, j);
      wrong += got(i, j + 1) == sum ? 0 : 1;
    }
  CHECK(wrong == 0);

  // from now on every plan of such operands takes it, also in the next process
  tessera::detail::forget_tuning();
  CHECK(tessera::plan_gemm(exec, a, b, c).path() == plan.path());
  CHECK(says_file(tessera::plan_gemm(exec, a, b, c).reasons()) == has_others());
  // what is forced is neither measured nor overruled
  CHECK_THAT(tessera::plan_gemm(exec, a, b, c, {.path = "portable", .tune = true}).path(),
             ContainsSubstring("gemm[portable"));
}

TEST_CASE("TESSERA_TUNE=1 has plans tune; gemm() only looks up", "[gemm][tuning]") {
  const TuningFolder folder;
  const Space exec;
  const Kokkos::View<float**, Kokkos::LayoutLeft, Space> a("a", 33, 20), b("b", 20, 40), c("c", 33, 40);
  REQUIRE(setenv("TESSERA_TUNE", "1", 1) == 0);  // NOLINT(concurrency-mt-unsafe): no other thread runs
  tessera::gemm(exec, 1.0F, a, b, 0.0F, c);
  CHECK(tables(folder) == 0);
  CHECK(says_file(tessera::plan_gemm(exec, a, b, c).reasons()) == has_others());
  CHECK(tables(folder) == 1);
  // 0 stands above the option
  REQUIRE(setenv("TESSERA_TUNE", "0", 1) == 0);  // NOLINT(concurrency-mt-unsafe): no other thread runs
  CHECK_FALSE(says_file(
      tessera::plan_gemm(exec, b, tessera::transposed(b), Kokkos::View<float**, Space>("s", 20, 20), {.tune = true})
          .reasons()));
  REQUIRE(setenv("TESSERA_TUNE", "1", 1) == 0);  // NOLINT(concurrency-mt-unsafe): no other thread runs
  // an empty product has nothing to measure
  const Kokkos::View<float**, Kokkos::LayoutLeft, Space> none("none", 0, 20), empty("empty", 0, 40);
  CHECK_FALSE(says_file(tessera::plan_gemm(exec, none, b, empty).reasons()));
  exec.fence();
}
