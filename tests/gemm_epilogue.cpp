// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <support/gemm_checks.hpp>
#include <support/message_of.hpp>

using Catch::Matchers::ContainsSubstring;
using gemm_checks::Matrix;
using gemm_checks::roundoff;
using gemm_checks::Storage;
using gemm_checks::Values;
using gemm_checks::wide;
using tessera::Activation;
using tessera::BiasAlong;

namespace {

long double activated(Activation f, long double x) {
  switch (f) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::gelu:
      return 0.5L * x * std::erfc(-x / std::sqrt(2.0L));
    case Activation::gelu_tanh:
      // (1 + tanh(u)) / 2, without the cancellation
      return x / (1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x)));
    case Activation::silu:
      return x / (1 + std::exp(-x));
  }
  return 0;
}

/// The same, from a table where x is one of the few multiples of 1/8 that come here.
long double function_of(Activation f, long double x) {
  static std::array<std::array<long double, 16385>, 5> table;
  static std::array<bool, 5> filled{};
  const auto which = static_cast<std::size_t>(f);
  if (!(std::abs(x) <= 1024) || 8 * x != std::floor(8 * x)) return activated(f, x);
  if (!filled[which])
    for (std::size_t at = 0; at < table[which].size(); ++at)
      table[which][at] = activated(f, (static_cast<long double>(at) - 8192) / 8);
  filled[which] = true;
  return table[which][static_cast<std::size_t>(8 * x + 8192)];
}

constexpr const char* with_epilogues = "cuda:wgmma_half_sm90a";

enum class Bias { none, rows, columns, wide_rows, wide_columns };
bool along_rows(Bias b) { return b == Bias::rows || b == Bias::wide_rows; }
bool is_wide(Bias b) { return b == Bias::wide_rows || b == Bias::wide_columns; }

struct Setup {
  index_t m, n, k;
  Storage c = Storage::left;
  Activation activation = Activation::none;
  Bias bias = Bias::none;
  bool residual = false;
  Storage residual_storage = Storage::left;
  double scale = 1;
  double alpha = 1;
  int beta = 0;
  index_t bias_stride = 1;
  std::string path{};

  [[nodiscard]] std::string text() const {
    std::string s;
    for (const index_t v : {m, n, k}) s += std::to_string(v) + " ";
    for (const int v :
         {static_cast<int>(c), static_cast<int>(activation), static_cast<int>(bias), residual ? 1 : 0,
          static_cast<int>(residual_storage), static_cast<int>(8 * alpha), beta, static_cast<int>(bias_stride)})
      s += "/" + std::to_string(v);
    return s + " scale " + std::to_string(scale) + " path " + path;
  }
};

/// A B of the operands that wrong() makes, exactly, column after column; kept, since many setups share it.
template <class In>
const std::vector<double>& product(const Matrix<In>& a, const Matrix<In>& b) {
  static index_t m = -1, n = -1, k = -1;
  static std::vector<double> sums;
  if (m == a.rows && n == b.columns && k == a.columns) return sums;
  m = a.rows, n = b.columns, k = a.columns;
  const auto rows = gemm_checks::lines(a, gemm_checks::Op::none, false);
  const auto columns = gemm_checks::lines(b, gemm_checks::Op::none, true);
  const std::vector<double> x(rows.begin(), rows.end()), y(columns.begin(), columns.end());
  sums.assign(static_cast<std::size_t>(m * n), 0.0);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) {
      double sum = 0;
      for (index_t l = 0; l < k; ++l)
        sum += x[static_cast<std::size_t>(i * k + l)] * y[static_cast<std::size_t>(j * k + l)];
      sums[static_cast<std::size_t>(i + j * m)] = sum;
    }
  return sums;
}

/// Whole numbers, so that sums are exact: what is left are the function, the roundings and, where the epilogue is a
/// pass of its own, C's rounding before it. Returns "" or what is wrong, and the path taken.
template <class In, class Out>
std::string wrong(const Setup& s, std::string& path) {
  using Accumulator = tessera::accumulator_t<In>;
  const Values inputs = s.alpha == 0 ? Values::poison : Values::integers;
  // at multiples of 16 bytes, and so are lines of such K: what the tensor cores' kernels take as it lies
  const Storage of_b = s.k % 8 == 0 ? Storage::left : Storage::left_padded;
  const Matrix<In> a(s.m, s.k, Storage::right, inputs, 21, 8), b(s.k, s.n, of_b, inputs, 22, 8);
  const Matrix<Out> c(s.m, s.n, s.c, s.beta == 0 ? Values::poison : Values::integers, 23, 8);
  const Matrix<Out> residual(s.m, s.n, s.residual_storage, Values::integers, 24, 8);
  const index_t length = along_rows(s.bias) ? s.m : s.n;
  const Matrix<Out> bias(1, length * s.bias_stride, Storage::right, Values::integers, 25);
  const Matrix<Accumulator> wide_bias(1, length * s.bias_stride, Storage::right, Values::integers, 25);
  const auto line = [&](const auto& matrix) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(matrix.device.data())>>;
    const auto u = [](index_t n) { return static_cast<std::size_t>(n); };
    return Kokkos::View<const T*, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        matrix.device.data() + matrix.start, Kokkos::LayoutStride(u(length), u(s.bias_stride)));
  };
  tessera::GemmEpilogue epilogue{.activation = s.activation, .scale = s.scale};
  epilogue.bias_along = along_rows(s.bias) ? BiasAlong::rows : BiasAlong::columns;
  if (is_wide(s.bias))
    epilogue.bias = tessera::operand(line(wide_bias));
  else if (s.bias != Bias::none)
    epilogue.bias = tessera::operand(line(bias));
  if (s.residual) epilogue.residual = tessera::operand(residual.view());

  const Space exec;
  const auto plan = tessera::plan_gemm(exec, a.view(), b.view(), c.view(), {.epilogue = epilogue, .path = s.path});
  path = plan.path();
  const Kokkos::View<char*, Space> workspace("workspace", plan.workspace_bytes());
  plan.run(exec, Accumulator(static_cast<float>(s.alpha)), a.view(), b.view(), Accumulator(static_cast<float>(s.beta)),
           c.view(), {workspace.data(), workspace.extent(0)});
  exec.fence();
  const std::vector<Out> result = c.download();
  const std::vector<double>* const sums = s.alpha == 0 ? nullptr : &product(a, b);
  std::vector<bool> inside(result.size(), false);
  const long double unit = roundoff<Out>(), function = 4000 * roundoff<Accumulator>();
  const bool two_passes = path.find("a pass for the epilogue") != std::string::npos;
  for (index_t j = 0; j < s.n; ++j)
    for (index_t i = 0; i < s.m; ++i) {
      long double x = 0, before_bias = 0;
      if (sums != nullptr) x = static_cast<long double>(s.alpha) * (*sums)[static_cast<std::size_t>(i + j * s.m)];
      if (s.beta != 0) x += s.beta * wide(c.at(i, j)).real();
      before_bias = x;
      const index_t at_bias = (along_rows(s.bias) ? i : j) * s.bias_stride;
      if (s.bias != Bias::none) x += wide(is_wide(s.bias) ? Out(wide_bias.at(0, at_bias)) : bias.at(0, at_bias)).real();
      const long double f = function_of(s.activation, x);
      long double expected = s.scale * f;
      if (s.residual) expected += wide(residual.at(i, j)).real();
      // slopes of the functions are at most 1.13
      long double bound = function * std::abs(f) + (two_passes ? 1.2L * unit * std::abs(before_bias) : 0);
      // the hardware's tanh, where the output has 16 bits and the tensor cores' kernels run
      if (s.activation == Activation::gelu_tanh && sizeof(Out) == 2) bound += 0x1p-12L * std::abs(x);
      bound = s.scale * bound + 1.01L * unit * std::abs(expected) + 0x1p-25L;
      const auto at = static_cast<std::size_t>(c.start + i * c.row_stride + j * c.column_stride);
      inside[at] = true;
      const long double got = wide(result[at]).real(), error = std::abs(got - expected);
      if (!(error <= bound))
        return "got " + std::to_string(static_cast<double>(got)) + " instead of " +
               std::to_string(static_cast<double>(expected)) + ", bound " + std::to_string(static_cast<double>(bound)) +
               ", at (" + std::to_string(i) + ", " + std::to_string(j) + ") of " + s.text() + " " + path;
    }
  for (std::size_t at = 0; at < result.size(); ++at)
    if (!inside[at] && std::memcmp(&result[at], &c.host[at], sizeof(Out)) != 0) return "wrote outside C: " + s.text();
  return {};
}

template <class In, class Out>
void check(const Setup& s) {
  std::string path;
  CHECK(wrong<In, Out>(s, path) == "");
  const bool any = s.activation != Activation::none || s.bias != Bias::none || s.residual || s.scale != 1;
  if (any && s.path == "portable") CHECK_THAT(path, ContainsSubstring("a pass for the epilogue"));
  if (s.path == with_epilogues) CHECK_THAT(path, !ContainsSubstring("a pass for the epilogue"));
}

/// Whether this build and device have the kernels that form epilogues themselves, for these types.
template <class In, class Out>
bool has_kernels_with_epilogues() {
  const Kokkos::View<In**, Kokkos::LayoutRight, Space> a("a", 8, 8), b("b", 8, 8);
  const Kokkos::View<Out**, Kokkos::LayoutRight, Space> c("c", 8, 8);
  return message_of([&] { (void)tessera::plan_gemm(Space(), a, b, c, {.path = with_epilogues}); }) ==
         "nothing was thrown";
}

constexpr Activation all_activations[] = {Activation::none, Activation::relu, Activation::gelu, Activation::gelu_tanh,
                                          Activation::silu};
constexpr Bias all_biases[] = {Bias::none, Bias::rows, Bias::columns, Bias::wide_rows, Bias::wide_columns};

template <class Input, class Output>
struct Types {
  using In = Input;
  using Out = Output;
};

}  // namespace

TEMPLATE_TEST_CASE("epilogues of gemm", "[gemm]", (Types<float, float>), (Types<double, double>),
                   (Types<tessera::half, tessera::half>), (Types<tessera::bfloat16, tessera::bfloat16>),
                   (Types<tessera::half, float>), (Types<tessera::bfloat16, float>)) {
  using In = typename TestType::In;
  using Out = typename TestType::Out;
  // no rows, one element, tiles' edges of the portable and the tensor-core kernels, several tiles for each block
  constexpr index_t sizes[][3] = {{1, 1, 1},     {7, 5, 3},      {64, 64, 64},   {129, 257, 70}, {127, 63, 65},
                                  {16, 520, 72}, {300, 24, 129}, {130, 258, 40}, {0, 7, 3},      {33, 31, 0}};
  for (const auto& [m, n, k] : sizes)
    for (const Storage storage : {Storage::right, Storage::left})
      for (const char* path : {"", "portable", with_epilogues}) {
        // forced, it copies operands that it cannot read; it has nothing to do for empty products
        if (std::string_view(path) == with_epilogues && (m * k == 0 || !has_kernels_with_epilogues<In, Out>()))
          continue;
        // each function with each kind of bias; what else there is goes round with them
        int turn = 0;
        for (const Activation f : all_activations)
          for (const Bias bias : all_biases) {
            ++turn;
            Setup s{.m = m, .n = n, .k = k, .c = storage, .activation = f, .bias = bias};
            s.residual = turn % 2 == 0;
            s.residual_storage = turn % 3 == 0 ? Storage::left_padded : storage;
            s.scale = turn % 4 == 3 ? 0.5 : 1;
            s.beta = turn % 5 == 4 ? 2 : 0;
            s.alpha = turn % 7 == 6 ? 0 : turn % 3 == 2 ? 0.125 : 1;
            s.bias_stride = turn % 6 == 5 ? 2 : 1;
            s.path = path;
            check<In, Out>(s);
          }
      }
}

TEMPLATE_TEST_CASE("epilogues over many tiles of the tensor-core kernels", "[gemm]", tessera::half, tessera::bfloat16) {
  // more tiles than multiprocessors, so that a block finishes one and goes on
  const index_t m = tessera::is_host_space<Space> ? 136 : 2056;
  const std::string path = has_kernels_with_epilogues<TestType, float>() ? with_epilogues : "";
  for (const Activation f : all_activations)
    for (const Bias bias : {Bias::columns, Bias::wide_rows}) {
      check<TestType, TestType>({.m = m,
                                 .n = m,
                                 .k = 24,
                                 .c = Storage::right,
                                 .activation = f,
                                 .bias = bias,
                                 .residual = f != Activation::relu,
                                 .residual_storage = Storage::right,
                                 .path = path});
      check<TestType, float>({.m = m - 6,
                              .n = m - 4,
                              .k = 24,
                              .c = Storage::left,
                              .activation = f,
                              .bias = bias,
                              .beta = f == Activation::gelu ? 2 : 0,
                              .path = path});
    }
}

TEST_CASE("epilogues keep NaN and have limits at infinity", "[gemm]") {
  const Space exec;
  using tessera::half;
  Kokkos::View<half**, Kokkos::LayoutRight, Space> a("a", 4, 8), b("b", 8, 8), c("c", 4, 8);
  auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b);
  const float rows[] = {NAN, INFINITY, -INFINITY, -3.0F};
  for (int i = 0; i < 4; ++i) ha(i, 0) = half(rows[i]);
  for (int j = 0; j < 8; ++j) hb(0, j) = half(1.0F);
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  const auto a1 = Kokkos::subview(a, Kokkos::ALL, std::pair(0, 1)),
             b1 = Kokkos::subview(b, std::pair(0, 1), Kokkos::ALL);
  for (const Activation f : all_activations) {
    if (f == Activation::none) continue;
    tessera::gemm(exec, 1.0F, a1, b1, 0.0F, c, {.epilogue = {.activation = f}});
    auto h = Kokkos::create_mirror(c);
    Kokkos::deep_copy(h, c);
    for (int j = 0; j < 8; ++j) {
      CHECK(std::isnan(static_cast<float>(h(0, j))));
      CHECK(static_cast<float>(h(1, j)) == INFINITY);
      CHECK(static_cast<float>(h(2, j)) == 0.0F);
      CHECK(static_cast<float>(h(3, j)) <= 0.0F);
    }
  }
}

TEST_CASE("gemm tells what is wrong with an epilogue", "[gemm]") {
  const Space exec;
  const Kokkos::View<float**, Space> a("a", 4, 5), b("b", 5, 6), c("c", 4, 6), r("r", 6, 4);
  const Kokkos::View<float*, Space> four("four", 4), six("six", 6);
  const Kokkos::View<double*, Space> doubles("doubles", 6);
  const auto with = [&](const tessera::GemmEpilogue& e) {
    return message_of([&] { tessera::gemm(exec, 1.0F, a, b, 0.0F, c, {.epilogue = e}); });
  };
  CHECK_THAT(with(tessera::bias_relu(four)),
             ContainsSubstring("the bias has 4 elements") && ContainsSubstring("C is 4 x 6, which wants 6"));
  CHECK(with(tessera::bias_relu(four, BiasAlong::rows)) == "nothing was thrown");
  CHECK_THAT(with(tessera::bias_gelu(six, BiasAlong::rows)), ContainsSubstring("which wants 4"));
  CHECK_THAT(with(tessera::bias(doubles)), ContainsSubstring("the bias is of another element type"));
  CHECK_THAT(with({.residual = tessera::operand(r)}), ContainsSubstring("the residual has 6 x 4"));
  CHECK_THAT(with({.residual = tessera::operand(c)}), ContainsSubstring("the residual"));
  const Kokkos::View<std::int32_t**, Space> ia("ia", 4, 5), ib("ib", 5, 6), ic("ic", 4, 6);
  CHECK_THAT(message_of([&] { tessera::gemm(exec, 1, ia, ib, 0, ic, {.epilogue = {.activation = Activation::relu}}); }),
             ContainsSubstring("complex or integer"));
  // a plan keeps it
  const auto plan = tessera::plan_gemm(exec, a, b, c, {.epilogue = tessera::bias_silu(six)});
  Kokkos::deep_copy(exec, six, 100.0F);
  plan.run(exec, 1.0F, a, b, 0.0F, c);
  const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  CHECK(h(3, 5) == 100.0F);
  // nothing asked for is nothing done
  tessera::gemm(exec, 1.0F, a, b, 0.0F, c, {.epilogue = {}});
}
