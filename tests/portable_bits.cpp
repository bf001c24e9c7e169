// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums, dots and norms with Determinism::portable give the bits that are written here, on every backend and for any
// number of threads (CTest runs this with several). The numbers come from tests/support/fixed_tree.py, which follows
// the tree that level1/fixed_tree.hpp describes one addition at a time; the same is done here for many more sizes.
#include <array>
#include <bit>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <support/level1.hpp>

#include <tessera/asum.hpp>
#include <tessera/dot.hpp>
#include <tessera/nrm2.hpp>
#include <tessera/reduce.hpp>

using namespace level1;
using tessera::Determinism;
using tessera::is_complex_v;
using tessera::real_t;

namespace {

constexpr tessera::ReductionOptions portable{.determinism = Determinism::portable};

std::uint64_t scramble(std::uint64_t z) {
  z = (z + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
/// Magnitudes of 40 orders, 2^-66 to 2^66, of both signs.
template <class R>
R spread(std::uint64_t z) {
  const std::uint64_t exponent = (z >> 52) % 133 - 66, sign = z & 1;
  if constexpr (sizeof(R) == 8)
    return std::bit_cast<double>((sign << 63) | ((1023 + exponent) << 52) | ((z >> 1) & 0xfffffffffffffu));
  else
    return std::bit_cast<float>(
        static_cast<std::uint32_t>((sign << 31) | ((127 + exponent) << 23) | ((z >> 1) & 0x7fffffu)));
}
/// Part p of element i of x, and of y. Of the products x_i y_i the second half cancels the first but for the last bits.
template <class R>
R x_part(index_t i, index_t p, index_t n) {
  const index_t half = n < 2 ? 1 : n / 2;
  const R v = spread<R>(scramble(static_cast<std::uint64_t>(2 * (i % half) + p)));
  return i < half ? v : std::nextafter(v, R(0));
}
template <class R>
R y_part(index_t i, index_t p, index_t n) {
  const index_t half = n < 2 ? 1 : n / 2;
  const R v = spread<R>(scramble(static_cast<std::uint64_t>(2 * (i % half) + p) ^ 0xabcdefu));
  return i < half ? v : -v;
}

/// The tree: take(sum, i) adds element i to a lane.
template <class Sum, class Take, class Join>
Sum follow(index_t n, index_t width, const Take& take, const Join& join) {
  const index_t row = 32 * width, all = (n + row - 1) / row;
  index_t rows = (all + 32767) / 32768;
  if (rows * row < 1024) rows = 1024 / row;
  const index_t length = rows * row;
  index_t groups = (n + 8 * length - 1) / (8 * length);
  const auto halves = [&](std::vector<Sum>& s) {
    for (std::size_t w = s.size() / 2; w > 0; w /= 2)
      for (std::size_t j = 0; j < w; ++j) s[j] = join(s[j], s[j + w]);
    return s[0];
  };
  std::vector<Sum> slots(256);
  for (index_t g = 0; g < groups; ++g) {
    std::vector<Sum> strands(8);
    for (index_t s = 0; s < 8; ++s) {
      std::vector<Sum> lanes(static_cast<std::size_t>(row));
      for (index_t j = 0; j < row; ++j)
        for (index_t i = (g * 8 + s) * length + j; i < (g * 8 + s + 1) * length && i < n; i += row)
          lanes[static_cast<std::size_t>(j)] = take(lanes[static_cast<std::size_t>(j)], i);
      strands[static_cast<std::size_t>(s)] = halves(lanes);
    }
    auto& slot = slots[static_cast<std::size_t>(g % 256)];
    slot = join(slot, halves(strands));
  }
  return halves(slots);
}
double plus(double a, double b) { return a + b; }

/// Squares by magnitude, as nrm2 has them.
struct Squares {
  double middle = 0, large = 0, small = 0;
};
Squares joined(const Squares& a, const Squares& b) {
  return {a.middle + b.middle, a.large + b.large, a.small + b.small};
}
void sort_in(Squares& s, double v) {
  const double a = std::fabs(v);
  if (a > 0x1p480)
    s.large = std::fma(a * 0x1p-600, a * 0x1p-600, s.large);
  else if (a < 0x1p-450)
    s.small = std::fma(a * 0x1p600, a * 0x1p600, s.small);
  else
    s.middle = std::fma(a, a, s.middle);
}

template <class T>
struct Reference {
  using R = real_t<T>;
  static constexpr index_t parts = is_complex_v<T> ? 2 : 1;
  static constexpr index_t width = 16 / static_cast<index_t>(sizeof(T));
  std::vector<T> x, y;

  [[nodiscard]] index_t size() const { return static_cast<index_t>(x.size()); }
  static double part(const std::vector<T>& v, index_t i, index_t p) {
    if constexpr (is_complex_v<T>)
      return p == 0 ? v[static_cast<std::size_t>(i)].real() : v[static_cast<std::size_t>(i)].imag();
    else
      return v[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] double products(index_t p, index_t q) const {
    return follow<double>(
        size(), width, [&](double s, index_t i) { return std::fma(part(x, i, p), part(y, i, q), s); }, plus);
  }
  [[nodiscard]] T dot() const {
    if constexpr (is_complex_v<T>)
      return T(static_cast<R>(products(0, 0) - products(1, 1)), static_cast<R>(products(0, 1) + products(1, 0)));
    else
      return static_cast<T>(products(0, 0));
  }
  [[nodiscard]] double sums(index_t p, bool magnitude) const {
    return follow<double>(
        size(), width, [&](double s, index_t i) { return s + (magnitude ? std::fabs(part(x, i, p)) : part(x, i, p)); },
        plus);
  }
  [[nodiscard]] T sum() const {
    if constexpr (is_complex_v<T>)
      return T(static_cast<R>(sums(0, false)), static_cast<R>(sums(1, false)));
    else
      return static_cast<T>(sums(0, false));
  }
  [[nodiscard]] R asum() const { return static_cast<R>(parts == 2 ? sums(0, true) + sums(1, true) : sums(0, true)); }
  /// Plain squares; what leaves the range is for the test of small sizes below.
  [[nodiscard]] R nrm2() const {
    const auto squares = [&](index_t p) {
      return follow<double>(
          size(), width, [&](double s, index_t i) { return std::fma(part(x, i, p), part(x, i, p), s); }, plus);
    };
    return static_cast<R>(std::sqrt(parts == 2 ? squares(0) + squares(1) : squares(0)));
  }
};

template <class T>
Reference<T> values(index_t n) {
  Reference<T> r;
  for (index_t i = 0; i < n; ++i) {
    using R = real_t<T>;
    if constexpr (is_complex_v<T>) {
      r.x.push_back(T(x_part<R>(i, 0, n), x_part<R>(i, 1, n)));
      r.y.push_back(T(y_part<R>(i, 0, n), y_part<R>(i, 1, n)));
    } else {
      r.x.push_back(x_part<R>(i, 0, n));
      r.y.push_back(y_part<R>(i, 0, n));
    }
  }
  return r;
}

template <class T>
Kokkos::View<T*, Space> uploaded(const std::vector<T>& v) {
  Kokkos::View<T*, Space> view("x", v.size());
  Kokkos::deep_copy(
      view, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(v.data(), v.size()));
  return view;
}

/// The bits of a result, the parts of a complex one mixed into one number.
template <class T>
std::uint64_t bits(const T& v) {
  if constexpr (is_complex_v<T>)
    return bits(v.real()) ^ std::rotl(bits(v.imag()), 17);
  else if constexpr (sizeof(T) == 8)
    return std::bit_cast<std::uint64_t>(v);
  else
    return std::bit_cast<std::uint32_t>(v);
}

using Bits = std::array<std::uint64_t, 4>;  // sum, dot, asum, nrm2
template <class X, class Y>
Bits found(const X& x, const Y& y) {
  return {bits(tessera::reduce(Space(), x, portable)), bits(tessera::dot(Space(), x, y, portable)),
          bits(tessera::asum(Space(), x, portable)), bits(tessera::nrm2(Space(), x, portable))};
}
template <class T>
Bits expected(const Reference<T>& r) {
  return {bits(r.sum()), bits(r.dot()), bits(r.asum()), bits(r.nrm2())};
}

/// sum, dot, asum, nrm2 of n elements: small ones from tests/support/fixed_tree.py, large ones by the text above,
/// compiled without contraction.
struct WrittenBits {
  index_t n;
  Bits bits;
};
template <class T>
constexpr std::array<WrittenBits, 2> written{};
template <>
constexpr std::array<WrittenBits, 2> written<float>{{{100003, {0x632a2792u, 0x75957e68u, 0x660ab053u, 0x6340203fu}},
                                                     {10000019, {0xe4b8d249u, 0xf88482b7u, 0x6955cc3eu, 0x64edef41u}}}};
template <>
constexpr std::array<WrittenBits, 2> written<double>{
    {{100003, {0x44755bd286a749bcu, 0x4500000000000000u, 0x44c15d123e790ebau, 0x4468134d34b8de05u}},
     {10000019, {0xc4971b5bd46ab618u, 0xc530000000000000u, 0x452ac00d89570544u, 0x449dc9e1e8ea6288u}}}};
template <>
constexpr std::array<WrittenBits, 2> written<Kokkos::complex<float>>{
    {{100003, {0xc576b44e2792u, 0x1ec80022dddfdu, 0x668b9d8cu, 0x6388dc9bu}},
     {1000003, {0x1c589b5d0ae1au, 0xf0cef0cc5489u, 0x682b0f1au, 0x6454b0fdu}}}};
template <>
constexpr std::array<WrittenBits, 2> written<Kokkos::complex<double>>{
    {{100003, {0x65f1196c5731c17bu, 0x44f8000000018a10u, 0x44d16f0e7c488aa4u, 0x447113fed8ab5128u}},
     {1000003, {0x720883980c272592u, 0xc520000000008a9cu, 0x450564af46351856u, 0x448a9bc5d64a868cu}}}};

}  // namespace

TEMPLATE_TEST_CASE("portable: the bits written here", "[portable]", float, double, Kokkos::complex<float>,
                   Kokkos::complex<double>) {
  using T = TestType;
  for (const auto& [n, right] : written<T>) {
    INFO("n = " << n);
    const auto r = values<T>(n);
    REQUIRE(expected(r) == right);
    const auto x = uploaded(r.x), y = uploaded(r.y);
    for (int run = 0; run < 3; ++run) REQUIRE(found(x, y) == right);
    const Kokkos::View<real_t<T>, Space> result("result");
    tessera::nrm2(Space(), x, result, portable);
    REQUIRE(bits(fetch(result)) == right[3]);
  }
}

TEMPLATE_TEST_CASE("portable: every size and any strides", "[portable]", float, double, Kokkos::complex<float>,
                   Kokkos::complex<double>) {
  using T = TestType;
  for (const index_t n : {0,    1,    2,    3,    31,   32,   33,   63,   64,   65,    127,   129,
                          1000, 1023, 1024, 1025, 2047, 8191, 8192, 8193, 8200, 65537, 300007}) {
    INFO("n = " << n);
    const auto r = values<T>(n);
    const Bits right = expected(r);
    REQUIRE(found(uploaded(r.x), uploaded(r.y)) == right);
    Operand<T> x(Shape{n, 1, 3, 0, 1}), y(Shape{n, 1, 1, 0, 1});
    for (index_t i = 0; i < n; ++i) {
      x.before(i) = r.x[static_cast<std::size_t>(i)];
      y.before(i) = r.y[static_cast<std::size_t>(i)];
    }
    x.upload();
    y.upload();
    REQUIRE(found(x.vector(), y.vector()) == right);
    REQUIRE(bits(tessera::dot(Space(), y.vector(), x.vector(), portable)) == right[1]);
  }
}

TEST_CASE("portable: norms at the ends of the range", "[portable]") {
  for (const double scale : {0x1p-1060, 0x1p-700, 0x1p-455, 1.0, 0x1p470, 0x1p490, 0x1p1000})
    for (const index_t n : {1, 5, 64, 1000, 5000}) {
      INFO("scale " << scale << ", n " << n);
      std::vector<double> x(static_cast<std::size_t>(n));
      for (index_t i = 0; i < n; ++i)
        x[static_cast<std::size_t>(i)] = i % 3 == 1 ? 1.0 : scale * static_cast<double>(1 + i % 7);
      // a lane whose plain squares leave the range is sorted by magnitude
      const auto lane_of = [&](index_t i) { return i / 1024 * 64 + i % 64; };
      std::vector<double> plain(static_cast<std::size_t>(lane_of(n - 1) + 1024));
      for (index_t i = 0; i < n; ++i) {
        double& s = plain[static_cast<std::size_t>(lane_of(i))];
        s = std::fma(x[static_cast<std::size_t>(i)], x[static_cast<std::size_t>(i)], s);
      }
      const Squares s = follow<Squares>(
          n, 2,
          [&](Squares sum, index_t i) {
            const double v = x[static_cast<std::size_t>(i)], whole = plain[static_cast<std::size_t>(lane_of(i))];
            if (whole >= 0x1p-900 && whole <= 0x1p960)
              sum.middle = std::fma(v, v, sum.middle);
            else
              sort_in(sum, v);
            return sum;
          },
          joined);
      const double root = s.large != 0    ? std::sqrt(std::fma(s.middle * 0x1p-600, 0x1p-600, s.large)) * 0x1p600
                          : s.middle != 0 ? std::sqrt(std::fma(s.small * 0x1p-600, 0x1p-600, s.middle))
                                          : std::sqrt(s.small) * 0x1p-600;
      REQUIRE(same_bits(tessera::nrm2(Space(), uploaded(x), portable), root));
      REQUIRE(std::fabs(root - tessera::nrm2(Space(), uploaded(x))) <= 1e-14 * root);
    }
}

TEST_CASE("portable: the canonical NaN", "[portable]") {
  for (const index_t n : {3, 5000}) {
    std::vector<double> x(static_cast<std::size_t>(n), 1.0);
    x[1] = std::numeric_limits<double>::infinity();
    x[2] = -x[1];
    const double nan = std::numeric_limits<double>::quiet_NaN();
    REQUIRE(same_bits(tessera::reduce(Space(), uploaded(x), portable), nan));
    REQUIRE(std::isinf(tessera::nrm2(Space(), uploaded(x), portable)));
    x[0] = -nan;
    REQUIRE(same_bits(tessera::reduce(Space(), uploaded(x), portable), nan));
    REQUIRE(same_bits(tessera::dot(Space(), uploaded(x), uploaded(x), portable), nan));
    REQUIRE(same_bits(tessera::asum(Space(), uploaded(x), portable), nan));
    REQUIRE(same_bits(tessera::nrm2(Space(), uploaded(x), portable), nan));
  }
}

TEST_CASE("reproducible: 50 runs over 250,000 doubles of 0.1 give one result (A14)", "[portable]") {
  Kokkos::View<double*, Space> x("x", 250000);
  Kokkos::deep_copy(x, 0.1);
  // exactly 250000 times the double 0.1; n roundings of at most half an ulp of the running sum
  const double exact = 25000.000000000001, bound = 250000 * 0x1p-53 * exact;
  for (const Determinism order : {Determinism::fast, Determinism::reproducible, Determinism::portable}) {
    const tessera::ReductionOptions options{.determinism = order};
    const auto all = [&] {
      return std::array{tessera::reduce(Space(), x, options), tessera::dot(Space(), x, x, options),
                        tessera::asum(Space(), x, options), tessera::nrm2(Space(), x, options)};
    };
    const auto first = all();
    REQUIRE(std::fabs(first[0] - exact) <= bound);
    if (order == Determinism::fast) continue;
    for (int run = 1; run < 50; ++run) {
      const auto again = all();
      for (std::size_t k = 0; k < first.size(); ++k) REQUIRE(same_bits(first[k], again[k]));
    }
  }
}
