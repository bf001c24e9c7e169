// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <catch2/catch_test_macros.hpp>
#include <support/csr_checks.hpp>
#include <vector>

#include <tessera/spmv/any_type.hpp>

using namespace csr_checks;

TEST_CASE("spmv of any type from the header", "[spmv]") {
  check_all<std::int64_t, std::int32_t, std::int32_t>(random_csr<std::int64_t>(mixed_lengths(100, 70, 7), 33, 8), 9);
}
