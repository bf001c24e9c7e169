// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// select and partition by flags against a serial choice.

#include <support/compaction.hpp>

#include <tessera/select.hpp>

namespace compaction {

template <class T, class Flag>
void check_flags(const Shape& sx, const Shape& sf, const Shape& sy, int share, Count count, std::mt19937& random) {
  INFO("x " << sx.text() << "; flags " << sf.text() << "; y " << sy.text() << "; share " << share << " of 100; count "
            << (count == Count::host ? "on the host" : "in a view"));
  const Operand<T> x(sx, random);
  Where chosen, others;
  const auto flags = some_flags<Flag>(sf, share, random, chosen, others);
  Operand<T> y(sy, random);
  const auto number = static_cast<index_t>(chosen.size());
  REQUIRE(counted(count, [&](const auto&... view) {
            return tessera::select(Space(), x.vector(), flags.vector(), y.vector(), view...);
          }) == number);
  require_elements(y, x, chosen);
  if (sy.rows != sx.rows) return;
  chosen.insert(chosen.end(), others.begin(), others.end());
  REQUIRE(counted(count, [&](const auto&... view) {
            return tessera::partition(Space(), x.vector(), flags.vector(), y.vector(), view...);
          }) == number);
  require_elements(y, x, chosen);
}

}  // namespace compaction
