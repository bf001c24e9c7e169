// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <cstdlib>
#include <support/gemm_checks.hpp>
#include <support/gemm_functors.cuh>
#include <support/message_of.hpp>

// Functors of a user's: as a pass of their own everywhere, and where gemm_functors.cu is compiled, in the kernels of
// 16-bit floats.

using Catch::Matchers::ContainsSubstring;
using gemm_checks::exact;
using gemm_checks::lines;
using gemm_checks::magnitude;
using gemm_checks::Matrix;
using gemm_checks::narrow;
using gemm_checks::Op;
using gemm_checks::roundoff;
using gemm_checks::Storage;
using gemm_checks::times;
using gemm_checks::Values;
using gemm_checks::wide;
using gemm_checks::Wide;
using gemm_functors::Weigh;

namespace {

template <class Input, class Output = Input>
struct Types {
  using In = Input;
  using Out = Output;
};

struct Setup {
  index_t m, n, k;
  Storage c = Storage::right, a = Storage::right, b = Storage::right;
  Op op_a = Op::none, op_b = Op::none;
  int alpha = 1, beta = 0;
  Values values = Values::integers;
  bool planned = false, scalars_on_device = false;
  bool epilogue = false;  // relu(x + bias of the column) comes first
  std::string path{};

  [[nodiscard]] std::string text() const {
    std::string s;
    for (const index_t v : {m, n, k}) s += std::to_string(v) + " ";
    for (const int v :
         {static_cast<int>(c), static_cast<int>(a), static_cast<int>(b), static_cast<int>(op_a), static_cast<int>(op_b),
          alpha, beta, static_cast<int>(values), planned ? 1 : 0, scalars_on_device ? 1 : 0, epilogue ? 1 : 0})
      s += "/" + std::to_string(v);
    return s + " " + path;
  }
};

template <class T>
T small(int value) {
  return narrow<T>(Wide(value, 0));
}

/// A vector of small whole numbers in the space's memory.
template <class T>
Kokkos::View<T*, Space> small_vector(index_t n, int step, int range) {
  Kokkos::View<T*, Space> v("tessera::test::vector", n);
  auto h = Kokkos::create_mirror_view(v);
  for (index_t i = 0; i < n; ++i) h(i) = small<T>(static_cast<int>(i * step % (2 * range + 1)) - range);
  Kokkos::deep_copy(v, h);
  return v;
}
int weight(index_t i) { return static_cast<int>(i * 5 % 7) - 3; }
int offset(index_t j) { return static_cast<int>(j * 7 % 19) - 9; }
int bias_of(index_t j) { return static_cast<int>(j * 3 % 5) - 2; }

/// Runs the product with a functor; of whole numbers every rounding is known, and compared bit for bit. Returns "" or
/// what is wrong, and the path taken.
template <class In, class Out>
std::string wrong(const Setup& s, std::string& path) {
  using Accumulator = tessera::accumulator_t<In>;
  const Values inputs = s.alpha == 0 ? Values::poison : s.values;
  // at multiples of 16 bytes, which the copy engine wants
  const auto operand = [&](Op op, index_t rows, index_t columns, Storage storage, unsigned seed) {
    return gemm_checks::transposes(op) ? Matrix<In>(columns, rows, storage, inputs, seed, 8)
                                       : Matrix<In>(rows, columns, storage, inputs, seed, 8);
  };
  const auto a = operand(s.op_a, s.m, s.k, s.a, 31), b = operand(s.op_b, s.k, s.n, s.b, 32);
  const Matrix<Out> c(s.m, s.n, s.c, s.beta == 0 ? Values::poison : s.values, 33, 8);
  const auto weights = small_vector<Accumulator>(s.m, 5, 3), offsets = small_vector<Accumulator>(s.n, 7, 9);
  const auto bias = small_vector<Out>(s.n, 3, 2);
  const Kokkos::View<int*, Space> calls("tessera::test::calls", s.m * s.n);
  const Weigh<Accumulator> f{weights.data(), offsets.data(), calls.data(), s.n};
  tessera::GemmOptions options{.path = s.path};
  if constexpr (std::is_floating_point_v<Accumulator>)
    if (s.epilogue) options.epilogue = tessera::bias_relu(bias);
  const Space exec;
  const auto alpha = small<Accumulator>(s.alpha), beta = small<Accumulator>(s.beta);
  Kokkos::View<Accumulator, Space> device_alpha("alpha"), device_beta("beta");
  Kokkos::deep_copy(exec, device_alpha, alpha);
  Kokkos::deep_copy(exec, device_beta, beta);
  gemm_checks::with_op(s.op_a, a.view(), [&](const auto& av) {
    gemm_checks::with_op(s.op_b, b.view(), [&](const auto& bv) {
      const auto plan = tessera::plan_gemm(exec, av, bv, c.view(), f, options);
      path = plan.path();
      if (s.planned) {
        const Kokkos::View<char*, Space> memory("workspace", plan.workspace_bytes());
        const tessera::GemmWorkspace workspace{memory.data(), memory.extent(0)};
        if (s.scalars_on_device)
          plan.run(exec, device_alpha, av, bv, device_beta, c.view(), f, workspace);
        else
          plan.run(exec, alpha, av, bv, beta, c.view(), f, workspace);
      } else if (s.scalars_on_device) {
        tessera::gemm(exec, device_alpha, av, bv, device_beta, c.view(), f, options);
      } else {
        tessera::gemm(exec, alpha, av, bv, beta, c.view(), f, options);
      }
      exec.fence();
    });
  });
  const std::vector<Out> result = c.download();
  const auto called = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), calls);
  const auto rows_of_a = lines(a, s.op_a, false), columns_of_b = lines(b, s.op_b, true);
  std::vector<bool> inside(result.size(), false);
  const bool rounds_first = path.find("with the functor") == std::string::npos;
  const bool rounds_before_epilogue = path.find("a pass for the epilogue") != std::string::npos;
  const auto rounded = [](const Wide& x) { return wide(narrow<Out>(x)); };
  for (index_t j = 0; j < s.n; ++j)
    for (index_t i = 0; i < s.m; ++i) {
      gemm_checks::Exact<In> products{};
      long double size = 0;
      if (s.alpha != 0)
        for (index_t l = 0; l < s.k; ++l) {
          const auto p = times(rows_of_a[static_cast<std::size_t>(i * s.k + l)],
                               columns_of_b[static_cast<std::size_t>(j * s.k + l)]);
          products += p;
          size += magnitude(p);
        }
      Wide x = static_cast<long double>(s.alpha) * Wide(products);
      size *= std::abs(s.alpha);
      if (s.beta != 0) {
        x += static_cast<long double>(s.beta) * wide(c.at(i, j));
        size += std::abs(static_cast<long double>(s.beta) * wide(c.at(i, j)));
      }
      if (s.epilogue && std::is_floating_point_v<Accumulator>) {
        if (rounds_before_epilogue) x = rounded(x);
        x += bias_of(j);
        if (x.real() < 0) x = 0;
      }
      const long double w = weight(i);
      const auto at = static_cast<std::size_t>(c.start + i * c.row_stride + j * c.column_stride);
      inside[at] = true;
      const auto place = [&] {
        return " at (" + std::to_string(i) + ", " + std::to_string(j) + ") of " + s.text() + " " + path;
      };
      const Wide got = wide(result[at]);
      if (s.values == Values::integers || roundoff<Accumulator>() == 0) {
        const Wide expected = rounded(w * (rounds_first ? rounded(x) : x) + static_cast<long double>(offset(j)));
        if (!(got == expected))
          return "got " + std::to_string(static_cast<double>(got.real())) + " instead of " +
                 std::to_string(static_cast<double>(expected.real())) + place();
      } else {
        const Wide expected = w * x + static_cast<long double>(offset(j));
        const long double root = std::sqrt(static_cast<long double>(s.k) + 2), unit = roundoff<Accumulator>();
        const long double first =
            4 * root * unit * size + (rounds_first ? 1.01L * roundoff<Out>() * std::abs(x) : 0) + 0x1p-25L;
        const long double bound = std::abs(w) * first + (1.01L * roundoff<Out>() + 4 * unit) * (std::abs(expected) + 9);
        if (!(std::abs(got - expected) <= bound))
          return "error " + std::to_string(static_cast<double>(std::abs(got - expected))) + " above " +
                 std::to_string(static_cast<double>(bound)) + place();
      }
      if (called(static_cast<std::size_t>(i * s.n + j)) != 1)
        return "called " + std::to_string(called(static_cast<std::size_t>(i * s.n + j))) + " times" + place();
    }
  for (std::size_t at = 0; at < result.size(); ++at)
    if (!inside[at] && std::memcmp(&result[at], &c.host[at], sizeof(Out)) != 0) return "wrote outside C: " + s.text();
  return {};
}

template <class In, class Out>
void check(const Setup& s) {
  std::string path;
  CHECK(wrong<In, Out>(s, path) == "");
  const bool compiled = tessera::backends::gemm_compiles_functors<tessera::GemmTypes<In, Out>, Space> &&
                        !(std::is_same_v<In, tessera::half> && std::is_same_v<Out, float>);
  const bool in_kernels = compiled && !s.epilogue && path.find("wgmma_half_sm90a") != std::string::npos;
  // where nothing stands against them, the kernels must be met
  const auto leading = [](Storage storage, Op op, index_t rows, index_t columns) {
    return (storage == Storage::right) != gemm_checks::transposes(op) ? columns : rows;
  };
  const auto device = tessera::device_of(Space());
  if (compiled && device.major == 9 && device.minor == 0 && !s.epilogue && s.path.empty() && s.m * s.n * s.k > 0 &&
      s.c != Storage::strided && leading(s.a, s.op_a, s.m, s.k) % 8 == 0 && leading(s.b, s.op_b, s.k, s.n) % 8 == 0)
    CHECK(in_kernels);
  CHECK_THAT(path, ContainsSubstring(in_kernels ? "with the functor" : "a pass for the functor"));
}

constexpr Storage c_storages[] = {Storage::right, Storage::left, Storage::right_padded, Storage::left_padded,
                                  Storage::strided};

}  // namespace

TEMPLATE_TEST_CASE("functors of gemm: layouts, transposes, scalars, edges", "[gemm]", (Types<float>), (Types<double>),
                   (Types<Kokkos::complex<float>>), (Types<Kokkos::complex<double>>), (Types<tessera::half>),
                   (Types<tessera::half, float>), (Types<tessera::bfloat16>), (Types<tessera::bfloat16, float>),
                   (Types<std::int8_t, std::int32_t>), (Types<std::int32_t>), (Types<std::int64_t>)) {
  using In = typename TestType::In;
  using Out = typename TestType::Out;
  int turn = 0;
  // no rows, no columns, no K, one element, one row, edges of hosts' and tensor cores' tiles
  constexpr index_t sizes[][3] = {{0, 7, 3},    {7, 0, 3},      {5, 6, 0},     {1, 1, 1},     {1, 40, 8},
                                  {40, 1, 8},   {7, 5, 3},      {63, 64, 65},  {65, 127, 64}, {128, 128, 16},
                                  {129, 66, 8}, {127, 257, 24}, {130, 256, 8}, {24, 300, 72}, {300, 24, 40}};
  for (const auto& [m, n, k] : sizes)
    for (const Storage c : c_storages)
      for (const char* path : {"", "portable"}) {
        ++turn;
        Setup s{.m = m, .n = n, .k = k, .c = c};
        s.a = turn % 2 == 0 ? Storage::left : Storage::right;
        s.b = turn % 3 == 0 ? Storage::left : Storage::right;
        s.op_a = turn % 5 == 0 ? Op::transpose : Op::none;
        s.op_b = turn % 7 == 0 ? Op::transpose : Op::none;
        s.alpha = turn % 8 == 7 ? 0 : turn % 4 == 3 ? -2 : 1;
        s.beta = turn % 6 == 5 ? 3 : turn % 6 == 2 ? 1 : 0;
        s.planned = turn % 4 == 1;
        // an alpha of 0 in device memory is not seen on the host: a vendor's library may read A and B all the same
        s.scalars_on_device = turn % 9 == 4 && s.alpha != 0;
        s.epilogue = std::is_floating_point_v<tessera::accumulator_t<In>> && turn % 10 == 6;
        s.path = path;
        check<In, Out>(s);
        s.values = Values::random;
        s.epilogue = false;
        if (turn % 5 == 2) check<In, Out>(s);
      }
}

TEMPLATE_TEST_CASE("functors of gemm: every tile shape and more tiles than multiprocessors", "[gemm]",
                   (Types<tessera::bfloat16>), (Types<tessera::bfloat16, float>), (Types<tessera::half>)) {
  using In = typename TestType::In;
  using Out = typename TestType::Out;
  const index_t large = tessera::is_host_space<Space> ? 136 : 2056;
  for (const Storage c : {Storage::right, Storage::left})
    for (const Storage a : {Storage::right, Storage::left})
      for (const int beta : {0, 2}) {
        check<In, Out>({.m = large, .n = large + 264, .k = 24, .c = c, .a = a, .b = a, .beta = beta});
        check<In, Out>({.m = large + 6, .n = 72, .k = 40, .c = c, .a = a, .b = Storage::left, .beta = beta});
        // one row tile of 256 columns a block; K shared by the blocks of a cluster, into rows and into columns
        check<In, Out>({.m = 104, .n = 8 * large, .k = 8, .c = c, .a = a, .beta = beta});
        check<In, Out>({.m = 200, .n = 136, .k = 1032, .c = c, .a = a, .beta = beta});
        check<In, Out>({.m = 16, .n = 520, .k = 520, .c = c, .a = a, .beta = beta});
        // old rows that are no pairs of elements
        check<In, Out>({.m = 261, .n = 263, .k = 48, .c = c, .a = Storage::right, .b = Storage::left, .beta = beta});
      }
}

namespace {

/// What is compiled in nowhere: holds a view, which keeps its memory.
struct AddView {
  Kokkos::View<const float*, Space> rows;
  KOKKOS_FUNCTION float operator()(float value, index_t row, index_t) const {
    return value + rows(static_cast<std::size_t>(row));
  }
};

/// The call without an instance, which takes views of the default space alone: of a template, the tests of a build's
/// other spaces leave it out.
template <class V, class F>
void multiply_on_default(const V& a, const V& b, const V& c, const F& f) {
  if constexpr (std::is_same_v<typename V::execution_space, Kokkos::DefaultExecutionSpace>)
    tessera::gemm(1.0F, a, b, 0.0F, c, f);
}

}  // namespace

TEST_CASE("a plan with a functor: new values in each run, reasons, views in it, the default instance", "[gemm]") {
  const Space exec;
  const Kokkos::View<float**, Kokkos::LayoutRight, Space> a("a", 4, 8), b("b", 8, 6), c("c", 4, 6);
  Kokkos::deep_copy(a, 1.0F);
  Kokkos::deep_copy(b, 2.0F);
  const Kokkos::View<float*, Space> rows("rows", 4);
  Kokkos::deep_copy(rows, 1.0F);
  const auto plan = tessera::plan_gemm(exec, a, b, c, AddView{rows});
  CHECK_THAT(plan.path(), ContainsSubstring("and a pass for the functor"));
  REQUIRE(!plan.reasons().empty());
  CHECK(plan.reasons().back().provider == "the functor with the product");
  CHECK_THAT(plan.reasons().back().reason, ContainsSubstring("no path has kernels of these element types"));
  const auto at = [&](int i, int j) { return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c)(i, j); };
  plan.run(exec, 1.0F, a, b, 0.0F, c, AddView{rows});
  CHECK(at(3, 5) == 17.0F);
  const Kokkos::View<float*, Space> others("others", 6);
  Kokkos::deep_copy(others, 100.0F);
  plan.run(exec, 2.0F, a, b, 0.0F, c, AddView{others});
  CHECK(at(0, 0) == 132.0F);
  tessera::gemm(exec, 1.0F, a, b, 1.0F, c, AddView{rows}, {.epilogue = {.scale = 2}});
  CHECK(at(0, 0) == 297.0F);  // 2 (16 + 132) + 1
  if constexpr (std::is_same_v<Space, Kokkos::DefaultExecutionSpace>) {
    multiply_on_default(a, b, c, AddView{rows});
    exec.fence();
    Kokkos::DefaultExecutionSpace().fence();
    CHECK(at(1, 1) == 17.0F);
  }
  const Kokkos::View<float**, Space> seven("seven", 7, 6);
  CHECK_THAT(message_of([&] { tessera::gemm(exec, 1.0F, a, b, 0.0F, seven, AddView{rows}); }),
             ContainsSubstring("C must have the rows of A"));
  // it is called by run() alone
  const Kokkos::View<int*, Space> calls("calls", 24);
  const Weigh<float> counting{rows.data(), others.data(), calls.data(), 6};
  (void)tessera::plan_gemm(exec, a, b, c, counting, {.tune = true});
  CHECK(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), calls)(0) == 0);
  // a choice made without a functor is not taken for one with it
  CHECK(tessera::plan_gemm(exec, a, b, c).path().find("functor") == std::string::npos);
}

TEST_CASE("a functor of 16-bit products: why it is a second pass, and what to do", "[gemm]") {
  using tessera::bfloat16;
  using tessera::half;
  const Space exec;
  const auto last = [&]<class In, class Out, class F>(In, Out, const F& f, const tessera::GemmOptions& options) {
    const Kokkos::View<In**, Kokkos::LayoutRight, Space> a("a", 256, 256), b("b", 256, 256);
    const Kokkos::View<Out**, Kokkos::LayoutRight, Space> c("c", 256, 256);
    const auto plan = tessera::plan_gemm(exec, a, b, c, f, options);
    const auto& reasons = plan.reasons();
    return plan.path() + ": " + (reasons.empty() ? "" : reasons.back().reason);
  };
  const Kokkos::View<float*, Space> rows("rows", 256);
  const Weigh<float> f{};
  const bool compiled = tessera::backends::gemm_compiles_functors<tessera::GemmTypes<bfloat16>, Space>;
  if (!compiled) {
    CHECK_THAT(last(bfloat16(), bfloat16(), f, {}), ContainsSubstring("a pass for the functor]: no path has kernels"));
    return;
  }
  CHECK_THAT(last(bfloat16(), bfloat16(), AddView{rows}, {}), ContainsSubstring("tessera_add_gemm_epilogue"));
  CHECK_THAT(last(half(), float(), f, {}), ContainsSubstring("TESSERA_GEMM_EPILOGUE_KERNELS"));
  CHECK_THAT(last(bfloat16(), bfloat16(), f, {.epilogue = {.scale = 2}}),
             ContainsSubstring("without another epilogue"));
  CHECK_THAT(last(bfloat16(), bfloat16(), f, {.path = "portable"}),
             ContainsSubstring("a pass for the functor]: the path that it was compiled into does not run"));
  setenv("TESSERA_GEMM", "portable", 1);  // NOLINT(concurrency-mt-unsafe): one thread
  CHECK_THAT(last(bfloat16(), bfloat16(), f, {}), ContainsSubstring("portable"));
  unsetenv("TESSERA_GEMM");  // NOLINT(concurrency-mt-unsafe)
  const auto device = tessera::device_of(exec);
  if (device.major != 9 || device.minor != 0) return;
  CHECK_THAT(last(bfloat16(), bfloat16(), f, {}), ContainsSubstring("with the functor]"));
  setenv("TESSERA_GEMM", "cuda:wgmma_half_sm90a", 1);  // NOLINT(concurrency-mt-unsafe)
  CHECK_THAT(last(bfloat16(), bfloat16(), f, {}), ContainsSubstring("with the functor]"));
  CHECK_THAT(last(half(), float(), f, {}), ContainsSubstring("a pass for the functor]"));
  unsetenv("TESSERA_GEMM");  // NOLINT(concurrency-mt-unsafe)
}

namespace {

struct FillRandom {
  Kokkos::View<tessera::bfloat16*, Space> x;
  std::uint64_t seed;
  KOKKOS_FUNCTION void operator()(index_t i) const {  // splitmix64
    std::uint64_t r = seed + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u;
    r = (r ^ (r >> 30)) * 0xbf58476d1ce4e5b9u;
    r = (r ^ (r >> 27)) * 0x94d049bb133111ebu;
    x(static_cast<std::size_t>(i)) = tessera::bfloat16(static_cast<float>((r ^ (r >> 31)) >> 40) * 0x1p-23F - 1);
  }
};

/// The same functor, compiled into no kernel.
struct Apart : gemm_functors::ClampRows {};

}  // namespace

// By name only (test_gemm_functor_Cuda "[.timing]"), on a machine at rest.
TEST_CASE("gemm: the time of a functor, with the product and behind it", "[.timing]") {
  using tessera::bfloat16;
  const Space exec;
  using Matrix = Kokkos::View<bfloat16**, Kokkos::LayoutRight, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  for (const index_t n : tessera::is_host_space<Space> ? std::vector<index_t>{512} : std::vector<index_t>{4096, 8192}) {
    constexpr int sets = 3, runs = 9;  // of operands: more than three times a level-2 cache
    const Kokkos::View<bfloat16*, Space> memory(Kokkos::view_alloc(Kokkos::WithoutInitializing, "memory"),
                                                static_cast<std::size_t>(3 * sets * n * n));
    Kokkos::parallel_for("tessera::test::fill", tessera::Range<Space>(exec, 0, 3 * sets * n * n),
                         FillRandom{memory, 1});
    const Kokkos::View<float*, Space> scale("scale", static_cast<std::size_t>(n));
    Kokkos::deep_copy(exec, scale, 0.5F);
    const auto matrix = [&](int set, int which) {
      return Matrix(memory.data() + (3 * set + which) * n * n, static_cast<std::size_t>(n),
                    static_cast<std::size_t>(n));
    };
    const gemm_functors::ClampRows f{scale.data(), -20, 20};
    const tessera::GemmOptions options{.path = tessera::is_host_space<Space> ? "" : "cuda:wgmma_half_sm90a"};
    const auto run = [&](int mode) {
      for (int set = 0; set < sets; ++set) {
        const Matrix a = matrix(set, 0), b = matrix(set, 1), c = matrix(set, 2);
        if (mode == 0)
          tessera::gemm(exec, 1.0F, a, b, 0.0F, c, options);
        else if (mode == 1)
          tessera::gemm(exec, 1.0F, a, b, 0.0F, c, f, options);
        else
          tessera::gemm(exec, 1.0F, a, b, 0.0F, c, Apart{f}, options);
      }
      exec.fence();
    };
    std::vector<double> times[3];
    for (int r = 0; r < runs + 2; ++r)
      for (int mode = 0; mode < 3; ++mode) {
        const Kokkos::Timer timer;
        run(mode);
        if (r >= 2) times[mode].push_back(timer.seconds() / sets);
      }
    for (auto& t : times) std::sort(t.begin(), t.end());
    const auto median = [&](int mode) { return times[mode][runs / 2] * 1e6; };
    std::printf("bf16 %5d^3: product %8.1f us, with the functor %8.1f (%.3f), and a pass for it %8.1f (%.3f)\n",
                static_cast<int>(n), median(0), median(1), median(1) / median(0), median(2), median(2) / median(0));
  }
}
