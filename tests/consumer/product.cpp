// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product with a functor, which a static library has compiled into the kernels where there are some.
#include "clamped.hpp"
#include <algorithm>
#include <cstdio>

#include <tessera/core/scope_guard.hpp>

int main(int argc, char** argv) {
  const tessera::ScopeGuard guard(argc, argv);
  constexpr int n = 72;
  const Matrix a("a", n, n), b("b", n, n), c("c", n, n);
  Kokkos::deep_copy(a, tessera::bfloat16(1.0F));
  Kokkos::deep_copy(b, tessera::bfloat16(0.125F));
  const std::string path = clamped_product(a, b, c);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (static_cast<float>(host(i, j)) != static_cast<float>(std::clamp(n / 8 + i - j, -20, 20))) return 1;
  std::printf("consumer: %s\n", path.c_str());
  return 0;
}
