// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>
#include <support/gemm_checks.hpp>
#include <support/message_of.hpp>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using gemm_checks::Storage;
using gemm_checks::Values;

namespace {

template <class V>
auto on_host(const V& view) {
  auto mirror = Kokkos::create_mirror(view);  // a copy on hosts too
  Kokkos::deep_copy(mirror, view);
  return mirror;
}

template <class Layout>
auto filled(const char* name, index_t rows, index_t columns) {
  Kokkos::View<double**, Layout, Space> v(name, static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  auto h = Kokkos::create_mirror_view(v);
  for (index_t j = 0; j < columns; ++j)
    for (index_t i = 0; i < rows; ++i) h(i, j) = static_cast<double>((5 * i + 3 * j) % 7 - 3);
  Kokkos::deep_copy(v, h);
  return v;
}

}  // namespace

TEST_CASE("CASES A1: beta = 0 overwrites NaN, alpha = 0 gives exact zeros, infinities do not spread", "[gemm]") {
  const Space exec;
  Kokkos::View<double**, Kokkos::LayoutRight, Space> a("a", 2, 2), b("b", 2, 2), c("c", 2, 2);
  auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b);
  for (int i = 0; i < 4; ++i) ha(i / 2, i % 2) = i + 1, hb(i / 2, i % 2) = i + 5;
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  for (const double old : {std::nan(""), static_cast<double>(INFINITY)}) {
    Kokkos::deep_copy(c, old);
    tessera::gemm(exec, 1.0, a, b, 0.0, c);
    auto h = on_host(c);
    CHECK((h(0, 0) == 19 && h(0, 1) == 22 && h(1, 0) == 43 && h(1, 1) == 50));
    Kokkos::deep_copy(c, old);
    tessera::gemm(exec, 0.0, a, b, 0.0, c);
    h = on_host(c);
    CHECK((h(0, 0) == 0 && h(0, 1) == 0 && h(1, 0) == 0 && h(1, 1) == 0));
  }
}

// By name only (test_gemm_call_Cuda "[.timing]"): on a machine at rest a plan costs less than 50 us, a known one 2.
TEST_CASE("gemm: the host's time for a plan", "[.timing]") {
  using Clock = std::chrono::steady_clock;
  const Space exec;
  const Kokkos::View<tessera::bfloat16**, Kokkos::LayoutLeft, Space> all("memory", 4096, 4096), out("out", 4096, 4096);
  const auto part = [](const auto& v, index_t rows, index_t columns) {
    return Kokkos::subview(v, Kokkos::pair<index_t, index_t>(0, rows), Kokkos::pair<index_t, index_t>(0, columns));
  };
  std::vector<double> fresh;
  for (index_t i = 0; i < 301; ++i) {
    const index_t m = 64 + 8 * i, n = 4096 - 8 * i, k = 128 + 8 * (i * 37 % 300);
    const auto a = part(all, m, k), b = part(all, k, n), c = part(out, m, n);
    const auto start = Clock::now();
    const auto plan = tessera::plan_gemm(exec, a, b, c);
    const auto end = Clock::now();
    REQUIRE(!plan.path().empty());
    fresh.push_back(std::chrono::duration<double, std::micro>(end - start).count());
  }
  std::ranges::sort(fresh);
  constexpr int calls = 100000;
  const auto start = Clock::now();
  std::size_t bytes = 0;
  for (int i = 0; i < calls; ++i) bytes += tessera::plan_gemm(exec, all, all, out).workspace_bytes();
  const double known = std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls;
  WARN("a new plan " << fresh[fresh.size() / 2] << " us (middle of 301), a known one " << known << " us");
  REQUIRE(bytes == 0);
  REQUIRE(fresh[fresh.size() / 2] < 50);
  REQUIRE(known < 2);
}

TEST_CASE("CASES A2: an empty inner dimension scales C", "[gemm]") {
  const Space exec;
  Kokkos::View<double**, Space> a("a", 3, 0), b("b", 0, 2), c("c", 3, 2);
  Kokkos::deep_copy(c, 4.0);
  tessera::gemm(exec, 1.0, a, b, 0.5, c);
  const auto h = on_host(c);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) CHECK(h(i, j) == 2);
  Kokkos::View<double**, Space> none("none", 0, 2), a0("a0", 0, 3), b0("b0", 3, 2);
  tessera::gemm(exec, 1.0, a0, b0, 0.5, none);
}

TEST_CASE("CASES A3: A^H B of complex numbers", "[gemm]") {
  using T = Kokkos::complex<double>;
  const Space exec;
  Kokkos::View<T**, Kokkos::LayoutLeft, Space> a("a", 2, 2), b("b", 2, 2), c("c", 2, 2);
  auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b);
  ha(0, 0) = T(1, 2), ha(0, 1) = T(3, 0), ha(1, 0) = T(0, 0), ha(1, 1) = T(1, -1);
  hb(0, 0) = T(1, 0), hb(0, 1) = T(0, 1), hb(1, 0) = T(2, 0), hb(1, 1) = T(1, 0);
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  tessera::gemm(exec, 1.0, tessera::adjoint(a), b, 0.0, c);
  const auto h = on_host(c);
  CHECK((h(0, 0) == T(1, -2) && h(0, 1) == T(2, 1) && h(1, 0) == T(5, 2) && h(1, 1) == T(1, 4)));
}

TEST_CASE("CASES A4: K is taken from the right extent of a transposed operand", "[gemm]") {
  const Space exec;
  Kokkos::View<double**, Kokkos::LayoutRight, Space> a("a", 100, 4), b("b", 100, 3), c("c", 4, 3);
  auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b);
  for (int i = 0; i < 100; ++i) {
    for (int j = 0; j < 4; ++j) ha(i, j) = j + 1;
    for (int k = 0; k < 3; ++k) hb(i, k) = k;
  }
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  tessera::gemm(exec, 1.0, tessera::transposed(a), b, 0.0, c);
  const auto h = on_host(c);
  for (int j = 0; j < 4; ++j)
    for (int k = 0; k < 3; ++k) CHECK(h(j, k) == 100.0 * (j + 1) * k);
}

TEST_CASE("CASES A8: sub-matrices of row-major views, mixed with column-major ones", "[gemm]") {
  const Space exec;
  const auto whole = filled<Kokkos::LayoutRight>("whole", 12, 10);
  const auto b = filled<Kokkos::LayoutLeft>("b", 4, 3);
  const auto out = filled<Kokkos::LayoutRight>("out", 20, 9);
  const auto before = on_host(out);
  const auto a = Kokkos::subview(whole, std::pair(1, 8), std::pair(2, 6));
  const auto c = Kokkos::subview(out, std::pair(3, 10), std::pair(4, 7));
  tessera::gemm(exec, 2.0, a, b, 1.0, c);
  const auto h = on_host(out);
  const auto ha = on_host(whole);
  const auto hb = on_host(b);
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 9; ++j) {
      double expected = before(i, j);
      if (i >= 3 && i < 10 && j >= 4 && j < 7)
        for (int k = 0; k < 4; ++k) expected += 2 * ha(1 + i - 3, 2 + k) * hb(k, j - 4);
      CHECK(h(i, j) == expected);
    }
}

TEST_CASE("the trailing update of a blocked factorisation, in one allocation", "[gemm]") {
  const Space exec;
  constexpr int n = 150, k = 40;
  const auto m = filled<Kokkos::LayoutLeft>("m", n, n);
  const auto before = on_host(m);
  const auto a21 = Kokkos::subview(m, std::pair(k, n), std::pair(0, k));
  const auto a12 = Kokkos::subview(m, std::pair(0, k), std::pair(k, n));
  const auto a22 = Kokkos::subview(m, std::pair(k, n), std::pair(k, n));
  tessera::gemm(exec, -1.0, a21, a12, 1.0, a22);
  const auto h = on_host(m);
  bool right = true;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      double expected = before(i, j);
      if (i >= k && j >= k)
        for (int l = 0; l < k; ++l) expected -= before(i, l) * before(l, j);
      right = right && h(i, j) == expected;
    }
  CHECK(right);
}

TEST_CASE("gemm tells what is wrong with its operands", "[gemm]") {
  const Space exec;
  Kokkos::View<double**, Space> a("a", 4, 3), b("b", 5, 2), c("c", 4, 2), s("s", 8, 8);
  CHECK_THAT(
      message_of([&] { tessera::gemm(exec, 1.0, a, b, 0.0, c); }),
      ContainsSubstring("tessera::gemm: A is 4 x 3, B is 5 x 2 and C is 4 x 2; A's columns must equal B's rows") &&
          ContainsSubstring("gemm_call.cpp"));
  Kokkos::View<double**, Space> b3("b3", 3, 7);
  CHECK_THAT(message_of([&] { tessera::gemm(exec, 1.0, a, b3, 0.0, c); }),
             ContainsSubstring("C must have the rows of A and the columns of B"));
  Kokkos::View<double**, Space> t("t", 8, 8);
  CHECK_THAT(message_of([&] { tessera::gemm(exec, 1.0, s, t, 0.0, s); }),
             ContainsSubstring("the output C overlaps the input A"));
  CHECK_THAT(message_of([&] { tessera::gemm(exec, 1.0, s, t, 0.0, t); }),
             ContainsSubstring("the output C overlaps the input B"));
}

TEST_CASE("a plan tells its path and checks what it is run with", "[gemm]") {
  const Space exec;
  const auto a = filled<Kokkos::LayoutLeft>("a", 40, 30), b = filled<Kokkos::LayoutLeft>("b", 30, 20),
             c = filled<Kokkos::LayoutLeft>("c", 40, 20), wider = filled<Kokkos::LayoutLeft>("wider", 40, 31);
  const auto plan = tessera::plan_gemm(exec, a, b, c, {.path = "portable"});
  CHECK_THAT(plan.path(), ContainsSubstring("gemm[portable "));
  CHECK(plan.workspace_bytes() == 0);
  plan.run(exec, 1.0, a, b, 0.0, c);
  const auto ha = on_host(a), hb = on_host(b), hc = on_host(c);
  for (int i = 0; i < 40; ++i) {
    double expected = 0;
    for (int k = 0; k < 30; ++k) expected += ha(i, k) * hb(k, 7);
    CHECK(hc(i, 7) == expected);
  }
  const auto other = Kokkos::subview(wider, Kokkos::ALL, std::pair(0, 30));
  plan.run(exec, 1.0, other, b, 0.0, c);
  const auto shorter = Kokkos::subview(a, std::pair(0, 39), Kokkos::ALL);
  const auto shorter_c = Kokkos::subview(c, std::pair(0, 39), Kokkos::ALL);
  CHECK_THAT(message_of([&] { plan.run(exec, 1.0, shorter, b, 0.0, shorter_c); }),
             ContainsSubstring("M x N x K is 39 x 20 x 30 and was planned as 40 x 20 x 30"));
  const auto right = filled<Kokkos::LayoutRight>("right", 40, 30);
  CHECK_THAT(message_of([&] { plan.run(exec, 1.0, right, b, 0.0, c); }),
             ContainsSubstring("stride 0 of A is 30 and was planned as 1"));
  CHECK_THAT(message_of([&] { (void)tessera::plan_gemm(exec, a, b, c, {.path = "no such"}); }),
             ContainsSubstring("there is no path 'no such' in this build") && ContainsSubstring("portable"));
}

TEST_CASE("TESSERA_GEMM forces a path, an option overrides it", "[gemm]") {
  const Space exec;
  const auto a = filled<Kokkos::LayoutLeft>("a", 10, 10), b = filled<Kokkos::LayoutLeft>("b", 10, 10),
             c = filled<Kokkos::LayoutLeft>("c", 10, 10);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread reads it
  REQUIRE(setenv("TESSERA_GEMM", "nonsense", 1) == 0);
  CHECK_THAT(message_of([&] { tessera::gemm(exec, 1.0, a, b, 0.0, c); }), ContainsSubstring("'nonsense'"));
  CHECK_THAT(tessera::plan_gemm(exec, a, b, c, {.path = "portable"}).path(), ContainsSubstring("portable"));
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  REQUIRE(unsetenv("TESSERA_GEMM") == 0);
}

TEST_CASE("CASES A6: gemm of halves with more than 2^31 elements of C", "[.large-memory][gemm]") {
  using T = tessera::half;
  const Space exec;
  constexpr index_t n = 46341, k = 8;
  Kokkos::View<T**, Kokkos::LayoutRight, Space> a("a", n, k), b("b", k, n), c("c", n, n);
  Kokkos::parallel_for(
      "fill", tessera::Range<Space>(exec, 0, n), KOKKOS_LAMBDA(index_t i) {
        for (index_t l = 0; l < k; ++l) {
          a(i, l) = T(static_cast<float>(i % 5 - 2));
          b(l, i) = T(static_cast<float>(i % 3 - 1 + l % 2));
        }
      });
  tessera::gemm(exec, 1.0F, a, b, 0.0F, c);
  index_t wrong = 0;
  Kokkos::parallel_reduce(
      "compare", tessera::Range<Space>(exec, 0, n * n),
      KOKKOS_LAMBDA(index_t at, index_t & count) {
        const index_t i = at / n, j = at % n;
        const float expected = static_cast<float>(i % 5 - 2) * static_cast<float>(8 * (j % 3 - 1) + 4);
        if (static_cast<float>(c(i, j)) != expected) ++count;
      },
      wrong);
  CHECK(wrong == 0);
}

TEST_CASE("CASES A6: gemm with 2,100,000 rows and its transpose", "[.large-memory][gemm]") {
  const Space exec;
  constexpr index_t m = 2100000, k = 16;
  Kokkos::View<double**, Kokkos::LayoutLeft, Space> a("a", m, k), b("b", k, k), c("c", m, k), d("d", k, m);
  Kokkos::deep_copy(exec, a, 3.0);
  Kokkos::deep_copy(exec, b, 2.0);
  tessera::gemm(exec, 1.0, a, b, 0.0, c);
  tessera::gemm(exec, 1.0, tessera::transposed(b), tessera::transposed(a), 0.0, d);
  index_t wrong = 0;
  Kokkos::parallel_reduce(
      "compare", tessera::Range<Space>(exec, 0, m),
      KOKKOS_LAMBDA(index_t i, index_t & count) {
        for (index_t j = 0; j < k; ++j)
          if (c(i, j) != 96.0 || d(j, i) != 96.0) ++count;
      },
      wrong);
  CHECK(wrong == 0);
}

TEST_CASE("a precision is a permission: every backend serves what is named", "[gemm]") {
  const Space exec;
  using tessera::Precision;
  Kokkos::View<float**, Kokkos::LayoutLeft, Space> a("a", 61, 45), b("b", 45, 52), c("c", 61, 52);
  auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b);
  for (int l = 0; l < 45; ++l) {
    for (int i = 0; i < 61; ++i) ha(i, l) = static_cast<float>((5 * i + 3 * l) % 7 - 3);
    for (int j = 0; j < 52; ++j) hb(l, j) = static_cast<float>((2 * l + 11 * j) % 9 - 4);
  }
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  for (const Precision precision : {Precision::tf32, Precision::bf16, Precision::fp32_bf16x3, Precision::fp32_bf16x6,
                                    Precision::fp32_bf16x9, Precision::fp32_tf32x3}) {
    const auto plan = tessera::plan_gemm(exec, a, b, c, {.precision = precision});
    const Kokkos::View<char*, Space> workspace("workspace", plan.workspace_bytes());
    Kokkos::deep_copy(c, std::nanf(""));
    plan.run(exec, 1.0F, a, b, 0.0F, c, {workspace.data(), workspace.extent(0)});
    const auto h = on_host(c);
    int wrong = 0;
    for (int i = 0; i < 61; ++i)
      for (int j = 0; j < 52; ++j) {
        float expected = 0;
        for (int l = 0; l < 45; ++l) expected += ha(i, l) * hb(l, j);
        if (h(i, j) != expected) ++wrong;
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("max_error chooses the fastest precision whose bound keeps it, and says which", "[gemm]") {
  using tessera::Precision;
  const Space exec;
  constexpr index_t m = 61, n = 52, k = 300;
  Kokkos::View<float**, Kokkos::LayoutLeft, Space> a("a", m, k), c("c", m, n);
  Kokkos::View<float**, Kokkos::LayoutRight, Space> b("b", k, n);
  auto ha = Kokkos::create_mirror_view(a);
  auto hb = Kokkos::create_mirror_view(b);
  std::mt19937 random(3);
  std::uniform_real_distribution<float> values(-1, 1);
  double rows = 0, columns = 0;
  std::vector<double> of_columns(n, 0.0);
  for (index_t i = 0; i < m; ++i) {
    double square = 0;
    for (index_t l = 0; l < k; ++l) {
      ha(i, l) = values(random);
      square += double{ha(i, l)} * ha(i, l);
    }
    rows = std::max(rows, square);
  }
  for (index_t l = 0; l < k; ++l)
    for (index_t j = 0; j < n; ++j) {
      hb(l, j) = values(random);
      of_columns[static_cast<std::size_t>(j)] += double{hb(l, j)} * hb(l, j);
    }
  columns = *std::ranges::max_element(of_columns);
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  const double norms = std::sqrt(rows * columns);
  for (const Precision wanted :
       {Precision::bf16, Precision::tf32, Precision::fp32_bf16x3, Precision::fp32_bf16x6, Precision::full}) {
    // full fp32 has no room below x6's bound but its own
    const double bound = tessera::gemm_error_bound(wanted, k) * norms;
    const double allowed = bound * (1 + 1e-9);
    const auto plan = tessera::plan_gemm(exec, a, b, c, {.max_error = allowed});
    INFO("wanted " << static_cast<int>(wanted) << ", got " << static_cast<int>(plan.precision()) << ", "
                   << plan.path());
    CHECK(plan.precision() == wanted);
    const Kokkos::View<char*, Space> workspace("workspace", plan.workspace_bytes());
    plan.run(exec, 1.0F, a, b, 0.0F, c, {workspace.data(), workspace.extent(0)});
    const auto h = on_host(c);
    double worst = 0;
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        double exact = 0;
        for (index_t l = 0; l < k; ++l) exact += double{ha(i, l)} * hb(l, j);
        worst = std::max(worst, std::abs(h(i, j) - exact));
      }
    CHECK(worst <= allowed);
  }
  // the same lengths wherever the elements lie
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> a_rows("a", m, k);
  const Kokkos::View<float**, Kokkos::LayoutLeft, Space> b_columns("b", k, n);
  Kokkos::deep_copy(a_rows, a);
  Kokkos::deep_copy(b_columns, b);
  const double just = tessera::gemm_error_bound(Precision::tf32, k) * norms;
  CHECK(tessera::plan_gemm(exec, a_rows, b_columns, c, {.max_error = just * (1 + 1e-9)}).precision() ==
        Precision::tf32);
  CHECK(tessera::plan_gemm(exec, a_rows, b_columns, c, {.max_error = just * (1 - 1e-9)}).precision() ==
        Precision::fp32_bf16x3);
  const auto rest = [&](const tessera::GemmOptions& options) {
    return message_of([&] { (void)tessera::plan_gemm(exec, a, b, c, options); });
  };
  CHECK_THAT(rest({.max_error = 1e-9}),
             ContainsSubstring("the bound of full fp32 is") && ContainsSubstring("convert the operands to double"));
  CHECK_THAT(rest({.max_error = -1}), ContainsSubstring("a finite number above 0"));
  CHECK_THAT(rest({.max_error = std::nan("")}), ContainsSubstring("a finite number above 0"));
  CHECK_THAT(rest({.precision = Precision::tf32, .max_error = 1}), ContainsSubstring("together with a precision"));
  const Kokkos::View<double**, Space> d("d", 4, 4), e("e", 4, 4);
  CHECK_THAT(message_of([&] { (void)tessera::plan_gemm(exec, d, d, e, {.max_error = 1}); }),
             ContainsSubstring("fp32 operands alone"));
  // alpha = 0 reads neither operand, so that nothing is asked of them
  Kokkos::deep_copy(c, std::nanf(""));
  tessera::gemm(exec, 0.0F, a, b, 0.0F, c, {.max_error = 1e-30});
  CHECK(on_host(c)(0, 0) == 0);
  // the ends of the range: what may overflow is refused, what underflows counts
  const Kokkos::View<float**, Space> one("one", 1, 1), two("two", 1, 1), product("product", 1, 1);
  const auto chosen = [&](float x, float y, double allowed) {
    Kokkos::deep_copy(one, x);
    Kokkos::deep_copy(two, y);
    return tessera::plan_gemm(exec, one, two, product, {.max_error = allowed}).precision();
  };
  CHECK_THAT(message_of([&] { (void)chosen(3e38F, 2.0F, 1e37); }), ContainsSubstring("beyond the range of fp32"));
  CHECK_THAT(message_of([&] { (void)chosen(1e-30F, 1e-20F, 1e-55); }), ContainsSubstring("the bound of full fp32"));
  CHECK(chosen(1e-40F, 1e38F, 1e-6) == Precision::full);
  CHECK(chosen(3.4e38F, 1e-38F, 0.1) == Precision::full);
  CHECK(chosen(1.5F, 2.5F, 0.1) == Precision::bf16);
  // nothing is promised of infinities: they are as fp32 has them
  ha(3, 5) = INFINITY;
  Kokkos::deep_copy(a, ha);
  CHECK(tessera::plan_gemm(exec, a, b, c, {.max_error = 1}).precision() == Precision::full);
  ha(3, 5) = std::nanf("");
  Kokkos::deep_copy(a, ha);
  CHECK(tessera::plan_gemm(exec, a, b, c, {.max_error = 1}).precision() == Precision::full);
}

namespace {

/// A path of some builds only, on the devices that its kernels are for.
bool has_path(const char* path, tessera::Precision precision) {
  const Space exec;
  const Kokkos::View<float**, Kokkos::LayoutLeft, Space> a("a", 2000, 2000), b("b", 2000, 2000), c("c", 2000, 2000);
  const std::string message =
      message_of([&] { (void)tessera::plan_gemm(exec, a, b, c, {.precision = precision, .path = path}); });
  if (message == "nothing was thrown") return true;
  WARN("not run: " << message);
  return false;
}
constexpr const char* bf16_terms = "cuda:wgmma_bf16_terms_sm90a";
constexpr const char* tf32_terms = "cuda:wgmma_tf32_terms_sm90a";

}  // namespace

TEST_CASE("fp32 from bf16 and tf32 terms: infinities, NaN, the largest and the smallest numbers", "[gemm]") {
  using tessera::Precision;
  if (!has_path(bf16_terms, Precision::fp32_bf16x6)) return;
  using Floats = Kokkos::View<float**, Kokkos::LayoutRight, Space>;
  constexpr int m = 1500, n = 1600, k = 1400;
  const Floats a("a", m, k), b("b", k, n), c("c", m, n), plain("plain", m, n);
  const auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b);
  constexpr float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l) ha(i, l) = static_cast<float>((3 * i + 5 * l) % 9 - 4);
  for (int l = 0; l < k; ++l)
    for (int j = 0; j < n; ++j) hb(l, j) = l == 0 ? 0.25F : static_cast<float>((7 * l + 2 * j) % 9 - 4);
  ha(5, 7) = infinity;
  ha(70, 3) = std::nanf("");
  hb(9, 600) = -infinity;
  ha(100, 0) = largest;               // times 1/4: finite
  ha(200, 1) = ha(200, 2) = largest;  // overflows in most columns
  for (int l = 0; l < k; ++l) ha(300, l) = l == 0 ? 0x1p-149F : 0;
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  const Space exec;
  tessera::gemm(exec, 1.0F, a, b, 0.0F, plain, {.path = "portable"});
  const auto expected = on_host(plain);
  for (const Precision precision :
       {Precision::fp32_bf16x3, Precision::fp32_bf16x6, Precision::fp32_bf16x9, Precision::fp32_tf32x3}) {
    const char* const path = precision == Precision::fp32_tf32x3 ? tf32_terms : bf16_terms;
    const auto plan = tessera::plan_gemm(exec, a, b, c, {.precision = precision, .path = path});
    const Kokkos::View<char*, Space> workspace("workspace", plan.workspace_bytes());
    Kokkos::deep_copy(exec, c, std::nanf(""));
    plan.run(exec, 1.0F, a, b, 0.0F, c, {workspace.data(), workspace.extent(0)});
    const auto got = on_host(c);
    int different = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        const float x = got(i, j), y = expected(i, j);
        const bool same = std::isfinite(y) ? std::fabs(x - y) <= 4e-5F * std::fabs(y) + 1e-30F
                                           : (std::isnan(y) ? std::isnan(x) : x == y);
        if (!same) ++different;
      }
    CHECK(different == 0);
  }
}

TEST_CASE("fp32 from bf16 terms: a name, a plan, a workspace", "[gemm]") {
  using tessera::Precision;
  if (!has_path(bf16_terms, Precision::fp32_bf16x6)) return;
  const Space exec;
  const Kokkos::View<float**, Kokkos::LayoutLeft, Space> a("a", 1500, 1400), b("b", 1400, 1300), c("c", 1500, 1300);
  const auto named = tessera::plan_gemm(exec, a, b, c, {.precision = Precision::fp32_bf16x6});
  CHECK_THAT(named.path(), ContainsSubstring(bf16_terms));
  CHECK(named.workspace_bytes() > 0);
  CHECK_THAT(message_of([&] { named.run(exec, 1.0F, a, b, 0.0F, c); }), ContainsSubstring("workspace"));
  CHECK_THAT(message_of([&] { tessera::gemm(exec, 1.0F, a, b, 0.0F, c, {.precision = Precision::fp32_bf16x6}); }),
             ContainsSubstring("gemm() allocates nothing"));
  const auto full = tessera::plan_gemm(exec, a, b, c);
  CHECK(full.workspace_bytes() == 0);
  std::string reasons;
  for (const auto& r : full.reasons()) reasons += r.reason + "\n";
  CHECK_THAT(reasons, ContainsSubstring("only when asked for by name"));
  const auto tf32 = tessera::plan_gemm(exec, a, b, c, {.precision = Precision::fp32_tf32x3});
  CHECK_THAT(tf32.path(), ContainsSubstring(tf32_terms));
}

namespace {

constexpr const char* tf32_path = "cuda:wgmma_tf32_sm90a";

template <class V>
void fill_small(const Space& exec, const V& x, index_t seed) {
  const auto rows = static_cast<index_t>(x.extent(0)), columns = static_cast<index_t>(x.extent(1));
  Kokkos::parallel_for(
      "tessera::test::fill", tessera::Range<Space>(exec, 0, rows * columns), KOKKOS_LAMBDA(index_t e) {
        x(e % rows, e / rows) = static_cast<float>((seed * (e % rows) + 5 * (e / rows)) % 9 - 4);
      });
}

/// Elements of 64 rows of C that are not those of A B, of small integers.
template <class A, class B, class C>
index_t wrong_in_rows(const Space& exec, const A& a, const B& b, const C& c) {
  const auto m = static_cast<index_t>(c.extent(0)), n = static_cast<index_t>(c.extent(1));
  const auto k = static_cast<index_t>(a.extent(1));
  index_t count = 0;
  Kokkos::parallel_reduce(
      "tessera::test::compare", tessera::Range<Space>(exec, 0, 64 * n),
      KOKKOS_LAMBDA(index_t e, index_t & wrong) {
        const index_t i = e % 64 * (m - 1) / 63, j = e / 64;
        float sum = 0;
        for (index_t l = 0; l < k; ++l) sum += a(i, l) * b(l, j);
        if (c(i, j) != sum) ++wrong;
      },
      count);
  return count;
}

template <class A, class B, class C>
void check_tf32(const A& a, const B& b, const C& c, bool copies) {
  using tessera::Precision;
  const Space exec;
  fill_small(exec, a, 3);
  fill_small(exec, b, 7);
  const auto plan = tessera::plan_gemm(exec, a, b, c, {.precision = Precision::tf32});
  CHECK_THAT(plan.path(), ContainsSubstring(tf32_path));
  CHECK((plan.workspace_bytes() > 0) == copies);
  const Kokkos::View<char*, Space> workspace("workspace", plan.workspace_bytes());
  Kokkos::deep_copy(exec, c, std::nanf(""));
  plan.run(exec, 1.0F, a, b, 0.0F, c, {workspace.data(), workspace.extent(0)});
  CHECK(wrong_in_rows(exec, a, b, c) == 0);
  Kokkos::deep_copy(exec, c, std::nanf(""));
  tessera::gemm(exec, 1.0F, a, b, 0.0F, c, {.precision = Precision::tf32});
  CHECK(wrong_in_rows(exec, a, b, c) == 0);
}

}  // namespace

TEST_CASE("tf32 on Hopper: every pair of layouts, through the call and a plan", "[gemm]") {
  if (!has_path(tf32_path, tessera::Precision::tf32)) return;
  constexpr index_t m = 1700, n = 1900, k = 1800;
  const Kokkos::View<float**, Kokkos::LayoutLeft, Space> a_left("a", m, k), b_left("b", k, n), c_left("c", m, n);
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> a_right("a", m, k), b_right("b", k, n), c_right("c", m, n);
  const auto both = [&](const auto& c) {
    check_tf32(a_left, b_left, c, false);
    check_tf32(a_right, b_left, c, false);
    check_tf32(a_left, b_right, c, true);
    check_tf32(a_right, b_right, c, false);
  };
  both(c_left);
  both(c_right);
}

TEST_CASE("gemm's paths besides the portable one, where the build has them", "[gemm]") {
  using gemm_checks::Setup;
  const Space exec;
  const auto a = filled<Kokkos::LayoutLeft>("a", 10, 10), b = filled<Kokkos::LayoutLeft>("b", 10, 10),
             c = filled<Kokkos::LayoutLeft>("c", 10, 10);
  constexpr const char* path = "openmp:cblas";
  const std::string message = message_of([&] { (void)tessera::plan_gemm(exec, a, b, c, {.path = path}); });
  if (message != "nothing was thrown") {
    WARN("not run: " << message);
    return;
  }
  const auto run = [&]<class T>(T, const Setup& s) {
    std::string what;
    try {
      what = gemm_checks::wrong<T, T>(s);
    } catch (const tessera::Error& e) {
      CHECK_THAT(e.what(), ContainsSubstring("was forced and cannot run"));
      return false;
    }
    CHECK(what.empty());
    return true;
  };
  int ran = 0, refused = 0;
  for (const auto op_a : gemm_checks::all_ops)
    for (const auto op_b : gemm_checks::all_ops)
      for (const Storage sa : gemm_checks::all_storages)
        for (const Storage sc : gemm_checks::all_storages)
          for (const int beta : {0, 2}) {
            Setup s{
                .m = 19, .n = 23, .k = 17, .op_a = op_a, .op_b = op_b, .a = sa, .c = sc, .beta = beta, .path = path};
            for (const bool ok : {run(float{}, s), run(double{}, s), run(Kokkos::complex<float>{}, s),
                                  run(Kokkos::complex<double>{}, s)})
              ++(ok ? ran : refused);
          }
  CHECK(ran > 500);
  CHECK(refused > 500);
  for (const int alpha : {0, 3})
    for (const int beta : {0, 1, -2}) {
      Setup s{.m = 40, .n = 30, .k = 50, .alpha = alpha, .beta = beta, .scalars_on_device = true, .path = path};
      CHECK(run(double{}, s));
      CHECK(run(Kokkos::complex<float>{}, s));
      s.values = Values::random;
      CHECK(run(float{}, s));
    }
  CHECK_FALSE(run(double{}, {.m = 4, .n = 4, .k = 0, .path = path}));
}

TEST_CASE("complex fp64 on tensor cores, by name: every op, storage and scalar", "[gemm]") {
  using gemm_checks::Setup;
  const Space exec;
  using Matrix = Kokkos::View<Kokkos::complex<double>**, Kokkos::LayoutLeft, Space>;
  constexpr const char* path = "cuda:mma_complex_fp64_sm90a";
  const Matrix square("square", 80, 80), result("result", 80, 80);
  const std::string message =
      message_of([&] { (void)tessera::plan_gemm(exec, square, square, result, {.path = path}); });
  if (message != "nothing was thrown") {
    WARN("not run: " << message);
    return;
  }
  int ran = 0, refused = 0;
  const auto run = [&](const Setup& s) {
    try {
      const std::string wrong = gemm_checks::wrong<Kokkos::complex<double>, Kokkos::complex<double>>(s);
      CHECK(wrong == "");
      ++ran;
    } catch (const tessera::Error& e) {
      CHECK_THAT(e.what(), ContainsSubstring("has unit stride in neither dimension") ||
                               ContainsSubstring("base is not a multiple of 16 bytes"));
      ++refused;
    }
  };
  for (const auto op_a : gemm_checks::all_ops)
    for (const auto op_b : gemm_checks::all_ops)
      for (const Storage sa : gemm_checks::all_storages)
        for (const Storage sb : gemm_checks::all_storages)
          for (const Storage sc : {Storage::left, Storage::right})
            run({.m = 69,
                 .n = 33,
                 .k = 21,
                 .op_a = op_a,
                 .op_b = op_b,
                 .a = sa,
                 .b = sb,
                 .c = sc,
                 .beta = 2,
                 .path = path});
  CHECK(ran >= 128);  // left and right storage
  for (const int alpha : {0, 3})
    for (const int beta : {0, 1, -2})
      for (const Values values : {Values::integers, Values::random})
        run({.m = 130,
             .n = 70,
             .k = 129,
             .op_b = gemm_checks::Op::adjoint,
             .values = values,
             .alpha = alpha,
             .beta = beta,
             .scalars_on_device = true,
             .path = path});
  CHECK(ran >= 140);
  INFO(refused);
}

TEST_CASE("fp64 on tensor cores, by name: right where it runs, and else it says why not", "[gemm]") {
  constexpr const char* path = "cuda:mma_fp64_sm90a";
  const Space exec;
  using Doubles = Kokkos::View<double**, Kokkos::LayoutLeft, Space>;
  constexpr int m = 514, n = 386, k = 130;
  const Doubles all_a("a", m + 1, k), all_b("b", k, n), c("c", m, n);
  const auto part = Kokkos::subview(all_a, std::pair(1, m + 1), Kokkos::ALL);
  const auto ha = Kokkos::create_mirror_view(all_a), hb = Kokkos::create_mirror_view(all_b);
  for (int i = 0; i <= m; ++i)
    for (int l = 0; l < k; ++l) ha(i, l) = (3 * i + 5 * l) % 19 - 9;
  for (int l = 0; l < k; ++l)
    for (int j = 0; j < n; ++j) hb(l, j) = (7 * l + 2 * j) % 17 - 8;
  Kokkos::deep_copy(all_a, ha);
  Kokkos::deep_copy(all_b, hb);
  const auto wrong = [&](int first) {
    const auto h = on_host(c);
    int count = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        double expected = 0;
        for (int l = 0; l < k; ++l) expected += ha(i + first, l) * hb(l, j);
        if (h(i, j) != expected) ++count;
      }
    return count;
  };
  // leading dimension m + 1 is odd, and so no row of 16-byte multiples
  const Doubles a("even", m, k);
  Kokkos::deep_copy(exec, a, part);
  const bool has_it =
      message_of([&] { (void)tessera::plan_gemm(exec, a, all_b, c, {.path = path}); }) == "nothing was thrown";
  const auto whole = tessera::plan_gemm(exec, a, all_b, c, {.path = has_it ? path : ""});
  const auto odd = tessera::plan_gemm(exec, part, all_b, c);
  Kokkos::deep_copy(exec, c, std::nan(""));
  whole.run(exec, 1.0, a, all_b, 0.0, c);
  CHECK(wrong(1) == 0);
  Kokkos::deep_copy(exec, c, std::nan(""));
  odd.run(exec, 1.0, part, all_b, 0.0, c);
  CHECK(wrong(1) == 0);
  if (!has_it) return;
  CHECK_THAT(whole.path(), ContainsSubstring(path));
  CHECK_THAT(message_of([&] { (void)tessera::plan_gemm(exec, part, all_b, c, {.path = path}); }),
             ContainsSubstring("A's base or leading dimension is not a multiple of 16 bytes"));
  // of a C whose columns are contiguous the transpose is computed: the names stay the caller's
  const Doubles long_b("long b", k + 1, n);
  const auto part_of_b = Kokkos::subview(long_b, std::pair(0, k), Kokkos::ALL);
  CHECK_THAT(message_of([&] { (void)tessera::plan_gemm(exec, a, part_of_b, c, {.path = path}); }),
             ContainsSubstring("B's base or leading dimension is not a multiple of 16 bytes"));
}

TEST_CASE("16-bit operands whose rows are no multiples of 16 bytes: a plan may copy them into its workspace",
          "[gemm]") {
  using Halves = Kokkos::View<tessera::bfloat16**, Kokkos::LayoutLeft, Space>;
  const Space exec;
  constexpr int m = 1030, n = 1026, k = 1031;
  const Halves a("a", m, k), all_b("b", k + 1, n);
  const auto b = Kokkos::subview(all_b, std::pair(1, k + 1), Kokkos::ALL);
  const Kokkos::View<float**, Kokkos::LayoutLeft, Space> c("c", m, n);
  const auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(all_b);
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l) ha(i, l) = tessera::bfloat16(static_cast<float>((3 * i + 5 * l) % 19 - 9));
  for (int l = 0; l <= k; ++l)
    for (int j = 0; j < n; ++j) hb(l, j) = tessera::bfloat16(static_cast<float>((7 * l + 2 * j) % 17 - 8));
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(all_b, hb);
  const auto plan = tessera::plan_gemm(exec, a, b, c);
  INFO(plan.path());
  const auto device = tessera::device_of(exec);
  if (device.major == 9 && device.minor == 0) CHECK_THAT(plan.path(), ContainsSubstring("copied"));
  const Kokkos::View<char*, Space> workspace("workspace", plan.workspace_bytes());
  const auto check = [&](const auto& run) {
    Kokkos::deep_copy(exec, c, std::nanf(""));
    run();
    const auto h = on_host(c);
    int wrong = 0;
    for (const int i : {0, 1, 127, 128, 700, m - 1})
      for (int j = 0; j < n; ++j) {
        float expected = 0;  // whole numbers: exact
        for (int l = 0; l < k; ++l) expected += static_cast<float>(ha(i, l)) * static_cast<float>(hb(l + 1, j));
        if (h(i, j) != expected) ++wrong;
      }
    CHECK(wrong == 0);
  };
  check([&] { plan.run(exec, 1.0F, a, b, 0.0F, c, {workspace.data(), workspace.extent(0)}); });
  if (plan.workspace_bytes() > 0)
    CHECK_THAT(message_of([&] { plan.run(exec, 1.0F, a, b, 0.0F, c); }), ContainsSubstring("workspace"));
  // gemm() has no workspace, and another path
  check([&] { tessera::gemm(exec, 1.0F, a, b, 0.0F, c); });
}
