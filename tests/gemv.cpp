// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <limits>
#include <random>
#include <support/values.hpp>
#include <utility>
#include <vector>

#include <tessera/gemv.hpp>

using Space = TESSERA_TEST_SPACE;
using Catch::Matchers::ContainsSubstring;
using tessera::index_t;

namespace {

using namespace test_values;

/// Elements of a matrix (a vector where cols is 1) in memory with a step between neighbours, padding between lines and
/// a margin; all that is not an element is poison and must stay so.
template <class T>
struct Box {
  index_t rows, cols, row_stride, col_stride;
  static constexpr index_t margin = 16;  // keeps the first element aligned
  std::vector<T> host;
  Kokkos::View<T*, Space> memory;

  Box(index_t m, index_t n, bool by_rows, index_t step, index_t pad) : rows(m), cols(n) {
    row_stride = by_rows ? n * step + pad : step;
    col_stride = by_rows ? step : m * step + pad;
    const index_t size = (by_rows ? m * row_stride : n * col_stride) + 2 * margin;
    host.assign(static_cast<std::size_t>(size), poison<T>());
    memory = Kokkos::View<T*, Space>("box", static_cast<std::size_t>(size));
  }
  T& operator()(index_t i, index_t j = 0) {
    return host[static_cast<std::size_t>(margin + i * row_stride + j * col_stride)];
  }
  void randomise(unsigned seed) {
    std::mt19937 gen(seed);
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < cols; ++j) (*this)(i, j) = random_value<T>(gen);
  }
  void upload(const Space& exec) {
    Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> from(host.data(), host.size());
    auto mirror = Kokkos::create_mirror_view(Kokkos::HostSpace(), memory);
    Kokkos::deep_copy(mirror, from);
    Kokkos::deep_copy(exec, memory, mirror);
    exec.fence();
  }
  [[nodiscard]] std::vector<T> download(const Space& exec) const {
    auto mirror = Kokkos::create_mirror_view(Kokkos::HostSpace(), memory);
    Kokkos::deep_copy(exec, mirror, memory);
    exec.fence();
    return std::vector<T>(mirror.data(), mirror.data() + mirror.extent(0));
  }
  auto matrix() const {
    const Kokkos::LayoutStride layout(static_cast<std::size_t>(rows), static_cast<std::size_t>(row_stride),
                                      static_cast<std::size_t>(cols), static_cast<std::size_t>(col_stride));
    return Kokkos::View<T**, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        memory.data() + margin, layout);
  }
  auto vector() const {
    const Kokkos::LayoutStride layout(static_cast<std::size_t>(rows), static_cast<std::size_t>(row_stride));
    return Kokkos::View<T*, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        memory.data() + margin, layout);
  }
};

struct Way {
  bool by_rows = true;
  index_t step = 1, pad = 0, x_step = 1, y_step = 1;
  bool transpose = false, conj_a = false, conj_x = false, device_scalars = false;
};

/// One call on an m x n product against the reference; A is stored n x m where it is passed transposed.
template <class T>
void check(index_t m, index_t n, const Way& way, double alpha_value, double beta_value, unsigned seed) {
  using A = tessera::accumulator_t<T>;
  const Space exec;
  const auto alpha = static_cast<A>(alpha_value), beta = static_cast<A>(beta_value);
  Box<T> a(way.transpose ? n : m, way.transpose ? m : n, way.by_rows, way.step, way.pad);
  Box<T> x(n, 1, false, way.x_step, 0), y(m, 1, false, way.y_step, 0);
  // what must not be read stays poison
  if (alpha != A{}) {
    a.randomise(seed);
    x.randomise(seed + 1);
  }
  if (beta != A{}) y.randomise(seed + 2);
  a.upload(exec);
  x.upload(exec);
  y.upload(exec);

  const auto call = [&](const auto& av, const auto& xv) {
    if (way.device_scalars) {
      const Kokkos::View<A, Space> al("alpha"), be("beta");
      Kokkos::deep_copy(exec, al, alpha);
      Kokkos::deep_copy(exec, be, beta);
      tessera::gemv(exec, al, av, xv, be, y.vector());
      exec.fence();
    } else {
      tessera::gemv(exec, alpha, av, xv, beta, y.vector());
    }
  };
  const auto with_x = [&](const auto& av) {
    if (way.conj_x)
      call(av, tessera::conjugated(x.vector()));
    else
      call(av, x.vector());
  };
  if (way.transpose && way.conj_a)
    with_x(tessera::adjoint(a.matrix()));
  else if (way.transpose)
    with_x(tessera::transposed(a.matrix()));
  else if (way.conj_a)
    with_x(tessera::conjugated(a.matrix()));
  else
    with_x(a.matrix());

  const auto got = y.download(exec);
  long double eps = 0, output_eps = 0, smallest = 0;
  if constexpr (!std::is_integral_v<T>) eps = std::numeric_limits<tessera::real_t<A>>::epsilon();
  if constexpr (tessera::is_stored_float_v<T>) {
    output_eps = std::is_same_v<T, tessera::half> ? 0x1p-11L : 0x1p-8L;
    smallest = 0x1p-25L;  // half of half's smallest subnormal
  }
  std::vector<bool> element(got.size(), false);
  index_t wrong = 0;
  for (index_t i = 0; i < m; ++i) {
    Wide sum{};
    long double magnitude = 0;
    if (alpha != A{})
      for (index_t j = 0; j < n; ++j) {
        Wide v = wide(way.transpose ? a(j, i) : a(i, j)), w = wide(x(j));
        if (way.conj_a) v = std::conj(v);
        if (way.conj_x) w = std::conj(w);
        sum += v * w;
        magnitude += std::abs(v) * std::abs(w);
      }
    sum *= wide(alpha);
    magnitude *= std::abs(wide(alpha));
    if (beta != A{}) {
      sum += wide(beta) * wide(y(i));
      magnitude += std::abs(wide(beta)) * std::abs(wide(y(i)));
    }
    // n products and sums and three roundings more, twice that for complex; then the rounding to T
    const long double bound =
        2 * static_cast<long double>(n + 5) * eps * magnitude + output_eps * std::abs(sum) + smallest;
    const auto at = static_cast<std::size_t>(Box<T>::margin + i * y.row_stride);
    element[at] = true;
    if (!(std::abs(wide(got[at]) - sum) <= bound)) ++wrong;
  }
  index_t touched = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!element[i] && std::memcmp(&got[i], &y.host[i], sizeof(T)) != 0) ++touched;
  CAPTURE(m, n, way.by_rows, way.step, way.pad, way.x_step, way.y_step, way.transpose, way.conj_a, way.conj_x,
          way.device_scalars, alpha_value, beta_value);
  CHECK(wrong == 0);
  CHECK(touched == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("gemv agrees with a reference for every type, layout, op and factor", "[gemv]", float, double,
                   Kokkos::complex<float>, Kokkos::complex<double>, tessera::half, tessera::bfloat16, std::int32_t,
                   std::int64_t) {
  using T = TestType;
  const double factors[] = {1, 0, -1, 2};
  const std::pair<index_t, index_t> sizes[] = {{33, 65},  {130, 17}, {5, 700},  {1, 3000},
                                               {3000, 1}, {257, 64}, {2, 40000}};
  int turn = 0;
  for (const auto& [m, n] : sizes)
    for (const bool by_rows : {true, false})
      for (int op = 0; op < 8; ++op) {
        Way way;
        way.by_rows = by_rows;
        way.transpose = (op & 1) != 0;
        way.conj_a = (op & 2) != 0;
        way.conj_x = (op & 4) != 0;
        way.device_scalars = turn % 3 == 0;
        way.pad = turn % 4 == 3 ? 16 : turn % 4;  // aligned, not aligned
        check<T>(m, n, way, factors[turn % 4], factors[turn / 4 % 4], static_cast<unsigned>(turn));
        way.x_step = 1 + turn % 3;
        way.y_step = 1 + turn % 2;
        way.step = 1 + turn % 2;
        check<T>(m, n, way, 2, factors[turn % 4], static_cast<unsigned>(turn) + 100);
        ++turn;
      }
}

TEMPLATE_TEST_CASE("gemv at edge sizes", "[gemv]", float, Kokkos::complex<double>, tessera::half, std::int32_t) {
  using T = TestType;
  const index_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129};
  unsigned seed = 1;
  for (const index_t m : sizes)
    for (const index_t n : sizes) {
      Way way;
      way.by_rows = seed % 2 == 0;
      way.transpose = seed % 3 == 0;
      check<T>(m, n, way, 1, seed % 5 == 0 ? 0.0 : 2.0, seed);
      ++seed;
    }
}

TEST_CASE("gemv: no columns leave y = beta y, a NaN in y does not survive beta = 0", "[gemv]") {
  for (const bool by_rows : {true, false})
    for (const bool device : {true, false})
      for (const double alpha : {0.0, 1.0})
        for (const double beta : {0.0, 1.0, -0.5}) {
          Way way;
          way.by_rows = by_rows;
          way.device_scalars = device;
          check<double>(6, 0, way, alpha, beta, 3);
          check<double>(0, 6, way, alpha, beta, 3);
          check<double>(6, 5, way, alpha, beta, 3);
          way.transpose = true;
          check<double>(6, 0, way, alpha, beta, 4);
          check<float>(2, 70000, way, alpha, beta, 5);
        }
}

TEST_CASE("gemv: CASES A1, NaN in y and beta = 0", "[gemv]") {
  const Space exec;
  Kokkos::View<double**, Kokkos::LayoutRight, Space> a("a", 2, 2);
  Kokkos::View<double*, Space> x("x", 2), y("y", 2);
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Space>(exec, 0, 2), KOKKOS_LAMBDA(int i) {
        a(i, 0) = 1 + 2 * i;
        a(i, 1) = 2 + 2 * i;
        x(i) = 5 + 2 * i;
        y(i) = Kokkos::Experimental::quiet_NaN_v<double>;
      });
  tessera::gemv(exec, 1.0, a, x, 0.0, y);
  auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  CHECK(host(0) == 19.0);
  CHECK(host(1) == 43.0);
  Kokkos::deep_copy(y, std::numeric_limits<double>::infinity());
  tessera::gemv(exec, 0.0, a, x, 0.0, y);
  Kokkos::deep_copy(host, y);
  CHECK(host(0) == 0.0);
  CHECK(host(1) == 0.0);
}

TEST_CASE("gemv: CASES A8, subviews of mixed layouts", "[gemv]") {
  const Space exec;
  using Kokkos::ALL;
  using Kokkos::subview;
  Kokkos::View<double**, Kokkos::LayoutRight, Space> whole("whole", 12, 10);
  Kokkos::View<double*, Space> xs("xs", 30);
  Kokkos::View<double**, Kokkos::LayoutLeft, Space> ys("ys", 4, 9);
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Space>(exec, 0, 120), KOKKOS_LAMBDA(int i) {
        whole(i / 10, i % 10) = i;
        if (i < 30) xs(i) = i % 3 == 0 ? i / 3 + 1 : 1000;
        if (i < 36) ys(i % 4, i / 4) = 7;
      });
  const auto a = subview(whole, std::pair(1, 8), std::pair(2, 6));
  const Kokkos::View<double*, Kokkos::LayoutStride, Space> x(xs.data(), Kokkos::LayoutStride(4, 3));
  const auto y = subview(ys, 2, std::pair(1, 8));
  tessera::gemv(exec, 1.0, a, x, 1.0, y);
  auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ys);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 9; ++j) {
      double want = 7;
      if (i == 2 && j >= 1 && j < 8)
        for (int k = 0; k < 4; ++k) want += (j * 10 + 2 + k) * (k + 1);
      CHECK(host(i, j) == want);
    }
}

TEST_CASE("gemv accumulates ones without stalling", "[gemv]") {
  const Space exec;
  constexpr std::size_t n = std::size_t{1} << 25;
  Kokkos::View<float**, Kokkos::LayoutRight, Space> a("a", 1, n);
  Kokkos::View<float*, Space> x("x", n), y("y", 1);
  Kokkos::deep_copy(exec, a, 1.0F);
  Kokkos::deep_copy(exec, x, 1.0F);
  tessera::gemv(exec, 1.0F, a, x, 0.0F, y);
  auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  CHECK(std::abs(host(0) - 33554432.0F) <= 33.0F);
}

TEST_CASE("gemv refuses operands that do not fit", "[gemv]") {
  const Space exec;
  Kokkos::View<double**, Space> a("a", 4, 9);
  Kokkos::View<double*, Space> four("four", 4), nine("nine", 9);
  CHECK_THROWS_WITH(tessera::gemv(exec, 1.0, a, four, 0.0, nine),
                    ContainsSubstring("A is 4 x 9, x has 4 and y has 9") && ContainsSubstring("transposed(A)"));
  Kokkos::View<double**, Space> square("square", 4, 4);
  CHECK_THROWS_WITH(tessera::gemv(exec, 1.0, square, four, 0.0, four), ContainsSubstring("overlaps the input x"));
  const auto column = Kokkos::subview(square, Kokkos::ALL, 1);
  CHECK_THROWS_WITH(tessera::gemv(exec, 1.0, square, four, 0.0, column), ContainsSubstring("overlaps the input A"));
}
