// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include <tessera/core/plan.hpp>
#include <tessera/sort/problem.hpp>

namespace tessera::backends {

/// A sort of 4-byte integers as CUB is asked for it: contiguous, ascending, by the whole key or part of it.
struct CubSort {
  const void* keys_in = nullptr;
  void* keys_out = nullptr;  ///< the same as keys_in, or disjoint from it
  const std::uint32_t* values_in = nullptr;
  std::uint32_t* values_out = nullptr;  ///< null: keys alone
  int n = 0;
  int first_bit = 0, last_bit = 32;
  bool is_signed = false;
};

/// Whether CUB takes the sort and is measured to be faster than the portable kernel.
Verdict cub_sort_can_run(const SortSignature& sort);
std::size_t cub_sort_workspace_bytes(const CubSort& sort);
void cub_sort_run(const CubSort& sort, void* workspace, std::size_t bytes, void* stream);

/// sort and sort_by_key of many 4-byte integers by CUB's radix sort.
struct SortCub {
  static constexpr std::string_view name = "cuda:cub";

  template <class Key, class Space>
  static constexpr bool supports =
      std::same_as<Space, Kokkos::Cuda> && !Key::is_float && sizeof(typename Key::word) == 4;

  static std::uint64_t state() { return 0; }

  template <class Key>
  static Verdict can_run(const SortProblem<Key>& p, const DeviceInfo&) {
    return cub_sort_can_run(signature_of(p));
  }
  template <class Key>
  static std::string configuration(const SortProblem<Key>&, const DeviceInfo&) {
    return {};
  }
  template <class Key, class Space>
  static std::size_t workspace_bytes(const Space&, const SortProblem<Key>& p) {
    return cub_sort_workspace_bytes(translate(p));
  }
  template <class Key, class Space>
  static void run(const Space& exec, const SortProblem<Key>& p, const SortWorkspace& workspace) {
    cub_sort_run(translate(p), workspace.pointer, workspace_bytes(exec, p), exec.cuda_stream());
  }

 private:
  template <class Key>
  static CubSort translate(const SortProblem<Key>& p) {
    return {p.keys_in.pointer,
            p.keys_out.pointer,
            static_cast<const std::uint32_t*>(p.values_in.pointer),
            static_cast<std::uint32_t*>(p.values_out.pointer),
            static_cast<int>(p.n()),
            p.first_bit,
            p.last_bit,
            p.order.flip == Key::sign};
  }
};

}  // namespace tessera::backends
