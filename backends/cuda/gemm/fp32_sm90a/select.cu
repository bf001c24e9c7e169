// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.cuh"
#include <iterator>

namespace tessera::cuda::sm90a {
namespace {

struct Shape {
  const char* name;
  const char* tf32_name;
  int bn;
  double efficiency;  ///< share of the tensor pipe's rate that the main loop reaches, measured on an H200
};
constexpr int bm = 128;
constexpr Shape shapes[] = {{"128x192x32", "128x192x16", 192, 0.95}, {"128x128x32", "128x128x16", 128, 0.92}};

int terms(const SplitGemm& p) { return p.products == 3 ? 2 : 3; }

SplitLayout layout_of(const SplitGemm& p, int configuration) {
  const auto up = [](std::int64_t n, std::int64_t unit) { return static_cast<std::size_t>((n + unit - 1) / unit); };
  const int bn = shapes[configuration].bn;
  const std::size_t depth = static_cast<std::size_t>(split_chunks(p.k, p.tf32) * terms(p)) * 64;
  SplitLayout layout;
  layout.b = up(p.m, bm) * bm * depth;
  layout.flags = layout.b + up(p.n, bn) * static_cast<std::size_t>(bn) * depth;
  layout.bytes = layout.flags + up(p.m, 16) * up(p.n, bn) + 127;
  return layout;
}

}  // namespace

int split_configurations() { return static_cast<int>(std::size(shapes)); }
const char* split_configuration_name(int configuration, bool tf32) {
  return tf32 ? shapes[configuration].tf32_name : shapes[configuration].name;
}

const char* split_refusal(const SplitGemm& p) {
  constexpr std::int64_t largest = std::int64_t{1} << 30;
  if (p.m > largest || p.n > largest || p.k > largest) return "an extent is above 2^30";
  if (p.m < 1 || p.n < 1 || p.k < 1) return "an extent is 0";
  // blocks of the packing kernel, which the grid counts in 31 bits
  if ((p.m / 64 + p.n / 64 + 8) * (p.k / (p.tf32 ? 64 : 128) + 1) > (std::int64_t{1} << 31) - 1)
    return "the operands are too large for one grid";
  return nullptr;
}

namespace {

/// Cycles of the waves of tiles: the tensor pipe does 2048 multiply-adds a cycle and multiprocessor, of tf32 1024.
double cycles_of(const SplitGemm& p, const Shape& s, int units) {
  const auto tiles = ((p.m + 2 * bm - 1) / (2 * bm)) * ((p.n + s.bn - 1) / s.bn);
  const auto waves = (tiles + units / 2 - 1) / (units / 2);
  const double chunk = p.products * bm * s.bn * 32 / 2048.0 / s.efficiency;  // as many, of half the numbers
  return static_cast<double>(waves) * (split_chunks(p.k, p.tf32) * chunk + 10.0 * s.bn);
}

}  // namespace

int choose_split_configuration(const SplitGemm& p, int units) {
  int best = 0;
  for (int c = 1; c < split_configurations(); ++c)
    if (cycles_of(p, shapes[c], units) < cycles_of(p, shapes[best], units)) best = c;
  return best;
}

bool split_pays(const SplitGemm& p, int units) {
  // three launches, writing the terms (measured: 10 bytes a number at 2.5 TB/s; 12 of tf32), the product; the vendor's
  // fp32 product at the 48 TFLOP/s that it reaches on large ones, 13 on 512^3
  constexpr double clock = 1.7e9;
  const double m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  const double ours = 12e-6 + (m + n) * k * (p.tf32 ? 12 : 10) / 2.5e12 +
                      cycles_of(p, shapes[choose_split_configuration(p, units)], units) / clock;
  const double theirs = 16e-6 + 2 * m * n * k / 48e12;
  return ours < theirs;
}

std::size_t split_workspace_bytes(const SplitGemm& p) {
  std::size_t most = 0;
  for (int c = 0; c < split_configurations(); ++c) {
    const std::size_t bytes = layout_of(p, c).bytes;
    if (bytes > most) most = bytes;
  }
  return most;
}

const char* split_launch(const SplitGemm& p, int configuration, int units, void* workspace, void* stream) {
  auto* const s = static_cast<cudaStream_t>(stream);
  auto* const memory =
      reinterpret_cast<std::uint8_t*>((reinterpret_cast<std::uintptr_t>(workspace) + 127) & ~std::uintptr_t{127});
  const SplitLayout layout = layout_of(p, configuration);
  const SplitOperand a{p.a, p.m, p.k, p.a_row, p.a_column, memory, bm};
  const SplitOperand b{p.b, p.n, p.k, p.b_column, p.b_row, memory + layout.b, shapes[configuration].bn};
  const char* wrong = split_pack(a, b, terms(p), p.tf32, s);
  if (wrong == nullptr) {
    const auto launch = p.tf32            ? split_launch_tf32
                        : p.products == 3 ? split_launch_3
                        : p.products == 6 ? split_launch_6
                                          : split_launch_9;
    wrong = launch(p, configuration, layout, units, memory, s);
  }
  if (wrong == nullptr) wrong = split_repair(p, memory + layout.flags, shapes[configuration].bn, s);
  return wrong;
}

}  // namespace tessera::cuda::sm90a
