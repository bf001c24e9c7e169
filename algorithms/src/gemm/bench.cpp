// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>
#include <cmath>

#include <tessera/backends/peers.hpp>
#include <tessera/gemm.hpp>

namespace tessera::bench {
namespace {

template <class T>
using Wide = std::conditional_t<is_complex_v<T>, Kokkos::complex<double>, double>;

/// Random in both parts.
template <class View>
void fill_operand(const Space& exec, const View& view, std::uint64_t seed) {
  using T = typename View::non_const_value_type;
  if constexpr (is_complex_v<T>) {
    using Real = typename T::value_type;
    fill_random(
        exec,
        Kokkos::View<Real*, Space, Kokkos::MemoryUnmanaged>(reinterpret_cast<Real*>(view.data()), 2 * view.span()),
        seed);
  } else {
    fill_random(exec, view, seed);
  }
}

/// Checks `samples` rows of C against plain fp64 dot products: |error| <= 4 sqrt(K) eps (|A||B|) + eps_out |C|.
template <class T>
double sampled_error(const Space& exec, bool ta, bool tb, index_t m, index_t n, index_t k, const T* a, const T* b,
                     const T* c, Precision precision) {
  double worst = 0;
  const index_t rows = m < 7 ? m : 7;
  // of the accumulator, or of the operands
  const double eps = sizeof(T) >= 8 ? 2.3e-16 : precision == Precision::tf32 ? 4.9e-4 : 1.2e-7;
  const double out = sizeof(T) == 2 ? (std::is_same_v<T, half> ? 9.8e-4 : 7.9e-3) : eps;
  const double root = Kokkos::sqrt(static_cast<double>(k));
  Kokkos::parallel_reduce(
      "tessera::bench::compare", Range<Space>(exec, 0, rows * n),
      KOKKOS_LAMBDA(index_t at, double& w) {
        const index_t i = rows < 2 ? 0 : (at % rows) * (m - 1) / (rows - 1), j = at / rows;
        Wide<T> sum = 0;
        double size = 0;
        for (index_t l = 0; l < k; ++l) {
          const Wide<T> product =
              static_cast<Wide<T>>(a[ta ? l + i * k : i + l * m]) * static_cast<Wide<T>>(b[tb ? j + l * n : l + j * k]);
          sum += product;
          size += Kokkos::abs(product);
        }
        const double e = Kokkos::abs(static_cast<Wide<T>>(c[i + j * m]) - sum) /
                         (4 * root * eps * size + out * Kokkos::abs(sum) + 1e-30);
        if (!(e <= w)) w = e == e ? e : 1e300;
      },
      Kokkos::Max<double>(worst));
  return worst;
}

template <class T>
void gemm_case(const char* op, index_t m, index_t n, index_t k, bool quick, const char* forced,
               Precision precision = Precision::full, const char* set = "") {
  const bool ta = op[0] == 'T', tb = op[1] == 'T';
  Case c;
  c.only = set;
  c.name = std::string("gemm ") + type_name<T>() + (*set ? " " : "") + set + " " + op + " " + std::to_string(m) + "x" +
           std::to_string(n) + "x" + std::to_string(k) + (*forced ? " " : "") + forced +
           (precision == Precision::fp32_bf16x6   ? " bf16x6"
            : precision == Precision::fp32_tf32x3 ? " tf32x3"
            : precision == Precision::tf32        ? " tf32"
                                                  : "");
  c.algorithm = "gemm";
  const double dm = static_cast<double>(m), dn = static_cast<double>(n), dk = static_cast<double>(k);
  c.bytes = sizeof(T) * (dm * dk + dk * dn + dm * dn);
  c.flops = (is_complex_v<T> ? 8 : 2) * dm * dn * dk;
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [=, path = std::string(forced)](const Space& exec, int sets) {
    Prepared prepared;
    for (int s = 0; s < sets; ++s) {
      const auto a = make_view<T**>(exec, "a", ta ? k : m, ta ? m : k);
      const auto b = make_view<T**>(exec, "b", tb ? n : k, tb ? k : n);
      const auto out = make_view<T**>(exec, "c", m, n);
      fill_operand(exec, a, 1);
      fill_operand(exec, b, 2);
      using A = accumulator_t<T>;
      GemmOptions options;
      options.path = path;
      options.precision = precision;
      const auto with = [&](const auto& av, const auto& bv) -> std::function<void()> {
        const auto plan = plan_gemm(exec, av, bv, out, options);
        prepared.path = plan.path();
        const Kokkos::View<char*, Space> workspace(
            Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "tessera::bench::workspace"), plan.workspace_bytes());
        return [=] { plan.run(exec, A(1), av, bv, A(0), out, {workspace.data(), workspace.extent(0)}); };
      };
      const auto ours = ta ? (tb ? with(transposed(a), transposed(b)) : with(transposed(a), b))
                           : (tb ? with(a, transposed(b)) : with(a, b));
      const auto queue = peers::queue_of(exec);
      const index_t lda = ta ? k : m, ldb = tb ? n : k;
      auto others = [&] {
        if constexpr (std::is_same_v<T, float> && !is_host_space<Space>)
          if (precision == Precision::tf32)
            return peers::gemm_tf32(queue, ta, tb, m, n, k, a.data(), lda, b.data(), ldb, out.data(), m);
        return peers::gemm<T, T>(queue, ta, tb, m, n, k, T(1), a.data(), lda, b.data(), ldb, T(0), out.data(), m);
      }();
      prepared.contenders.push_back(contenders(ours, std::move(others), std::tuple(a, b, out)));
      if (s == 0)
        prepared.worst_error = [=] {
          Kokkos::deep_copy(exec, out, T(1e4));
          ours();
          return sampled_error<T>(exec, ta, tb, m, n, k, a.data(), b.data(), out.data(), precision);
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

/// A layer of a network: gelu(A B + bias), beside the plain product.
template <class T>
void epilogue_case(index_t n) {
  Case c;
  const std::string side = std::to_string(n);
  c.name = std::string("gemm ") + type_name<T>() + " bias gelu " + side + "x" + side + "x" + side;
  c.algorithm = "gemm";
  const double d = static_cast<double>(n);
  c.bytes = sizeof(T) * 3 * d * d;
  c.flops = 2 * d * d * d;
  c.footprint = c.bytes;
  c.prepare = [=](const Space& exec, int sets) {
    Prepared prepared;
    for (int s = 0; s < sets; ++s) {
      const auto a = make_view<T**>(exec, "a", n, n), b = make_view<T**>(exec, "b", n, n);
      const auto out = make_view<T**>(exec, "c", n, n);
      const auto of_rows = make_view<T*>(exec, "bias", n);
      fill_random(exec, a, 1);
      fill_random(exec, b, 2);
      fill_random(exec, of_rows, 3);
      const auto with = [&](const GemmEpilogue& epilogue) -> std::function<void()> {
        const auto plan = plan_gemm(exec, a, b, out, {.epilogue = epilogue});
        prepared.path = plan.path();
        return [=] { plan.run(exec, 1.0F, a, b, 0.0F, out); };
      };
      const auto plain = with({});
      const auto ours = with(bias_gelu_tanh(of_rows, BiasAlong::rows));
      auto peers =
          peers::gemm_bias_gelu<T>(peers::queue_of(exec), n, n, n, a.data(), b.data(), of_rows.data(), out.data());
      peers.push_back({"plain product", plain});
      prepared.contenders.push_back(contenders(ours, std::move(peers), std::tuple(a, b, of_rows, out)));
      if (s == 0)
        prepared.worst_error = [=] {
          Kokkos::deep_copy(exec, out, T(1e4));
          ours();
          double worst = 0;
          const double root = Kokkos::sqrt(static_cast<double>(n));
          const T *const pa = a.data(), *const pb = b.data(), *const pbias = of_rows.data(), *const pc = out.data();
          Kokkos::parallel_reduce(
              "tessera::bench::compare", Range<Space>(exec, 0, 4 * n),
              KOKKOS_LAMBDA(index_t at, double& w) {
                const index_t i = (at % 4) * (n - 1) / 3, j = at / 4;
                double x = static_cast<double>(pbias[i]), size = 0;
                for (index_t l = 0; l < n; ++l) {
                  const double product = static_cast<double>(pa[i + l * n]) * static_cast<double>(pb[l + j * n]);
                  x += product;
                  size += Kokkos::fabs(product);
                }
                const double f = x / (1 + Kokkos::exp(-1.5957691216057308 * x * (1 + 0.044715 * x * x)));
                // of the sum, of the hardware's tanh, of the result's type
                const double bound = 4 * root * 1.2e-7 * size + 2.5e-4 * Kokkos::fabs(x) + 8e-3 * Kokkos::fabs(f);
                const double e = Kokkos::fabs(static_cast<double>(pc[i + j * n]) - f) / (bound + 1e-30);
                if (!(e <= w)) w = e == e ? e : 1e300;
              },
              Kokkos::Max<double>(worst));
          return worst;
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

/// Checks all elements of five products of a batch as sampled_error() does.
template <class A, class C>
double batched_error(const Space& exec, const A& a, const A& b, const C& c) {
  using T = typename C::value_type;
  const auto batches = static_cast<index_t>(c.extent(0)), m = static_cast<index_t>(c.extent(1)),
             n = static_cast<index_t>(c.extent(2)), k = static_cast<index_t>(a.extent(2));
  const double eps = sizeof(T) == 8 ? 2.3e-16 : 1.2e-7;
  const double out = sizeof(T) == 2 ? (std::is_same_v<T, half> ? 9.8e-4 : 7.9e-3) : eps;
  const double root = Kokkos::sqrt(static_cast<double>(k));
  double worst = 0;
  Kokkos::parallel_reduce(
      "tessera::bench::compare", Range<Space>(exec, 0, 5 * m * n),
      KOKKOS_LAMBDA(index_t at, double& w) {
        const index_t p = at % 5 * (batches - 1) / 4, i = at / 5 / n, j = at / 5 % n;
        double sum = 0, size = 0;
        for (index_t l = 0; l < k; ++l) {
          const double product = static_cast<double>(a(p, i, l)) * static_cast<double>(b(p, l, j));
          sum += product;
          size += Kokkos::fabs(product);
        }
        const double e = Kokkos::fabs(static_cast<double>(c(p, i, j)) - sum) /
                         (4 * root * eps * size + out * Kokkos::fabs(sum) + 1e-30);
        if (!(e <= w)) w = e == e ? e : 1e300;
      },
      Kokkos::Max<double>(worst));
  return worst;
}

/// A batch of square products: matrices one behind the other, or interleaved, which no peer takes: there it has the
/// same work on matrices of its own order.
template <class T, class Layout>
void batched_case(index_t batches, index_t n, bool quick) {
  Case c;
  const std::string side = std::to_string(n);
  constexpr bool interleaved = std::is_same_v<Layout, Kokkos::LayoutLeft>;
  c.name = std::string("gemm batched ") + type_name<T>() + " " + side + "x" + side + "x" + side + " of " +
           std::to_string(batches) + (interleaved ? " interleaved" : "");
  c.algorithm = "gemm";
  const double d = static_cast<double>(n), count = static_cast<double>(batches);
  c.bytes = sizeof(T) * 3 * d * d * count;
  c.flops = 2 * d * d * d * count;
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [=](const Space& exec, int sets) {
    Prepared prepared;
    for (int s = 0; s < sets; ++s) {
      const auto a = make_view<T***, Layout>(exec, "a", batches, n, n),
                 b = make_view<T***, Layout>(exec, "b", batches, n, n),
                 out = make_view<T***, Layout>(exec, "c", batches, n, n);
      fill_random(exec, a, 1);
      fill_random(exec, b, 2);
      using Sum = accumulator_t<T>;
      const auto plan = plan_gemm(exec, a, b, out);
      prepared.path = plan.path();
      const auto ours = [=] { plan.run(exec, Sum(1), a, b, Sum(0), out); };
      prepared.contenders.push_back(contenders(
          ours, peers::gemm_batched<T>(peers::queue_of(exec), batches, n, n, n, a.data(), b.data(), out.data()),
          std::tuple(a, b, out)));
      if (s == 0)
        prepared.worst_error = [=] {
          Kokkos::deep_copy(exec, out, T(1e4));
          ours();
          return batched_error(exec, a, b, out);
        };
    }
    return prepared;
  };
  add_case(std::move(c));
}

/// Tiny products on every space, larger ones of 16-bit floats on devices.
void batched_cases() {
  using Kokkos::LayoutLeft, Kokkos::LayoutRight;
  for (const index_t n : {8, 16, 32}) {
    batched_case<float, LayoutRight>(100000, n, true);
    batched_case<double, LayoutRight>(100000, n, true);
    batched_case<float, LayoutLeft>(100000, n, false);
    batched_case<double, LayoutLeft>(100000, n, false);
  }
  if (is_host_space<Space>) return;
  batched_case<float, LayoutRight>(100000, 24, false);
  batched_case<float, LayoutRight>(16384, 64, false);
  for (const index_t n : {8, 16, 24, 32, 64}) batched_case<bfloat16, LayoutRight>(100000, n, false);
  batched_case<bfloat16, LayoutRight>(1024, 128, false);
  batched_case<bfloat16, LayoutRight>(256, 512, true);
  batched_case<bfloat16, LayoutRight>(32, 1024, false);
}

/// 300 shapes, their sides from 1 to 8192 with as many in each power of two, every other side odd.
template <class T>
void sweep_cases() {
  std::uint64_t drawn = 0;
  const auto next = [&] { return 0.5 + 0.5 * detail::uniform(300, drawn++); };  // in [0, 1)
  const auto side = [&] {
    const auto size = static_cast<index_t>(std::exp2(13 * next()));
    return next() < 0.5 ? size | 1 : size;
  };
  constexpr const char* ops[] = {"NN", "TN", "NT", "TT"};
  for (int i = 0; i < 300; ++i) {
    const char* const op = ops[static_cast<int>(4 * next())];
    const index_t m = side(), n = side(), k = side();
    gemm_case<T>(op, m, n, k, false, "", Precision::full, "sweep");
  }
}

/// Square, flat, skinny, long and unaligned ones, with every transpose.
template <class T>
void shape_cases(Precision precision = Precision::full) {
  constexpr index_t shapes[][3] = {{8192, 8192, 8192}, {4096, 4096, 4096},   {2048, 2048, 2048}, {1024, 1024, 1024},
                                   {512, 512, 512},    {16384, 16384, 1024}, {64, 8192, 8192},   {16, 8192, 8192},
                                   {8192, 8192, 64},   {4096, 14336, 4096},  {1000, 1000, 1000}, {256, 256, 65536},
                                   {3000, 5000, 700}};
  for (const auto& [m, n, k] : shapes)
    for (const char* op : {"NN", "TN", "NT", "TT"}) gemm_case<T>(op, m, n, k, false, "", precision, "shapes");
}

const Registration registration([] {
  sweep_cases<bfloat16>();
  if constexpr (!is_host_space<Space>) {
    shape_cases<bfloat16>();
    shape_cases<half>();
    shape_cases<float>(Precision::tf32);
  }
  batched_cases();
  if (is_host_space<Space>) {
    for (const index_t n : {512, 1024, 2048}) {
      gemm_case<double>("NN", n, n, n, n != 2048, "portable");
      gemm_case<float>("NN", n, n, n, n != 2048, "portable");
    }
    for (const char* op : {"TN", "NT", "TT"}) gemm_case<double>(op, 1024, 1024, 1024, false, "portable");
    gemm_case<double>("NN", 16, 16, 16, false, "portable");
    gemm_case<double>("NN", 100, 100, 100, false, "portable");
    gemm_case<bfloat16>("NN", 512, 512, 512, false, "portable");
  } else {
    for (const index_t n : {1024, 2048, 4096, 8192}) {
      gemm_case<float>("NN", n, n, n, n == 4096, "portable");
      gemm_case<double>("NN", n, n, n, n == 4096, "portable");
    }
    for (const char* op : {"TN", "NT", "TT"}) {
      gemm_case<float>(op, 4096, 4096, 4096, false, "portable");
      gemm_case<double>(op, 4096, 4096, 4096, false, "portable");
    }
    for (const index_t n : {1000, 2048, 4096, 8192}) {
      gemm_case<double>("NN", n, n, n, false, "");
      gemm_case<float>("NN", n, n, n, false, "", Precision::fp32_bf16x6);
    }
    if constexpr (!is_host_space<Space>) {
      using Complex = Kokkos::complex<double>;
      for (const index_t n : {512, 1000, 2048, 4096}) gemm_case<Complex>("NN", n, n, n, false, "");
      for (const char* op : {"TN", "NT", "TT"}) gemm_case<Complex>(op, 2048, 2048, 2048, false, "");
    }
    gemm_case<half>("NN", 4096, 4096, 4096, false, "portable");
    gemm_case<bfloat16>("NN", 4096, 4096, 4096, false, "portable");
    for (const index_t n : {512, 1000, 1024, 2048, 4096, 8192}) {
      gemm_case<half>("NN", n, n, n, false, "");
      gemm_case<bfloat16>("NN", n, n, n, false, "");
    }
    if constexpr (!is_host_space<Space>)
      for (const index_t n : {2048, 4096, 8192}) epilogue_case<bfloat16>(n);
    for (const char* op : {"NN", "TN"}) gemm_case<bfloat16>(op, 64, 4096, 4096, false, "");
    gemm_case<bfloat16>("TN", 16, 4096, 4096, false, "");
    constexpr index_t shapes[][3] = {{16384, 16384, 1024}, {64, 8192, 8192},  {16, 8192, 8192}, {8192, 8192, 64},
                                     {4096, 14336, 4096},  {256, 256, 65536}, {3000, 5000, 700}};
    for (const auto& [m, n, k] : shapes) gemm_case<bfloat16>("NN", m, n, k, false, "");
    for (const char* op : {"NN", "TN"})
      for (const index_t n : {1024, 2048, 4096, 8192}) gemm_case<float>(op, n, n, n, false, "", Precision::tf32);
    for (const index_t n : {2048, 4096, 8192}) gemm_case<float>("NN", n, n, n, false, "", Precision::fp32_tf32x3);
    for (const char* op : {"TN", "NT", "TT"}) {
      gemm_case<bfloat16>(op, 4096, 4096, 4096, false, "");
      gemm_case<bfloat16>(op, 1000, 1000, 1000, false, "");
      gemm_case<bfloat16>(op, 3000, 5000, 700, false, "");
    }
  }
});

}  // namespace
}  // namespace tessera::bench
