// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <tessera/stencil/any_type.hpp>

using Space = TESSERA_TEST_SPACE;
using Catch::Matchers::ContainsSubstring;
using tessera::index_t;

namespace {

using Extents = std::array<index_t, 3>;

/// A rank-3 box in padded memory: extents, order of the dimensions in memory (order[0] has the longest stride), the
/// step of the fastest one, padding, and to how many elements lines are aligned. Everything between the elements must
/// stay as it is.
template <class T>
struct Box {
  Extents n, stride{};
  index_t size = 0, margin;
  Kokkos::View<T*, Space> memory;

  Box(const Extents& extents, const std::array<int, 3>& order, index_t step, index_t pad, index_t line)
      : n(extents), margin(line > 1 ? line : 5) {
    index_t next = step;
    for (int r = 2; r >= 0; --r) {
      const auto d = static_cast<std::size_t>(order[static_cast<std::size_t>(r)]);
      stride[d] = next;
      next = (next * std::max<index_t>(n[d], 1) + pad + line - 1) / line * line;
    }
    size = next + 2 * margin;
    memory = Kokkos::View<T*, Space>("box", static_cast<std::size_t>(size));
  }
  [[nodiscard]] index_t at(index_t i, index_t j, index_t k) const {
    return margin + i * stride[0] + j * stride[1] + k * stride[2];
  }
  auto view() const {
    Kokkos::LayoutStride layout;
    for (std::size_t r = 0; r < 3; ++r) {
      layout.dimension[r] = static_cast<std::size_t>(n[r]);
      layout.stride[r] = static_cast<std::size_t>(stride[r]);
    }
    return Kokkos::View<T***, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        memory.data() + margin, layout);
  }
  void write(const Space& exec, const std::vector<T>& from) const {
    auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), memory);
    for (std::size_t i = 0; i < from.size(); ++i) host(i) = from[i];
    Kokkos::deep_copy(exec, memory, host);
    exec.fence();
  }
  [[nodiscard]] std::vector<T> read(const Space& exec) const {
    auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), memory);
    Kokkos::deep_copy(exec, host, memory);
    exec.fence();
    return std::vector<T>(host.data(), host.data() + host.extent(0));
  }
};

template <class T>
std::vector<T> random_memory(index_t size, unsigned seed) {
  std::mt19937 gen(seed);
  std::uniform_real_distribution<float> d(-1, 1);
  std::vector<T> v;
  v.reserve(static_cast<std::size_t>(size));
  for (index_t i = 0; i < size; ++i) v.push_back(T(d(gen)));
  return v;
}

struct Arrangement {
  std::array<int, 3> u_order, v_order;
  index_t u_step, v_step, pad, line = 1;
};
const std::vector<Arrangement> arrangements{
    {{0, 1, 2}, {0, 1, 2}, 1, 1, 0},                                         // LayoutRight
    {{2, 1, 0}, {2, 1, 0}, 1, 1, 0},                                         // LayoutLeft
    {{0, 1, 2}, {2, 1, 0}, 1, 1, 3},                                         // one of each, padded
    {{1, 2, 0}, {1, 0, 2}, 1, 1, 1},    {{0, 1, 2}, {0, 1, 2}, 3, 2, 4},     // no unit stride
    {{2, 0, 1}, {2, 0, 1}, 1, 2, 0},    {{0, 1, 2}, {0, 1, 2}, 1, 1, 0, 8},  // what devices read and write by vectors
    {{2, 1, 0}, {2, 1, 0}, 1, 1, 0, 8},
};

enum class Kind { seven, distances, all };

/// The library's call; the walkers of devices, on every backend; lines of what no cache holds, on hosts.
enum class Way { call, walk, far };

/// walk: the walkers of devices, on every backend. far: lines that go past the caches, which hosts have.
template <Way way, class Points, class T>
void run_way(const Space& exec, const tessera::StencilProblem<T>& p) {
  using namespace tessera::detail;
  if constexpr (way == Way::far && tessera::machine<Space>::is_host)
    StencilMarch<T, Space, Points, true>::launch(exec, p, "tessera::stencil7::test", true);
  else
    walk_stencil<T, Space, Points>(exec, p, "tessera::stencil7::unit", "tessera::stencil7::strided");
}

template <class T, Way way>
void check(const Extents& n, const Arrangement& how, Kind kind, unsigned seed) {
  using A = tessera::accumulator_t<T>;
  const Space exec;
  const Box<T> u(n, how.u_order, how.u_step, how.pad, how.line), v(n, how.v_order, how.v_step, how.pad, how.line);
  auto um = random_memory<T>(u.size, seed);
  auto vm = random_memory<T>(v.size, seed + 1);
  // what the sums must not read is NaN: outside of u, the old inside of v, for 7 points u's edges and corners
  std::vector<bool> inside(um.size(), false);
  const auto outer = [&](index_t i, int r) { return i == 0 || i == n[static_cast<std::size_t>(r)] - 1; };
  for (index_t i = 0; i < n[0]; ++i)
    for (index_t j = 0; j < n[1]; ++j)
      for (index_t k = 0; k < n[2]; ++k) {
        const int ghosts = outer(i, 0) + outer(j, 1) + outer(k, 2);
        if (ghosts < 2 || kind != Kind::seven) inside[static_cast<std::size_t>(u.at(i, j, k))] = true;
        if (ghosts == 0) vm[static_cast<std::size_t>(v.at(i, j, k))] = T(std::numeric_limits<float>::quiet_NaN());
      }
  for (std::size_t i = 0; i < um.size(); ++i)
    if (!inside[i]) um[i] = T(std::numeric_limits<float>::quiet_NaN());
  u.write(exec, um);
  v.write(exec, vm);

  std::mt19937 gen(seed + 2);
  std::uniform_real_distribution<float> d(-2, 2);
  tessera::Stencil27Coefficients<A> c{};
  const float near[4] = {d(gen), d(gen), d(gen), d(gen)};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) {
        const int distance = (i != 1) + (j != 1) + (k != 1);
        const float value = kind == Kind::distances ? near[distance] : d(gen);
        c.c[i][j][k] = kind == Kind::seven && distance > 1 ? A{} : static_cast<A>(value);
      }
  const tessera::Stencil7Coefficients<A> faces{
      c.c[1][1][1], {c.c[0][1][1], c.c[2][1][1]}, {c.c[1][0][1], c.c[1][2][1]}, {c.c[1][1][0], c.c[1][1][2]}};
  if constexpr (way != Way::call) {
    tessera::StencilProblem<T> p;
    p.u = tessera::const_ref(u.view());
    p.v = tessera::ref(v.view());
    p.faces_only = kind == Kind::seven;
    for (int m = 0; m < 27; ++m) p.coefficients[m] = c.c[m / 9][m / 3 % 3][m % 3];
    const auto q = tessera::detail::by_falling_stride(p);
    using namespace tessera::detail;
    if (kind == Kind::seven)
      run_way<way, Faces>(exec, q);
    else
      run_way<way, Cube>(exec, q);
  } else if (kind == Kind::seven) {
    tessera::stencil7(exec, faces, u.view(), v.view());
  } else if (kind == Kind::distances) {
    tessera::stencil27(exec, tessera::Stencil27Distances<A>{A(near[0]), A(near[1]), A(near[2]), A(near[3])}, u.view(),
                       v.view());
  } else {
    tessera::stencil27(exec, c, u.view(), v.view());
  }

  const auto got = v.read(exec);
  std::vector<bool> written(got.size(), false);
  index_t wrong = 0;
  for (index_t i = 1; i < n[0] - 1; ++i)
    for (index_t j = 1; j < n[1] - 1; ++j)
      for (index_t k = 1; k < n[2] - 1; ++k) {
        long double sum = 0, magnitude = 0;
        for (int a = -1; a <= 1; ++a)
          for (int b = -1; b <= 1; ++b)
            for (int e = -1; e <= 1; ++e) {
              if (kind == Kind::seven && (a != 0) + (b != 0) + (e != 0) > 1) continue;
              const long double term =
                  static_cast<long double>(c.c[a + 1][b + 1][e + 1]) *
                  static_cast<long double>(um[static_cast<std::size_t>(u.at(i + a, j + b, k + e))]);
              sum += term;
              magnitude += std::abs(term);
            }
        // 27 products and sums in the accumulator, then one rounding to T
        const long double eps = std::numeric_limits<A>::epsilon();
        long double bound = 28 * eps * magnitude;
        if constexpr (sizeof(T) == 2) {
          const bool is_half = std::is_same_v<T, tessera::half>;
          bound += std::abs(sum) * (is_half ? 0x1p-11L : 0x1p-8L) + 0x1p-24L;
        }
        const std::size_t at = static_cast<std::size_t>(v.at(i, j, k));
        written[at] = true;
        const long double error = std::abs(static_cast<long double>(got[at]) - sum);
        if (!(error <= bound)) ++wrong;
      }
  index_t touched = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!written[i] && std::memcmp(&got[i], &vm[i], sizeof(T)) != 0) ++touched;
  CAPTURE(n[0], n[1], n[2], how.u_step, how.v_step, how.pad, how.u_order[2], how.v_order[2], static_cast<int>(kind));
  CHECK(wrong == 0);
  CHECK(touched == 0);
}

constexpr Kind kinds[] = {Kind::seven, Kind::distances, Kind::all};

}  // namespace

TEMPLATE_TEST_CASE("stencils agree with a reference for every layout and step", "[stencil]", float, double,
                   tessera::half, tessera::bfloat16) {
  for (const Arrangement& how : arrangements)
    for (const Kind kind : kinds) {
      check<TestType, Way::call>({9, 20, 67}, how, kind, 1);
      check<TestType, Way::call>({66, 5, 4}, how, kind, 2);
      check<TestType, Way::call>({4, 66, 9}, how, kind, 3);
    }
}

TEMPLATE_TEST_CASE("stencils by walkers agree with a reference", "[stencil]", float, double) {
  for (const Arrangement& how : arrangements)
    for (const Kind kind : kinds) {
      check<TestType, Way::walk>({20, 23, 67}, how, kind, 4);
      check<TestType, Way::walk>({70, 4, 3}, how, kind, 5);
    }
}

TEMPLATE_TEST_CASE("stencils of what no cache holds agree with a reference", "[stencil]", float, double,
                   tessera::half) {
  if constexpr (tessera::is_host_space<Space>)
    for (const Arrangement& how : {arrangements[0], Arrangement{{0, 1, 2}, {1, 0, 2}, 1, 1, 3}}) {
      for (const Kind kind : kinds)
        for (index_t n = 3; n < 53; n += n < 36 ? 1 : 5) check<TestType, Way::far>({5, 7, n}, how, kind, 6);
      // lines of several parts
      for (const index_t n : {514, 515, 600, 1026, 1100, 2065})
        for (const Kind kind : {Kind::distances, Kind::all}) {
          check<TestType, Way::far>({3, 4, n}, how, kind, 7);
          check<TestType, Way::call>({3, 4, n}, how, kind, 8);
        }
    }
}

TEST_CASE("stencils at edge sizes", "[stencil]") {
  const Arrangement right = arrangements[0];
  for (const index_t n : {0, 1, 2, 3, 4, 5}) {
    check<double, Way::call>({n, 7, 6}, right, Kind::seven, 11);
    check<double, Way::call>({7, n, 6}, right, Kind::all, 12);
    check<double, Way::call>({7, 6, n}, right, Kind::seven, 13);
  }
  // lines so long that a tile has few rows
  check<float, Way::call>({4, 36, 40000}, right, Kind::seven, 18);
  // round the tiles of devices
  const Arrangement aligned = arrangements[6];
  for (const index_t n : {3, 4, 5, 7, 8, 9, 10, 11, 31, 33, 34, 127, 128, 129, 130, 131, 255, 256, 257, 258, 259}) {
    check<float, Way::walk>({5, 5, n}, aligned, Kind::all, 19);
    check<double, Way::walk>({5, 5, n}, aligned, Kind::seven, 20);
    check<double, Way::walk>({4, n, 7}, aligned, Kind::all, 21);
    check<tessera::half, Way::walk>({n, 4, 9}, aligned, Kind::seven, 22);
  }
  for (const index_t n : {15, 16, 17, 18, 19, 63, 64, 65, 66, 67, 129, 130}) {
    check<float, Way::call>({3, n, 5}, right, Kind::seven, 14);
    check<float, Way::walk>({3, n, 5}, right, Kind::seven, 15);
    check<float, Way::walk>({3, 5, n}, right, Kind::all, 16);
    check<float, Way::walk>({n, 3, 5}, right, Kind::seven, 17);
  }
}

TEST_CASE("stencils between a LayoutLeft view, a LayoutRight view and subviews", "[stencil]") {
  const Space exec;
  constexpr int n = 12;
  Kokkos::View<double***, Kokkos::LayoutLeft, Space> left("left", n, n, n);
  Kokkos::View<double***, Kokkos::LayoutRight, Space> right("right", n, n, n);
  // a linear field is what the second difference cannot see, and what a first difference gives exactly
  Kokkos::parallel_for(
      "fill", Kokkos::RangePolicy<Space>(exec, 0, n * n * n),
      KOKKOS_LAMBDA(int m) { left(m / (n * n), m / n % n, m % n) = m / (n * n) + 10 * (m / n % n) + 100 * (m % n); });
  tessera::stencil7(exec, tessera::Stencil7Coefficients<double>{-6, {1, 1}, {1, 1}, {1, 1}}, left, right);
  auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), right);
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < n - 1; ++j)
      for (int k = 1; k < n - 1; ++k) REQUIRE(host(i, j, k) == 0.0);
  const auto part = std::pair<int, int>(2, 9);
  tessera::stencil7(exec, tessera::Stencil7Coefficients<double>{0, {-1, 1}, {0, 0}, {-2, 2}},
                    Kokkos::subview(left, part, part, part), Kokkos::subview(right, part, part, part));
  Kokkos::deep_copy(host, right);
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < n - 1; ++j)
      for (int k = 1; k < n - 1; ++k) {
        const auto in = [](int a) { return a >= 3 && a < 8; };
        REQUIRE(host(i, j, k) == (in(i) && in(j) && in(k) ? 402.0 : 0.0));
      }
}

TEST_CASE("stencils refuse what does not fit", "[stencil]") {
  const Space exec;
  Kokkos::View<float***, Space> u("u", 4, 5, 6), v("v", 4, 5, 7);
  const tessera::Stencil7Coefficients<float> c{1, {1, 1}, {1, 1}, {1, 1}};
  CHECK_THROWS_WITH(tessera::stencil7(exec, c, u, v), ContainsSubstring("u is 4 x 5 x 6 and v is 4 x 5 x 7"));
  CHECK_THROWS_WITH(tessera::stencil7(exec, c, u, u), ContainsSubstring("overlaps"));
  CHECK_THROWS_WITH(tessera::stencil27(exec, tessera::Stencil27Distances<float>{1, 1, 1, 1}, u, u),
                    ContainsSubstring("tessera::stencil27"));
}
