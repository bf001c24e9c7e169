// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bench/case.hpp>

#include <tessera/backends/peers.hpp>
#include <tessera/spmv.hpp>

namespace tessera::bench {
namespace {

template <class T>
using Matrix = CsrMatrix<T, std::int32_t, std::int32_t, Space::memory_space>;

/// The 27-point operator on an n^3 grid: 26 on the diagonal, -1 off it, rows by the grid's natural order.
template <class T>
Matrix<T> make_27_point(const Space& exec, index_t n) {
  const index_t rows = n * n * n;
  const Kokkos::View<std::int32_t*, Space::memory_space> offsets("tessera::bench::offsets",
                                                                 static_cast<std::size_t>(rows + 1));
  std::int32_t nnz = 0;
  Kokkos::parallel_scan(
      "tessera::bench::offsets", Range<Space>(exec, 0, rows + 1),
      KOKKOS_LAMBDA(index_t row, std::int32_t& sum, bool final) {
        if (final) offsets(row) = sum;
        if (row == rows) return;
        const index_t at[3] = {row % n, row / n % n, row / n / n};
        std::int32_t count = 1;
        for (int d = 0; d < 3; ++d) count *= 1 + (at[d] > 0) + (at[d] < n - 1);
        sum += count;
      },
      nnz);
  const Kokkos::View<std::int32_t*, Space::memory_space> columns("tessera::bench::columns",
                                                                 static_cast<std::size_t>(nnz));
  const Kokkos::View<T*, Space::memory_space> values("tessera::bench::values", static_cast<std::size_t>(nnz));
  Kokkos::parallel_for(
      "tessera::bench::fill_27_point", Range<Space>(exec, 0, rows), KOKKOS_LAMBDA(index_t row) {
        const index_t x = row % n, y = row / n % n, z = row / n / n;
        std::int32_t k = offsets(row);
        for (index_t dz = -1; dz <= 1; ++dz)
          for (index_t dy = -1; dy <= 1; ++dy)
            for (index_t dx = -1; dx <= 1; ++dx) {
              if (x + dx < 0 || x + dx >= n || y + dy < 0 || y + dy >= n || z + dz < 0 || z + dz >= n) continue;
              columns(k) = static_cast<std::int32_t>(row + dx + n * (dy + n * dz));
              values(k) = dx == 0 && dy == 0 && dz == 0 ? T(26) : T(-1);
              ++k;
            }
      });
  exec.fence("tessera::bench::matrix");
  return Matrix<T>{rows, rows, offsets, columns, values};
}

template <class T>
void spmv_case(index_t n, bool quick) {
  Case c;
  c.name = std::string("spmv ") + type_name<T>() + " 27-point " + std::to_string(n) + "^3";
  c.algorithm = "spmv";
  const double rows = static_cast<double>(n * n * n);
  const double width = static_cast<double>(3 * n - 2);
  const double nnz = width * width * width;
  c.bytes = nnz * (sizeof(T) + 4) + rows * (4 + 2 * sizeof(T));
  c.flops = 2 * nnz;
  c.footprint = c.bytes;
  c.quick = quick;
  c.prepare = [=](const Space& exec, int sets) {
    Prepared prepared;
    for (int s = 0; s < sets; ++s) {
      const auto a = make_27_point<T>(exec, n);
      const auto x = make_view<T*>(exec, "x", a.rows);
      const auto y = make_view<T*>(exec, "y", a.rows);
      fill_random(exec, x, 1);
      const auto plan = plan_spmv(exec, a, Op::none);
      prepared.path = plan.path();
      const auto ours = [=] { plan.run(exec, T(1), a, x, T(0), y); };
      prepared.contenders.push_back(
          contenders(ours,
                     peers::spmv<T>(peers::queue_of(exec), a.rows, a.cols, a.nnz(), a.row_offsets.data(),
                                    a.columns.data(), a.values.data(), x.data(), y.data()),
                     std::tuple(a, x, y)));
      if (s == 0)
        prepared.worst_error = [=] {
          Kokkos::deep_copy(exec, y, T(1e30));
          ours();
          double worst = 0;
          const auto offsets = a.row_offsets;
          const auto columns = a.columns;
          const auto values = a.values;
          Kokkos::parallel_reduce(
              "tessera::bench::compare", Range<Space>(exec, 0, a.rows),
              KOKKOS_LAMBDA(index_t i, double& w) {
                double sum = 0, size = 0;
                for (auto k = offsets(i); k < offsets(i + 1); ++k) {
                  const double product = static_cast<double>(values(k)) * x(columns(k));
                  sum += product;
                  size += Kokkos::fabs(product);
                }
                const double eps = sizeof(T) == 4 ? 1.2e-7 : 2.3e-16;
                const double e = Kokkos::fabs(y(i) - sum) / (27 * eps * size);
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

const Registration registration([] {
  spmv_case<double>(is_host_space<Space> ? 96 : 192, true);
  spmv_case<float>(is_host_space<Space> ? 96 : 192, false);
  spmv_case<double>(is_host_space<Space> ? 24 : 64, false);
});

}  // namespace
}  // namespace tessera::bench
