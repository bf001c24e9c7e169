// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_session.hpp>
#include <cstdlib>

#include <tessera/core/scope_guard.hpp>

int main(int argc, char** argv) {
  // what was measured on this machine changes no test; those of tuning have folders of their own
  (void)setenv("TESSERA_TUNE", "0", 1);  // NOLINT(concurrency-mt-unsafe): no other thread runs
  tessera::ScopeGuard guard(argc, argv);
  return Catch::Session().run(argc, argv);
}
