// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batches of products in one call: every layout against sums in long double, on every path that takes them.
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>
#include <support/gemm_checks.hpp>
#include <support/instances.hpp>
#include <support/message_of.hpp>
#include <support/tool_events.hpp>

using Catch::Matchers::ContainsSubstring;
using gemm_checks::narrow;
using gemm_checks::Op;
using gemm_checks::poison;
using gemm_checks::roundoff;
using gemm_checks::Values;
using gemm_checks::wide;
using gemm_checks::Wide;

namespace {

/// How the matrices of a batch lie: rows or columns contiguous, the batch outside, inside (LayoutLeft) or between;
/// with gaps; or one matrix for all.
enum class Storage { right, columns, left, between, gaps, strided, shared };
constexpr Storage written[] = {Storage::right,   Storage::columns, Storage::left,
                               Storage::between, Storage::gaps,    Storage::strided};
constexpr Storage all[] = {Storage::right, Storage::columns, Storage::left,  Storage::between,
                           Storage::gaps,  Storage::strided, Storage::shared};

index_t at_least_one(index_t x) { return x < 1 ? 1 : x; }

/// A batch with guard bands, on the host and in the space's memory.
template <class T>
struct Batch {
  using View = Kokkos::View<T***, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  index_t extents[3], strides[3] = {}, start;
  std::vector<T> host;
  Kokkos::View<T*, Space> device;

  Batch(index_t batches, index_t rows, index_t columns, Storage storage, Values values, unsigned seed,
        bool aligned = false)
      : extents{batches, rows, columns}, start(aligned ? 16 : 5) {
    const index_t b = at_least_one(batches), r = at_least_one(rows), c = at_least_one(columns);
    const auto set = [&](index_t x, index_t y, index_t z) { strides[0] = x, strides[1] = y, strides[2] = z; };
    switch (storage) {
      case Storage::right:
        set(r * c, c, 1);
        break;
      case Storage::columns:
        set(r * c, 1, r);
        break;
      case Storage::left:
        set(1, b, b * r);
        break;
      case Storage::between:
        set(c, b * c, 1);
        break;
      case Storage::gaps:
        set(r * (c + 3) + 1, c + 3, 1);
        break;
      case Storage::strided:
        set(2 * r * (3 * c + 1) + 5, 3, 3 * r + 2);
        break;
      case Storage::shared:
        set(0, c, 1);
        break;
    }
    index_t span = 1;
    for (int d = 0; d < 3; ++d) span += (at_least_one(extents[d]) - 1) * strides[d];
    host.assign(static_cast<std::size_t>(start + span + 7), poison<T>());
    std::mt19937 gen(seed);
    std::uniform_int_distribution<int> whole(-3, 3);
    std::uniform_real_distribution<double> real(-1, 1);
    const bool exact = values == Values::integers || std::is_integral_v<T>;
    const auto draw = [&]() -> long double { return exact ? whole(gen) : real(gen); };
    if (values != Values::poison)
      for (index_t p = 0; p < (storage == Storage::shared ? 1 : batches); ++p)
        for (index_t i = 0; i < rows; ++i)
          for (index_t j = 0; j < columns; ++j) {
            const long double re = draw();
            host[place(p, i, j)] = narrow<T>({re, tessera::is_complex_v<T> ? draw() : 0});
          }
    device = Kokkos::View<T*, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "operand"), host.size());
    const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> h(host.data(),
                                                                                               host.size());
    Kokkos::deep_copy(device, h);
  }

  [[nodiscard]] std::size_t place(index_t p, index_t i, index_t j) const {
    return static_cast<std::size_t>(start + p * strides[0] + i * strides[1] + j * strides[2]);
  }
  [[nodiscard]] std::vector<T> download() const {
    std::vector<T> copy(host.size());
    const Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> h(copy.data(), copy.size());
    Kokkos::deep_copy(h, device);
    return copy;
  }
  [[nodiscard]] View view() const {
    const auto u = [](index_t n) { return static_cast<std::size_t>(n); };
    return View(device.data() + start, Kokkos::LayoutStride(u(extents[0]), u(strides[0]), u(extents[1]), u(strides[1]),
                                                            u(extents[2]), u(strides[2])));
  }
};

struct Setup {
  index_t batches = 0, m = 0, n = 0, k = 0;
  Storage a = Storage::right, b = Storage::right, c = Storage::right;
  Op op_a = Op::none, op_b = Op::none;
  Values values = Values::integers;
  int alpha = 1, beta = 0;
  bool scalars_on_device = false;
  bool aligned = false;  // bases, to 16 bytes
  std::string path{};

  [[nodiscard]] std::string text() const {
    std::string s = std::to_string(batches) + " of " + std::to_string(m) + "x" + std::to_string(n) + "x" +
                    std::to_string(k) + " storage ";
    for (const Storage x : {a, b, c}) s += std::to_string(static_cast<int>(x));
    s += " ops " + std::to_string(static_cast<int>(op_a)) + std::to_string(static_cast<int>(op_b));
    return s + " alpha " + std::to_string(alpha) + " beta " + std::to_string(beta) + " path " + path;
  }
};

template <class T>
Batch<T> operand(const Setup& s, Op op, index_t rows, index_t columns, Storage storage, unsigned seed) {
  const Values values = s.alpha == 0 ? Values::poison : s.values;
  return gemm_checks::transposes(op) ? Batch<T>(s.batches, columns, rows, storage, values, seed, s.aligned)
                                     : Batch<T>(s.batches, rows, columns, storage, values, seed, s.aligned);
}
template <class T>
Wide element(const Batch<T>& x, Op op, index_t p, index_t i, index_t j) {
  const Wide v = wide(x.host[gemm_checks::transposes(op) ? x.place(p, j, i) : x.place(p, i, j)]);
  return gemm_checks::conjugates(op) ? std::conj(v) : v;
}
template <class V, class F>
void with_operation(Op op, const V& v, const F& f) {
  if constexpr (tessera::is_complex_v<tessera::value_t<V>>)
    gemm_checks::with_op(op, v, f);
  else
    gemm_checks::transposes(op) ? f(tessera::transposed(v)) : f(v);
}

/// Runs a batch and compares every element, exactly for integers, else within 4 sqrt(K) eps (|A||B|) of the accumulator
/// and one rounding of the result; what lies outside C must keep its bits. Returns "" or what is wrong.
template <class In, class Out>
std::string wrong(const Setup& s) {
  using Accumulator = tessera::accumulator_t<In>;
  using Real = tessera::real_t<Accumulator>;
  const auto a = operand<In>(s, s.op_a, s.m, s.k, s.a, 31), b = operand<In>(s, s.op_b, s.k, s.n, s.b, 32);
  const Batch<Out> c(s.batches, s.m, s.n, s.c, s.beta == 0 ? Values::poison : s.values, 33, s.aligned);
  const Space exec;
  const Accumulator alpha(static_cast<Real>(s.alpha)), beta(static_cast<Real>(s.beta));
  const tessera::GemmOptions options{.path = s.path};
  with_operation(s.op_a, a.view(), [&](const auto& av) {
    with_operation(s.op_b, b.view(), [&](const auto& bv) {
      if (s.scalars_on_device) {
        const Kokkos::View<Accumulator, Space> device_alpha("alpha"), device_beta("beta");
        Kokkos::deep_copy(exec, device_alpha, alpha);
        Kokkos::deep_copy(exec, device_beta, beta);
        tessera::gemm(exec, device_alpha, av, bv, device_beta, c.view(), options);
        exec.fence();
      } else {
        tessera::gemm(exec, alpha, av, bv, beta, c.view(), options);
      }
    });
  });
  exec.fence();
  const std::vector<Out> result = c.download();
  std::vector<bool> inside(result.size(), false);
  const long double unit = roundoff<Accumulator>(), out_unit = roundoff<Out>();
  std::vector<Wide> left(static_cast<std::size_t>(s.m * s.k)), right(static_cast<std::size_t>(s.k * s.n));
  for (index_t p = 0; p < s.batches; ++p) {
    for (index_t l = 0; l < (s.alpha == 0 ? 0 : s.k); ++l) {
      for (index_t i = 0; i < s.m; ++i) left[static_cast<std::size_t>(i * s.k + l)] = element(a, s.op_a, p, i, l);
      for (index_t j = 0; j < s.n; ++j) right[static_cast<std::size_t>(j * s.k + l)] = element(b, s.op_b, p, l, j);
    }
    for (index_t i = 0; i < s.m; ++i)
      for (index_t j = 0; j < s.n; ++j) {
        const std::size_t at = c.place(p, i, j);
        inside[at] = true;
        Wide sum{};
        long double size = 0;
        for (index_t l = 0; l < (s.alpha == 0 ? 0 : s.k); ++l) {
          const Wide x = left[static_cast<std::size_t>(i * s.k + l)], y = right[static_cast<std::size_t>(j * s.k + l)];
          if constexpr (tessera::is_complex_v<In>) {
            sum += gemm_checks::times(x, y);
            size += gemm_checks::magnitude(gemm_checks::times(x, y));
          } else {
            sum += x.real() * y.real();
            size += std::abs(x.real() * y.real());
          }
        }
        sum *= static_cast<long double>(s.alpha);
        size *= std::abs(static_cast<long double>(s.alpha));
        if (s.beta != 0) {
          const Wide old = static_cast<long double>(s.beta) * wide(c.host[at]);
          sum += old;
          size += std::abs(old);
        }
        const auto where = [&] {
          return " at (" + std::to_string(p) + ", " + std::to_string(i) + ", " + std::to_string(j) + ") of " + s.text();
        };
        if (s.values == Values::integers || unit == 0) {
          if (!(wide(result[at]) == wide(narrow<Out>(sum))))
            return "got " + std::to_string(static_cast<double>(wide(result[at]).real())) + " instead of " +
                   std::to_string(static_cast<double>(sum.real())) + where();
        } else {
          const long double root = std::sqrt(static_cast<long double>(s.k) + 2);
          const long double error = std::abs(wide(result[at]) - sum);
          if (!(error <= 4 * root * unit * size + out_unit * std::abs(sum) * 1.01L))
            return "error " + std::to_string(static_cast<double>(error)) + where();
        }
      }
  }
  for (std::size_t at = 0; at < result.size(); ++at)
    if (!inside[at] && std::memcmp(&result[at], &c.host[at], sizeof(Out)) != 0)
      return "wrote outside C, " + std::to_string(at) + " elements after the buffer's start, for " + s.text();
  return {};
}

/// The path chosen, and the portable one where that is another.
template <class In, class Out>
std::string wrong_anywhere(Setup s) {
  s.path = "";
  if (std::string w = wrong<In, Out>(s); !w.empty()) return w;
  if (tessera::is_host_space<Space>) return {};
  s.path = "portable";
  return wrong<In, Out>(s);
}

template <class In, class Out>
void check_batches() {
  constexpr Op real_ops[] = {Op::none, Op::transpose};
  const auto op = [&](int turn) {
    return tessera::is_complex_v<In> ? gemm_checks::all_ops[turn % 4] : real_ops[turn % 2];
  };
  // edges of vectors, squares, tiles and of what a team or a thread takes at once
  constexpr index_t sizes[][3] = {{1, 1, 1},    {1, 5, 3},    {4, 4, 4},    {7, 8, 9},    {8, 8, 8},   {9, 15, 16},
                                  {16, 16, 16}, {17, 16, 15}, {17, 33, 31}, {24, 24, 24}, {25, 25, 7}, {32, 32, 32},
                                  {33, 31, 40}, {64, 64, 33}, {65, 70, 20}, {8, 8, 70},   {3, 129, 5}, {130, 2, 5},
                                  {5, 3, 0},    {0, 4, 3},    {4, 0, 3}};
  int turn = 0;
  for (const auto& [m, n, k] : sizes)
    for (const index_t batches : {0, 1, 2, 5, 37}) {
      Setup s{.batches = batches, .m = m, .n = n, .k = k};
      s.a = all[turn % 7], s.b = all[(turn / 2 + 1) % 7], s.c = written[turn % 6];
      s.op_a = op(turn), s.op_b = op(turn / 3);
      s.beta = turn % 3 - 1;
      ++turn;
      CHECK(wrong_anywhere<In, Out>(s) == "");
      s = {.batches = batches, .m = m, .n = n, .k = k};
      CHECK(wrong_anywhere<In, Out>(s) == "");
    }
  for (const Storage a : all)
    for (const Storage b : all)
      for (const Storage c : written) {
        Setup s{.batches = 21, .m = 11, .n = 13, .k = 9, .a = a, .b = b, .c = c};
        s.op_a = op(turn), s.op_b = op(turn / 2);
        s.alpha = turn % 2 == 0 ? 1 : -2;
        s.beta = turn % 3;
        s.scalars_on_device = turn % 5 == 0;
        ++turn;
        CHECK(wrong_anywhere<In, Out>(s) == "");
      }
  for (const Storage storage : written)
    for (const int alpha : {0, 1})
      for (const int beta : {0, 2}) {
        Setup s{.batches = 67, .m = 6, .n = 5, .k = 7, .a = storage, .b = storage, .c = storage};
        s.values = Values::random;
        s.alpha = alpha, s.beta = beta;
        CHECK(wrong_anywhere<In, Out>(s) == "");
        s.batches = 3, s.m = 70, s.n = 90, s.k = 300;
        CHECK(wrong_anywhere<In, Out>(s) == "");
      }
  CHECK(wrong_anywhere<In, Out>({.batches = 70001, .m = 2, .n = 3, .k = 2, .beta = 1}) == "");
}

}  // namespace

TEMPLATE_TEST_CASE("gemm of batches: edges, layouts, strides, shared operands, scalars, bounds", "[gemm]", float,
                   double, Kokkos::complex<float>, Kokkos::complex<double>, tessera::half, tessera::bfloat16,
                   std::int32_t, std::int64_t) {
  check_batches<TestType, TestType>();
}
TEST_CASE("gemm of batches into a wider type", "[gemm]") {
  check_batches<tessera::half, float>();
  check_batches<tessera::bfloat16, float>();
  check_batches<std::int8_t, std::int32_t>();
}

TEMPLATE_TEST_CASE("gemm of batches of aligned 16-bit matrices", "[gemm]", tessera::half, tessera::bfloat16) {
  // what the copy engine of Hopper can read: tensor cores form them there
  int turn = 0;
  for (const auto& [m, n, k] : {std::array<index_t, 3>{64, 64, 64}, {40, 136, 72}, {136, 72, 200}, {200, 264, 40}})
    for (const index_t batches : {2, 7})
      for (const Op op_a : {Op::none, Op::transpose})
        for (const Op op_b : {Op::none, Op::transpose})
          for (const Storage c : {Storage::right, Storage::columns, Storage::gaps}) {
            Setup s{.batches = batches, .m = m, .n = n, .k = k, .c = c, .op_a = op_a, .op_b = op_b};
            s.a = turn % 5 == 1 ? Storage::shared : turn % 2 == 0 ? Storage::right : Storage::columns;
            s.b = turn % 5 == 2 ? Storage::shared : turn % 3 == 0 ? Storage::right : Storage::columns;
            s.values = turn % 2 == 0 ? Values::integers : Values::random;
            s.alpha = turn % 7 == 3 ? 0 : 2;
            s.beta = turn % 3 - 1;
            s.aligned = true;
            ++turn;
            CHECK(wrong<TestType, TestType>(s) == "");
            CHECK(wrong<TestType, float>(s) == "");
          }
}

namespace {

using Cube = Kokkos::View<double***, Kokkos::LayoutRight, Space>;
using LeftCube = Kokkos::View<double***, Kokkos::LayoutLeft, Space>;
using Flat = Kokkos::View<double**, Kokkos::LayoutRight, Space>;

template <class V>
V filled(const char* name, auto... extents) {
  const V v(name, static_cast<std::size_t>(extents)...);
  const auto h = Kokkos::create_mirror_view(v);
  for (std::size_t i = 0; i < h.span(); ++i) h.data()[i] = static_cast<double>((i * 7 + i / 5) % 9) - 4;
  Kokkos::deep_copy(v, h);
  return v;
}
template <class V>
auto on_host(const V& view) {
  const auto mirror = Kokkos::create_mirror(view);
  Kokkos::deep_copy(mirror, view);
  return mirror;
}

}  // namespace

TEST_CASE("a matrix of rank 2 is shared by all products", "[gemm]") {
  const Space exec;
  constexpr int batches = 6, m = 5, n = 7, k = 4;
  const auto a = filled<Cube>("a", batches, m, k), b = filled<Cube>("b", batches, k, n);
  const auto one_a = filled<Flat>("one a", m, k), one_b = filled<Flat>("one b", k, n);
  const auto left_a = filled<LeftCube>("left a", batches, m, k);
  const auto check = [&](const auto& av, const auto& bv, const auto& of_a, const auto& of_b, const auto& c) {
    Kokkos::deep_copy(c, std::nan(""));
    tessera::gemm(exec, 1.0, av, bv, 0.0, c);
    const auto h = on_host(c);
    int different = 0;
    for (int p = 0; p < batches; ++p)
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          double expected = 0;
          for (int l = 0; l < k; ++l) expected += of_a(p, i, l) * of_b(p, l, j);
          if (h(p, i, j) != expected) ++different;
        }
    CHECK(different == 0);
  };
  const auto ha = on_host(a), hb = on_host(b);
  const auto h1a = on_host(one_a);
  const auto h1b = on_host(one_b);
  const auto hla = on_host(left_a);
  const auto shared_a = [&](int, int i, int l) { return h1a(i, l); };
  const auto shared_b = [&](int, int l, int j) { return h1b(l, j); };
  const Cube right("c", batches, m, n);
  const LeftCube left("c", batches, m, n);
  check(a, one_b, ha, shared_b, right);
  check(a, one_b, ha, shared_b, left);
  check(left_a, one_b, hla, shared_b, left);
  check(one_a, b, shared_a, hb, right);
  check(one_a, b, shared_a, hb, left);
  check(one_a, one_b, shared_a, shared_b, right);
  check(one_a, one_b, shared_a, shared_b, left);
  // where the rows of A and C lie as those of one matrix it is one product, which a plan tells
  CHECK(tessera::plan_gemm(exec, a, one_b, right).path() ==
        tessera::plan_gemm(exec, Flat("a", batches * m, k), one_b, Flat("c", batches * m, n)).path());
}

TEST_CASE("an interleaved C and subviews of one allocation", "[gemm]") {
  const Space exec;
  constexpr int batches = 9, m = 6, n = 5, k = 3;
  // a third dimension that is a batch: the view's own order does not matter, its first index does
  const auto whole = filled<Cube>("whole", batches, m + 3, k + n + 2);
  const auto before = on_host(whole);
  const auto a = Kokkos::subview(whole, Kokkos::ALL, std::pair(0, m), std::pair(0, k));
  const auto c = Kokkos::subview(whole, Kokkos::ALL, std::pair(2, 2 + m), std::pair(k, k + n));
  const auto b = filled<LeftCube>("b", batches, n, k);
  tessera::gemm(exec, 2.0, a, tessera::transposed(b), 1.0, c);
  const auto h = on_host(whole);
  const auto hb = on_host(b);
  int different = 0;
  for (int p = 0; p < batches; ++p)
    for (int i = 0; i < m + 3; ++i)
      for (int j = 0; j < k + n + 2; ++j) {
        double expected = before(p, i, j);
        if (i >= 2 && i < 2 + m && j >= k && j < k + n)
          for (int l = 0; l < k; ++l) expected += 2 * before(p, i - 2, l) * hb(p, j - k, l);
        if (h(p, i, j) != expected) ++different;
      }
  CHECK(different == 0);
}

TEST_CASE("gemm tells what is wrong with a batch", "[gemm]") {
  const Space exec;
  const Cube a("a", 4, 3, 2), b("b", 5, 2, 6), c("c", 4, 3, 6), b4("b", 4, 2, 6), b_inner("b", 4, 3, 6);
  const auto of = [&](const auto& av, const auto& bv, const auto& cv) {
    return message_of([&] { tessera::gemm(exec, 1.0, av, bv, 0.0, cv); });
  };
  CHECK_THAT(of(a, b, c), ContainsSubstring("A is 4 x 3 x 2, B is 5 x 2 x 6 and C is 4 x 3 x 6; the first index counts "
                                            "the products of a batch, and C's count must be A's and B's") &&
                              ContainsSubstring("gemm_batched.cpp"));
  CHECK_THAT(of(a, b_inner, c), ContainsSubstring("A's columns must equal B's rows"));
  CHECK_THAT(of(Flat("a", 3, 2), b, c), ContainsSubstring("A is 3 x 2, B is 5 x 2 x 6 and C is 4 x 3 x 6"));
  CHECK_THAT(of(c, Cube("b", 4, 6, 6), c), ContainsSubstring("the output C overlaps the input A"));
  const Kokkos::View<double*, Space> memory("memory", 1000);
  const auto strided = [&](index_t batch, index_t row, index_t column) {
    const auto u = [](index_t v) { return static_cast<std::size_t>(v); };
    return Kokkos::View<double***, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        memory.data(), Kokkos::LayoutStride(4, u(batch), 3, u(row), 6, u(column)));
  };
  for (const auto& overlapping :
       {strided(0, 6, 1), strided(5, 6, 1), strided(1, 2, 6), strided(2, 40, 6), strided(3, 100, 2)})
    CHECK_THAT(of(a, b4, overlapping), ContainsSubstring("C's products share elements: C is 4 x 3 x 6"));
  for (const auto& apart : {strided(18, 6, 1), strided(6, 24, 1), strided(1, 4, 12), strided(100, 8, 1)})
    CHECK(of(a, b4, apart) == "nothing was thrown");
  const Kokkos::View<double**, Space> bias("bias", 2, 2);
  const Cube residual("residual", 3, 3, 6);
  CHECK_THAT(message_of([&] {
               tessera::gemm(exec, 1.0, a, b4, 0.0, c, {.epilogue = {.residual = tessera::operand(residual)}});
             }),
             ContainsSubstring("the residual has 3 x 3 x 6") && ContainsSubstring("C is 4 x 3 x 6, which wants 3 x 6"));
  const Cube none("none", 0, 3, 6), biases("biases", 4, 6, 1);
  CHECK_THAT(
      message_of([&] { tessera::gemm(exec, 1.0, a, b4, 0.0, c, {.epilogue = {.residual = tessera::operand(none)}}); }),
      ContainsSubstring("the residual has 0 x 3 x 6"));
  CHECK_THAT(
      message_of([&] { tessera::gemm(exec, 1.0, a, b4, 0.0, c, {.epilogue = {.bias = tessera::operand(biases)}}); }),
      ContainsSubstring("the bias has"));
}

TEST_CASE("a plan of a batch checks what it is run with", "[gemm]") {
  const Space exec;
  const auto a = filled<Cube>("a", 4, 3, 2), b = filled<Cube>("b", 4, 2, 6);
  const Cube c("c", 4, 3, 6);
  const auto plan = tessera::plan_gemm(exec, a, b, c);
  plan.run(exec, 1.0, a, b, 0.0, c);
  const auto fewer = [](const auto& v) { return Kokkos::subview(v, std::pair(0, 3), Kokkos::ALL, Kokkos::ALL); };
  CHECK_THAT(message_of([&] { plan.run(exec, 1.0, fewer(a), fewer(b), 0.0, fewer(c)); }),
             ContainsSubstring("M x N x K is 3 x 6 x 2, 3 of them, and was planned as 3 x 6 x 2, 4 of them"));
  const Cube wide_b("b", 4, 3, 6);
  CHECK_THAT(message_of([&] {
               plan.run(exec, 1.0, a, Kokkos::subview(wide_b, Kokkos::ALL, std::pair(0, 2), Kokkos::ALL), 0.0, c);
             }),
             ContainsSubstring("the stride of B's batch is 18 and was planned as 12"));
}

TEST_CASE("a batch with an epilogue: one bias for all, a residual for each or for all", "[gemm]") {
  using tessera::BiasAlong;
  const Space exec;
  constexpr int batches = 11, m = 6, n = 9, k = 5;
  const auto a = filled<Cube>("a", batches, m, k);
  const auto b = filled<LeftCube>("b", batches, k, n);
  const auto one_b = filled<Flat>("one b", k, n);
  const auto each = filled<LeftCube>("residual", batches, m, n);
  const auto one = filled<Flat>("one residual", m, n);
  const Kokkos::View<double*, Space> bias_rows("bias", m), bias_columns("bias", n);
  const auto h_rows = Kokkos::create_mirror_view(bias_rows), h_columns = Kokkos::create_mirror_view(bias_columns);
  for (int i = 0; i < m; ++i) h_rows(i) = i - 2;
  for (int j = 0; j < n; ++j) h_columns(j) = 3 - j;
  Kokkos::deep_copy(bias_rows, h_rows);
  Kokkos::deep_copy(bias_columns, h_columns);
  const auto ha = on_host(a);
  const auto hb = on_host(b), h_each = on_host(each);
  const auto h_one_b = on_host(one_b), h_one = on_host(one);
  const auto check = [&](const auto& bv, const auto& of_b, const auto& c, bool along_rows, int residual) {
    tessera::GemmEpilogue epilogue = tessera::bias_relu(bias_columns);
    if (along_rows) epilogue = tessera::bias_relu(bias_rows, BiasAlong::rows);
    epilogue.scale = 2;
    if (residual == 1) epilogue.residual = tessera::operand(one);
    if (residual == 2) epilogue.residual = tessera::operand(each);
    Kokkos::deep_copy(c, std::nan(""));
    tessera::gemm(exec, 1.0, a, bv, 0.0, c, {.epilogue = epilogue});
    const auto h = on_host(c);
    int different = 0;
    for (int p = 0; p < batches; ++p)
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          double x = along_rows ? h_rows(i) : h_columns(j);
          for (int l = 0; l < k; ++l) x += ha(p, i, l) * of_b(p, l, j);
          x = 2 * std::max(x, 0.0) + (residual == 1 ? h_one(i, j) : residual == 2 ? h_each(p, i, j) : 0);
          if (h(p, i, j) != x) ++different;
        }
    INFO("bias along rows " << along_rows << ", residual " << residual);
    CHECK(different == 0);
  };
  const auto shared_b = [&](int, int l, int j) { return h_one_b(l, j); };
  for (const bool along_rows : {false, true})
    for (const int residual : {0, 1, 2}) {
      check(b, hb, Cube("c", batches, m, n), along_rows, residual);
      check(b, hb, LeftCube("c", batches, m, n), along_rows, residual);
      check(one_b, shared_b, Cube("c", batches, m, n), along_rows, residual);
      check(one_b, shared_b, LeftCube("c", batches, m, n), along_rows, residual);
    }
}

TEST_CASE("a batch of 16-bit floats with a bias", "[gemm]") {
  const Space exec;
  constexpr int batches = 6, m = 72, n = 136, k = 40;
  using tessera::bfloat16;
  const Kokkos::View<bfloat16***, Kokkos::LayoutRight, Space> a("a", batches, m, k), b("b", batches, k, n);
  const Kokkos::View<float***, Kokkos::LayoutRight, Space> c("c", batches, m, n);
  const Kokkos::View<float*, Space> bias("bias", n);
  const auto ha = Kokkos::create_mirror_view(a);
  const auto hb = Kokkos::create_mirror_view(b);
  const auto h_bias = Kokkos::create_mirror_view(bias);
  for (std::size_t i = 0; i < ha.span(); ++i) ha.data()[i] = bfloat16(static_cast<float>((i * 7 + i / 5) % 9) - 4);
  for (std::size_t i = 0; i < hb.span(); ++i) hb.data()[i] = bfloat16(static_cast<float>((i * 5 + i / 7) % 7) - 3);
  for (int j = 0; j < n; ++j) h_bias(j) = static_cast<float>(j % 11 - 5);
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  Kokkos::deep_copy(bias, h_bias);
  Kokkos::deep_copy(c, std::nanf(""));
  tessera::gemm(exec, 1.0F, a, b, 0.0F, c, {.epilogue = tessera::bias_relu(bias)});
  const auto h = on_host(c);
  int different = 0;
  for (int p = 0; p < batches; ++p)
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float x = h_bias(j);
        for (int l = 0; l < k; ++l) x += static_cast<float>(ha(p, i, l)) * static_cast<float>(hb(p, l, j));
        if (h(p, i, j) != std::max(x, 0.0F)) ++different;
      }
  CHECK(different == 0);
}

TEST_CASE("a batch is one kernel, on its instance, and nothing waits", "[gemm]") {
  const auto [first, second] = two_instances<Space>();
  using Kokkos::Tools::Experimental::device_id;
  const std::map<std::string, std::array<index_t, 4>> cases{
      {"tiny", {500, 8, 8, 8}}, {"small", {40, 32, 32, 32}}, {"large", {3, 150, 170, 600}}};
  for (const auto& [name, shape] : cases) {
    INFO(name);
    const auto& [batches, m, n, k] = shape;
    const auto a = filled<Cube>("a", batches, m, k), b = filled<Cube>("b", batches, k, n);
    const Cube one("c", batches, m, n), two("c", batches, m, n);
    const auto left_a = filled<LeftCube>("a", batches, m, k);
    const LeftCube left("c", batches, m, n);
    Kokkos::fence();
    tool_events::Recorder recorder;
    tessera::gemm(first, 1.0, a, b, 0.0, one, {.path = "portable"});
    tessera::gemm(second, 1.0, a, b, 0.0, two, {.path = "portable"});
    tessera::gemm(second, 1.0, left_a, b, 0.0, left, {.path = "portable"});
    const auto seen = recorder.take();
    first.fence();
    second.fence();
    REQUIRE(seen.kernels.size() == 3);
    CHECK(seen.kernels[0].device == device_id(first));
    CHECK(seen.kernels[1].device == device_id(second));
    CHECK(seen.kernels[2].device == device_id(second));
    for (const auto& kernel : seen.kernels) CHECK_THAT(kernel.name, ContainsSubstring("tessera::gemm::"));
    CHECK(seen.fences.empty());
    const auto h1 = on_host(one), h2 = on_host(two);
    CHECK(std::memcmp(h1.data(), h2.data(), h1.span() * sizeof(double)) == 0);
  }
}

TEST_CASE("max_error of a batch measures every product", "[gemm]") {
  using tessera::Precision;
  const Space exec;
  using Floats = Kokkos::View<float***, Kokkos::LayoutRight, Space>;
  const Floats a("a", 5, 3, 4), b("b", 5, 4, 2), c("c", 5, 3, 2);
  Kokkos::deep_copy(a, 0.5F);
  Kokkos::deep_copy(b, 0.25F);
  const double small = tessera::gemm_error_bound(Precision::tf32, 4) * 1.0 * 0.5 * (1 + 1e-9);
  CHECK(tessera::plan_gemm(exec, a, b, c, {.max_error = small}).precision() == Precision::tf32);
  const auto h = Kokkos::create_mirror_view(a);
  Kokkos::deep_copy(h, a);
  h(3, 1, 2) = 100;
  Kokkos::deep_copy(a, h);
  CHECK(tessera::plan_gemm(exec, a, b, c, {.max_error = small}).precision() != Precision::tf32);
}

TEST_CASE("CBLAS takes a batch by name", "[gemm]") {
  const Space exec;
  const auto a = filled<Cube>("a", 7, 5, 4), b = filled<Cube>("b", 7, 4, 6);
  const Cube c("c", 7, 5, 6), expected("c", 7, 5, 6);
  tessera::gemm(exec, 1.0, a, b, 0.0, expected, {.path = "portable"});
  const std::string message = message_of([&] { tessera::gemm(exec, 1.0, a, b, 0.0, c, {.path = "openmp:cblas"}); });
  if (message != "nothing was thrown") {
    WARN("not run: " << message);
    return;
  }
  const auto h = on_host(c), he = on_host(expected);
  CHECK(std::memcmp(h.data(), he.data(), h.span() * sizeof(double)) == 0);
}
