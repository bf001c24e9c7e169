// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What profiling tools see of every public algorithm: labels of one shape, every kernel on the instance that was
// passed, no fence and no unlabelled allocation in calls that promise to return at once.
#include <algorithm>
#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <support/instances.hpp>
#include <support/tool_events.hpp>
#include <utility>
#include <vector>

#include <tessera/asum.hpp>
#include <tessera/axpby.hpp>
#include <tessera/backends/enabled.hpp>
#include <tessera/dot.hpp>
#include <tessera/gather.hpp>
#include <tessera/gemm.hpp>
#include <tessera/gemv.hpp>
#include <tessera/histogram.hpp>
#include <tessera/iamax.hpp>
#include <tessera/merge.hpp>
#include <tessera/nrm2.hpp>
#include <tessera/random_fill.hpp>
#include <tessera/reduce.hpp>
#include <tessera/scal.hpp>
#include <tessera/scan.hpp>
#include <tessera/scatter.hpp>
#include <tessera/select.hpp>
#include <tessera/select_if.hpp>
#include <tessera/set_operations.hpp>
#include <tessera/sort.hpp>
#include <tessera/spmv.hpp>
#include <tessera/stencil.hpp>
#include <tessera/transpose.hpp>
#include <tessera/unique.hpp>

using Space = TESSERA_TEST_SPACE;
using tessera::index_t;

namespace {

enum class Returns { at_once, host_value };

/// Calls `call` on a parted instance and judges what the tools saw. The first call is not judged: it may set up what
/// later ones share.
void check(const std::string& algorithm, Returns returns, const std::function<void(const Space&)>& call,
           bool has_kernels = true) {
  const Space exec = two_instances<Space>().second;
  call(exec);
  exec.fence("test");
  tool_events::Recorder recorder;
  call(exec);
  const auto seen = recorder.take();
  exec.fence("test");

  INFO(algorithm);
  const std::regex shape("tessera::" + algorithm + "::[a-z0-9_]+(\\[.*\\])?");
  if (has_kernels) CHECK_FALSE(seen.kernels.empty());
  const auto expected = Kokkos::Tools::Experimental::device_id(exec);
  for (const auto& kernel : seen.kernels) {
    INFO("kernel " << kernel.name);
    CHECK(std::regex_match(kernel.name, shape));
    CHECK(kernel.device == expected);
  }
  for (const auto& name : seen.allocations) {
    INFO("allocation " << name);
    CHECK(name.rfind("tessera::" + algorithm + "::", 0) == 0);
  }
  for (const auto& fence : seen.fences) {
    INFO("fence " << fence.name);
    CHECK(fence.device == expected);
    CHECK(returns == Returns::host_value);
  }
  if (returns == Returns::at_once) {
    CHECK(seen.allocations.empty());
    CHECK(seen.copies.empty());
  }
}

using Vector = Kokkos::View<double*, Space>;
using Left = Kokkos::View<double**, Kokkos::LayoutLeft, Space>;
using Right = Kokkos::View<double**, Kokkos::LayoutRight, Space>;
using Scalar = Kokkos::View<double, Space>;

const index_t sizes[] = {1, 17, 1000, 300000};

struct Positive {
  TESSERA_FUNCTION bool operator()(double x) const { return x > 0; }
};

}  // namespace

TEST_CASE("tools: axpby", "[tools]") {
  const Scalar s("s");
  for (const index_t n : sizes) {
    const Vector x("x", 2 * n), y("y", 2 * n);
    check("axpby", Returns::at_once, [&](const Space& e) { tessera::axpby(e, 2.0, x, s, y); });
    const auto half = Kokkos::subview(x, Kokkos::pair<index_t, index_t>(0, n));
    const Right pairs("pairs", n, 2);
    check("axpby", Returns::at_once,
          [&](const Space& e) { tessera::axpby(e, 2.0, Kokkos::subview(pairs, Kokkos::ALL, 1), 0.0, half); });
  }
  const Left a("a", 60, 50);
  const Right b("b", 60, 50);
  check("axpby", Returns::at_once, [&](const Space& e) { tessera::axpby(e, 2.0, a, 1.0, b); });
}

TEST_CASE("tools: scal", "[tools]") {
  for (const index_t n : sizes) {
    const Vector x("x", n);
    check("scal", Returns::at_once, [&](const Space& e) { tessera::scal(e, 2.0, x); });
    const Right pairs("pairs", n, 2);
    check("scal", Returns::at_once,
          [&](const Space& e) { tessera::scal(e, 2.0, Kokkos::subview(pairs, Kokkos::ALL, 1)); });
  }
}

TEST_CASE("tools: dot", "[tools]") {
  const Scalar s("s");
  for (const index_t n : sizes) {
    const Vector x("x", n), y("y", n);
    check("dot", Returns::host_value, [&](const Space& e) { (void)tessera::dot(e, x, y); });
    check("dot", Returns::at_once, [&](const Space& e) { tessera::dot(e, x, y, s); });
  }
}

TEST_CASE("tools: nrm2", "[tools]") {
  const Scalar s("s");
  for (const index_t n : sizes) {
    const Vector x("x", n);
    check("nrm2", Returns::host_value, [&](const Space& e) { (void)tessera::nrm2(e, x); });
    check("nrm2", Returns::at_once, [&](const Space& e) { tessera::nrm2(e, x, s); });
  }
}

TEST_CASE("tools: asum", "[tools]") {
  const Scalar s("s");
  for (const index_t n : sizes) {
    const Vector x("x", n);
    check("asum", Returns::host_value, [&](const Space& e) { (void)tessera::asum(e, x); });
    check("asum", Returns::at_once, [&](const Space& e) { tessera::asum(e, x, s); });
  }
}

TEST_CASE("tools: iamax", "[tools]") {
  const Kokkos::View<index_t, Space> s("s");
  for (const index_t n : sizes) {
    const Vector x("x", n);
    check("iamax", Returns::host_value, [&](const Space& e) { (void)tessera::iamax(e, x); });
    check("iamax", Returns::at_once, [&](const Space& e) { tessera::iamax(e, x, s); });
  }
}

TEST_CASE("tools: reduce", "[tools]") {
  const Scalar s("s");
  const Kokkos::View<tessera::Location<double>, Space> place("place");
  const tessera::ReductionOptions portable{.determinism = tessera::Determinism::portable};
  for (const index_t n : sizes) {
    const Vector x("x", n), out("out", 2);
    const Kokkos::View<std::int64_t*, Space> offsets("offsets", 3);
    check("reduce", Returns::host_value, [&](const Space& e) { (void)tessera::reduce(e, x); });
    check("reduce", Returns::host_value, [&](const Space& e) { (void)tessera::reduce(e, x, portable); });
    check("reduce", Returns::at_once, [&](const Space& e) { tessera::reduce(e, x, s); });
    check("reduce", Returns::at_once, [&](const Space& e) { tessera::reduce(e, x, tessera::Maximum{}, s); });
    check("reduce", Returns::at_once, [&](const Space& e) { tessera::reduce(e, x, s, portable); });
    check("dot", Returns::at_once, [&](const Space& e) { tessera::dot(e, x, x, s, portable); });
    check("nrm2", Returns::at_once, [&](const Space& e) { tessera::nrm2(e, x, s, portable); });
    check("min_location", Returns::at_once, [&](const Space& e) { tessera::min_location(e, x, place); });
    check("segmented_reduce", Returns::at_once,
          [&](const Space& e) { tessera::segmented_reduce(e, x, offsets, tessera::Sum{}, out); });
  }
}

TEST_CASE("tools: gemv", "[tools]") {
  for (const auto& [m, n] : {std::pair<index_t, index_t>{3, 2}, {500, 300}, {20000, 4}, {4, 20000}}) {
    const Left a("a", m, n);
    const Right b("b", m, n);
    const Vector x("x", n), y("y", m);
    check("gemv", Returns::at_once, [&, x = x, y = y](const Space& e) { tessera::gemv(e, 2.0, a, x, 1.0, y); });
    check("gemv", Returns::at_once, [&, x = x, y = y](const Space& e) { tessera::gemv(e, 2.0, b, x, 0.0, y); });
    check("gemv", Returns::at_once,
          [&, x = x, y = y](const Space& e) { tessera::gemv(e, 2.0, tessera::transposed(a), y, 1.0, x); });
  }
}

TEST_CASE("tools: gemm", "[tools]") {
  for (const char* path : {"portable", ""})
    for (const index_t n : {1, 5, 130}) {
      const Left a("a", n, n + 1), c("c", n, n + 2);
      const Right b("b", n + 1, n + 2);
      const bool has_kernels = path[0] != '\0';  // a vendor's kernels are not Kokkos's
      check(
          "gemm", Returns::at_once, [&](const Space& e) { tessera::gemm(e, 2.0, a, b, 1.0, c, {.path = path}); },
          has_kernels);
    }
}

TEST_CASE("tools: batches of gemm", "[tools]") {
  for (const index_t n : {1, 5, 70}) {
    const Kokkos::View<double***, Kokkos::LayoutRight, Space> a("a", 40, n, n), b("b", 40, n, n), c("c", 40, n, n);
    const Kokkos::View<double***, Kokkos::LayoutLeft, Space> left("c", 40, n, n);
    check("gemm", Returns::at_once, [&](const Space& e) { tessera::gemm(e, 2.0, a, b, 1.0, c, {.path = "portable"}); });
    check("gemm", Returns::at_once,
          [&](const Space& e) { tessera::gemm(e, 2.0, a, b, 1.0, left, {.path = "portable"}); });
  }
}

TEST_CASE("tools: transpose", "[tools]") {
  for (const index_t n : {1, 31, 200}) {
    const Left a("a", n, n + 3);
    const Left b("b", n + 3, n);
    check("transpose", Returns::at_once, [&](const Space& e) { tessera::transpose(e, a, b); });
  }
}

TEST_CASE("tools: spmv", "[tools]") {
  const Space exec;
  for (const index_t n : {1, 40, 3000}) {
    std::vector<index_t> rows, columns;
    std::vector<double> values;
    for (index_t i = 0; i < n; ++i)
      for (index_t j = i; j < std::min(n, i + 1 + (i == n / 2 ? n : 5)); ++j) {  // one long row
        rows.push_back(i);
        columns.push_back(j);
        values.push_back(1);
      }
    const auto a = tessera::csr_from_triplets(exec, n, n, rows, columns, values);
    const Vector x("x", n), y("y", n);
    for (const auto op : {tessera::Op::none, tessera::Op::transpose}) {
      check("spmv", Returns::at_once, [&](const Space& e) { tessera::spmv(e, 2.0, a, x, 1.0, y, {.op = op}); });
      const auto plan = tessera::plan_spmv(exec, a, op);
      check("spmv", Returns::at_once, [&](const Space& e) { plan.run(e, 2.0, a, x, 0.0, y); });
    }
  }
}

TEST_CASE("tools: stencil", "[tools]") {
  const tessera::Stencil7Coefficients<double> seven{-6, {1, 1}, {1, 1}, {1, 1}};
  const tessera::Stencil27Distances<double> all{-26, 1, 1, 1};
  for (const index_t n : {3, 40}) {
    const Kokkos::View<double***, Kokkos::LayoutRight, Space> u("u", n, n + 1, n + 2), v("v", n, n + 1, n + 2);
    check("stencil(7)?", Returns::at_once, [&](const Space& e) { tessera::stencil7(e, seven, u, v); });
    check("stencil(27)?", Returns::at_once, [&](const Space& e) { tessera::stencil27(e, all, u, v); });
  }
}

TEST_CASE("tools: sort", "[tools]") {
  for (const index_t n : sizes) {
    const Kokkos::View<float*, Space> keys("keys", n), other("other", n);
    const Kokkos::View<int*, Space> index("index", n), offsets("offsets", 3);
    const Vector values("values", n);
    const auto judge = [&](const std::function<void(const Space&)>& call) {
      // hosts sort few keys, and on one thread, without a kernel; one key in its place needs none anywhere
      check("(segmented_)?sort", Returns::at_once, call, n > 1 && !tessera::is_host_space<Space>);
    };
    judge([&](const Space& e) { tessera::sort(e, keys); });
    judge([&](const Space& e) { tessera::sort(e, keys, other, {.order = tessera::Order::descending}); });
    judge([&](const Space& e) { tessera::sort_by_key(e, keys, values); });
    judge([&](const Space& e) { tessera::argsort(e, keys, index); });
    judge([&](const Space& e) { tessera::segmented_sort(e, keys, offsets); });
    const auto plan = tessera::plan_sort(Space(), keys);
    const Kokkos::View<char*, Space> memory("memory", plan.workspace_bytes());
    judge([&](const Space& e) { plan.run(e, {memory.data(), memory.size()}, keys); });
  }
}

TEST_CASE("tools: merge", "[tools]") {
  for (const index_t n : sizes) {
    const Vector a("a", n), b("b", n), out("out", 2 * n), values("values", 2 * n);
    check("merge", Returns::at_once, [&](const Space& e) { tessera::merge(e, a, b, out); });
    check("merge", Returns::at_once, [&](const Space& e) { tessera::merge_by_key(e, a, a, b, b, out, values); });
  }
}

TEST_CASE("tools: set operations", "[tools]") {
  const Kokkos::View<index_t, Space> count("count");
  for (const index_t n : sizes) {
    const Vector a("a", n), b("b", n), out("out", 2 * n);
    const auto with = [&](const auto& operation) {
      check("set_operations", Returns::at_once, [&](const Space& e) { operation(e, a, b, out, count); });
      check("set_operations", Returns::host_value, [&](const Space& e) { (void)operation(e, a, b, out); });
    };
    with([](const auto&... v) { return tessera::set_union(v...); });
    with([](const auto&... v) { return tessera::set_intersection(v...); });
    with([](const auto&... v) { return tessera::set_difference(v...); });
    with([](const auto&... v) { return tessera::set_symmetric_difference(v...); });
  }
}

TEST_CASE("tools: histogram", "[tools]") {
  for (const index_t n : sizes) {
    const Vector x("x", n);
    const Kokkos::View<std::int64_t*, Space> outside("outside", 3);
    for (const index_t bins : {10, 100000}) {
      const Kokkos::View<std::int64_t*, Space> counts("counts", bins);
      const Vector edges("edges", bins + 1);
      check("histogram", Returns::at_once, [&](const Space& e) { tessera::histogram(e, x, -1, 1, counts, outside); });
      // Debug builds of hosts look at the edges
      const auto returns = tessera::debug_checks ? Returns::host_value : Returns::at_once;
      check("histogram", returns, [&](const Space& e) { tessera::histogram(e, x, edges, counts); });
    }
  }
}

TEST_CASE("tools: gather, scatter, scatter_add", "[tools]") {
  const auto returns = tessera::debug_checks ? Returns::host_value : Returns::at_once;  // Debug hosts look at indices
  for (const index_t n : sizes) {
    const Vector x("x", n), y("y", n);
    const Kokkos::View<std::int32_t*, Space> index("index", n);
    const auto places = Kokkos::create_mirror_view(index);  // each once: of two writers to a place either may win
    for (index_t i = 0; i < n; ++i) places(i) = static_cast<std::int32_t>(n - 1 - i);
    Kokkos::deep_copy(index, places);
    const tessera::ScatterAddOptions portable{tessera::Determinism::portable};
    check("gather", returns, [&](const Space& e) { tessera::gather(e, x, index, y); });
    check("(scatter|gather)", returns, [&](const Space& e) { tessera::scatter(e, x, index, y); });
    check("(scatter_add|gather)", returns, [&](const Space& e) { tessera::scatter_add(e, x, index, y); });
    check("(scatter_add|sort|gather)", returns,
          [&](const Space& e) { tessera::scatter_add(e, x, index, y, portable); });
  }
}

TEST_CASE("tools: random_fill", "[tools]") {
  for (const index_t n : sizes) {
    const Vector x("x", n);
    check("random_fill", Returns::at_once, [&](const Space& e) { tessera::random_fill(e, x, {1, 2}); });
    check("random_fill", Returns::at_once, [&](const Space& e) { tessera::random_normal(e, x, {1, 2}); });
  }
}

TEST_CASE("tools: scan", "[tools]") {
  const Scalar total("total");
  for (const index_t n : sizes) {
    const Vector x("x", n), y("y", n);
    const Kokkos::View<std::int32_t*, Space> heads("heads", n);
    check("scan", Returns::at_once, [&](const Space& e) { tessera::inclusive_scan(e, x, y, total); });
    check("scan", Returns::at_once, [&](const Space& e) { tessera::exclusive_scan(e, x, x, total); });
    check("scan", Returns::at_once, [&](const Space& e) { tessera::segmented_inclusive_scan(e, x, heads, y); });
    check("scan", Returns::host_value, [&](const Space& e) { (void)tessera::inclusive_scan_total(e, x, y); });
  }
}

TEST_CASE("tools: select and partition", "[tools]") {
  const Kokkos::View<index_t, Space> count("count");
  for (const index_t n : sizes) {
    const Vector x("x", n), y("y", n);
    const Kokkos::View<bool*, Space> flags("flags", n);
    check("select", Returns::at_once, [&](const Space& e) { tessera::select(e, x, flags, y, count); });
    check("select", Returns::at_once, [&](const Space& e) { tessera::select_if(e, x, Positive{}, y, count); });
    check("select", Returns::host_value, [&](const Space& e) { (void)tessera::select(e, x, flags, y); });
    check("partition", Returns::at_once, [&](const Space& e) { tessera::partition(e, x, flags, y, count); });
    check("partition", Returns::at_once, [&](const Space& e) { tessera::partition_if(e, x, Positive{}, y, count); });
    check("partition", Returns::host_value, [&](const Space& e) { (void)tessera::partition(e, x, flags, y); });
  }
}

TEST_CASE("tools: unique and run_length_encode", "[tools]") {
  const Kokkos::View<index_t, Space> count("count");
  for (const index_t n : sizes) {
    const Vector x("x", n), y("y", n), v("v", n), w("w", n);
    const Kokkos::View<std::int32_t*, Space> lengths("lengths", n);
    check("unique", Returns::at_once, [&](const Space& e) { tessera::unique(e, x, y, count); });
    check("unique", Returns::host_value, [&](const Space& e) { (void)tessera::unique(e, x, y); });
    check("unique_by_key", Returns::at_once, [&](const Space& e) { tessera::unique_by_key(e, x, v, y, w, count); });
    check("unique_by_key", Returns::host_value, [&](const Space& e) { (void)tessera::unique_by_key(e, x, v, y, w); });
    check("run_length_encode", Returns::at_once,
          [&](const Space& e) { tessera::run_length_encode(e, x, y, lengths, count); });
    check("run_length_encode", Returns::host_value,
          [&](const Space& e) { (void)tessera::run_length_encode(e, x, y, lengths); });
  }
}
