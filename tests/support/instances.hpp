// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <utility>

#include <tessera/core/execution.hpp>

/// Two instances that are not the default one; on a host with a single thread, which cannot be parted, the default
/// instance twice.
template <class Space>
std::pair<Space, Space> two_instances() {
  const Space whole;
  if (tessera::is_host_space<Space> && whole.concurrency() < 2) return {whole, whole};
  const auto parts = Kokkos::Experimental::partition_space(whole, 1, 1);
  return {parts[0], parts[1]};
}
