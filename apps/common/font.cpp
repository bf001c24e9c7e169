// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <charconv>
#include <common/font.hpp>
#include <cstring>
#include <iterator>

namespace tessera::app {
namespace {

/// Strokes are separated by ';', points by blanks. '~' before a stroke: a curve that leaves the first point and ends
/// in the last, drawn to the others as control points (quadratic B-spline). 'o': the same, closed.
struct Glyph {
  double width;
  const char* strokes;
};

// From ' ' to '~'.
constexpr Glyph glyphs[] = {
    {2.6, ""},
    {1.0, "0.5,6.2 0.5,1.8;0.5,0.1 0.5,0"},
    {2.2, "0.3,6.2 0.3,4.6;1.9,6.2 1.9,4.6"},
    {4.4, "1.1,0 1.9,6;2.7,0 3.5,6;0.2,4 4.4,4;0,2 4.2,2"},
    {3.8, "~3.5,4.6 3.2,5.5 0.2,5.9 0.1,3.6 1.8,3.1 3.9,2.6 3.8,0.2 0.5,0.3 0,1.4;1.9,6.7 1.9,-0.7"},
    {5.2, "o 0,3.4 0,6 2,6 2,3.4;o 3.2,0 3.2,2.6 5.2,2.6 5.2,0;4.4,6 0.8,0"},
    {5.0, "~4.9,0 1,4 0.4,6.3 3.4,6.3 3.2,4 -0.3,3 -0.3,-0.2 3.4,-0.6 4.4,2.8"},
    {0.8, "0.4,6.2 0.4,4.6"},
    {1.8, "~1.7,7 0.2,5 0.2,1 1.7,-1.2"},
    {1.8, "~0.1,7 1.6,5 1.6,1 0.1,-1.2"},
    {3.2, "1.6,6 1.6,3;0.3,5.2 2.9,3.8;2.9,5.2 0.3,3.8"},
    {4.0, "2,4.6 2,1;0.2,2.8 3.8,2.8"},
    {1.0, "~0.6,0.2 0.7,-0.6 0.1,-1.3"},
    {3.0, "0.3,2.4 2.7,2.4"},
    {1.0, "0.5,0.1 0.5,0"},
    {2.8, "0,-0.8 2.8,6.6"},
    {3.8, "o 0,0 0,6 3.8,6 3.8,0"},
    {3.8, "0.5,4.7 2.1,6 2.1,0"},
    {3.8, "~0.2,4.5 0.3,6.2 3.6,6.4 3.6,3.6 2.2,2.3 0.1,0;0.1,0 3.7,0"},
    {3.8, "~0.2,5.1 0.8,6.3 3.5,6.3 3.5,3.3 1.3,3.25;~1.3,3.25 3.8,3.3 3.8,-0.2 0.6,-0.3 0,1"},
    {3.8, "2.8,0 2.8,6 0,1.8 3.8,1.8"},
    {3.8, "3.4,6 0.6,6 0.3,3.1;~0.3,3.1 0.9,4 3.8,4.2 3.8,-0.2 0.6,-0.4 0,0.9"},
    {3.8, "o 0,0 0,3.8 3.8,3.8 3.8,0;~3.3,5.5 2.8,6.1 0,6.4 0,2.4 0,1.9"},
    {3.8, "0,6 3.7,6 1.3,0"},
    {3.8, "o 0.25,3.2 0.25,6 3.55,6 3.55,3.2;o 0,0 0,3.2 3.8,3.2 3.8,0"},
    {3.8, "o 0,2.2 0,6 3.8,6 3.8,2.2;~0.5,0.5 1,-0.1 3.8,-0.4 3.8,3.6 3.8,4.1"},
    {1.0, "0.5,0.1 0.5,0;0.5,3.6 0.5,3.5"},
    {1.0, "~0.6,0.2 0.7,-0.6 0.1,-1.3;0.5,3.6 0.5,3.5"},
    {3.8, "3.6,4.8 0.2,2.8 3.6,0.8"},
    {4.0, "0.2,3.6 3.8,3.6;0.2,2 3.8,2"},
    {3.8, "0.2,4.8 3.6,2.8 0.2,0.8"},
    {3.4, "~0.1,4.7 0.2,6.2 3.3,6.4 3.3,4 1.7,3.6 1.7,1.8;1.7,0.1 1.7,0"},
    {6.0, "o 1.8,1.2 1.8,4 4.2,4 4.2,1.2;~4.2,4 4.2,1.6 4.4,0.6 6,1.2 6,6.4 0,6.4 0,-1.2 4,-1.2 4.8,-0.6"},
    {4.6, "0,0 2.3,6 4.6,0;0.8,2.1 3.8,2.1"},
    {4.2, "0.2,0 0.2,6;~0.2,6 2,6 3.8,6 3.8,3.2 2,3.2 0.2,3.2;~0.2,3.2 2.4,3.2 4.3,3.2 4.3,0 2.4,0 0.2,0"},
    {4.4, "~4.3,4.7 3.7,6.1 0,6.6 0,-0.6 3.7,-0.1 4.3,1.3"},
    {4.5, "0.2,0 0.2,6;~0.2,6 1.6,6 4.5,6 4.5,0 1.6,0 0.2,0"},
    {3.7, "3.6,6 0.2,6 0.2,0 3.7,0;0.2,3.2 3.2,3.2"},
    {3.5, "3.5,6 0.2,6 0.2,0;0.2,3.1 3.1,3.1"},
    {4.8, "~4.4,4.8 3.8,6.1 0,6.6 0,-0.6 3.6,-0.2 4.6,0.8;4.6,0.8 4.6,2.8 2.8,2.8"},
    {4.4, "0.2,0 0.2,6;4.2,0 4.2,6;0.2,3.1 4.2,3.1"},
    {1.0, "0.5,0 0.5,6"},
    {3.2, "~2.9,6 2.9,2.4 2.9,-0.4 0,-0.3 0,1.6"},
    {4.2, "0.2,0 0.2,6;4,6 0.2,2.2;1.5,3.5 4.2,0"},
    {3.6, "0.2,6 0.2,0 3.6,0"},
    {5.2, "0.2,0 0.2,6 2.6,1.6 5,6 5,0"},
    {4.5, "0.2,0 0.2,6 4.3,0 4.3,6"},
    {4.8, "o 0,0 0,6 4.8,6 4.8,0"},
    {4.1, "0.2,0 0.2,6;~0.2,6 2.2,6 4.2,6 4.2,2.7 2.2,2.7 0.2,2.7"},
    {4.8, "o 0,0 0,6 4.8,6 4.8,0;3,1.5 4.8,-0.6"},
    {4.2, "0.2,0 0.2,6;~0.2,6 2.2,6 4.2,6 4.2,2.9 2.2,2.9 0.2,2.9;2.3,2.9 4.2,0"},
    {4.0, "~3.7,4.8 3.3,6 0.2,6.5 0.1,3.7 2,3.1 4.1,2.6 4,-0.4 0.5,-0.2 0,1.2"},
    {4.2, "2.1,0 2.1,6;0,6 4.2,6"},
    {4.4, "~0.2,6 0.2,2.4 0.2,-0.5 4.2,-0.5 4.2,2.4 4.2,6"},
    {4.4, "0,6 2.2,0 4.4,6"},
    {6.2, "0,6 1.6,0 3.1,5.6 4.6,0 6.2,6"},
    {4.2, "0,0 4.2,6;0,6 4.2,0"},
    {4.2, "0,6 2.1,3 4.2,6;2.1,3 2.1,0"},
    {4.0, "0.1,6 3.9,6 0,0 4,0"},
    {1.8, "1.6,7 0.4,7 0.4,-1.2 1.6,-1.2"},
    {2.8, "0,6.6 2.8,-0.8"},
    {1.8, "0.2,7 1.4,7 1.4,-1.2 0.2,-1.2"},
    {3.2, "0.3,4.2 1.6,6.2 2.9,4.2"},
    {3.8, "0,-1 3.8,-1"},
    {1.4, "0.2,6.4 1.2,5.2"},
    {3.4, "o 0,0 0,4.2 3.2,4.2 3.2,0;3.2,4.2 3.2,0"},
    {3.5, "0.2,6.3 0.2,0;o 0.2,0 0.2,4.2 3.5,4.2 3.5,0"},
    {3.2, "~3.1,3.3 2.7,4.3 0,4.6 0,-0.4 2.7,-0.1 3.1,0.9"},
    {3.5, "3.3,6.3 3.3,0;o 0,0 0,4.2 3.3,4.2 3.3,0"},
    {3.5, "0.1,2.2 3.4,2.2;~3.4,2.2 3.4,4.3 0,4.6 0,-0.4 2.9,-0.2 3.2,0.8"},
    {2.3, "~2.4,6.2 0.9,6.6 0.9,4.6 0.9,0;0,4.1 2.2,4.1"},
    {3.5, "o 0,0 0,4.2 3.3,4.2 3.3,0;~3.3,4.2 3.3,0.4 3.3,-2.3 0.9,-2.2 0.3,-1.6"},
    {3.4, "0.2,6.3 0.2,0;~0.2,2.6 0.5,4.4 3.2,4.7 3.2,2.4 3.2,0"},
    {1.0, "0.5,4.2 0.5,0;0.5,6 0.5,5.9"},
    {1.3, "~0.9,4.2 0.9,0.2 0.9,-2.1 -0.3,-1.9;0.9,6 0.9,5.9"},
    {3.2, "0.2,6.3 0.2,0;3,4.2 0.2,1.5;1.3,2.5 3.2,0"},
    {1.0, "0.5,6.3 0.5,0"},
    {5.4, "0.2,4.2 0.2,0;~0.2,2.6 0.5,4.4 2.7,4.7 2.7,2.4 2.7,0;~2.7,2.6 3,4.4 5.2,4.7 5.2,2.4 5.2,0"},
    {3.4, "0.2,4.2 0.2,0;~0.2,2.6 0.5,4.4 3.2,4.7 3.2,2.4 3.2,0"},
    {3.5, "o 0,0 0,4.2 3.5,4.2 3.5,0"},
    {3.5, "0.2,4.2 0.2,-1.9;o 0.2,0 0.2,4.2 3.5,4.2 3.5,0"},
    {3.5, "3.3,4.2 3.3,-1.9;o 0,0 0,4.2 3.3,4.2 3.3,0"},
    {2.3, "0.2,4.2 0.2,0;~0.2,2.4 0.5,4.3 2.3,4.1"},
    {3.1, "~2.8,3.4 2.4,4.3 0.1,4.6 0.1,2.6 1.5,2.2 3.1,1.8 3.1,-0.4 0.5,-0.2 0,0.8"},
    {2.4, "~0.9,5.6 0.9,1.4 0.9,-0.3 2.3,0.1;0,4.1 2.2,4.1"},
    {3.4, "~0.2,4.2 0.2,1.8 0.2,-0.5 2.9,-0.2 3.2,1.6;3.2,4.2 3.2,0"},
    {3.3, "0,4.2 1.65,0 3.3,4.2"},
    {5.0, "0,4.2 1.3,0 2.5,4 3.7,0 5,4.2"},
    {3.2, "0,0 3.2,4.2;0,4.2 3.2,0"},
    {3.3, "0,4.2 1.7,0;3.3,4.2 1.4,-0.8 0.9,-1.8 0.1,-1.8"},
    {3.1, "0.1,4.2 3,4.2 0,0 3.1,0"},
    {2.0, "~1.9,7 0.6,7.1 1.2,3 0,2.9;~0,2.9 1.2,2.8 0.6,-1.3 1.9,-1.2"},
    {1.0, "0.5,7 0.5,-1.4"},
    {2.0, "~0.1,7 1.4,7.1 0.8,3 2,2.9;~2,2.9 0.8,2.8 1.4,-1.3 0.1,-1.2"},
    {3.8, "~0.1,2.2 0.6,3.6 1.9,3 3.2,2 3.7,3.4"},
};
static_assert(std::size(glyphs) == '~' - ' ' + 1);

constexpr double gap = 1.35;  // between glyphs [units]
constexpr double raised_scale = 0.72;
constexpr double raised_by = 3.2;  // [units]

Polyline parse_points(const char*& at, const char* end) {
  Polyline points;
  while (at < end && *at != ';') {
    if (*at == ' ') {
      ++at;
      continue;
    }
    Point p;
    at = std::from_chars(at, end, p.x).ptr + 1;  // over the comma
    at = std::from_chars(at, end, p.y).ptr;
    points.push_back(p);
  }
  return points;
}

Point middle(Point a, Point b) { return {0.5 * (a.x + b.x), 0.5 * (a.y + b.y)}; }

void add_arc(Polyline& line, Point from, Point control, Point to) {
  constexpr int pieces = 6;
  for (int i = 1; i <= pieces; ++i) {
    const double t = static_cast<double>(i) / pieces, s = 1 - t;
    line.push_back(
        {s * s * from.x + 2 * s * t * control.x + t * t * to.x, s * s * from.y + 2 * s * t * control.y + t * t * to.y});
  }
}

Polyline open_curve(const Polyline& p) {
  if (p.size() < 3) return p;
  Polyline line{p.front()};
  for (std::size_t i = 1; i + 1 < p.size(); ++i)
    add_arc(line, line.back(), p[i], i + 2 == p.size() ? p.back() : middle(p[i], p[i + 1]));
  return line;
}

Polyline closed_curve(const Polyline& p) {
  const std::size_t n = p.size();
  Polyline line{middle(p[n - 1], p[0])};
  for (std::size_t i = 0; i < n; ++i) add_arc(line, line.back(), p[i], middle(p[i], p[(i + 1) % n]));
  return line;
}

std::vector<Polyline> glyph_strokes(const Glyph& glyph) {
  std::vector<Polyline> strokes;
  const char* at = glyph.strokes;
  const char* const end = at + std::strlen(at);
  while (at < end) {
    const char kind = *at;
    if (kind == '~' || kind == 'o') ++at;
    const Polyline points = parse_points(at, end);
    strokes.push_back(kind == '~' ? open_curve(points) : kind == 'o' ? closed_curve(points) : points);
    if (at < end) ++at;
  }
  return strokes;
}

/// Calls visit(glyph, x, scale, lift) for each character; returns the advance.
template <class Visit>
double walk(std::string_view text, Visit&& visit) {
  double x = 0;
  bool raised = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!raised && text.substr(i, 2) == "^{") {
      raised = true;
      ++i;
      continue;
    }
    if (raised && text[i] == '}') {
      raised = false;
      continue;
    }
    const char c = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    const Glyph& glyph = glyphs[static_cast<std::size_t>(c - ' ')];
    const double scale = raised ? raised_scale : 1;
    visit(glyph, x, scale, raised ? raised_by : 0);
    x += (glyph.width + gap) * scale;
  }
  return x > 0 ? x - gap : 0;
}

}  // namespace

std::vector<Polyline> text_strokes(std::string_view text) {
  std::vector<Polyline> all;
  walk(text, [&](const Glyph& glyph, double x, double scale, double lift) {
    for (Polyline& line : glyph_strokes(glyph)) {
      for (Point& p : line) p = {x + p.x * scale, lift + p.y * scale};
      all.push_back(std::move(line));
    }
  });
  return all;
}

double text_width(std::string_view text) {
  return walk(text, [](const Glyph&, double, double, double) {});
}

}  // namespace tessera::app
