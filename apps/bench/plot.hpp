// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bench/result.hpp>
#include <string>
#include <string_view>

/// \file
/// The pictures of a report, as inline SVG. Colours and strokes come from the page's style (plot_style), so that they
/// follow its light and dark; every picture has a title and a description for those who cannot see it, and what a
/// colour tells a shape tells too.

namespace tessera::bench {

/// For text and attribute values of HTML and SVG.
[[nodiscard]] std::string escaped(std::string_view text);

/// Rates over operations for each byte, under a copy's slope and the fastest products' plateaus. Empty where no case
/// declares operations.
[[nodiscard]] std::string roofline(const Result& result);
/// The peer's time over ours for each case and peer, with quartiles. Empty where no case has a peer.
[[nodiscard]] std::string ratio_plot(const Result& result);

/// How the ratio of a case to one contender stands to 1: -1 ours is slower, +1 faster, 0 within the spread.
[[nodiscard]] int standing(const CaseResult& c, std::size_t contender);

/// CSS for both.
extern const char* const plot_style;

}  // namespace tessera::bench
