// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include <tessera/core/execution.hpp>
#include <tessera/core/types.hpp>

namespace tessera::detail {

/// How a pass over the elements of C is shared among work items. On hosts an item is a piece of a row, in a loop that
/// vectors may serve. On devices it is eight elements that lie apart, so that those of neighbours lie side by side: of
/// one element each a pass over 4096 x 4096 of 16 bits took 120 us on an H200, which copies as much in 16.
template <bool Host>
struct GemmPassItems {
  static constexpr index_t run = Host ? 2048 : 8;

  /// Elements first, first + step, ...: `count` of them in row `row`.
  struct Place {
    index_t row, first, step;
    int count;
  };

  index_t rows = 0, columns = 0;
  index_t lanes = 1;   ///< items whose elements lie among one another
  index_t in_row = 0;  ///< items

  GemmPassItems(index_t m, index_t n) : rows(m), columns(n) {
    const index_t pieces = (n + run - 1) / run;
    if (!Host) lanes = pieces < 1 ? 1 : pieces < 64 ? pieces : 64;
    in_row = (pieces + lanes - 1) / lanes * lanes;
  }
  [[nodiscard]] index_t size() const { return rows * in_row; }

  [[nodiscard]] TESSERA_FUNCTION Place place(index_t item) const {
    Place p{};
    index_t piece = 0;
    if (static_cast<std::uint64_t>(rows * in_row) <= 0xffffffffu) {  // 64-bit division is slow on devices
      const auto narrow = static_cast<std::uint32_t>(item), width = static_cast<std::uint32_t>(in_row);
      p.row = narrow / width;
      piece = narrow % width;
    } else {
      p.row = item / in_row;
      piece = item % in_row;
    }
    p.step = lanes;
    p.first = piece * run;
    if constexpr (!Host) {
      const auto at = static_cast<std::uint32_t>(piece % lanes);
      p.first = (piece - at) * run + at;
    }
    const index_t left = columns > p.first ? (columns - p.first + lanes - 1) / lanes : 0;
    p.count = static_cast<int>(left < run ? left : run);
    return p;
  }

  /// store(j, load(j)) for every element j of a place; on devices all are loaded before one is stored.
  template <class T, class Load, class Store>
  TESSERA_FUNCTION static void each(const Place& p, const Load& load, const Store& store) {
    if constexpr (Host) {
      for (index_t j = p.first; j < p.first + p.count; ++j) store(j, load(j));
    } else {
      T value[run];
      for (int r = 0; r < run; ++r)
        if (r < p.count) value[r] = load(p.first + r * p.step);
      for (int r = 0; r < run; ++r)
        if (r < p.count) store(p.first + r * p.step, value[r]);
    }
  }
};

}  // namespace tessera::detail
