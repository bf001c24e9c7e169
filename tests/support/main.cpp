// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_session.hpp>

#include <tessera/core/scope_guard.hpp>

int main(int argc, char** argv) {
  tessera::ScopeGuard guard(argc, argv);
  return Catch::Session().run(argc, argv);
}
