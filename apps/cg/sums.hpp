// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <cg/system.hpp>
#include <cstdint>
#include <string_view>

/// \file
/// The scalars of the iteration and the sums they come from. The number of iterations that CG needs on an ill-
/// conditioned matrix depends on the rounding of its dot products: with plain sums, bcsstk08 takes 130 to 135
/// iterations by the number of ranks alone. Compensated sums are carried in twice the precision of double and added up
/// over the ranks exactly, so that their rounded value does not depend on how the vector was cut (but for a value that
/// lies within 2^-40 or so of the middle between two doubles).

namespace tessera::cg {

enum class SumKind { compensated, fast };
/// \throws Error where the name is neither "compensated" nor "fast"
[[nodiscard]] SumKind sum_kind(std::string_view name);

/// The unevaluated sum of two doubles, hi being the sum rounded to double.
struct DoubleDouble {
  double hi = 0;
  double lo = 0;

  /// Source: D. Knuth, TAOCP vol. 2, 4.2.2, theorem B (the error of an addition).
  KOKKOS_FUNCTION void add(double value) {
    const double sum = hi + value, part = sum - hi;
    lo += (hi - (sum - part)) + (value - part);
    hi = sum;
  }
  /// Adds a*b with its rounding error. Both are formed by fma, which no compiler may merge with the additions.
  /// Source: T. Ogita, S. Rump, S. Oishi, SIAM J. Sci. Comput. 26 (2005) 1955, Dot2.
  KOKKOS_FUNCTION void add_product(double a, double b) {
    const double product = Kokkos::fma(a, b, 0.0), error = Kokkos::fma(a, b, -product);
    add(product);
    lo += error;
  }
  KOKKOS_FUNCTION void add(const DoubleDouble& other) {
    add(other.hi);
    lo += other.lo;
  }
  KOKKOS_FUNCTION void normalise() {
    const double sum = hi + lo;
    lo -= sum - hi;
    hi = sum;
  }
};

/// An integer of 2240 bits in units of 2^-1130, as 32-bit digits: any sum of doubles, exactly. Adding up digits adds
/// up numbers, so that a reduction of integers over the ranks is a reduction of doubles without rounding.
/// Source: U. Kulisch, "Computer Arithmetic and Validity", 2nd ed., de Gruyter 2013, ch. 8.
struct ExactSum {
  static constexpr std::size_t digits = 70;
  std::array<index_t, digits + 1> digit{};  ///< the last counts what is not finite

  void add(double value);
  /// Rounded to nearest; NaN where anything added was not finite.
  [[nodiscard]] double value() const;
};

/// Scalars that stay in device memory, and what the host knows of them.
class Scalars {
 public:
  /// p'Ap, r'r and r'z are sums; the rest is worked out of them.
  enum Slot : index_t { pap, rr, rz, old_rz, alpha, minus_alpha, beta, slots };
  static constexpr index_t sums = 3;

  Scalars(const Space& exec, const Communicator& communicator, SumKind kind);

  /// This rank's part of x'y, into a sum's slot; returns at once. Only own elements may be given.
  void dot(const Space& exec, const Vector& x, const Vector& y, Slot slot);
  /// Completes `count` sums from `first`. With one rank the host does not wait. Collective.
  void complete(const Space& exec, Slot first, index_t count);
  /// The host learns all scalars; waits.
  void fetch(const Space& exec);
  /// x'y over all ranks at once; uses the slot rr. Waits. Collective.
  [[nodiscard]] double dot_now(const Space& exec, const Vector& x, const Vector& y);

  [[nodiscard]] auto at(Slot slot) const { return Kokkos::subview(m_device, static_cast<index_t>(slot)); }
  [[nodiscard]] const Vector& device() const { return m_device; }
  [[nodiscard]] double host(Slot slot) const { return m_host(slot); }
  void set(const Space& exec, Slot slot, double value) { Kokkos::deep_copy(exec, at(slot), value); }

 private:
  using HostMemory = Kokkos::SharedHostPinnedSpace;
  Communicator m_communicator;
  SumKind m_kind;
  Vector m_device;
  Kokkos::View<DoubleDouble*, Memory> m_parts;
  Kokkos::View<double*, HostMemory> m_host;
  Kokkos::View<DoubleDouble*, HostMemory> m_host_parts;
};

}  // namespace tessera::cg
