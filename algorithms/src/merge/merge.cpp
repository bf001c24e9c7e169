// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tessera/merge.hpp>

namespace tessera::detail {

void check_merge_extents(const char* function, const char* a_name, index_t a, const char* b_name, index_t b,
                         const char* out_name, index_t out, const std::source_location& where) {
  require(a + b == out, [&] {
    return Error(function,
                 std::string(a_name) + " has " + std::to_string(a) + " elements, " + b_name + " " + std::to_string(b) +
                     " and " + out_name + " " + std::to_string(out),
                 std::string(out_name) + " must have as many as " + a_name + " and " + b_name + " together, " +
                     std::to_string(a + b),
                 "Pass a subview of " + std::string(out_name) + " of that extent", where);
  });
}

}  // namespace tessera::detail
