// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// \file
/// Pictures of results as PNG, without a plotting library: line plots with axes and heat maps with a colour bar.

namespace tessera::app {

using Colour = std::array<std::uint8_t, 3>;

/// An RGB picture; pixel (0, 0) is at the top left.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<Colour> pixels;

  Image(int w, int h, Colour fill = {255, 255, 255})
      : width(w), height(h), pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h), fill) {}
  [[nodiscard]] Colour& at(int x, int y) { return pixels[static_cast<std::size_t>(y) * width + x]; }
  [[nodiscard]] const Colour& at(int x, int y) const { return pixels[static_cast<std::size_t>(y) * width + x]; }
};

/// The bytes of a PNG file (8-bit RGB).
[[nodiscard]] std::string encode_png(const Image& image);

struct Series {
  std::string name{};  ///< for the legend; may be empty
  std::vector<double> x{};
  std::vector<double> y{};
};

struct PlotOptions {
  std::string title{};
  std::string x_label{};
  std::string y_label{};
  bool log_x = false;  ///< points that are not above 0 are left out on a logarithmic axis
  bool log_y = false;
  bool markers = false;
  int width = 960;
  int height = 600;
};

[[nodiscard]] Image line_plot(std::span<const Series> series, const PlotOptions& options);
void write_png_plot(const std::filesystem::path& path, std::span<const Series> series, const PlotOptions& options);

struct HeatmapOptions {
  std::string title{};
  std::string x_label{};
  std::string y_label{};
  std::string value_label{};  ///< at the colour bar
  std::array<double, 2> x_range{0, 1};
  std::array<double, 2> y_range{0, 1};
  /// Of the colours; where both are equal, the data's own.
  std::array<double, 2> value_range{0, 0};
  int size = 720;  ///< pixels of the longer edge of the field
};

/// values[row * columns + column]; row 0 is at the bottom. NaN is drawn grey.
[[nodiscard]] Image heatmap(std::span<const double> values, int rows, int columns, const HeatmapOptions& options);
void write_png_heatmap(const std::filesystem::path& path, std::span<const double> values, int rows, int columns,
                       const HeatmapOptions& options);

/// Dark violet to light yellow for t in 0..1, even steps of lightness and no sudden change of hue.
[[nodiscard]] Colour colour_map(double t);

}  // namespace tessera::app
