// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <common/files.hpp>
#include <common/font.hpp>
#include <common/picture.hpp>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace tessera::app {
namespace {

constexpr Colour ink = {38, 38, 44};
constexpr Colour faint = {226, 226, 230};
constexpr Colour fainter = {241, 241, 244};
constexpr double text_scale = 2.0;  // pixels a unit of the font: capitals are 12 pixels high
constexpr double title_scale = 2.5;
constexpr double cap_units = 6;
// Told apart with any colour vision (after M. Okabe and K. Ito, 2008).
constexpr Colour series_colours[] = {{0, 114, 178}, {213, 94, 0},   {0, 158, 115}, {204, 121, 167},
                                     {230, 159, 0}, {86, 180, 233}, {80, 80, 80}};

/// Draws with soft edges on an image.
class Pen {
 public:
  explicit Pen(Image& image)
      : m_image(image), m_cover(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height), 0.0f) {}

  /// Lines with round ends, in pixels; all of them one stroke, so that crossings are not darker.
  void draw(const std::vector<Polyline>& lines, double width, Colour colour) {
    m_x0 = m_image.width, m_y0 = m_image.height, m_x1 = -1, m_y1 = -1;
    for (const Polyline& line : lines) {
      if (line.size() == 1) cover(line[0], line[0], width);
      for (std::size_t i = 1; i < line.size(); ++i) cover(line[i - 1], line[i], width);
    }
    for (int y = m_y0; y <= m_y1; ++y)
      for (int x = m_x0; x <= m_x1; ++x) {
        float& c = m_cover[static_cast<std::size_t>(y) * m_image.width + x];
        if (c <= 0) continue;
        Colour& p = m_image.at(x, y);
        for (std::size_t k = 0; k < 3; ++k)
          p[k] = static_cast<std::uint8_t>(std::lround(p[k] + c * (static_cast<float>(colour[k]) - p[k])));
        c = 0;
      }
  }

  void fill(int x0, int y0, int x1, int y1, Colour colour) {
    for (int y = std::max(y0, 0); y < std::min(y1, m_image.height); ++y)
      for (int x = std::max(x0, 0); x < std::min(x1, m_image.width); ++x) m_image.at(x, y) = colour;
  }

  /// \param anchor  0 the text begins at x, 0.5 it is centred there, 1 it ends there; y is the baseline
  /// \param upwards read from below to above
  void text(std::string_view words, double x, double y, double scale, double anchor, bool upwards = false,
            Colour colour = ink) {
    const double shift = -anchor * text_width(words) * scale;
    std::vector<Polyline> strokes = text_strokes(words);
    for (Polyline& line : strokes)
      for (Point& p : line) {
        const double along = shift + p.x * scale, up = p.y * scale;
        p = upwards ? Point{x - up, y - along} : Point{x + along, y - up};
      }
    draw(strokes, 0.42 + 0.52 * scale, colour);
  }

 private:
  void cover(Point a, Point b, double width) {
    const double half = 0.5 * width;
    const int x0 = std::max(0, static_cast<int>(std::floor(std::min(a.x, b.x) - half - 1)));
    const int x1 = std::min(m_image.width - 1, static_cast<int>(std::ceil(std::max(a.x, b.x) + half + 1)));
    const int y0 = std::max(0, static_cast<int>(std::floor(std::min(a.y, b.y) - half - 1)));
    const int y1 = std::min(m_image.height - 1, static_cast<int>(std::ceil(std::max(a.y, b.y) + half + 1)));
    m_x0 = std::min(m_x0, x0), m_x1 = std::max(m_x1, x1), m_y0 = std::min(m_y0, y0), m_y1 = std::max(m_y1, y1);
    const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    for (int y = y0; y <= y1; ++y)
      for (int x = x0; x <= x1; ++x) {
        const double px = x + 0.5 - a.x, py = y + 0.5 - a.y;
        const double t = length2 > 0 ? std::clamp((px * dx + py * dy) / length2, 0.0, 1.0) : 0;
        const double distance = std::hypot(px - t * dx, py - t * dy);
        const auto c = static_cast<float>(std::clamp(half + 0.5 - distance, 0.0, 1.0));
        float& known = m_cover[static_cast<std::size_t>(y) * m_image.width + x];
        known = std::max(known, c);
      }
  }

  Image& m_image;
  std::vector<float> m_cover;
  int m_x0 = 0, m_x1 = -1, m_y0 = 0, m_y1 = -1;
};

struct Tick {
  double value = 0;
  std::string label;  // empty: a minor tick
};

/// A range of values along `pixels` from `begin` to `end`, with its ticks.
class Axis {
 public:
  Axis(double least, double greatest, bool logarithmic, double begin, double end, int about)
      : m_log(logarithmic), m_begin(begin), m_end(end) {
    m_low = m_log ? std::log10(least) : least;
    m_high = m_log ? std::log10(greatest) : greatest;
    if (!(m_high > m_low)) {
      const double half = m_log ? 0.5 : std::max(std::abs(m_low) * 0.05, 1e-300);
      m_low -= half;
      m_high += half;
    }
    if (m_log)
      logarithmic_ticks(about);
    else
      linear_ticks(about);
  }

  void widen(double share) {
    const double by = share * (m_high - m_low);
    m_low -= by;
    m_high += by;
  }
  [[nodiscard]] double pixel(double value) const {
    const double v = m_log ? std::log10(value) : value;
    return m_begin + (v - m_low) / (m_high - m_low) * (m_end - m_begin);
  }
  [[nodiscard]] const std::vector<Tick>& ticks() const { return m_ticks; }
  [[nodiscard]] bool inside(double value) const {
    const double v = m_log ? std::log10(value) : value, slack = 1e-9 * (m_high - m_low);
    return v >= m_low - slack && v <= m_high + slack;
  }

 private:
  void linear_ticks(int about) {
    const double rough = (m_high - m_low) / about;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    const double mantissa = rough / power;
    const double step = power * (mantissa < 1.5 ? 1 : mantissa < 3.5 ? 2 : mantissa < 7.5 ? 5 : 10);
    const double largest = std::max(std::abs(m_low), std::abs(m_high));
    const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
    for (double k = std::ceil(m_low / step - 1e-9); k * step <= m_high + 1e-9 * step; ++k) {
      const double v = k * step;
      m_ticks.push_back({v, number(k == 0 ? 0.0 : v, decimals, largest, step)});
    }
  }
  static std::string number(double v, int decimals, double largest, double step) {
    if (v == 0) return "0";
    if (largest < 1e5 && decimals <= 4) return fmt::format("{:.{}f}", v, decimals);
    const int exponent = static_cast<int>(std::floor(std::log10(largest)));
    const int digits = std::max(0, exponent - static_cast<int>(std::floor(std::log10(step) + 1e-9)));
    return fmt::format("{:.{}f}x10^{{{}}}", v / std::pow(10.0, exponent), digits, exponent);
  }
  void logarithmic_ticks(int about) {
    const int first = static_cast<int>(std::ceil(m_low - 1e-9)), last = static_cast<int>(std::floor(m_high + 1e-9));
    const int decades = std::max(1, last - first);
    const int stride = std::max(1, (decades + about - 1) / about);
    if (last - first < 1) {  // within a decade or so: plain numbers
      for (int d = first - 1; d <= last; ++d)
        for (const int m : {1, 2, 3, 5, 7}) {
          const double v = m * std::pow(10.0, d);
          if (inside(v))
            m_ticks.push_back({v, std::abs(d) <= 3 ? fmt::format("{:g}", v) : fmt::format("{}x10^{{{}}}", m, d)});
        }
      return;
    }
    for (int d = first; d <= last; ++d) {
      const bool labelled = (d - first) % stride == 0;
      if (labelled || stride > 1) m_ticks.push_back({std::pow(10.0, d), labelled ? power_label(d) : ""});
    }
    if (stride == 1 && decades <= 6)
      for (int d = first - 1; d <= last; ++d)
        for (int m = 2; m < 10; ++m)
          if (const double v = m * std::pow(10.0, d); inside(v)) m_ticks.push_back({v, ""});
  }
  static std::string power_label(int d) {
    if (d >= 0 && d <= 3) return fmt::format("{:g}", std::pow(10.0, d));
    return fmt::format("10^{{{}}}", d);
  }

  bool m_log;
  double m_begin, m_end, m_low = 0, m_high = 1;
  std::vector<Tick> m_ticks;
};

double widest_label(const Axis& axis) {
  double widest = 0;
  for (const Tick& t : axis.ticks()) widest = std::max(widest, text_width(t.label));
  return widest * text_scale;
}

bool drawable(const PlotOptions& o, double x, double y) {
  return std::isfinite(x) && std::isfinite(y) && (!o.log_x || x > 0) && (!o.log_y || y > 0);
}

}  // namespace

Image line_plot(std::span<const Series> series, const PlotOptions& o) {
  Image image(o.width, o.height);
  Pen pen(image);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double x0 = infinity, x1 = -infinity, y0 = infinity, y1 = -infinity;
  for (const Series& s : series)
    for (std::size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i) {
      if (!drawable(o, s.x[i], s.y[i])) continue;
      x0 = std::min(x0, s.x[i]), x1 = std::max(x1, s.x[i]);
      y0 = std::min(y0, s.y[i]), y1 = std::max(y1, s.y[i]);
    }
  if (!(x1 >= x0)) x0 = o.log_x ? 0.1 : 0, x1 = 1, y0 = o.log_y ? 0.1 : 0, y1 = 1;

  const bool legend = std::any_of(series.begin(), series.end(), [](const Series& s) { return !s.name.empty(); });
  const double line_height = cap_units * text_scale;
  const double top = o.title.empty() ? 24 : 60;
  const double bottom = o.height - (o.x_label.empty() ? 44 : 78);
  Axis vertical(y0, y1, o.log_y, bottom, top, std::max(3, static_cast<int>((bottom - top) / 70)));
  const double left = 22 + widest_label(vertical) + 12 + (o.y_label.empty() ? 0 : line_height + 16);
  const double right = o.width - 30;
  Axis horizontal(x0, x1, o.log_x, left, right, std::max(3, static_cast<int>((right - left) / 110)));
  vertical.widen(0.04);
  horizontal.widen(0.02);

  for (const bool labelled : {false, true}) {
    const Colour colour = labelled ? faint : fainter;
    for (const Tick& t : horizontal.ticks())
      if (t.label.empty() != labelled)
        pen.draw({{{horizontal.pixel(t.value), top}, {horizontal.pixel(t.value), bottom}}}, 1, colour);
    for (const Tick& t : vertical.ticks())
      if (t.label.empty() != labelled)
        pen.draw({{{left, vertical.pixel(t.value)}, {right, vertical.pixel(t.value)}}}, 1, colour);
  }
  for (const Tick& t : horizontal.ticks()) {
    const double x = horizontal.pixel(t.value);
    pen.draw({{{x, bottom}, {x, bottom + (t.label.empty() ? 3 : 6)}}}, 1.2, ink);
    pen.text(t.label, x, bottom + 12 + line_height, text_scale, 0.5);
  }
  for (const Tick& t : vertical.ticks()) {
    const double y = vertical.pixel(t.value);
    pen.draw({{{left - (t.label.empty() ? 3 : 6), y}, {left, y}}}, 1.2, ink);
    pen.text(t.label, left - 11, y + 0.5 * line_height, text_scale, 1);
  }

  const auto colour_of = [](std::size_t s) { return series_colours[s % std::size(series_colours)]; };
  for (std::size_t s = 0; s < series.size(); ++s) {
    std::vector<Polyline> lines(1);
    std::vector<Polyline> points;
    for (std::size_t i = 0; i < std::min(series[s].x.size(), series[s].y.size()); ++i) {
      if (!drawable(o, series[s].x[i], series[s].y[i])) {
        lines.emplace_back();
        continue;
      }
      const Point p{horizontal.pixel(series[s].x[i]), vertical.pixel(series[s].y[i])};
      lines.back().push_back(p);
      points.push_back({p});
    }
    pen.draw(lines, 2.2, colour_of(s));
    if (o.markers) pen.draw(points, 8, colour_of(s));
  }
  pen.draw({{{left, top}, {left, bottom}, {right, bottom}, {right, top}, {left, top}}}, 1.4, ink);

  if (legend) {
    double widest = 0;
    for (const Series& s : series) widest = std::max(widest, text_width(s.name) * text_scale);
    const double row = line_height + 12, width = widest + 64, height = row * static_cast<double>(series.size()) + 12;
    // in the corner where the fewest points lie
    double best_x = 0, best_y = 0;
    std::size_t fewest = ~std::size_t{0};
    for (const bool low : {false, true})
      for (const bool to_left : {false, true}) {
        const double x = to_left ? left + 14 : right - width - 14, y = low ? bottom - height - 14 : top + 14;
        std::size_t hidden = 0;
        for (const Series& s : series)
          for (std::size_t i = 0; i < std::min(s.x.size(), s.y.size()); ++i)
            if (drawable(o, s.x[i], s.y[i])) {
              const double px = horizontal.pixel(s.x[i]), py = vertical.pixel(s.y[i]);
              hidden += px > x - 8 && px < x + width + 8 && py > y - 8 && py < y + height + 8;
            }
        if (hidden < fewest) fewest = hidden, best_x = x, best_y = y;
      }
    pen.fill(static_cast<int>(best_x), static_cast<int>(best_y), static_cast<int>(best_x + width),
             static_cast<int>(best_y + height), {255, 255, 255});
    pen.draw({{{best_x, best_y},
               {best_x + width, best_y},
               {best_x + width, best_y + height},
               {best_x, best_y + height},
               {best_x, best_y}}},
             1, faint);
    for (std::size_t s = 0; s < series.size(); ++s) {
      const double y = best_y + 12 + row * static_cast<double>(s) + 0.5 * line_height;
      pen.draw({{{best_x + 12, y}, {best_x + 42, y}}}, 2.6, colour_of(s));
      pen.text(series[s].name, best_x + 52, y + 0.5 * line_height, text_scale, 0);
    }
  }
  pen.text(o.title, 0.5 * (left + right), 38, title_scale, 0.5);
  pen.text(o.x_label, 0.5 * (left + right), o.height - 18, text_scale, 0.5);
  pen.text(o.y_label, 20 + line_height, 0.5 * (top + bottom), text_scale, 0.5, true);
  return image;
}

namespace {

/// Linear sRGB of a colour in Oklab (B. Ottosson, 2020), where distance is close to the difference that is seen.
std::array<double, 3> linear_rgb(double lightness, double chroma, double hue) {
  const double a = chroma * std::cos(hue), b = chroma * std::sin(hue);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return {+4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

constexpr int map_steps = 512;
double map_lightness(double t) { return 0.20 + 0.76 * t; }
double map_hue(double t) { return (305 - 197 * t) * 3.14159265358979323846 / 180; }

/// Equal steps of lightness, hue turning from violet through blue and green to yellow, and the most chroma that a
/// screen can show along the way, rounded off so that no edge is seen where there is none in the data.
std::vector<Colour> make_colour_map() {
  constexpr double most = 0.17;
  constexpr int window = map_steps / 8;
  std::vector<double> limit(map_steps), smooth(map_steps);
  for (int i = 0; i < map_steps; ++i) {
    const double t = i / (map_steps - 1.0);
    double low = 0, high = most;
    for (int k = 0; k < 40; ++k) {
      const double middle = 0.5 * (low + high);
      const auto rgb = linear_rgb(map_lightness(t), middle, map_hue(t));
      const bool shown = std::all_of(rgb.begin(), rgb.end(), [](double v) { return v >= 0 && v <= 1; });
      (shown ? low : high) = middle;
    }
    limit[static_cast<std::size_t>(i)] = low;
  }
  // the least within a window, then the mean over half of it: never above the limit, and without kinks
  const auto filtered = [](const std::vector<double>& v, int reach, bool least) {
    std::vector<double> out(v.size());
    for (int i = 0; i < map_steps; ++i) {
      const int from = std::max(0, i - reach), to = std::min(map_steps - 1, i + reach);
      double sum = 0, minimum = v[static_cast<std::size_t>(from)];
      for (int k = from; k <= to; ++k) {
        sum += v[static_cast<std::size_t>(k)];
        minimum = std::min(minimum, v[static_cast<std::size_t>(k)]);
      }
      out[static_cast<std::size_t>(i)] = least ? minimum : sum / (to - from + 1);
    }
    return out;
  };
  smooth = filtered(filtered(filtered(limit, window, true), window / 2, false), window / 2, false);
  std::vector<Colour> map(map_steps);
  for (int i = 0; i < map_steps; ++i) {
    const double t = i / (map_steps - 1.0);
    const auto rgb = linear_rgb(map_lightness(t), smooth[static_cast<std::size_t>(i)], map_hue(t));
    for (std::size_t c = 0; c < 3; ++c) {
      const double v = std::clamp(rgb[c], 0.0, 1.0);
      const double coded = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
      map[static_cast<std::size_t>(i)][c] = static_cast<std::uint8_t>(std::lround(255 * coded));
    }
  }
  return map;
}

}  // namespace

Colour colour_map(double t) {
  static const std::vector<Colour> map = make_colour_map();
  return map[static_cast<std::size_t>(std::lround(std::clamp(t, 0.0, 1.0) * (map_steps - 1)))];
}

Image heatmap(std::span<const double> values, int rows, int columns, const HeatmapOptions& o) {
  double low = o.value_range[0], high = o.value_range[1];
  if (low == high) {
    low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double v : values)
      if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
    if (!(high >= low)) low = 0, high = 1;
    if (high == low) high = low + std::max(std::abs(low) * 1e-6, 1e-300);
  }
  const auto colour_of = [&](double v) {
    if (!std::isfinite(v)) return Colour{170, 170, 170};
    return colour_map((v - low) / (high - low));
  };

  const double scale = static_cast<double>(o.size) / std::max({rows, columns, 1});
  const int field_width = std::max(1, static_cast<int>(std::lround(scale * columns)));
  const int field_height = std::max(1, static_cast<int>(std::lround(scale * rows)));
  const double line_height = cap_units * text_scale;
  const int top = o.title.empty() ? 24 : 60;
  const int bottom = top + field_height;
  const Axis vertical(o.y_range[0], o.y_range[1], false, bottom, top, std::max(2, field_height / 110));
  const int left = static_cast<int>(22 + widest_label(vertical) + 12 + (o.y_label.empty() ? 0 : line_height + 16));
  const int right = left + field_width;
  const Axis horizontal(o.x_range[0], o.x_range[1], false, left, right, std::max(2, field_width / 110));
  const int bar_left = right + 28, bar_right = bar_left + 26;
  const Axis bar(low, high, false, bottom, top, std::max(2, field_height / 90));
  const double bar_text = bar_right + 12;
  const int width =
      static_cast<int>(bar_text + widest_label(bar) + 20 + (o.value_label.empty() ? 0 : line_height + 18));
  Image image(width, bottom + (o.x_label.empty() ? 44 : 78));
  Pen pen(image);

  // Each pixel: the mean of the cells under it where there are many, linear between cell centres where there are few.
  const auto cell = [&](int r, int c) {
    return values[static_cast<std::size_t>(std::clamp(r, 0, rows - 1)) * static_cast<std::size_t>(columns) +
                  static_cast<std::size_t>(std::clamp(c, 0, columns - 1))];
  };
  if (rows > 0 && columns > 0)
    for (int y = 0; y < field_height; ++y)
      for (int x = 0; x < field_width; ++x) {
        const double c0 = static_cast<double>(x) * columns / field_width;
        const double r0 = static_cast<double>(field_height - 1 - y) * rows / field_height;
        double v = 0;
        if (scale >= 1) {
          const double c = c0 + 0.5 / scale - 0.5, r = r0 + 0.5 / scale - 0.5;
          const int ci = static_cast<int>(std::floor(c)), ri = static_cast<int>(std::floor(r));
          const double fc = c - ci, fr = r - ri;
          v = (1 - fr) * ((1 - fc) * cell(ri, ci) + fc * cell(ri, ci + 1)) +
              fr * ((1 - fc) * cell(ri + 1, ci) + fc * cell(ri + 1, ci + 1));
        } else {
          const int cb = static_cast<int>(c0), ce = std::max(cb + 1, static_cast<int>(c0 + 1 / scale));
          const int rb = static_cast<int>(r0), re = std::max(rb + 1, static_cast<int>(r0 + 1 / scale));
          for (int r = rb; r < re; ++r)
            for (int c = cb; c < ce; ++c) v += cell(r, c);
          v /= static_cast<double>(re - rb) * (ce - cb);
        }
        image.at(left + x, top + y) = colour_of(v);
      }
  for (int y = top; y < bottom; ++y)
    pen.fill(bar_left, y, bar_right, y + 1, colour_of(low + (high - low) * (bottom - 0.5 - y) / field_height));

  for (const Tick& t : horizontal.ticks()) {
    const double x = horizontal.pixel(t.value);
    pen.draw({{{x, bottom + 0.0}, {x, bottom + 6.0}}}, 1.2, ink);
    pen.text(t.label, x, bottom + 12 + line_height, text_scale, 0.5);
  }
  for (const Tick& t : vertical.ticks()) {
    const double y = vertical.pixel(t.value);
    pen.draw({{{left - 6.0, y}, {left + 0.0, y}}}, 1.2, ink);
    pen.text(t.label, left - 11, y + 0.5 * line_height, text_scale, 1);
  }
  for (const Tick& t : bar.ticks()) {
    const double y = bar.pixel(t.value);
    pen.draw({{{bar_right + 0.0, y}, {bar_right + 6.0, y}}}, 1.2, ink);
    pen.text(t.label, bar_text, y + 0.5 * line_height, text_scale, 0);
  }
  const auto frame = [&](double a, double b) {
    pen.draw({{{a, top + 0.0}, {b, top + 0.0}, {b, bottom + 0.0}, {a, bottom + 0.0}, {a, top + 0.0}}}, 1.4, ink);
  };
  frame(left, right);
  frame(bar_left, bar_right);
  pen.text(o.title, 0.5 * (left + bar_right), 38, title_scale, 0.5);
  pen.text(o.x_label, 0.5 * (left + right), image.height - 18, text_scale, 0.5);
  pen.text(o.y_label, 20 + line_height, 0.5 * (top + bottom), text_scale, 0.5, true);
  pen.text(o.value_label, width - 16, 0.5 * (top + bottom), text_scale, 0.5, true);
  return image;
}

void write_png_plot(const std::filesystem::path& path, std::span<const Series> series, const PlotOptions& options) {
  write_file_atomically(path, encode_png(line_plot(series, options)));
}

void write_png_heatmap(const std::filesystem::path& path, std::span<const double> values, int rows, int columns,
                       const HeatmapOptions& options) {
  write_file_atomically(path, encode_png(heatmap(values, rows, columns, options)));
}

}  // namespace tessera::app
