// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Strided operands inside guarded memory, random values, and references in long double, for the tests of level 1.

#include <Kokkos_Core.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <support/values.hpp>
#include <type_traits>
#include <vector>

#include <tessera/core/execution.hpp>
#include <tessera/core/types.hpp>

namespace level1 {

using Space = TESSERA_TEST_SPACE;
using tessera::index_t;
using namespace test_values;

inline long double parts_sum(const Wide& z) { return std::fabs(z.real()) + std::fabs(z.imag()); }

/// Unit roundoff of a type (0 for integers).
template <class T>
constexpr long double roundoff() {
  if constexpr (std::is_integral_v<T>)
    return 0;
  else
    return static_cast<long double>(static_cast<double>(std::numeric_limits<tessera::real_t<T>>::epsilon())) / 2;
}

/// Extents and strides of a rank-1 or rank-2 operand, and how far into the memory it starts.
struct Shape {
  index_t rows = 0, columns = 1;
  index_t s0 = 1, s1 = 0;
  index_t offset = 0;

  [[nodiscard]] index_t size() const { return rows * columns; }
  [[nodiscard]] std::string text() const {
    return std::to_string(rows) + " x " + std::to_string(columns) + ", strides " + std::to_string(s0) + ", " +
           std::to_string(s1) + ", offset " + std::to_string(offset);
  }
};

/// A strided operand in device memory, with guards before, between and behind its elements.
template <class T>
class Operand {
 public:
  explicit Operand(const Shape& shape) : m_shape(shape) {
    index_t last = 0;
    if (shape.size() > 0) last = (shape.rows - 1) * shape.s0 + (shape.columns - 1) * shape.s1 + 1;
    m_memory = Kokkos::View<T*, Space>("memory", guard + shape.offset + last + guard);
    m_before = Kokkos::create_mirror(Kokkos::HostSpace(), m_memory);
    m_after = Kokkos::create_mirror(Kokkos::HostSpace(), m_memory);
    std::mt19937 random(7);
    for (std::size_t i = 0; i < m_before.size(); ++i) m_before(i) = random_value<T>(random);
  }
  Operand(const Shape& shape, std::mt19937& random) : Operand(shape) {
    for_each([&](index_t i, index_t j) { before(i, j) = random_value<T>(random); });
    upload();
  }
  Operand(const Shape& shape, const T& value) : Operand(shape) {
    for_each([&](index_t i, index_t j) { before(i, j) = value; });
    upload();
  }

  [[nodiscard]] const Shape& shape() const { return m_shape; }
  [[nodiscard]] T* data() const { return m_memory.data() + guard + m_shape.offset; }
  [[nodiscard]] auto vector() const {
    return Kokkos::View<T*, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        data(), Kokkos::LayoutStride(m_shape.rows, m_shape.s0));
  }
  [[nodiscard]] auto matrix() const {
    return Kokkos::View<T**, Kokkos::LayoutStride, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
        data(), Kokkos::LayoutStride(m_shape.rows, m_shape.s0, m_shape.columns, m_shape.s1));
  }

  template <class F>
  void for_each(F&& f) const {
    for (index_t j = 0; j < m_shape.columns; ++j)
      for (index_t i = 0; i < m_shape.rows; ++i) f(i, j);
  }
  [[nodiscard]] T& before(index_t i, index_t j = 0) const { return m_before(place(i, j)); }
  [[nodiscard]] const T& after(index_t i, index_t j = 0) const { return m_after(place(i, j)); }

  void upload() { Kokkos::deep_copy(m_memory, m_before); }
  /// Fetches what the call left, and checks that everything outside the operand kept its bits.
  void download() {
    Kokkos::fence("test: before looking at results");
    Kokkos::deep_copy(m_after, m_memory);
    std::vector<bool> inside(m_before.size(), false);
    for_each([&](index_t i, index_t j) { inside[static_cast<std::size_t>(place(i, j))] = true; });
    for (std::size_t k = 0; k < m_before.size(); ++k)
      if (!inside[k] && !same_bits(m_before(k), m_after(k))) FAIL("memory outside the view was written at " << k);
  }

 private:
  // a multiple of 16 bytes' worth of elements, so that offset 0 is aligned for the widest load
  static constexpr index_t guard = 64;
  [[nodiscard]] index_t place(index_t i, index_t j) const {
    return guard + m_shape.offset + i * m_shape.s0 + j * m_shape.s1;
  }

  Shape m_shape;
  Kokkos::View<T*, Space> m_memory;
  typename Kokkos::View<T*, Space>::host_mirror_type m_before, m_after;
};

/// These values, side by side.
template <class T>
Operand<T> operand(const std::vector<T>& values) {
  Operand<T> x(Shape{static_cast<index_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) x.before(static_cast<index_t>(i)) = values[i];
  x.upload();
  return x;
}

/// Puts values into the first elements of an operand.
template <class T>
void fill(Operand<T>& operand, const std::vector<T>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) operand.before(static_cast<index_t>(i)) = values[i];
  operand.upload();
}
/// An operand's elements against these, bit for bit.
template <class T>
void require_same(Operand<T>& found, const std::vector<T>& expected) {
  found.download();
  index_t wrong = 0, at = -1;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!same_bits(found.after(static_cast<index_t>(i)), expected[i])) {
      ++wrong;
      if (at < 0) at = static_cast<index_t>(i);
    }
  INFO("the first wrong element is " << at);
  REQUIRE(wrong == 0);
}

/// A scalar that lives in the space's memory.
template <class T>
Kokkos::View<T, Space> in_space(const T& value) {
  Kokkos::View<T, Space> view("scalar");
  Kokkos::deep_copy(view, value);
  return view;
}
template <class T>
T fetch(const Kokkos::View<T, Space>& view) {
  T value{};
  Kokkos::fence("test: before fetching");
  Kokkos::deep_copy(value, view);
  return value;
}

}  // namespace level1

// the element types that come compiled
#define TESSERA_ELEMENT_TYPES                                                                                     \
  float, double, Kokkos::complex<float>, Kokkos::complex<double>, tessera::half, tessera::bfloat16, std::int32_t, \
      std::int64_t
#define TESSERA_FLOATING_TYPES \
  float, double, Kokkos::complex<float>, Kokkos::complex<double>, tessera::half, tessera::bfloat16
