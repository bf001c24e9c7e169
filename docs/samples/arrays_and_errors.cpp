// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <vector>

#include <tessera/axpby.hpp>
#include <tessera/core/scope_guard.hpp>
#include <tessera/gemv.hpp>

int main(int argc, char** argv) {
  const tessera::ScopeGuard guard(argc, argv);
  const Kokkos::DefaultHostExecutionSpace exec;
  // [adopt]
  std::vector<double> table(6 * 10, 1.0);  // somebody else's memory: 6 rows of 10, row-major
  const auto whole = tessera::adopt(table.data(), std::array<tessera::index_t, 2>{6, 10});
  const auto left = Kokkos::subview(whole, Kokkos::ALL, std::pair(0, 4));  // its first 4 columns
  std::vector<double> x(4, 2.0), y(6, 0.0);
  tessera::gemv(exec, 1.0, left, tessera::adopt(x.data(), std::array<tessera::index_t, 1>{4}), 0.0,
                tessera::adopt(y.data(), std::array<tessera::index_t, 1>{6}));
  exec.fence("sample: y is read below");
  std::printf("y(5) = %g\n", y[5]);  // 8
  // [adopt]
  // [mdspan]
  const Kokkos::mdspan<double, Kokkos::dextents<int, 2>> span(table.data(), 6, 10);
  tessera::axpby(exec, 0.0, span, 3.0, span);  // every element times 3, in place
  // [mdspan]
  exec.fence("sample: table is read below");
  std::printf("table(5, 9) = %g\n", table[59]);
  // [error]
  try {
    tessera::axpby(exec, 1.0, whole, 1.0, left);
  } catch (const tessera::Error& error) {
    // tessera::axpby: x is 6 x 10 and y is 6 x 4; x and y must have the same extents. Pass a subview of the larger
    // one, or transposed() where the dimensions are swapped. [arrays_and_errors.cpp:34]
    std::printf("%s\n", error.what());
  }
  // [error]
}
