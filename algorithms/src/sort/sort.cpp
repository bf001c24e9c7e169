// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <string>

#include <tessera/sort.hpp>

namespace tessera::detail {

void check_sort_bits(const char* function, int first_bit, int& last_bit, int bits, const std::source_location& where) {
  if (last_bit == -1) last_bit = bits;
  require(first_bit >= 0 && first_bit <= last_bit && last_bit <= bits, [&] {
    return Error(function, "bits " + std::to_string(first_bit) + " to " + std::to_string(last_bit) + " of the keys",
                 "0 <= first_bit <= last_bit <= " + std::to_string(bits), "Leave last_bit out for all bits", where);
  });
}

void check_sort_positions(index_t n, index_t most, const std::source_location& where) {
  require(n - 1 <= most, [&] {
    return Error("tessera::argsort", std::to_string(n) + " keys", "the index type counts to " + std::to_string(most),
                 "Use a 64-bit index", where);
  });
}

void check_sort_offsets(index_t offsets, const std::source_location& where) {
  constexpr index_t most = (index_t{1} << 32) - 2;
  require(offsets <= most, [&] {
    return Error("tessera::segmented_sort", std::to_string(offsets) + " offsets",
                 "at most " + std::to_string(most) + " are accepted", "Sort fewer segments at a time", where);
  });
}

void check_sort_plan(const SortSignature& planned, const SortSignature& given, std::size_t needed_bytes,
                     const SortWorkspace& workspace, const std::source_location& where) {
  constexpr const char* function = "tessera::SortPlan::run";
  require(workspace.bytes >= needed_bytes && (needed_bytes == 0 || workspace.pointer != nullptr), [&] {
    return Error(function, "the workspace has " + std::to_string(workspace.bytes) + " bytes",
                 "this plan needs " + std::to_string(needed_bytes), "Allocate plan.workspace_bytes()", where);
  });
  require(reinterpret_cast<std::uintptr_t>(workspace.pointer) % 16 == 0, [&] {
    return Error(function, "the workspace starts at an address that is no multiple of 16",
                 "workspaces are aligned to 16 bytes", "", where);
  });
  require(planned.n == given.n, [&] {
    return Error(function, "there are " + std::to_string(given.n) + " keys",
                 "the plan was made for " + std::to_string(planned.n), "Make another plan", where);
  });
  require(planned == given, [&] {
    return Error(function, "strides, alignment, or which views are the same differ from the plan's",
                 "a plan runs views of the shape that it was made for", "Make another plan, or call the sort itself",
                 where);
  });
}

}  // namespace tessera::detail
