// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bench/plot.hpp>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace tessera::bench {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  return out;
}

int standing(const CaseResult& c, std::size_t contender) {
  const double ratio = c.ratio(contender), room = 1 + c.ratio_spread(contender);
  return ratio > room ? 1 : ratio * room < 1 ? -1 : 0;
}

// The hues are Okabe and Ito's, which differ for every common kind of colour vision.
const char* const plot_style = R"(
:root { --hue0: #0072b2; --hue1: #d55e00; --hue2: #009e73; --hue3: #b8578f; --hue4: #2f96cf; --hue5: #b87b00; }
@media (prefers-color-scheme: dark) {
  :root { --hue0: #56b4e9; --hue1: #ff8c42; --hue2: #2fcf9f; --hue3: #e39cc5; --hue4: #9ad5ff; --hue5: #f0b63a; }
}
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .small { font-size: 11px; fill: var(--dim); }
svg .head { font-weight: 600; }
svg .end { text-anchor: end; }
svg .mid { text-anchor: middle; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .band { fill: var(--band); }
svg .roof { stroke: var(--ink); stroke-width: 1.6; fill: none; }
svg .plateau { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 6 4; }
svg .one { stroke: var(--ink); stroke-width: 1.6; }
svg .mark { stroke: var(--page); stroke-width: 0.8; }
svg .hue0 { fill: var(--hue0); } svg .hue1 { fill: var(--hue1); } svg .hue2 { fill: var(--hue2); }
svg .hue3 { fill: var(--hue3); } svg .hue4 { fill: var(--hue4); } svg .hue5 { fill: var(--hue5); }
svg .fast { fill: var(--hue0); } svg .slow { fill: var(--hue1); }
svg .even { fill: var(--page); stroke: var(--dim); stroke-width: 1.6; }
svg .whisker { stroke: var(--dim); stroke-width: 1.4; }
)";

namespace {

/// Numbers from `low` to `high`, by their logarithms, on pixels from `from` to `to`; what is outside goes to the edge.
struct LogScale {
  double low = 1, high = 10, from = 0, to = 1;
  [[nodiscard]] double operator()(double value) const {
    const double at = std::log(std::clamp(value, low, high) / low) / std::log(high / low);
    return from + at * (to - from);
  }
};

double decade_below(double x) { return std::pow(10, std::floor(std::log10(x) + 1e-9)); }
double decade_above(double x) { return std::pow(10, std::ceil(std::log10(x) - 1e-9)); }

/// "0.01", "1", "100", "10,000"
std::string plain(double power_of_ten) {
  const auto exponent = static_cast<int>(std::lround(std::log10(power_of_ten)));
  if (exponent < -3 || exponent > 7) return fmt::format("1e{}", exponent);
  std::string digits = fmt::format("{:.{}f}", power_of_ten, std::max(0, -exponent));
  for (int at = exponent - 2; exponent > 0 && at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string regular(int corners, double x, double y, double radius, double turn) {
  std::string points;
  for (int i = 0; i < corners; ++i) {
    const double angle = 2 * std::numbers::pi * (i + turn) / corners - std::numbers::pi / 2;
    points += fmt::format("{:.1f},{:.1f} ", x + radius * std::cos(angle), y + radius * std::sin(angle));
  }
  points.pop_back();
  return points;
}

/// One of seven shapes.
std::string mark(std::size_t shape, double x, double y, double r, std::string_view style, const std::string& title) {
  const std::string label = title.empty() ? "" : "<title>" + escaped(title) + "</title>";
  const auto polygon = [&](const std::string& points) {
    return fmt::format("<polygon class=\"mark {}\" points=\"{}\">{}</polygon>\n", style, points, label);
  };
  switch (shape % 7) {
    case 1:
      return polygon(regular(4, x, y, 1.25 * r, 0.5));
    case 2:
      return polygon(regular(3, x, y, 1.35 * r, 0));
    case 3:
      return polygon(regular(4, x, y, 1.3 * r, 0));
    case 4:
      return polygon(regular(3, x, y, 1.35 * r, 0.5));
    case 5:
      return polygon(regular(6, x, y, 1.1 * r, 0));
    case 6: {  // a cross
      const double a = 0.42 * r, b = 1.15 * r;
      return polygon(
          fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f} "
                      "{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}",
                      x - a, y - b, x + a, y - b, x + a, y - a, x + b, y - a, x + b, y + a, x + a, y + a, x + a, y + b,
                      x - a, y + b, x - a, y + a, x - b, y + a, x - b, y - a, x - a, y - a));
    }
    default:
      return fmt::format("<circle class=\"mark {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\">{}</circle>\n", style, x,
                         y, r, label);
  }
}

std::string line(std::string_view style, double x1, double y1, double x2, double y2) {
  return fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", style, x1, y1,
                     x2, y2);
}
std::string words(std::string_view style, double x, double y, std::string_view text, std::string_view more = {}) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", style, x, y, more, escaped(text));
}

std::string opening(std::string_view id, double width, double height, const std::string& title,
                    const std::string& description) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\" aria-labelledby=\"{2}-title {2}-text\">\n<title id=\"{2}-title\">{3}</title>\n"
      "<desc id=\"{2}-text\">{4}</desc>\n",
      width, height, id, escaped(title), escaped(description));
}

std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // not within a character
  return text.substr(0, end) + "\u2026";
}

std::string of_type(const std::string& type) { return type.empty() ? type : type + " "; }

struct Point {
  const CaseResult* of;
  std::size_t family;
  double intensity, gflops;
};

}  // namespace

std::string roofline(const Result& result) {
  std::vector<Point> points;
  std::vector<std::string> families;
  double x_low = 1, x_high = 1, y_low = 1e300, y_high = 0;
  const Peaks peaks = peaks_of(result);
  for (const CaseResult& c : result.cases) {
    if (!c.ran() || !(c.flops > 0) || !(c.bytes > 0)) continue;
    auto family = std::ranges::find(families, c.algorithm);
    if (family == families.end()) family = families.insert(families.end(), c.algorithm);
    const Point p{&c, static_cast<std::size_t>(family - families.begin()), c.flops / c.bytes,
                  c.flops / c.seconds() / 1e9};
    x_low = std::min(x_low, p.intensity);
    x_high = std::max(x_high, p.intensity);
    y_low = std::min(y_low, p.gflops);
    y_high = std::max({y_high, p.gflops, p.intensity * result.copy_gb_per_s * (peaks.empty() ? 1 : 0)});
    points.push_back(p);
  }
  if (points.empty()) return {};
  for (const auto& [type, peak] : peaks) {
    y_high = std::max(y_high, peak);
    x_high = std::max(x_high, 4 * peak / result.copy_gb_per_s);
  }
  constexpr double width = 980, height = 540, left = 82, right = 800, top = 14, bottom = 480;
  const LogScale x{decade_below(x_low * 0.99), decade_above(x_high * 1.01), left, right};
  const LogScale y{decade_below(y_low), decade_above(y_high * 1.3), bottom, top};

  std::string out = opening(
      "roofline", width, height, "Roofline of " + result.device,
      fmt::format("{} cases by operations for each byte (across) and rate in GFLOP/s (up), both on logarithmic axes, "
                  "under the slope of a copy at {:.0f} GB/s and the rates of the fastest products of this run. "
                  "Every number is in the table below.",
                  points.size(), result.copy_gb_per_s));
  // no more than ten labels, whatever the numbers are
  const auto stride = [](const LogScale& s) { return std::pow(10, std::ceil(std::log10(s.high / s.low) / 10)); };
  for (double v = x.low; v <= x.high * 1.01; v *= stride(x)) {
    out += line("grid", x(v), top, x(v), bottom) + words("small mid", x(v), bottom + 17, plain(v));
  }
  for (double v = y.low; v <= y.high * 1.01; v *= stride(y))
    out += line("grid", left, y(v), right, y(v)) + words("small end", left - 7, y(v) + 4, plain(v));
  out += words("mid", (left + right) / 2, bottom + 40, "operations for each byte that must move [FLOP/byte]");
  out += words("mid", 0, 0, "rate [GFLOP/s]",
               fmt::format(" transform=\"translate(16 {:.0f}) rotate(-90)\"", (top + bottom) / 2));

  // the slope, from where it enters the picture to where it leaves it or meets the highest plateau
  double highest = y.high;
  if (!peaks.empty()) {
    highest = 0;
    for (const auto& [type, peak] : peaks) highest = std::max(highest, peak);
  }
  const double begin = std::max(x.low, y.low / result.copy_gb_per_s);
  const double end = std::min({x.high, highest / result.copy_gb_per_s});
  if (begin < end) {
    const double x1 = x(begin), y1 = y(begin * result.copy_gb_per_s), x2 = x(end), y2 = y(end * result.copy_gb_per_s);
    out += line("roof", x1, y1, x2, y2);
    out += words("", 0, -7, fmt::format("copy {:.0f} GB/s, measured", result.copy_gb_per_s),
                 fmt::format(" transform=\"translate({:.1f} {:.1f}) rotate({:.2f})\"", x1 + 0.04 * (x2 - x1),
                             y1 + 0.04 * (y2 - y1), std::atan2(y2 - y1, x2 - x1) * 180 / std::numbers::pi));
  }
  std::vector<std::pair<double, std::string>> plateaus;
  for (const auto& [type, peak] : peaks) plateaus.emplace_back(peak, type);
  std::ranges::sort(plateaus);
  double label = bottom;
  for (const auto& [peak, type] : plateaus) {
    out += line("plateau", x(peak / result.copy_gb_per_s), y(peak), right, y(peak));
    label = std::min(label - 14, y(peak) + 4);
    out += words("small", right + 8, label, fmt::format("{}{:.1f} TFLOP/s", of_type(type), peak / 1e3));
  }
  for (const Point& p : points)
    out +=
        mark(p.family, x(p.intensity), y(p.gflops), 4.6, fmt::format("hue{}", p.family % 6),
             fmt::format("{}: {:.4g} GFLOP/s at {:.3g} FLOP/byte; {}", p.of->name, p.gflops, p.intensity, p.of->path));
  // the key: below the plateaus' labels where it fits there, else above them
  const double tall = 19.0 * static_cast<double>(families.size());
  const double lowest = plateaus.empty() ? top : y(plateaus.front().first) + 4;
  double at = lowest + 30 + tall < bottom + 40 ? lowest + 30 : top + 14;
  for (std::size_t i = 0; i < families.size() && at < bottom + 50; ++i, at += 19) {
    out += mark(i, right + 16, at - 4, 5, fmt::format("hue{}", i % 6), "");
    out += words("", right + 28, at, shortened(families[i], 20));
  }
  return out + "</svg>\n";
}

std::string ratio_plot(const Result& result) {
  struct Row {
    const CaseResult* of;
    std::size_t contender;
  };
  std::vector<Row> rows;
  std::size_t heads = 0, counts[3] = {0, 0, 0};
  double low = 0.5, high = 2;
  std::string family;
  for (const CaseResult& c : result.cases)
    for (std::size_t i = 1; i < c.timings.size(); ++i) {
      rows.push_back({&c, i});
      if (rows.size() == 1 || c.algorithm != family) ++heads;
      family = c.algorithm;
      low = std::min(low, c.ratio(i) / (1 + c.ratio_spread(i)));
      high = std::max(high, c.ratio(i) * (1 + c.ratio_spread(i)));
      ++counts[1 + standing(c, i)];
    }
  if (rows.empty()) return {};
  constexpr double width = 980, left = 290, right = 770, top = 34, step = 17;
  const auto power = [](double exponent) { return std::pow(2, std::clamp(exponent, -12.0, 12.0)); };
  const LogScale x{power(std::floor(std::log2(low))), power(std::ceil(std::log2(high))), left, right};
  const double bottom = top + step * static_cast<double>(rows.size() + heads) + 4;

  std::string out = opening(
      "ratios", width, bottom + 48, "Ratio of each peer's time to ours on " + result.device,
      fmt::format(
          "{} pairs of a case and a peer, on a logarithmic axis: ours is faster in {}, slower in {}, and within "
          "the spread in {}. Every number is in the table below.",
          rows.size(), counts[2], counts[0], counts[1]));
  double y = top;
  std::string marks;
  family.clear();
  bool shaded = false;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const CaseResult& c = *rows[r].of;
    const std::size_t i = rows[r].contender;
    if (r == 0 || c.algorithm != family) {
      family = c.algorithm;
      marks += words("head", 4, y + 13, shortened(family, 40));
      y += step;
    }
    const bool first = i == 1;
    if (first) shaded = !shaded;
    if (shaded)
      out += fmt::format("<rect class=\"band\" x=\"0\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.0f}\"/>\n", y, width,
                         step);
    const double middle = y + step / 2, ratio = c.ratio(i), room = 1 + c.ratio_spread(i);
    if (first) marks += words("end", left - 12, middle + 4, shortened(c.name, 44));
    marks += line("whisker", x(ratio / room), middle, x(ratio * room), middle);
    for (const double end : {ratio / room, ratio * room})
      marks += line("whisker", x(end), middle - 3.5, x(end), middle + 3.5);
    const int side = standing(c, i);
    marks += mark(side > 0   ? 0
                  : side < 0 ? 4
                             : 1,
                  x(ratio), middle, side == 0 ? 3.2 : 4.3,
                  side > 0   ? "fast"
                  : side < 0 ? "slow"
                             : "even",
                  fmt::format("{} against {}: {:.3f}, quartiles within {:.1f} %", c.name, c.timings[i].name, ratio,
                              100 * c.ratio_spread(i)));
    marks +=
        words("end", right + 52, middle + 4, ratio < 100 ? fmt::format("{:.2f}", ratio) : fmt::format("{:.3g}", ratio));
    marks +=
        words("small", right + 62, middle + 4, shortened(c.timings[i].name, 24) + (c.verified ? "" : " (ours WRONG)"));
    y += step;
  }
  const double stride = std::pow(2, std::ceil(std::log2(x.high / x.low) / 14));
  for (double v = x.low; v <= x.high * 1.01; v *= stride) {
    out += line("grid", x(v), top, x(v), bottom);
    const std::string label = v < 1 ? fmt::format("1/{:.0f}", 1 / v) : fmt::format("{:.0f}", v);
    out += words("small mid", x(v), top - 8, label) + words("small mid", x(v), bottom + 15, label);
  }
  out += line("one", x(1), top - 3, x(1), bottom + 3) + marks;
  out += words("small", right + 30, top - 8, "ratio") + words("small", right + 62, top - 8, "peer");
  const double key = bottom + 36;
  out += mark(0, left + 6, key - 4, 4.3, "fast", "") + words("", left + 16, key, "ours is faster");
  out += mark(4, left + 126, key - 4, 4.3, "slow", "") + words("", left + 136, key, "the peer is faster");
  out += mark(1, left + 266, key - 4, 3.2, "even", "") + words("", left + 276, key, "within the quartiles of both");
  return out + "</svg>\n";
}

}  // namespace tessera::bench
