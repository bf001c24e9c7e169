// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cg/sums.hpp>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tessera/backends/enabled.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/machine.hpp>
#include <tessera/dot.hpp>

namespace tessera::cg {
namespace {

/// Each item sums a stretch of the vectors in `lanes` separate sums: registers of a host, which would otherwise wait
/// for one addition after the other; one lane on a device, where neighbouring items read neighbouring elements.
struct CompensatedDot {
  using value_type = DoubleDouble;
  static constexpr int lanes = machine<Space>::is_host ? 32 : 1;

  Vector x, y;
  index_t items, n;

  KOKKOS_FUNCTION void init(value_type& sum) const { sum = DoubleDouble{}; }
  KOKKOS_FUNCTION void join(value_type& sum, const value_type& other) const { sum.add(other); }
  KOKKOS_FUNCTION void operator()(index_t item, value_type& sum) const {
    double hi[lanes] = {}, lo[lanes] = {};
    const index_t blocks = n / lanes;
    const bool stretches = lanes > 1;
    const index_t first = stretches ? blocks * item / items : item;
    const index_t last = stretches ? blocks * (item + 1) / items : blocks;
    const index_t step = stretches ? 1 : items;
    const double* const px = x.data();
    const double* const py = y.data();
    for (index_t block = first; block < last; block += step)
      for (int l = 0; l < lanes; ++l) {  // as DoubleDouble::add_product, written for vector registers
        const double a = px[block * lanes + l], b = py[block * lanes + l];
        const double product = Kokkos::fma(a, b, 0.0), error = Kokkos::fma(a, b, -product);
        const double total = hi[l] + product, part = total - hi[l];
        lo[l] += ((hi[l] - (total - part)) + (product - part)) + error;
        hi[l] = total;
      }
    for (int l = 0; l < lanes; ++l) sum.add(DoubleDouble{hi[l], lo[l]});
    if (item == 0)
      for (index_t i = blocks * lanes; i < n; ++i) sum.add_product(px[i], py[i]);
  }
  KOKKOS_FUNCTION void final(value_type& sum) const { sum.normalise(); }
};

/// A sum rounded to double.
struct Round {
  Kokkos::View<DoubleDouble*, Memory> parts;
  Vector scalars;
  index_t first;
  KOKKOS_FUNCTION void operator()(index_t i) const {
    DoubleDouble sum = parts(first + i);
    sum.normalise();
    scalars(first + i) = sum.hi;
  }
};

constexpr int exact_offset = 1130;  // the unit is 2^-1130: below half of the smallest subnormal's last place

}  // namespace

SumKind sum_kind(std::string_view name) {
  if (name == "compensated") return SumKind::compensated;
  if (name == "fast") return SumKind::fast;
  throw Error("tessera::cg::sum_kind", "sums \"" + std::string(name) + "\"", "there are compensated and fast");
}

void ExactSum::add(double value) {
  if (value == 0) return;
  if (!std::isfinite(value)) {
    ++digit[digits];
    return;
  }
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  const auto mantissa = static_cast<index_t>(std::ldexp(std::abs(fraction), 53));
  const int position = exponent - 53 + exact_offset;
  auto at = static_cast<std::size_t>(position / 32);
  __extension__ using Wide = unsigned __int128;
  Wide shifted = static_cast<Wide>(mantissa) << (position % 32);
  for (; shifted != 0; shifted >>= 32, ++at) {
    const auto part = static_cast<index_t>(static_cast<std::uint64_t>(shifted) & 0xffffffffu);
    digit[at] += value < 0 ? -part : part;
  }
}

double ExactSum::value() const {
  if (digit[digits] != 0) return std::numeric_limits<double>::quiet_NaN();
  // digits from 0 to 2^32 - 1, of the absolute value
  std::array<std::uint32_t, digits> d{};
  const auto carry_out = [&](index_t sign) {
    index_t carry = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      carry += sign * digit[i];
      d[i] = static_cast<std::uint32_t>(carry & 0xffffffff);
      carry >>= 32;
    }
    return carry;
  };
  const bool negative = carry_out(1) < 0;
  if (negative) carry_out(-1);
  std::size_t top = digits;
  while (top > 0 && d[top - 1] == 0) --top;
  if (top == 0) return 0;
  // the upper 96 or more bits, and whether anything is below them: enough to round by
  __extension__ using Wide = unsigned __int128;
  Wide upper = 0;
  const std::size_t low = top > 4 ? top - 4 : 0;
  for (std::size_t i = top; i-- > low;) upper = (upper << 32) | d[i];
  for (std::size_t i = 0; i < low; ++i)
    if (d[i] != 0) upper |= 1;
  const double magnitude = std::ldexp(static_cast<double>(upper), static_cast<int>(low) * 32 - exact_offset);
  return negative ? -magnitude : magnitude;
}

Scalars::Scalars(const Space& exec, const Communicator& communicator, SumKind kind)
    : m_communicator(communicator),
      m_kind(kind),
      m_device(Kokkos::view_alloc(exec, "tessera::cg::scalars"), slots),
      m_parts(Kokkos::view_alloc(exec, "tessera::cg::partial_sums"), sums),
      m_host(Kokkos::view_alloc(Kokkos::WithoutInitializing, "tessera::cg::host_scalars"), slots),
      m_host_parts(Kokkos::view_alloc(Kokkos::WithoutInitializing, "tessera::cg::host_partial_sums"), sums) {}

void Scalars::dot(const Space& exec, const Vector& x, const Vector& y, Slot slot) {
  if (m_kind == SumKind::fast) {
    tessera::dot(exec, x, y, at(slot));
    return;
  }
  const auto n = static_cast<index_t>(x.extent(0));
  // enough items to fill the machine, each with enough to do
  const index_t width = static_cast<index_t>(exec.concurrency());
  const index_t items = machine<Space>::is_host ? std::min<index_t>(width, n / 2048 + 1)
                                                : std::max<index_t>(1, std::min<index_t>(width, n / 4));
  Kokkos::parallel_reduce("tessera::cg::compensated_dot", Range<Space>(exec, 0, items), CompensatedDot{x, y, items, n},
                          Kokkos::subview(m_parts, static_cast<index_t>(slot)));
}

void Scalars::complete(const Space& exec, Slot first, index_t count) {
  const bool compensated = m_kind == SumKind::compensated;
  if (m_communicator.size() == 1) {
    if (compensated)
      Kokkos::parallel_for("tessera::cg::round", Range<Space>(exec, 0, count),
                           Round{m_parts, m_device, static_cast<index_t>(first)});
    return;
  }
  const std::pair<index_t, index_t> range(first, first + count);
  const auto host = Kokkos::subview(m_host, range);
  const auto device = Kokkos::subview(m_device, range);
  if (compensated) {
    const auto parts = Kokkos::subview(m_host_parts, range);
    Kokkos::deep_copy(exec, parts, Kokkos::subview(m_parts, range));
    exec.fence("tessera::cg::partial_sums");
    std::vector<index_t> digits;
    for (index_t i = 0; i < count; ++i) {
      ExactSum sum;
      sum.add(parts(i).hi);
      sum.add(parts(i).lo);
      digits.insert(digits.end(), sum.digit.begin(), sum.digit.end());
    }
    m_communicator.all_reduce(std::span<index_t>(digits), Reduction::sum);
    for (index_t i = 0; i < count; ++i) {
      ExactSum sum;
      std::copy_n(digits.begin() + i * static_cast<index_t>(sum.digit.size()), sum.digit.size(), sum.digit.begin());
      host(i) = sum.value();
    }
  } else {
    Kokkos::deep_copy(exec, host, device);
    exec.fence("tessera::cg::partial_sums");
    m_communicator.all_reduce(std::span<double>(host.data(), static_cast<std::size_t>(count)), Reduction::sum);
  }
  Kokkos::deep_copy(exec, device, host);
}

void Scalars::fetch(const Space& exec) {
  Kokkos::deep_copy(exec, m_host, m_device);
  exec.fence("tessera::cg::convergence");
}

double Scalars::dot_now(const Space& exec, const Vector& x, const Vector& y) {
  dot(exec, x, y, rr);
  complete(exec, rr, 1);
  fetch(exec);
  return host(rr);
}

}  // namespace tessera::cg
