// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Kokkos_Core.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <gemm/complex_fp64_sm90a/complex_fp64_sm90a.hpp>
#include <gemm/fp32_sm90a/fp32_sm90a.hpp>
#include <gemm/fp64_sm90a/fp64_sm90a.hpp>
#include <gemm/half_sm80/direct.hpp>
#include <gemm/half_sm80/half_sm80.hpp>
#include <gemm/half_sm90a/half_sm90a.hpp>
#include <gemm/tf32_sm90a/tf32_sm90a.hpp>
#include <gemm_dense.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <tessera/backends/enabled.hpp>

// The Hopper kernels of 16-bit floats, of tf32, of fp32 from bf16 or tf32 terms and of fp64, real and complex, through
// their plain interfaces, so that every configuration meets every edge, and through the call. Needs a device of compute
// capability 9.0.

namespace {

using tessera::index_t;
using Space = Kokkos::Cuda;
namespace sm90a = tessera::cuda::sm90a;

bool is_hopper() {
  const auto device = tessera::device_of(Space());
  if (device.major == 9 && device.minor == 0) return true;
  WARN("not run: the device is not of compute capability 9.0");
  return false;
}

enum class Values { integers, random, poison };

template <class T>
using Memory = Kokkos::View<T*, Space>;

KOKKOS_FUNCTION std::uint64_t scrambled(std::uint64_t i) {  // splitmix64
  i += 0x9e3779b97f4a7c15u;
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
  return i ^ (i >> 31);
}

template <class T>
void fill(const Memory<T>& x, Values values, std::uint64_t seed) {
  Kokkos::parallel_for(
      "tessera::test::fill", tessera::Range<Space>(Space(), 0, static_cast<index_t>(x.extent(0))),
      KOKKOS_LAMBDA(index_t i) {
        const std::uint64_t r = scrambled(seed * 1000003 + static_cast<std::uint64_t>(i));
        if (values == Values::integers)
          x(i) = static_cast<T>(static_cast<int>(r % 15) - 7);
        else if (values == Values::random)
          x(i) = static_cast<T>(static_cast<double>(r >> 11) * 0x1p-52 - 1);
        else
          x(i) = static_cast<T>(NAN);
      });
}

/// Where element (i, j) of a matrix lies.
struct Strides {
  index_t start = 0, row = 0, column = 0;
};

/// A sum of products with twice the bits of a double.
struct LongSum {
  double high = 0, low = 0;

  KOKKOS_FUNCTION void add(double x) {  // exact but for the last addition
    const double sum = high + x, part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
  }
  KOKKOS_FUNCTION void add(double x, double y) {
    const double product = Kokkos::fma(x, y, 0.0);  // not x * y, which could be fused with what follows
    add(product);
    low += Kokkos::fma(x, y, -product);
  }
  [[nodiscard]] KOKKOS_FUNCTION double value() const { return high + low; }
};

/// Elements of C that are wrong, of D = alpha A B + beta C, and elements of its memory outside that changed.
template <class T, class Out = T>
struct Wrong {
  Memory<T> a, b;
  Memory<Out> before, after;
  Strides sa, sb;
  index_t m, n, k, ldd, start;
  double alpha, beta, unit;  // unit 0: the sum is exact
  double rounding;           // of the result, relative; and absolute, of the smallest numbers of its type
  double tiny;
  index_t batches = 1, a_batch = 0, b_batch = 0, d_batch = 0;  // from one product's operand to the next's

  KOKKOS_FUNCTION void operator()(index_t at, index_t& count) const {
    const index_t of_all = at - start, product = batches > 1 ? of_all / d_batch : 0;
    const index_t e = of_all - product * d_batch, i = e / ldd, j = e % ldd;
    const double got = static_cast<double>(after(at)), old = static_cast<double>(before(at));
    if (of_all < 0 || j >= n || i >= m || product >= batches) {
      if (!(got == old || (got != got && old != old))) ++count;
      return;
    }
    LongSum exact;
    double size = 0;
    for (index_t l = 0; l < k; ++l) {
      // alpha is a power of two or 0
      const double x = alpha * static_cast<double>(a(sa.start + product * a_batch + i * sa.row + l * sa.column));
      const auto y = static_cast<double>(b(sb.start + product * b_batch + l * sb.row + j * sb.column));
      exact.add(x, y);
      size += Kokkos::fabs(x * y);
    }
    if (beta != 0) {
      exact.add(beta, old);
      size += Kokkos::fabs(beta * old);
    }
    const double sum = exact.value();
    const double bound =
        unit * 4 * Kokkos::sqrt(static_cast<double>(k) + 2) * size + rounding * Kokkos::fabs(sum) + tiny;
    if (!(Kokkos::fabs(got - sum) <= bound)) ++count;
  }
};

struct Setup {
  index_t m, n, k;
  bool a_transposed, b_transposed;
  index_t pad;
  double alpha = 2, beta = 0;
  Values values = Values::integers;
  index_t batches = 1;
  bool b_shared = false;  // by all products of a batch
};

/// Runs `multiply` on matrices with `pad` elements before and in each line; counts what is wrong.
template <class T, class Out = T, class Multiply>
index_t wrong(const Setup& s, double unit, const Multiply& multiply, double rounding = 0) {
  const index_t round = sizeof(T) == 4 ? 1 : 16 / static_cast<index_t>(sizeof(T));  // leading dimensions of 16 bytes
  const auto up = [&](index_t n) { return (n + round - 1) / round * round + s.pad; };
  const index_t lda = up(s.a_transposed ? s.m : s.k), ldb = up(s.b_transposed ? s.k : s.n), ldd = s.n + s.pad;
  Wrong<T, Out> w;
  w.sa = {s.pad, s.a_transposed ? 1 : lda, s.a_transposed ? lda : 1};
  w.sb = {s.pad, s.b_transposed ? 1 : ldb, s.b_transposed ? ldb : 1};
  const index_t of_a = lda * (s.a_transposed ? s.k : s.m), of_b = ldb * (s.b_transposed ? s.n : s.k);
  if (s.batches > 1) {
    w.batches = s.batches;
    w.a_batch = of_a + s.pad;
    w.b_batch = s.b_shared ? 0 : of_b + s.pad;
    w.d_batch = ldd * s.m + s.pad;
  }
  w.a = Memory<T>("tessera::test::a", s.pad + of_a + (s.batches - 1) * w.a_batch);
  w.b = Memory<T>("tessera::test::b", s.pad + of_b + (s.batches - 1) * w.b_batch);
  w.before = Memory<Out>("tessera::test::before", s.pad + ldd * s.m + (s.batches - 1) * w.d_batch + 9);
  w.after = Memory<Out>("tessera::test::after", w.before.extent(0));
  w.m = s.m;
  w.n = s.n;
  w.k = s.k;
  w.ldd = ldd;
  w.start = s.pad;
  w.alpha = s.alpha;
  w.beta = s.beta;
  w.unit = s.values == Values::integers ? 0 : unit;
  w.rounding = rounding;
  w.tiny = std::is_same_v<Out, tessera::half> ? 0x1p-25 : 0;
  fill(w.a, s.alpha == 0 ? Values::poison : s.values, 1);
  fill(w.b, s.alpha == 0 ? Values::poison : s.values, 2);
  fill(w.before, s.beta == 0 ? Values::poison : s.values, 3);
  Kokkos::deep_copy(Space(), w.after, w.before);
  if (s.alpha == 0) w.k = 0;
  multiply(w, lda, ldb);
  index_t count = 0;
  Kokkos::parallel_reduce("tessera::test::compare",
                          tessera::Range<Space>(Space(), 0, static_cast<index_t>(w.after.extent(0))), w, count);
  return count;
}

std::string text(const Setup& s) {
  return std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) + " transposed " +
         std::to_string(s.a_transposed) + std::to_string(s.b_transposed) + " pad " + std::to_string(s.pad) + " beta " +
         std::to_string(s.beta) + " values " + std::to_string(static_cast<int>(s.values)) + " batches " +
         std::to_string(s.batches) + (s.b_shared ? " that share B" : "");
}

template <class F>
void run_setups(const std::vector<Setup>& all, const F& f) {
  int turn = 0;
  for (Setup s : all) {
    if (turn++ % 3 == 1 && s.alpha != 0) s.beta = -3;
    if (turn % 2 == 0) s.values = Values::random;
    f(s);
  }
}

template <class F>
void for_setups(const std::vector<index_t>& edges, const F& f) {
  std::vector<Setup> all;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      for (const index_t m : edges)
        for (const index_t n : edges) all.push_back({m, n, 40, ta, tb, 0});
      for (const index_t k : {1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129}) all.push_back({130, 70, k, ta, tb, 2});
      all.push_back({1, 1, 1, ta, tb, 0});
      all.push_back({2, 700, 18, ta, tb, 4});
      all.push_back({700, 2, 1000, ta, tb, 4});
      all.push_back({1025, 1030, 64, ta, tb, 2});
      all.push_back({200, 200, 60, ta, tb, 0, 0});
      all.push_back({200, 200, 60, ta, tb, 0, 0, -3});
    }
  run_setups(all, f);
}

/// Batches of products for `for_setups`.
template <class F>
void for_batches(const F& f) {
  std::vector<Setup> all;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      all.push_back({.m = 64, .n = 64, .k = 64, .a_transposed = ta, .b_transposed = tb, .pad = 0, .batches = 5});
      all.push_back({.m = 129, .n = 257, .k = 65, .a_transposed = ta, .b_transposed = tb, .pad = 2, .batches = 3});
      all.push_back({.m = 33, .n = 40, .k = 130, .a_transposed = ta, .b_transposed = tb, .pad = 2, .batches = 200});
      all.push_back({.m = 300, .n = 200, .k = 1000, .a_transposed = ta, .b_transposed = tb, .pad = 0, .batches = 7});
      all.push_back({.m = 64,
                     .n = 200,
                     .k = 70,
                     .a_transposed = ta,
                     .b_transposed = tb,
                     .pad = 4,
                     .batches = 9,
                     .b_shared = true});
    }
  run_setups(all, f);
}

/// Memory whose bits are all 1, and some behind its end that nothing may write.
class Workspace {
 public:
  explicit Workspace(std::size_t bytes)
      : m_bytes(bytes),
        m_memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, "tessera::test::workspace"), bytes + guard) {
    Kokkos::deep_copy(Space(), m_memory, static_cast<char>(-1));
  }
  [[nodiscard]] char* data() const { return m_memory.data(); }
  [[nodiscard]] bool kept_end() const {
    const Kokkos::View<char*, Kokkos::HostSpace> end("tessera::test::end", guard);
    Kokkos::deep_copy(end, Kokkos::subview(m_memory, std::pair(m_bytes, m_bytes + guard)));
    for (std::size_t i = 0; i < guard; ++i)
      if (end(i) != static_cast<char>(-1)) return false;
    return true;
  }

 private:
  static constexpr std::size_t guard = 64;
  std::size_t m_bytes;
  Memory<char> m_memory;
};

/// A kernel's problem on these matrices, each with unit stride in one dimension.
template <class Gemm, class T, class Out>
void set_operands(Gemm& g, const Setup& s, const Wrong<T, Out>& w, index_t lda, index_t ldb) {
  g.m = s.m;
  g.n = s.n;
  g.k = s.k;
  g.a = w.a.data() + s.pad;
  g.lda = lda;
  g.a_mn_major = s.a_transposed;
  g.b = w.b.data() + s.pad;
  g.ldb = ldb;
  g.b_mn_major = !s.b_transposed;
  g.d = w.after.data() + s.pad;
  g.ldd = w.ldd;
  g.alpha = static_cast<decltype(g.alpha)>(s.alpha);
  g.beta = static_cast<decltype(g.beta)>(s.beta);
  if constexpr (requires { g.batches; }) {
    g.batches = s.batches;
    g.a_batch = w.a_batch;
    g.b_batch = w.b_batch;
    g.d_batch = w.d_batch;
  }
}

}  // namespace

TEST_CASE("fp64 on Hopper's tensor cores: configurations, majors, edges, guard bands", "[gemm_sm90a]") {
  if (!is_hopper()) return;
  for (int configuration = 0; configuration < sm90a::double_configurations(); ++configuration)
    for_setups({31, 33, 63, 64, 65, 96, 127, 128, 129}, [&](const Setup& s) {
      INFO(sm90a::double_configuration_name(configuration) << ": " << text(s));
      CHECK(wrong<double>(s, 0x1p-53, [&](const Wrong<double>& w, index_t lda, index_t ldb) {
              sm90a::DoubleGemm g;
              set_operands(g, s, w, lda, ldb);
              REQUIRE(sm90a::double_refusal(g) == nullptr);
              REQUIRE(sm90a::double_launch(g, configuration, 132, Space().cuda_stream()) == nullptr);
            }) == 0);
    });
}

namespace {

using sm90a::ComplexDouble;

/// As Wrong, for complex numbers, whose parts lie one behind the other: both parts of each are compared.
struct WrongComplex {
  Memory<double> a, b, before, after;
  Strides sa, sb;  // in doubles
  index_t m, n, k, ldd, start;
  ComplexDouble alpha, beta;
  bool a_conj, b_conj, exactly;

  KOKKOS_FUNCTION void operator()(index_t at, index_t& count) const {
    const index_t e = at - start, i = e / (2 * ldd), j = e % (2 * ldd) / 2, part = e % 2;
    const double got = after(at), old = before(at);
    if (e < 0 || j >= n || i >= m) {
      if (!(got == old || (got != got && old != old))) ++count;
      return;
    }
    LongSum sum[2];
    double size = 0;
    for (index_t l = 0; l < k; ++l) {
      const double* const x = &a(sa.start + i * sa.row + l * sa.column);
      const double* const y = &b(sb.start + l * sb.row + j * sb.column);
      const double x_im = a_conj ? -x[1] : x[1], y_im = b_conj ? -y[1] : y[1];
      sum[0].add(x[0], y[0]);
      sum[0].add(-x_im, y_im);
      sum[1].add(x[0], y_im);
      sum[1].add(x_im, y[0]);
      size += (Kokkos::fabs(x[0]) + Kokkos::fabs(x[1])) * (Kokkos::fabs(y[0]) + Kokkos::fabs(y[1]));
    }
    size *= Kokkos::fabs(alpha.re) + Kokkos::fabs(alpha.im);
    LongSum result;
    const auto times = [&](const ComplexDouble& s, double re, double im) {
      result.add(part == 0 ? s.re : s.im, re);
      result.add(part == 0 ? -s.im : s.re, im);
    };
    if (alpha.re != 0 || alpha.im != 0) times(alpha, sum[0].value(), sum[1].value());
    if (beta.re != 0 || beta.im != 0) {
      const double re = before(at - part), im = before(at - part + 1);
      times(beta, re, im);
      size += (Kokkos::fabs(beta.re) + Kokkos::fabs(beta.im)) * (Kokkos::fabs(re) + Kokkos::fabs(im));
    }
    const double bound = exactly ? 0 : 0x1p-53 * 4 * Kokkos::sqrt(2.0 * static_cast<double>(k) + 4) * size;
    if (!(Kokkos::fabs(got - result.value()) <= bound)) ++count;
  }
};

}  // namespace

TEST_CASE("complex fp64 on Hopper's tensor cores: configurations, majors, conjugates, edges, guard bands",
          "[gemm_sm90a]") {
  if (!is_hopper()) return;
  for (int configuration = 0; configuration < sm90a::complex_double_configurations(); ++configuration) {
    int turn = 0;
    for_setups({31, 32, 33, 63, 64, 65, 127, 128, 129}, [&](const Setup& s) {
      ++turn;
      WrongComplex w;
      w.a_conj = turn % 4 == 1 || turn % 4 == 2;
      w.b_conj = turn % 4 >= 2;
      INFO(sm90a::complex_double_configuration_name(configuration)
           << ": " << text(s) << " conj " << w.a_conj << w.b_conj << " turn " << turn);
      const index_t lda = (s.a_transposed ? s.m : s.k) + s.pad, ldb = (s.b_transposed ? s.k : s.n) + s.pad;
      w.m = s.m;
      w.n = s.n;
      w.k = s.k;
      w.ldd = s.n + s.pad;
      w.start = 2 * s.pad + turn % 3;  // D's alignment is 8 or 16 bytes
      w.sa = {2 * s.pad, s.a_transposed ? 2 : 2 * lda, s.a_transposed ? 2 * lda : 2};
      w.sb = {2 * s.pad, s.b_transposed ? 2 : 2 * ldb, s.b_transposed ? 2 * ldb : 2};
      w.a = Memory<double>("tessera::test::a", 2 * (s.pad + lda * (s.a_transposed ? s.k : s.m)));
      w.b = Memory<double>("tessera::test::b", 2 * (s.pad + ldb * (s.b_transposed ? s.n : s.k)));
      w.before = Memory<double>("tessera::test::before", w.start + 2 * w.ldd * s.m + 9);
      w.after = Memory<double>("tessera::test::after", w.before.extent(0));
      w.alpha = {s.alpha, s.alpha == 0 ? 0.0 : turn % 2 == 0 ? -1.0 : 0.0};
      w.beta = {s.beta, s.beta == 0 ? 0.0 : turn % 2 == 0 ? 2.0 : 0.0};
      w.exactly = s.values == Values::integers;
      fill(w.a, s.alpha == 0 ? Values::poison : s.values, 1);
      fill(w.b, s.alpha == 0 ? Values::poison : s.values, 2);
      fill(w.before, s.beta == 0 ? Values::poison : s.values, 3);
      Kokkos::deep_copy(Space(), w.after, w.before);
      sm90a::ComplexDoubleGemm g;
      g.m = s.m;
      g.n = s.n;
      g.k = s.k;
      const auto numbers = [](const Memory<double>& x, index_t from) {
        return reinterpret_cast<ComplexDouble*>(x.data() + from);
      };
      g.a = numbers(w.a, 2 * s.pad);
      g.lda = lda;
      g.a_mn_major = s.a_transposed;
      g.a_conj = w.a_conj;
      g.b = numbers(w.b, 2 * s.pad);
      g.ldb = ldb;
      g.b_mn_major = !s.b_transposed;
      g.b_conj = w.b_conj;
      g.d = numbers(w.after, w.start);
      g.ldd = w.ldd;
      // the scalars from the host, from the device, and one from either
      const Memory<double> scalars("tessera::test::scalars", 4);
      const auto on_host = Kokkos::create_mirror_view(scalars);
      on_host(0) = w.alpha.re;
      on_host(1) = w.alpha.im;
      on_host(2) = w.beta.re;
      on_host(3) = w.beta.im;
      Kokkos::deep_copy(scalars, on_host);
      const ComplexDouble wrong_scalar{17, 18};
      const bool alpha_there = turn % 5 == 1 || turn % 5 == 2, beta_there = turn % 5 == 2 || turn % 5 == 3;
      g.alpha = alpha_there ? wrong_scalar : w.alpha;
      g.beta = beta_there ? wrong_scalar : w.beta;
      if (alpha_there) g.alpha_pointer = numbers(scalars, 0);
      if (beta_there) g.beta_pointer = numbers(scalars, 2);
      REQUIRE(sm90a::complex_double_refusal(g) == nullptr);
      REQUIRE(sm90a::complex_double_launch(g, configuration, 132, Space().cuda_stream()) == nullptr);
      if (s.alpha == 0) w.k = 0;
      index_t count = 0;
      Kokkos::parallel_reduce("tessera::test::compare",
                              tessera::Range<Space>(Space(), 0, static_cast<index_t>(w.after.extent(0))), w, count);
      CHECK(count == 0);
    });
  }
  sm90a::ComplexDoubleGemm g;
  g.m = g.n = g.k = 1;
  g.a = reinterpret_cast<const ComplexDouble*>(std::uintptr_t{8});  // NOLINT(performance-no-int-to-ptr)
  CHECK(sm90a::complex_double_refusal(g) == std::string("A's base is not a multiple of 16 bytes"));
}

TEST_CASE("fp64 on Hopper: several tiles a block, for any number of multiprocessors", "[gemm_sm90a]") {
  if (!is_hopper()) return;
  for (const int units : {1, 4, 7, 15, 132})
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const int configuration : {0, 3}) {
          const Setup s{.m = 300, .n = 612, .k = 100, .a_transposed = ta, .b_transposed = tb, .pad = 2, .beta = -3};
          INFO(sm90a::double_configuration_name(configuration) << " units " << units << ": " << text(s));
          CHECK(wrong<double>(s, 0x1p-53, [&](const Wrong<double>& w, index_t lda, index_t ldb) {
                  sm90a::DoubleGemm g;
                  set_operands(g, s, w, lda, ldb);
                  REQUIRE(sm90a::double_launch(g, configuration, units, Space().cuda_stream()) == nullptr);
                }) == 0);
        }
}

TEST_CASE("fp32 from bf16 and tf32 terms on Hopper: configurations, strides, edges, guard bands", "[gemm_sm90a]") {
  if (!is_hopper()) return;
  for (const auto& [products, tf32] :
       {std::pair(3, false), std::pair(6, false), std::pair(9, false), std::pair(3, true)})
    for (int configuration = 0; configuration < sm90a::split_configurations(); ++configuration)
      for_setups({63, 64, 65, 128, 129, 191, 192, 193}, [&](Setup s) {
        s.pad = s.pad * 3 / 2;  // alignments of 4 and 8 bytes too
        INFO(products << " " << sm90a::split_configuration_name(configuration, tf32) << ": " << text(s));
        const double unit = tf32 ? 0x1p-23 : products == 3 ? 0x1p-16 : 0x1p-24;
        CHECK(wrong<float>(s, unit, [&, products = products, tf32 = tf32](const Wrong<float>& w, index_t, index_t) {
                sm90a::SplitGemm g;
                g.products = products;
                g.tf32 = tf32;
                g.m = s.m;
                g.n = s.n;
                g.k = s.k;
                g.a = w.a.data() + w.sa.start;
                g.a_row = w.sa.row;
                g.a_column = w.sa.column;
                g.b = w.b.data() + w.sb.start;
                g.b_row = w.sb.row;
                g.b_column = w.sb.column;
                g.d = w.after.data() + s.pad;
                g.ldd = w.ldd;
                g.alpha = static_cast<float>(s.alpha);
                g.beta = static_cast<float>(s.beta);
                REQUIRE(sm90a::split_refusal(g) == nullptr);
                const Workspace workspace(sm90a::split_workspace_bytes(g));
                REQUIRE(sm90a::split_launch(g, configuration, 132, workspace.data(), Space().cuda_stream()) == nullptr);
                REQUIRE(workspace.kept_end());
              }) == 0);
      });
}

TEST_CASE("tf32 on Hopper: configurations, majors, both orders of D, edges, guard bands", "[gemm_sm90a]") {
  if (!is_hopper()) return;
  for (int configuration = 0; configuration < sm90a::tf32_configurations(); ++configuration)
    for_setups({16, 63, 65, 128, 129, 257}, [&](const Setup& s) {
      // lines that the copy engine cannot read, of which there are many, are copied
      for (const bool transposes : {false, true}) {
        sm90a::Tf32Gemm fits;
        fits.k = s.k;
        if (!sm90a::tf32_configuration_fits(fits, configuration)) continue;
        INFO(sm90a::tf32_configuration_name(configuration) << (transposes ? " D^T: " : ": ") << text(s));
        // operands rounded to 11 bits: half a unit in the last place of each
        CHECK(wrong<float>(s, 0x1p-11, [&](const Wrong<float>& w, index_t lda, index_t ldb) {
                sm90a::Tf32Gemm g;
                set_operands(g, s, w, lda, ldb);
                if (transposes) {
                  tessera::backends::transpose_product(g);
                  g.d_column_major = true;
                }
                g = sm90a::tf32_oriented(g);
                const std::size_t bytes = sm90a::tf32_copy_bytes(g);
                const Memory<char> workspace(
                    Kokkos::view_alloc(Kokkos::WithoutInitializing, "tessera::test::workspace"), bytes + 64);
                Kokkos::deep_copy(Space(), workspace, static_cast<char>(-1));
                REQUIRE((bytes > 0) == (sm90a::tf32_refusal(g) != nullptr));
                REQUIRE(sm90a::tf32_copy(g, workspace.data(), Space().cuda_stream()) == nullptr);
                REQUIRE(sm90a::tf32_refusal(g) == nullptr);
                REQUIRE(sm90a::tf32_launch(g, configuration, 132, Space().cuda_stream()) == nullptr);
                const Kokkos::View<char*, Kokkos::HostSpace> end("tessera::test::end", 64);
                Kokkos::deep_copy(end, Kokkos::subview(workspace, std::pair(bytes, bytes + 64)));
                for (int i = 0; i < 64; ++i) REQUIRE(end(i) == static_cast<char>(-1));
              }) == 0);
      }
    });
}

TEST_CASE("tf32 on Hopper: operands are rounded to nearest, scalars may be on the device", "[gemm_sm90a]") {
  if (!is_hopper()) return;
  constexpr index_t n = 64;
  const Memory<float> a("a", n * n), b("b", n * n), d("d", n * n), scalars("scalars", 2);
  const auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b);
  const float given[] = {1 + 0x1p-11F + 0x1p-13F, 1 + 0x1p-11F, 1 + 0x1p-10F + 0x1p-11F, 0x1p-136F, 0x1.8p-127F};
  const float rounded[] = {1 + 0x1p-10F, 1, 1 + 0x1p-9F, 0x1p-136F, 0x1.8p-127F};
  for (index_t i = 0; i < n; ++i) hb(i * n + i) = 1;
  for (index_t i = 0; i < 5; ++i) ha(i * n + i) = given[i];
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  const auto hs = Kokkos::create_mirror_view(scalars);
  hs(0) = 2;
  hs(1) = -3;
  Kokkos::deep_copy(scalars, hs);
  for (int configuration = 0; configuration < sm90a::tf32_configurations(); ++configuration)
    for (const bool along_m : {false, true})
      for (const bool swapped : {false, true}) {
        INFO(sm90a::tf32_configuration_name(configuration) << ' ' << along_m << swapped);
        sm90a::Tf32Gemm g;
        g.m = g.n = g.k = g.lda = g.ldb = g.ldd = n;
        g.a = swapped ? b.data() : a.data();
        g.b = swapped ? a.data() : b.data();
        g.a_mn_major = along_m;
        g.d = d.data();
        g.alpha_pointer = scalars.data();
        g.beta_pointer = scalars.data() + 1;
        if (!sm90a::tf32_configuration_fits(g, configuration)) continue;
        Kokkos::deep_copy(Space(), d, 1.0F);
        REQUIRE(sm90a::tf32_launch(g, configuration, 132, Space().cuda_stream()) == nullptr);
        const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), d);
        for (index_t i = 0; i < 5; ++i) CHECK(got(i * n + i) == 2 * rounded[i] - 3);
        CHECK(got(1) == -3);
      }
}

namespace {

/// Every configuration of the 16-bit kernels, into rows and, where it can, into columns.
template <class T, class Out>
void check_half(sm90a::Element in, sm90a::Element out, double rounding, const std::vector<index_t>& edges) {
  for (int configuration = 0; configuration < sm90a::configurations(); ++configuration) {
    const auto check = [&](Setup s) {
      s.pad *= 4;  // 16 bytes
      for (const bool columns : {false, true}) {
        sm90a::HalfGemm g;
        g.in = in;
        g.out = out;
        g.m = s.m;
        g.n = s.n;
        g.k = s.k;
        g.batches = s.batches;
        g.d_column_major = columns;
        g.has_workspace = true;
        if (!sm90a::configuration_fits(g, configuration)) continue;
        INFO(sm90a::configuration_name(configuration) << (columns ? " columns: " : ": ") << text(s));
        CHECK(wrong<T, Out>(
                  s, 0x1p-24,
                  [&](const Wrong<T, Out>& w, index_t lda, index_t ldb) {
                    set_operands(g, s, w, lda, ldb);
                    if (columns) tessera::backends::transpose_product(g);
                    REQUIRE(sm90a::refusal(g) == nullptr);
                    const Workspace workspace(sm90a::stream_bytes(g, configuration));
                    g.workspace = workspace.data();
                    REQUIRE(sm90a::launch(g, configuration, 132, Space().cuda_stream()) == nullptr);
                    REQUIRE(workspace.kept_end());
                  },
                  rounding) == 0);
      }
    };
    for_setups(edges, check);
    for_batches(check);
  }
}

}  // namespace

TEST_CASE("bf16 and fp16 on Hopper: configurations, majors, edges, guard bands", "[gemm_sm90a]") {
  if (!is_hopper()) return;
  using sm90a::Element;
  check_half<tessera::bfloat16, tessera::bfloat16>(Element::bf16, Element::bf16, 0x1p-8, {16, 63, 65, 128, 129, 257});
  // the same kernels but for the types
  check_half<tessera::bfloat16, float>(Element::bf16, Element::fp32, 0, {65, 128});
  check_half<tessera::half, tessera::half>(Element::fp16, Element::fp16, 0x1p-11, {65, 128});
  check_half<tessera::half, float>(Element::fp16, Element::fp32, 0, {65, 128});
}

namespace {

/// The kernels that take any alignment: lines at even and odd elements.
template <class T, class Out>
void check_mma(sm90a::Element in, sm90a::Element out, double rounding, const std::vector<index_t>& edges) {
  namespace sm80 = tessera::cuda::sm80;
  for (const int splits : {1, 2, 8})
    for (const index_t odd : {0, 1, 3})
      for_setups(edges, [&](Setup s) {
        s.pad += odd;
        INFO("split " << splits << ": " << text(s));
        CHECK(wrong<T, Out>(
                  s, 0x1p-24,
                  [&](const Wrong<T, Out>& w, index_t lda, index_t ldb) {
                    sm80::HalfGemm g;
                    g.in = in;
                    g.out = out;
                    set_operands(g, s, w, lda, ldb);
                    REQUIRE(sm80::refusal(g) == nullptr);
                    REQUIRE(sm80::launch(g, splits, true, Space().cuda_stream()) == nullptr);
                  },
                  rounding) == 0);
      });
}

}  // namespace

TEST_CASE("bf16 and fp16 by mma.sync: splits, majors, edges, every alignment, guard bands", "[gemm_sm80]") {
  if (!is_hopper()) return;  // clusters
  using sm90a::Element;
  check_mma<tessera::bfloat16, tessera::bfloat16>(Element::bf16, Element::bf16, 0x1p-8, {1, 63, 64, 65, 127, 129});
  check_mma<tessera::bfloat16, float>(Element::bf16, Element::fp32, 0, {64, 65});
  check_mma<tessera::half, tessera::half>(Element::fp16, Element::fp16, 0x1p-11, {64, 65});
  check_mma<tessera::half, float>(Element::fp16, Element::fp32, 0, {64, 65});
}

namespace {

/// The kernels without tiles, with the plan that their rule gives and with every other way to share the work.
template <class T, class Out>
void check_direct(sm90a::Element in, sm90a::Element out, double rounding) {
  namespace sm80 = tessera::cuda::sm80;
  struct Sides {
    index_t m, n, k;
  };
  // vectors and few columns, K within one trip and over several; a short K of every depth, past one block's columns,
  // and so many elements that a thread has several rows, also where D's contiguous side is the short one
  const std::vector<Sides> all{{1, 1, 1},      {1, 1, 3305},    {1, 300, 77},  {2049, 1, 33}, {33, 3, 515},
                               {2, 270, 1200}, {9, 31, 600},    {7, 8, 4099},  {1031, 2, 1},  {40, 70, 2},
                               {70, 40, 3},    {257, 33, 5},    {129, 65, 8},  {65, 129, 16}, {771, 801, 1},
                               {1025, 640, 4}, {700, 1027, 12}, {515, 2, 129}, {128, 256, 7}, {1, 4, 64},
                               {90000, 9, 2},  {3, 200001, 1},  {999, 1023, 8}};
  const auto same = [](const sm80::DirectPlan& a, const sm80::DirectPlan& b) {
    return a.outer == b.outer && a.each == b.each && a.pairs == b.pairs && a.rows_first == b.rows_first &&
           a.columns == b.columns && a.rows == b.rows && a.lanes == b.lanes && a.splits == b.splits;
  };
  int turn = 0;
  for (const Sides& sides : all)
    for (const bool ta : {false, true})
      for (const bool tb : {false, true})
        for (const index_t pad : {0, 1, 2, 3}) {
          ++turn;
          Setup s{.m = sides.m, .n = sides.n, .k = sides.k, .a_transposed = ta, .b_transposed = tb, .pad = pad};
          if (turn % 3 == 1) s.beta = -3;
          if (turn % 7 == 2) s.alpha = 0;
          if (turn % 5 == 3) s.batches = 3;
          if (turn / 4 % 2 == 0) s.values = Values::random;
          const auto check = [&](auto change) {
            std::string told;
            const index_t count = wrong<T, Out>(
                s, 0x1p-24,
                [&](const Wrong<T, Out>& w, index_t lda, index_t ldb) {
                  sm80::HalfGemm g;
                  g.in = in;
                  g.out = out;
                  set_operands(g, s, w, lda, ldb);
                  const Memory<float> scalars("tessera::test::scalars", 2);
                  const auto on_host = Kokkos::create_mirror_view(scalars);
                  on_host(0) = g.alpha;
                  on_host(1) = g.beta;
                  Kokkos::deep_copy(scalars, on_host);
                  if (turn % 4 == 1) g.alpha_pointer = scalars.data(), g.alpha = 17;
                  if (turn % 6 == 1) g.beta_pointer = scalars.data() + 1, g.beta = 18;
                  REQUIRE(sm80::direct_refusal(g) == nullptr);
                  sm80::DirectPlan plan = sm80::plan_direct(g, 132, true);
                  change(plan);
                  REQUIRE(same(sm80::unpacked(sm80::packed(plan)), plan));
                  told = sm80::direct_text(plan);
                  REQUIRE(sm80::launch_direct(g, sm80::unpacked(sm80::packed(plan)), true, Space().cuda_stream()) ==
                          nullptr);
                },
                rounding);
            INFO(told << ": " << text(s));
            CHECK(count == 0);
          };
          check([](sm80::DirectPlan&) {});
          if ((turn / 8 + turn) % 2 == 0) continue;
          for (const int lanes : {1, 8, 32, 256})
            for (const int splits : {1, 4, 8})
              check([&](sm80::DirectPlan& plan) {
                if (plan.outer) return;
                plan.rows = 256 / lanes;
                plan.lanes = lanes;
                plan.splits = splits;
              });
        }
}

/// D of an even leading dimension and an aligned base, whose rows end in half a pair.
template <class T, class Out>
void check_direct_pairs(sm90a::Element in, sm90a::Element out) {
  namespace sm80 = tessera::cuda::sm80;
  constexpr index_t m = 901, n = 1023, k = 3, ldd = 1024;
  const Kokkos::View<T**, Kokkos::LayoutRight, Space> a("tessera::test::a", m, k), b("tessera::test::b", k, n);
  const Kokkos::View<Out**, Kokkos::LayoutRight, Space> d("tessera::test::d", m, ldd);
  for (const float beta : {0.0F, -3.0F}) {
    Kokkos::deep_copy(a, T(2.0F));
    Kokkos::deep_copy(b, T(3.0F));
    Kokkos::deep_copy(d, Out(5.0F));
    sm80::HalfGemm g;
    g.in = in;
    g.out = out;
    g.m = m;
    g.n = n;
    g.k = k;
    g.a = a.data();
    g.lda = k;
    g.b = b.data();
    g.ldb = n;
    g.b_mn_major = true;
    g.d = d.data();
    g.ldd = ldd;
    g.beta = beta;
    const sm80::DirectPlan plan = sm80::plan_direct(g, 132, true);
    REQUIRE((plan.outer && plan.pairs && plan.each == 4));
    REQUIRE(sm80::launch_direct(g, plan, true, Space().cuda_stream()) == nullptr);
    const float expected = 18 + 5 * beta;
    index_t count = 0;
    Kokkos::parallel_reduce(
        "tessera::test::compare", tessera::Range<Space>(Space(), 0, m * ldd),
        KOKKOS_LAMBDA(index_t e, index_t & w) {
          const float value = static_cast<float>(d(e / ldd, e % ldd));
          if (value != (e % ldd < n ? expected : 5.0F)) ++w;
        },
        count);
    CHECK(count == 0);
  }
}

}  // namespace

TEST_CASE("bf16 and fp16 without tiles: plans, majors, edges, every alignment, batches, guard bands", "[gemm_direct]") {
  if (!is_hopper()) return;  // clusters
  using sm90a::Element;
  check_direct<tessera::bfloat16, tessera::bfloat16>(Element::bf16, Element::bf16, 0x1p-8);
  check_direct<tessera::half, float>(Element::fp16, Element::fp32, 0);
  check_direct_pairs<tessera::bfloat16, tessera::bfloat16>(Element::bf16, Element::bf16);
  check_direct_pairs<tessera::half, tessera::half>(Element::fp16, Element::fp16);
  check_direct_pairs<tessera::half, float>(Element::fp16, Element::fp32);
}

namespace {

using Bf16Matrix = Kokkos::View<tessera::bfloat16**, Kokkos::LayoutRight, Space>;
constexpr index_t chain_extent = 512;

KOKKOS_FUNCTION float chain_value(index_t i, index_t j) { return static_cast<float>((i * 31 + j * 7) % 251); }

/// x, and the matrix that moves columns by one place.
void fill_chain(const Space& exec, const Bf16Matrix& x, const Bf16Matrix& shift) {
  constexpr index_t n = chain_extent;
  Kokkos::parallel_for(
      "tessera::test::fill", tessera::Range<Space>(exec, 0, n * n), KOKKOS_LAMBDA(index_t e) {
        const index_t i = e / n, j = e % n;
        shift(i, j) = tessera::bfloat16(j == (i + 1) % n ? 1.0F : 0.0F);
        x(i, j) = tessera::bfloat16(chain_value(i, j));
      });
}
/// Elements of x that are not those of the start moved by `steps`.
index_t wrong_in_chain(const Space& exec, const Bf16Matrix& x, index_t steps) {
  constexpr index_t n = chain_extent;
  index_t count = 0;
  Kokkos::parallel_reduce(
      "tessera::test::compare", tessera::Range<Space>(exec, 0, n * n),
      KOKKOS_LAMBDA(index_t e, index_t & wrong) {
        const index_t i = e / n, j = e % n;
        if (static_cast<float>(x(i, j)) != chain_value(i, ((j - steps) % n + n) % n)) ++wrong;
      },
      count);
  return count;
}

}  // namespace

TEST_CASE("bf16 on Hopper: products that wait for each other, launched and in a captured graph", "[gemm_sm90a]") {
  // the kernel starts while the one before it runs: each step reads what the last one wrote. Where K streams, replays
  // find the flags as the one before left them
  if (!is_hopper()) return;
  constexpr index_t n = chain_extent, steps = 66;  // a multiple of the number of buffers
  sm90a::HalfGemm g;
  g.m = g.n = g.k = g.lda = g.ldb = g.ldd = n;
  g.b_mn_major = true;
  struct Run {
    int configuration, units;
  };
  std::vector<Run> runs{{sm90a::choose_configuration(g, 132), 132}};
  g.has_workspace = true;
  for (int c = 0; c < sm90a::configurations(); ++c)
    for (const int units : {4, 7, 15, 132})
      if (sm90a::stream_bytes(g, c) > 0) runs.push_back({c, units});
  REQUIRE(runs.size() > 1);
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  for (const auto& [configuration, units] : runs) {
    INFO(sm90a::configuration_name(configuration) << " units " << units);
    const Space exec(stream);
    const Bf16Matrix shift("shift", n, n);
    const Bf16Matrix x[3] = {Bf16Matrix("x0", n, n), Bf16Matrix("x1", n, n), Bf16Matrix("x2", n, n)};
    fill_chain(exec, x[0], shift);
    const Workspace workspace(sm90a::stream_bytes(g, configuration));
    g.workspace = workspace.data();
    g.b = shift.data();
    const auto chain = [&] {
      for (int s = 0; s < steps; ++s) {
        g.a = x[s % 3].data();
        g.d = x[(s + 1) % 3].data();
        REQUIRE(sm90a::launch(g, configuration, units, stream) == nullptr);
      }
    };
    chain();
    CHECK(wrong_in_chain(exec, x[0], steps) == 0);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    exec.fence();
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    chain();
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    for (index_t replay = 2; replay < 5; ++replay) {
      REQUIRE(cudaGraphLaunch(executable, stream) == cudaSuccess);
      CHECK(wrong_in_chain(exec, x[0], replay * steps) == 0);
    }
    CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    exec.fence();
    CHECK(workspace.kept_end());
  }
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

TEST_CASE("bf16 on Hopper: sums that stream have the same bits each time, and two launches side by side end",
          "[gemm_sm90a]") {
  if (!is_hopper()) return;
  constexpr index_t m = 700, n = 904, k = 2000;
  const Memory<tessera::bfloat16> a("a", m * k), b("b", k * n);
  fill(a, Values::random, 1);
  fill(b, Values::random, 2);
  sm90a::HalfGemm g;
  g.out = sm90a::Element::fp32;
  g.m = m;
  g.n = g.ldb = g.ldd = n;
  g.k = g.lda = k;
  g.b_mn_major = true;
  g.a = a.data();
  g.b = b.data();
  g.has_workspace = true;
  cudaStream_t streams[2] = {};
  for (auto& stream : streams) REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  for (int c = 0; c < sm90a::configurations(); ++c) {
    const std::size_t bytes = sm90a::stream_bytes(g, c);
    if (bytes == 0) continue;
    for (const int units : {6, 132}) {
      INFO(sm90a::configuration_name(c) << " units " << units);
      const Memory<float> first("first", m * n), other("other", m * n);
      const Workspace workspaces[2] = {Workspace(bytes), Workspace(bytes)};
      Space().fence();
      for (int turn = 0; turn < 20; ++turn)
        for (int i = 0; i < 2; ++i) {
          g.d = i == 0 ? first.data() : other.data();
          g.workspace = workspaces[i].data();
          REQUIRE(sm90a::launch(g, c, units, streams[i]) == nullptr);
        }
      for (auto& stream : streams) REQUIRE(cudaStreamSynchronize(stream) == cudaSuccess);
      index_t differ = 0;
      Kokkos::parallel_reduce(
          "tessera::test::compare", tessera::Range<Space>(Space(), 0, m * n),
          KOKKOS_LAMBDA(index_t i, index_t & count) {
            if (first(i) != other(i)) ++count;
          },
          differ);
      CHECK(differ == 0);
    }
  }
  for (auto& stream : streams) CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}
