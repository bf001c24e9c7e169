// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <string_view>
#include <vector>

/// \file
/// A stroke font for pictures: ASCII, capital letters 6 units high, y upwards from the baseline.

namespace tessera::app {

struct Point {
  double x = 0;
  double y = 0;
};
using Polyline = std::vector<Point>;

/// The pen's strokes for a text that starts at (0, 0). "^{...}" raises what is in the braces: "10^{-3}".
/// Characters that the font does not have are drawn as '?'.
[[nodiscard]] std::vector<Polyline> text_strokes(std::string_view text);
/// Advance of the whole text [units].
[[nodiscard]] double text_width(std::string_view text);

}  // namespace tessera::app
