// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <gemm_ladder/steps/all.hpp>
#include <limits>
#include <random>
#include <string>
#include <support/values.hpp>
#include <tuple>
#include <vector>

using Space = TESSERA_TEST_SPACE;
using tessera::index_t;

namespace {

namespace ladder = tessera::ladder;

/// How far apart rows begin: as wide as they are, by an odd number more, or rounded up to 16 bytes of bf16.
enum class Rows { packed, odd, rounded };

index_t stride_of(Rows rows, index_t columns) {
  switch (rows) {
    case Rows::packed:
      return columns > 0 ? columns : 1;
    case Rows::odd:
      return columns + 3 + columns % 2;
    default:
      return (columns + 7) / 8 * 8 + 8;
  }
}

template <class T>
T poison() {
  return T(std::numeric_limits<float>::quiet_NaN());
}

/// A matrix among poison, on the host and in the space's memory.
template <class T>
struct Matrix {
  static constexpr index_t before = 8, behind = 8;
  index_t rows, columns, stride;
  std::vector<T> host;
  Kokkos::View<T*, Space> device;

  Matrix(index_t r, index_t c, Rows kind, bool integers, unsigned seed)
      : rows(r), columns(c), stride(stride_of(kind, c)) {
    host.assign(static_cast<std::size_t>(before + r * stride + behind), poison<T>());
    std::mt19937 gen(seed);
    std::uniform_int_distribution<int> whole(-3, 3);
    std::uniform_real_distribution<float> real(-1, 1);
    for (index_t i = 0; i < r; ++i)
      for (index_t j = 0; j < c; ++j) host[at(i, j)] = integers ? T(static_cast<float>(whole(gen))) : T(real(gen));
    device = Kokkos::View<T*, Space>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "matrix"), host.size());
    upload();
  }
  [[nodiscard]] std::size_t at(index_t i, index_t j) const { return static_cast<std::size_t>(before + i * stride + j); }
  void upload() const {
    Kokkos::deep_copy(device, Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                                  host.data(), host.size()));
  }
  [[nodiscard]] std::vector<T> download() const {
    std::vector<T> copy(host.size());
    Kokkos::deep_copy(
        Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(copy.data(), copy.size()), device);
    return copy;
  }
  /// NaN in the elements, so that what is asserted afterwards was written by the step, and a number that no product
  /// gives round them.
  void spoil() {
    std::fill(host.begin(), host.end(), T(-12345.0F));
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < columns; ++j) host[at(i, j)] = poison<T>();
    upload();
  }
  [[nodiscard]] T* data() const { return device.data() + before; }
};

using Shape = std::array<index_t, 3>;  // m, n, k

/// Round the edges of every tile there is: 32, 64, 128 and 256 wide, 8, 32 and 64 deep.
constexpr Shape shapes[] = {{0, 5, 3},       {5, 0, 3},       {5, 3, 0},      {1, 1, 1},       {1, 17, 5},
                            {17, 1, 5},      {2, 3, 1},       {31, 33, 32},   {32, 32, 32},    {33, 31, 65},
                            {63, 64, 65},    {64, 65, 7},     {65, 63, 64},   {127, 128, 129}, {128, 127, 8},
                            {129, 129, 9},   {128, 128, 64},  {130, 257, 33}, {257, 255, 70},  {255, 256, 63},
                            {256, 256, 128}, {385, 260, 193}, {300, 7, 129},  {7, 300, 31},    {1, 1, 1000}};

/// C = A B of one shape with the sums of A B and of |A| |B| in long double.
template <class T>
struct Case {
  Shape shape;
  bool integers;
  Matrix<T> a, b, c;
  std::vector<long double> sums, sizes;

  Case(const Shape& s, Rows rows, bool whole)
      : shape(s),
        integers(whole),
        a(s[0], s[2], rows, whole, 21),
        b(s[2], s[1], rows, whole, 22),
        c(s[0], s[1], rows, whole, 23) {
    sums.assign(static_cast<std::size_t>(s[0] * s[1]), 0.0L);
    sizes = sums;
    for (index_t i = 0; i < s[0]; ++i)
      for (index_t k = 0; k < s[2]; ++k) {
        const auto x = static_cast<long double>(static_cast<float>(a.host[a.at(i, k)]));
        for (index_t j = 0; j < s[1]; ++j) {
          const long double p = x * static_cast<long double>(static_cast<float>(b.host[b.at(k, j)]));
          sums[static_cast<std::size_t>(i * s[1] + j)] += p;
          sizes[static_cast<std::size_t>(i * s[1] + j)] += std::abs(p);
        }
      }
  }
  [[nodiscard]] ladder::Product<T> product() const {
    return {{a.data(), a.rows, a.columns, a.stride},
            {b.data(), b.rows, b.columns, b.stride},
            {c.data(), c.rows, c.columns, c.stride}};
  }

  /// "" or what is wrong after run(product()). Integers exactly; else within 4 sqrt(K + 2) eps (|A||B|) of fp32 sums
  /// and one rounding of the result.
  template <class Run>
  std::string wrong(const Run& run) {
    c.spoil();
    run(product());
    Kokkos::fence("test: the step is over");
    const std::vector<T> result = c.download();
    std::vector<bool> inside(result.size(), false);
    const long double unit = 0x1p-24L * 4 * std::sqrt(static_cast<long double>(shape[2]) + 2);
    const long double out_unit = sizeof(T) == 2 ? 0x1p-8L : 0x1p-24L;
    for (index_t i = 0; i < c.rows; ++i)
      for (index_t j = 0; j < c.columns; ++j) {
        inside[c.at(i, j)] = true;
        const auto e = static_cast<std::size_t>(i * c.columns + j);
        const auto got = static_cast<long double>(static_cast<float>(result[c.at(i, j)]));
        const std::string place = " at (" + std::to_string(i) + ", " + std::to_string(j) + ")";
        if (integers) {
          const auto exact = static_cast<long double>(static_cast<float>(T(static_cast<float>(sums[e]))));
          if (!(got == exact)) return "got " + std::to_string(got) + " instead of " + std::to_string(exact) + place;
        } else {
          const long double bound = unit * sizes[e] + 1.01L * out_unit * std::abs(sums[e]),
                            error = std::abs(got - sums[e]);
          if (!(error <= bound)) return "error " + std::to_string(error) + " above " + std::to_string(bound) + place;
        }
      }
    for (std::size_t e = 0; e < result.size(); ++e)
      if (!inside[e] && std::memcmp(&result[e], &c.host[e], sizeof(T)) != 0)
        return "wrote outside C, element " + std::to_string(e) + " of its memory";
    return {};
  }
};

template <class T, class Check>
void for_each_case(const Check& check) {
  for (const Shape& shape : shapes)
    for (const Rows rows : {Rows::packed, Rows::odd, Rows::rounded})
      for (const bool integers : {true, false}) {
        if (integers && rows == Rows::odd) continue;
        Case<T> c(shape, rows, integers);
        INFO(shape[0] << " x " << shape[1] << " x " << shape[2] << ", rows " << static_cast<int>(rows)
                      << (integers ? ", integers" : ""));
        check(c, rows);
      }
}

template <class T>
void check_portable_steps() {
  const Space exec;
  for_each_case<T>([&](Case<T>& c, Rows) {
    for (const auto& step : ladder::portable_steps<Space, T>()) {
      INFO(step.name);
      CHECK(c.wrong([&](const ladder::Product<T>& p) { step.run(exec, p); }) == "");
    }
  });
}

/// The kernel with teams of its size on some shapes; false where Kokkos gives none so large.
template <class Kernel, class T>
bool check_team(Kernel (*make)(const ladder::Product<T>&)) {
  using Policy = typename Kernel::Policy;
  const Space exec;
  bool ran = false;
  for (const Shape& shape : {Shape{33, 31, 65}, Shape{130, 257, 33}, Shape{128, 128, 64}, Shape{5, 3, 0}}) {
    Case<T> c(shape, Rows::odd, false);
    INFO(Kernel::threads << " threads, " << shape[0] << " x " << shape[1] << " x " << shape[2]);
    const Kernel kernel = make(c.product());
    Policy smallest(exec, 1, 1);
    smallest.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch * sizeof(float) + ladder::scratch_alignment));
    if (smallest.team_size_max(kernel, Kokkos::ParallelForTag{}) < Kernel::threads) return false;
    CHECK(c.wrong([&](const ladder::Product<T>&) { ladder::run_tiles("test::ladder", exec, kernel); }) == "");
    ran = true;
  }
  return ran;
}

template <int Threads>
int check_teams_of() {
  using T = float;
  using namespace ladder;
  int ran = 0;
  ran += check_team<ScratchTiles<Space, T, 1, Threads>, T>(
      [](const Product<T>& p) { return ScratchTiles<Space, T, 1, Threads>{p}; });
  if constexpr (Threads <= (tessera::machine<Space>::is_host ? 64 : 256)) {
    ran += check_team<RegisterTiles<Space, T, Threads>, T>(
        [](const Product<T>& p) { return RegisterTiles<Space, T, Threads>(p); });
    ran += check_team<VectorLoads<Space, T, Threads>, T>(
        [](const Product<T>& p) { return VectorLoads<Space, T, Threads>(p); });
    ran += check_team<DoubleBuffering<Space, T, Threads>, T>(
        [](const Product<T>& p) { return DoubleBuffering<Space, T, Threads>(p); });
  }
  return ran;
}

template <class... Steps>
constexpr std::size_t count(const std::tuple<Steps...>*) {
  return sizeof...(Steps);
}

using Kernels = tessera::backends::gemm_ladder_steps<Space>;

template <class Step>
void check_kernel() {
  using T = tessera::bfloat16;
  const Space exec;
  for_each_case<T>([&](Case<T>& c, Rows rows) {
    INFO(Step::name);
    const ladder::Product<T> p = c.product();
    const auto plain = ladder::plain_product(p);
    const tessera::Verdict verdict = Step::can_run(plain, tessera::device_of(exec));
    if (rows != Rows::rounded && !verdict.can) {
      // what one chip's copies want, said in words
      CHECK(verdict.reason.find("16 bytes") != std::string::npos);
      return;
    }
    REQUIRE(verdict.reason == "");
    CHECK(c.wrong([&](const ladder::Product<T>&) { Step::run(exec, plain); }) == "");
  });
}

template <class... Steps>
void check_kernels(const std::tuple<Steps...>*) {
  (check_kernel<Steps>(), ...);
}

}  // namespace

TEST_CASE("the portable steps multiply fp32", "[ladder]") { check_portable_steps<float>(); }
TEST_CASE("the portable steps multiply bf16 with fp32 sums", "[ladder]") { check_portable_steps<tessera::bfloat16>(); }

TEST_CASE("the portable steps take teams of every size", "[ladder]") {
  int ran = 0;
  if constexpr (tessera::machine<Space>::is_host) {
    ran += check_teams_of<1>();
    ran += check_teams_of<2>();
    ran += check_teams_of<4>();
    ran += check_teams_of<8>();
    CHECK(ran >= 4);
  } else {
    ran += check_teams_of<64>();
    ran += check_teams_of<128>();
    ran += check_teams_of<256>();
    ran += check_teams_of<512>();
    ran += check_teams_of<1024>();
    CHECK(ran >= 12);
  }
}

TEST_CASE("the steps of the backend multiply bf16 with fp32 sums", "[ladder]") {
  if (count(static_cast<Kernels*>(nullptr)) == 0) SKIP("this backend has none of its own");
  check_kernels(static_cast<Kernels*>(nullptr));
}

TEST_CASE("a reference that is wrong is found", "[ladder]") {
  Case<float> c({40, 50, 60}, Rows::odd, false);
  const Space exec;
  const auto run = [&](const ladder::Product<float>& p) { ladder::coalesced(exec, p); };
  REQUIRE(c.wrong(run) == "");
  c.sums[77] += 0.01L;
  CHECK(c.wrong(run).starts_with("error "));
  c.sums[77] -= 0.01L;
  // one product left out
  CHECK(c.wrong([&](ladder::Product<float> p) {
           p.a.columns -= 1;
           ladder::coalesced(exec, p);
         }).starts_with("error "));
  // a column too many
  CHECK(c.wrong([&](ladder::Product<float> p) {
           p.c.columns += 1;
           p.b.columns += 1;
           ladder::coalesced(exec, p);
         }).starts_with("wrote outside C"));
}
