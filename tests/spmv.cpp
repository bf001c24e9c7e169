// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/csr_checks.hpp>
#include <tuple>
#include <vector>

using namespace csr_checks;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("spmv agrees with a dense reference for every op, shape and factor", "[spmv]",
                   (std::tuple<float, std::int32_t, std::int32_t>), (std::tuple<double, std::int32_t, std::int64_t>),
                   (std::tuple<double, std::int32_t, std::int32_t>), (std::tuple<float, std::int64_t, std::int64_t>),
                   (std::tuple<Kokkos::complex<float>, std::int32_t, std::int64_t>),
                   (std::tuple<Kokkos::complex<double>, std::int32_t, std::int32_t>),
                   (std::tuple<Kokkos::complex<double>, std::int64_t, std::int64_t>)) {
  using T = std::tuple_element_t<0, TestType>;
  using Ordinal = std::tuple_element_t<1, TestType>;
  using Offset = std::tuple_element_t<2, TestType>;
  check_all<T, Ordinal, Offset>(random_csr<T>(mixed_lengths(301, 90, 1), 211, 2), 3);
  check_all<T, Ordinal, Offset>(random_csr<T>(mixed_lengths(63, 5, 4), 400, 5), 6);
}

TEMPLATE_TEST_CASE("spmv at the edges: no rows, no columns, no entries, one row, empty rows", "[spmv]", double,
                   Kokkos::complex<float>) {
  using T = TestType;
  const auto check = [](const std::vector<index_t>& lengths, index_t cols) {
    check_all<T, std::int32_t, std::int32_t>(random_csr<T>(lengths, cols, 11), 12);
  };
  check({}, 0);
  check({}, 5);
  check({0, 0, 0}, 0);
  check({0, 0, 0, 0}, 7);
  check({1}, 1);
  check({27}, 1);
  check({3000}, 100);
  check(std::vector<index_t>(63, 7), 64);
  check(std::vector<index_t>(64, 8), 64);
  check(std::vector<index_t>(65, 9), 64);
  check({0, 0, 5, 0}, 6);
}

TEST_CASE("spmv with one row of a million entries among short ones", "[spmv]") {
  std::vector<index_t> lengths(5000, 3);
  lengths[1234] = 1000000;
  lengths[4000] = 70000;
  const auto a = random_csr<double>(lengths, 20000, 21);
  const Space exec;
  const auto matrix = upload<std::int32_t, std::int32_t>(exec, a);
  for (const Op op : all_ops) {
    const bool transposed = op == Op::transpose || op == Op::adjoint;
    const auto x = random_vector<double>(transposed ? a.rows : a.cols, 22);
    const auto y = random_vector<double>(transposed ? a.cols : a.rows, 23);
    const auto plan = tessera::plan_spmv(exec, matrix, op);
    CHECK(plan.statistics().longest == 1000000);
    CHECK(plan.shape().long_rows);
    const Guarded<double> gx(exec, x, 1), gy(exec, y, 1);
    plan.run(exec, 1.5, matrix, gx.view(), -1.0, gy.view());
    check_vector(gy.read(exec), reference(a, op, 1.5, x, false, -1.0, y));
  }
}

TEST_CASE("spmv: CASES A10, special beta and NaN in y", "[spmv]") {
  const Space exec;
  const HostCsr<double> a{4, 4, {0, 0, 2, 2, 3}, {0, 3, 1}, {2, -1, 5}};
  const auto matrix = upload<std::int32_t, std::int32_t>(exec, a);
  const std::vector<double> x{1, 2, 3, 4};
  const Guarded<double> gx(exec, x, 1);
  const Guarded<double> nan(exec, std::vector<double>(4, poison<double>()), 1);
  tessera::spmv(exec, 1.0, matrix, gx.view(), 0.0, nan.view());
  CHECK(nan.read(exec) == std::vector<double>{0, -2, 0, 10});
  const Guarded<double> ones(exec, std::vector<double>(4, 1.0), 1);
  tessera::spmv(exec, 1.0, matrix, gx.view(), -1.0, ones.view());
  CHECK(ones.read(exec) == std::vector<double>{-1, -3, -1, 9});
  for (const Op op : all_ops)
    for (const double alpha : {0.0, 1.0, -1.0, 2.5})
      for (const double beta : {0.0, 1.0, -1.0, 2.5})
        for (const HostCsr<double>& m : {a, HostCsr<double>{4, 4, {0, 0, 0, 0, 0}, {}, {}}}) {
          const std::vector<double> y{3, -1, 0.5, 2};
          const Guarded<double> gy(exec, beta == 0.0 ? std::vector<double>(4, poison<double>()) : y, 1);
          tessera::spmv(exec, alpha, upload<std::int32_t, std::int32_t>(exec, m), gx.view(), beta, gy.view(),
                        {.op = op});
          check_vector(gy.read(exec), reference(m, op, alpha, x, false, beta, y));
        }
}

TEST_CASE("spmv: NaN and Inf in A and x reach exactly the rows that use them", "[spmv]") {
  const Space exec;
  HostCsr<double> a = random_csr<double>(std::vector<index_t>(50, 3), 60, 31);
  a.columns.assign(a.columns.size(), 1);
  a.columns[4] = 0;  // row 1 alone uses column 0
  const auto matrix = upload<std::int32_t, std::int32_t>(exec, a);
  auto x = random_vector<double>(60, 32);
  x[0] = poison<double>();
  for (const SpmvShape& shape : shapes()) {
    const Guarded<double> gx(exec, x, 1), gy(exec, std::vector<double>(50, 0.0), 1);
    tessera::spmv(exec, 1.0, matrix, gx.view(), 0.0, gy.view(), {.shape = shape});
    const auto y = gy.read(exec);
    for (std::size_t i = 0; i < y.size(); ++i) CHECK((y[i] != y[i]) == (i == 1));
  }
}

TEST_CASE("plan_spmv tells its path, statistics and shape, and checks its matrix", "[spmv]") {
  const Space exec;
  const auto matrix = upload<std::int32_t, std::int32_t>(exec, random_csr<double>({1, 5, 0, 2}, 9, 41));
  const auto plan = tessera::plan_spmv(exec, matrix);
  CHECK(plan.statistics().shortest == 0);
  CHECK(plan.statistics().longest == 5);
  CHECK(plan.statistics().mean == 2.0);
  CHECK(plan.statistics().variance == 3.5);
  CHECK_THAT(plan.path(), ContainsSubstring("spmv[portable "));
  CHECK(plan.reasons().empty());
  CHECK_FALSE(plan.shape().long_rows);
  const auto other = upload<std::int32_t, std::int32_t>(exec, random_csr<double>({1, 5, 0, 2}, 9, 42));
  const Guarded<double> x(exec, std::vector<double>(9, 1.0), 1), y(exec, std::vector<double>(4, 1.0), 1);
  CHECK_THROWS_WITH(plan.run(exec, 1.0, other, x.view(), 0.0, y.view()),
                    ContainsSubstring("its row_offsets are another array") && ContainsSubstring("Make a plan"));
  CHECK_THROWS_WITH(tessera::plan_spmv(exec, matrix, SpmvOptions{.path = "fastest"}),
                    ContainsSubstring("there is no path 'fastest'") && ContainsSubstring("portable"));
  SpmvShape three;
  three.lanes = 3;
  CHECK_THROWS_WITH(tessera::plan_spmv(exec, matrix, SpmvOptions{.shape = three}), ContainsSubstring("power of two"));
}

TEST_CASE("spmv refuses operands that do not fit", "[spmv]") {
  const Space exec;
  const auto matrix = upload<std::int32_t, std::int32_t>(exec, random_csr<double>({1, 5, 0, 2}, 9, 51));
  const Guarded<double> nine(exec, std::vector<double>(9, 1.0), 1), four(exec, std::vector<double>(4, 1.0), 1);
  CHECK_THROWS_WITH(tessera::spmv(exec, 1.0, matrix, four.view(), 0.0, nine.view()),
                    ContainsSubstring("A is 4 x 9, x has 4 and y has 9 elements"));
  CHECK_THROWS_WITH(tessera::spmv(exec, 1.0, matrix, nine.view(), 0.0, four.view(), {.op = Op::adjoint}),
                    ContainsSubstring("A^H is 9 x 4"));
  const auto square = upload<std::int32_t, std::int32_t>(exec, random_csr<double>({1, 2}, 2, 52));
  const Guarded<double> two(exec, std::vector<double>(2, 1.0), 1);
  CHECK_THROWS_WITH(tessera::spmv(exec, 1.0, square, two.view(), 0.0, two.view()), ContainsSubstring("overlaps"));
}

TEST_CASE("make_csr_matrix names what is wrong", "[csr_matrix]") {
  const Space exec;
  const auto make = [&](const HostCsr<double>& a) { return upload<std::int32_t, std::int32_t>(exec, a); };
  CHECK(make({2, 3, {0, 1, 2}, {0, 2}, {1, 2}}).nnz() == 2);
  CHECK_THROWS_WITH(make({2, 3, {0, 1}, {0}, {1}}), ContainsSubstring("2 row offsets for 2 rows"));
  CHECK_THROWS_WITH(make({2, 3, {0, 1, 2}, {0, 1}, {1}}), ContainsSubstring("2 column indices and 1 values"));
  CHECK_THROWS_WITH(make({2, 3, {0, 3, 2}, {0, 1}, {1, 2}}), ContainsSubstring("row 0 has offsets 0 to 3 of 2"));
  CHECK_THROWS_WITH(make({3, 3, {0, 2, 1, 2}, {0, 1}, {1, 2}}), ContainsSubstring("row 1 has offsets 2 to 1"));
  CHECK_THROWS_WITH(make({2, 3, {1, 1, 2}, {0, 1}, {1, 2}}), ContainsSubstring("row 0 has offsets 1 to 1"));
  CHECK_THROWS_WITH(make({2, 3, {0, 1, 1}, {0, 1}, {1, 2}}), ContainsSubstring("row 1 has offsets 1 to 1"));
  CHECK_THROWS_WITH(make({2, 3, {0, 1, 2}, {0, 3}, {1, 2}}),
                    ContainsSubstring("entry 1 has column 3") && ContainsSubstring("columns are 0 to 2"));
  CHECK_THROWS_WITH(make({2, 3, {0, 1, 2}, {-1, 0}, {1, 2}}), ContainsSubstring("entry 0 has column -1"));
  CHECK_THROWS_WITH(make({-1, 3, {}, {}, {}}), ContainsSubstring("extents are 0 or more"));
  CHECK_THROWS_WITH(make({1, index_t{1} << 31, {0, 0}, {}, {}}), ContainsSubstring("64-bit Ordinal"));
}

TEST_CASE("make_csr_matrix takes views of any spelling, and refuses gaps", "[csr_matrix]") {
  const Space exec;
  const Kokkos::View<std::int32_t*, Space> offsets("offsets", 2);
  const Kokkos::View<std::int32_t*, Kokkos::LayoutRight, Space> columns("columns", 1);
  const Kokkos::View<double*, Space> values("values", 1), wide("wide", 4);
  Kokkos::deep_copy(Kokkos::subview(offsets, 1), 1);
  const Kokkos::View<double*, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>> borrowed(values.data(), 1);
  CHECK(tessera::make_csr_matrix(exec, 1, 1, offsets, columns, borrowed).nnz() == 1);
  const Kokkos::View<double*, Kokkos::LayoutStride, Space> gaps(wide.data(), Kokkos::LayoutStride(2, 2));
  const Kokkos::View<std::int32_t*, Space> two("two", 2);
  Kokkos::deep_copy(Kokkos::subview(offsets, 1), 2);
  CHECK_THROWS_WITH(tessera::make_csr_matrix(exec, 1, 1, offsets, two, gaps), ContainsSubstring("contiguous"));
}

TEST_CASE("csr_from_triplets sorts, adds repeated positions, and checks", "[csr_matrix]") {
  const Space exec;
  const auto a =
      tessera::csr_from_triplets(exec, 3, 4, {2, 0, 2, 0, 2}, {1, 3, 0, 3, 1}, std::vector<double>{1, 2, 3, 4, 5});
  const auto h = tessera::copy_csr_matrix<Kokkos::HostSpace>(exec, a);
  REQUIRE(h.nnz() == 3);
  CHECK(h.row_offsets(1) == 1);
  CHECK(h.row_offsets(2) == 1);
  CHECK(h.row_offsets(3) == 3);
  CHECK(h.columns(0) == 3);
  CHECK(h.columns(1) == 0);
  CHECK(h.columns(2) == 1);
  CHECK(h.values(0) == 6);
  CHECK(h.values(1) == 3);
  CHECK(h.values(2) == 6);
  CHECK(tessera::csr_from_triplets(exec, 0, 0, {}, {}, std::vector<float>{}).nnz() == 0);
  CHECK_THROWS_WITH(tessera::csr_from_triplets(exec, 3, 4, {0, 3}, {0, 0}, std::vector<double>{1, 1}),
                    ContainsSubstring("triplet 1 is at (3, 0)"));
  CHECK_THROWS_WITH(tessera::csr_from_triplets(exec, 3, 4, {0}, {4}, std::vector<double>{1}),
                    ContainsSubstring("triplet 0 is at (0, 4)"));
  CHECK_THROWS_WITH(tessera::csr_from_triplets(exec, 3, 4, {0}, {1, 2}, std::vector<double>{1}),
                    ContainsSubstring("a triplet has one of each"));
}
